"""Every system says of every attribute of a switch that its files carry it, or why not."""

from __future__ import annotations

import re

import pytest

from lossless.formats.switches.contract import SONIC_LOSSES
from lossless.formats.switches.registry import TITLES, dialect
from lossless.model.fabric.attributes import BY_KEY
from tests.paths import ROOT


def test_every_system_says_of_each_attribute_that_it_carries_it_or_why_not() -> None:
    for name in TITLES:
        system = dialect(name)
        said = system.carries | system.losses.keys()
        where = f"lossless/formats/switches/{name}/dialect.py, and contract.py for all systems"
        assert BY_KEY.keys() - said == set(), f"neither carried nor lost: {where}"
        assert said - BY_KEY.keys() == set(), f"not in lossless/model/fabric/attributes.py: {where}"
        assert not system.carries & system.losses.keys()
    assert SONIC_LOSSES.keys() < BY_KEY.keys()


@pytest.mark.parametrize("pattern", ["from_model.py", "to_model/*.py"])
def test_config_db_has_each_attribute_that_is_not_lost_there(pattern: str) -> None:
    files = (ROOT / "lossless" / "formats" / "sonic").rglob(pattern)
    words = set(re.findall(r"\w+", " ".join(file.read_text(encoding="utf-8") for file in files)))
    carried = [attribute for key, attribute in BY_KEY.items() if key not in SONIC_LOSSES]
    missing = [each.key for each in carried if not {name.split(".")[1] for name in each.fields} & words]
    why = f"neither in lossless/formats/sonic/{pattern} nor in SONIC_LOSSES of lossless/formats/switches/contract.py"
    assert missing == [], why

"""All that is there for one system beside SONiC is there for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.checks.plan.systems import READ_AS
from lossless.formats.importing.differences import KINDS_BY_PART
from lossless.formats.switches.registry import TITLES, dialect
from lossless.model.hardware.load import load_switch, switch_names
from tests.formats.switches import test_hostile, test_removals, test_rules_on_dialects, test_writing
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILES = (
    "lossless/formats/switches/{}/dialect.py",
    "lossless/formats/switches/{}/read",
    "lossless/formats/switches/{}/to_model",
    "lossless/formats/switches/{}/from_model",
    "templates/{}",
    "tests/formats/switches/{}",
)
TABLES: dict[str, Mapping[str, object]] = {
    "LEAVES in tests/formats/switches/test_rules_on_dialects.py": test_rules_on_dialects.LEAVES,
    "BY_NAME in tests/formats/switches/test_rules_on_dialects.py": test_rules_on_dialects.BY_NAME,
    "PORTS in tests/formats/switches/test_writing.py": test_writing.PORTS,
    "MATTERING in tests/formats/switches/test_writing.py": test_writing.MATTERING,
    "LINES in tests/formats/switches/test_hostile.py": test_hostile.LINES,
    "FOREIGN in tests/formats/switches/test_removals.py": test_removals.FOREIGN,
}


def missing(name: str, title: str) -> Iterator[str]:
    """Yield the places that have nothing of a system."""
    places = (file.format(name) for file in FILES)
    yield from (place for place in places if not ((ROOT / place).exists() or (ROOT / f"{place}.py").exists()))
    yield from (place for place, table in TABLES.items() if name not in table)
    if not any(name in profile.formats for profile in map(load_switch, switch_names())):
        yield f"[formats.{name}] in a file of profiles/switches"
    heading = f"## Check a configuration of {title.split()[-1]}"
    if heading not in (ROOT / "docs/dialects.md").read_text().splitlines():
        yield f"'{heading}' in docs/dialects.md"


@pytest.mark.parametrize(("name", "title"), TITLES.items())
def test_a_system_is_in_every_place(name: str, title: str) -> None:
    places = list(missing(name, title))
    assert not places, f"{title} is not in " + "; not in ".join(places)


def test_every_dialect_has_a_name() -> None:
    folders = {file.parent.name for file in (ROOT / "lossless/formats/switches").glob("*/dialect.py")}
    assert folders - TITLES.keys() == set(), "not in TITLES of lossless/formats/switches/registry.py"


def test_a_plan_and_an_import_know_to_what_each_carried_attribute_belongs() -> None:
    """A part that a list forgets would crash a plan, or be called unexplained: the first word of a key is the part."""
    carried = {key.partition(".")[0] for name in TITLES for key in dialect(name).carries}
    assert carried <= READ_AS.keys()
    assert carried - {"watchdog", "adaptive"} <= KINDS_BY_PART.keys()

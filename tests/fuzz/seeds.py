"""Sound files to start from: the bases of the rules' tests, the examples, what tools print, and the corpus."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import REFERENCE
from tests.formats.hosts.from_model.fake_nic import FakeHost
from tests.formats.hosts.read import printed
from tests.formats.hosts.read.collecting import collect
from tests.fuzz.editor import conversation
from tests.fuzz.trials import EDITOR, INTENT_COMMANDS, MESSAGES, OTHER_COMMANDS, SWITCH_COMMANDS, Seed, beside
from tests.paths import ROOT, RULE_BASES

LARGEST_BYTES = 40_000
"""Larger files of the corpus say little more, and take long."""
CONFIGURATION = """\
select = ["ALL"]
ignore = ["TOP003"]
fail-on = "warning"

[severity]
WD001 = "warning"

[[suppress]]
rules = ["PFC001"]
reason = "why"
path = ["*.json", "leaf[1-3]/**"]
object = "PORT|Ethernet*"
until = 2030-12-31
"""


@cache
def seeds() -> tuple[Seed, ...]:
    """Return all seeds; those of the corpus where it is there."""
    found = [_seed(path) for path in sorted(RULE_BASES.iterdir()) if path.is_file()]
    found += [Seed("fabric.yaml", path.read_text(), INTENT_COMMANDS) for path in _intents()]
    found += [Seed(f"host1.{title}.txt", text, OTHER_COMMANDS) for title, text in _printed()]
    found.append(Seed("lossless.toml", CONFIGURATION, OTHER_COMMANDS))
    found += [Seed("snapshot.facts", text, OTHER_COMMANDS) for text in _snapshots()]
    found += [Seed(MESSAGES, json.dumps(messages), (EDITOR,)) for messages in _conversations()]
    corpus = sorted((REFERENCE / "corpus").rglob("*.json"))
    found += [
        Seed("config_db.json", path.read_text(), SWITCH_COMMANDS)
        for path in corpus
        if path.stat().st_size < LARGEST_BYTES
    ]
    return tuple(found)


def _seed(path: Path) -> Seed:
    commands = {".json": SWITCH_COMMANDS, ".yaml": INTENT_COMMANDS}.get(path.suffix, OTHER_COMMANDS)
    if path.suffix == ".csv":
        commands = (("import", "leaf.json", "--cabling", "FILE"),)
    return Seed(path.name, path.read_text(), commands)


def _intents() -> list[Path]:
    designs = sorted((REFERENCE / "reference" / "designs").glob("*.yaml"))
    return [*sorted((ROOT / "examples").glob("*/fabric.yaml")), *designs]


def _snapshots() -> Iterator[str]:
    """Yield what the collector prints on hosts with NICs of two families."""
    for driver, device in (("mlx5_core", "mlx5_0"), ("bnxt_en", "bnxt_re0")):
        with tempfile.TemporaryDirectory(prefix="host-") as folder:
            fake = FakeHost(Path(folder))
            fake.add_nic("eth2", device, driver=driver)
            yield collect(fake).stdout


def _conversations() -> Iterator[list[Any]]:
    for name, text in beside().items():
        yield conversation(Path("/nowhere", name), text)


def _printed() -> list[tuple[str, str]]:
    names = {
        "MLNX_QOS": "mlnx_qos",
        "DCB_APP": "dcb-app",
        "ETHTOOL_PAUSE": "ethtool",
        "MLXCONFIG": "mlxconfig",
        "MLXREG": "mlxreg",
    }
    return [(title, getattr(printed, name)) for name, title in names.items()]

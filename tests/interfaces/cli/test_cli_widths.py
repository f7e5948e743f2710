"""Every report of every command fits the columns there are, whole and in short."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lossless.analysis.simulation.engine.run import prepare
from tests.conftest import REFERENCE
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, leaf_with
from tests.paths import ROOT

FEW = ("--seeds", "1", "--size", "64KiB")
OF_EXAMPLES: dict[str, tuple[str, ...]] = {
    "lint": ("lint",),
    "statistics": ("lint", "--statistics"),
    "topology": ("topology",),
    "headroom": ("headroom",),
    "workload": ("workload", "--collective", "all-to-all"),
    "storm": ("storm", "--from", "host1"),
    "trace": ("trace", "--from", "host1", "--to", "host5", "--dscp", "26"),
    "closed forms": ("simulate", "--closed-form"),
}
"""Reports of an intent, which is named behind the command."""
OF_SMALL: dict[str, tuple[str, ...]] = {
    "simulate": ("simulate", "fabric.yaml", *FEW),
    "dead NIC": ("simulate", "fabric.yaml", "--dead-nic", *FEW),
    "workload with runs": ("workload", "fabric.yaml", "--simulate", "--size", "1 MiB", "--seeds", "1"),
    "sweep": ("sweep", "fabric.yaml", "--vary", "dynamic_th=-8..2", "--vary", "pmax=5%,20%", "--vary",
              "kmin=10kB,3MB", "--horizon", "50us", *FEW),
    "diff": ("diff", "config_db.json", "fabric.yaml", "--device", "leaf1"),
    "import": ("import", "config_db.json", "-o", "imported.yaml"),
    "render": ("render", "fabric.yaml", "-o", "out"),
    "lint of devices": ("lint", "config_db.json", "broken.json"),
    "topology against": ("topology", "fabric.yaml", "--against", "old.yaml"),
    "headroom of a port": ("headroom", "fabric.yaml", "--port", "leaf1:Ethernet0"),
    "headroom of a link": ("headroom", "--profile", "nvidia-sn5600", "--speed", "400G", "--cable", "40m"),
    "rules": ("rules",),
    "profiles": ("profiles",),
    "profile": ("profiles", "nvidia-sn5600"),
}  # fmt: skip
"""Reports of a small fabric."""
NOT_DETAILED = ("rules", "profiles", "profile", "render")
INTENTS = [
    *(str(ROOT / "examples" / name) for name in ("roce-256", "roce-256-as-published", "thor-64")),
    *(
        str(REFERENCE / "reference" / "designs" / f"{name}.yaml")
        for name in ("hpn-dual-plane", "colossus-3tier")
    ),
]
EXEMPT = {
    r"\S+:\d+:\d+: ": "the first line of a finding or problem off a terminal: programs look for it whole",
    r"\S+\.(?:json|yaml): |lossless: ": "a problem of a whole file or of the command: the same",
    r"(?:next|wrote)[: ]": "a shell command or path, to be copied whole",
    r"\s*\S+$": "one word, as a path",
    r"\s*[\w-]+(?: [\w-]+)?(?:: | {2,})\S+$": "one path behind its label",
}
"""Lines that may be wider, as patterns of their beginning, and why."""


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare(rare=True)


@pytest.fixture
def small(cli: Cli) -> Cli:
    Path("fabric.yaml").write_text(
        f"{INTENT}cluster: {{gpus_per_host: 8, nvlink: {{generation: 4, domain: 8}}}}\n"
    )
    Path("old.yaml").write_text(INTENT.replace("hosts_per_leaf: 4", "hosts_per_leaf: 3"))
    Path("config_db.json").write_text(LEAF)
    broken = json.loads(leaf_with("PFC_WD", "Ethernet8", action=None))
    broken["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_drop_probability"] = "0"
    Path("broken.json").write_text(json.dumps(broken))
    return cli


def too_wide(text: str, columns: int) -> list[str]:
    return [
        line
        for line in text.split("\n")
        if len(line) > columns and not any(re.match(pattern, line) for pattern in EXEMPT)
    ]


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("detail", [(), ("-v",)], ids=["short", "whole"])
@pytest.mark.parametrize("name", OF_SMALL)
def test_reports_of_a_small_fabric_fit(
    name: str, detail: tuple[str, ...], columns: int, small: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = small(*OF_SMALL[name], *(() if name in NOT_DETAILED else detail))
    assert done.out + done.err
    assert too_wide(done.out + done.err, columns) == []


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("intent", INTENTS, ids=lambda path: Path(path).stem)
@pytest.mark.parametrize("name", OF_EXAMPLES)
def test_reports_of_published_designs_fit(
    name: str, intent: str, columns: int, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path(intent).exists():
        pytest.skip("the published designs are not here")
    monkeypatch.setenv("COLUMNS", str(columns))
    command, *options = OF_EXAMPLES[name]
    done = cli(command, intent, *options, "-v")
    assert done.out + done.err
    assert too_wide(done.out + done.err, columns) == []


def test_where_nobody_says_how_wide_it_is_a_report_has_a_hundred_columns(small: Cli) -> None:
    text = small("simulate", "fabric.yaml", "--closed-form", "-v").out
    assert 90 < max(map(len, text.split("\n"))) <= 100


def test_a_simulation_fits_one_screen_in_short(small: Cli) -> None:
    text = small(*OF_SMALL["simulate"]).out
    assert 15 < len(text.split("\n")) <= 40
    assert [
        word for word in ("verdict:", "limiting port:", "PFC ", "ECN ", "headroom ") if word not in text
    ] == []

"""Every report of every command fits the columns there are, whole and in short."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lossless import api
from lossless.analysis.simulation.engine.run import prepare
from lossless.checks.rules.registry import RULES
from lossless.interfaces.cli.app import COMMANDS
from tests.analysis.opensm.test_traps import intent_with as opensm_intent
from tests.conftest import REFERENCE
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, leaf_with
from tests.interfaces.cli.repositories import repository, write
from tests.interfaces.cli.test_cli_infiniband import GUIDS, TREE
from tests.paths import ROOT

pytestmark = pytest.mark.xdist_group("widths")
ANSWERS: dict[str, Any] = {}
FEW = ("--seeds", "1", "--size", "64KiB")
OF_EXAMPLES: dict[str, tuple[str, ...]] = {
    "lint": ("lint",),
    "statistics": ("lint", "--statistics"),
    "topology": ("topology",),
    "headroom": ("headroom",),
    "workload": ("workload", "--collective", "all-to-all"),
    "storm": ("storm", "--from", "host1"),
    "acceptance": ("acceptance",),
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
    "diff of many": ("diff", "config_db.json", "broken.json", "cut.json", "fabric.yaml"),
    "import": ("import", "config_db.json", "-o", "imported.yaml"),
    "render": ("render", "fabric.yaml", "-o", "out"),
    "lint of devices": ("lint", "config_db.json", "broken.json"),
    "topology against": ("topology", "fabric.yaml", "--against", "old.yaml"),
    "headroom of a port": ("headroom", "fabric.yaml", "--port", "leaf1:Ethernet0"),
    "headroom of a link": ("headroom", "--profile", "nvidia-sn5600", "--speed", "400G", "--cable", "40m"),
    "rules": ("rules",),
    "profiles": ("profiles",),
    "profile": ("profiles", "nvidia-sn5600"),
    "InfiniBand switch": ("profiles", "nvidia-qm9700"),
    "baseline": ("baseline", "broken.json"),
    "lint with runs": ("lint", "fabric.yaml", "config_db.json", "--simulate"),
    "unreadable": ("lint", "config_db.json", "cut.json"),
}  # fmt: skip
"""Reports of a small fabric."""
NOT_DETAILED = ("rules", "profiles", "profile", "InfiniBand switch", "render", "baseline")
OF_SUBNET: dict[str, tuple[str, ...]] = {
    "lint": ("lint", "fabric.yaml", "-v"),
    "topology": ("topology", "fabric.yaml", "-v"),
    "workload": ("workload", "fabric.yaml", "-v"),
    "render": ("render", "fabric.yaml", "-o", "out"),
    "simulate": ("simulate", "fabric.yaml"),
    "trace": ("trace", "fabric.yaml", "--from", "host1", "--to", "host2", "--dscp", "26"),
}
"""Reports of an InfiniBand subnet, also where they say why there is none."""
REFUSED: dict[str, tuple[str, ...]] = {
    "key": ("lint", "key.yaml"),
    "keys": ("lint", "keys.yaml"),
    "file": (
        "lint",
        "there/is/no/such/file/of/this/long/name/in/the/folder/where/the/command/runs/fabric.yaml",
    ),
    "cut file": ("diff", "cut.json", "fabric.yaml"),
    "order": ("diff", "fabric.yaml", "config_db.json"),
    "command": ("lintt",),
    "option": ("lint", "--sarif"),
    "value": ("lint", "--format", "sarf"),
    "rule": ("lint", "--select", "watchdog-mising"),
    "profile": ("profiles", "nvidia-sn560"),
    "class": ("simulate", "fabric.yaml", "--class", "storage-of-all-hosts"),
    "target": ("simulate", "fabric.yaml", "--target", "host99:port99"),
    "host": ("storm", "fabric.yaml", "--from", "host99"),
    "end": ("trace", "fabric.yaml", "--from", "host99", "--to", "host1", "--dscp", "26"),
    "port": ("headroom", "fabric.yaml", "--port", "leaf1:Ethernet9999"),
    "sweep": ("sweep", "fabric.yaml", "--vary", "dynamic=1"),
    "cable": ("headroom", "--profile", "nvidia-sn5600", "--speed", "400G", "--cable", "40000km"),
    "baseline": ("baseline", "cut.json"),
}
"""Refusals: a person reads them at a terminal."""
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
    r"\s*(?:= )?[\w-]+(?: [\w-]+)?(?:: | {2,})\S+$": "one path behind its label",
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
    Path("cut.json").write_text(LEAF[:400])
    Path("key.yaml").write_text(INTENT.replace("fabric: base", "fabrik: base"))
    Path("keys.yaml").write_text(INTENT.replace("leaves: 2", "leafs: 2").replace("poll:", "pol:"))
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


def answer(name: str, ask: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what the API answers, which is kept until something else is asked."""
    question = repr((name, arguments, options))
    if question not in ANSWERS:
        ANSWERS.clear()
        ANSWERS[question] = ask(*arguments, **options)
    return ANSWERS[question]


@pytest.fixture
def _answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the API once of a design: only how the answer is shown depends on how wide it may be."""
    for name in ("headroom_of_ports", "lint", "simulate", "storm", "topology", "trace", "workload"):
        monkeypatch.setattr(api, name, partial(answer, name, getattr(api, name)))


@pytest.mark.tools("records")
@pytest.mark.usefixtures("_answered_once")
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


@pytest.fixture
def subnet(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("FABRIC_M_KEY", "0x1122334455667788")
    Path("fabric.yaml").write_text(TREE.replace("guids: {", "guid_file: guids.txt\nguids: {"))
    Path("guids.txt").write_text(GUIDS)
    return cli


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", OF_SUBNET)
def test_reports_of_a_subnet_fit(
    name: str, columns: int, subnet: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = subnet(*OF_SUBNET[name])
    assert done.out + done.err
    assert too_wide(done.out + done.err, columns) == []


@pytest.mark.parametrize("columns", [80, 100])
def test_what_is_said_of_the_files_of_a_subnet_manager_fits(
    columns: int, subnet: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", str(columns))
    subnet("render", "fabric.yaml", "-o", "out")
    options = Path("out/sm1/opensm.conf")
    options.write_text(
        options.read_text().replace("qos TRUE", "qos true").replace("routing_engine ", "routing_engin ")
    )
    done = subnet("lint", "out", "-v", on_terminal=True)
    assert "IB016" in done.out
    assert too_wide(done.out + done.err, columns) == []


@pytest.mark.tools("opensm")
@pytest.mark.parametrize("columns", [80, 100])
def test_the_verdict_of_opensm_fits(columns: int, subnet: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    Path("fabric.yaml").write_text(opensm_intent({}).text)
    done = subnet("opensm", "fabric.yaml")
    assert done.out
    assert too_wide(done.out + done.err, columns) == []


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("options", [(), ("-v",), ("--format", "github")], ids=" ".join)
def test_what_a_change_adds_fits(
    options: tuple[str, ...], columns: int, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository(tmp_path, {"leaf1/config_db.json": LEAF})
    write(tmp_path, {"leaf1/config_db.json": leaf_with("PFC_WD", "Ethernet8", action=None)})
    monkeypatch.setenv("COLUMNS", str(columns))
    done = cli("lint", ".", "--since", "HEAD", *options)
    assert done.code == 1
    assert too_wide(re.sub(r"(?m)^::.*$", "", done.out) + done.err, columns) == []


@pytest.mark.parametrize("columns", [80, 100])
def test_what_is_said_of_rules_fits(columns: int, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    wide = {code: too_wide(_unfenced(cli("rule", code).out), columns) for code in RULES}
    assert {code: lines for code, lines in wide.items() if lines} == {}


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_and_cuts_no_word(
    command: str, columns: int, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = cli(*command.split(), "--help").out.split("\n")
    assert [line for line in lines if len(line) > columns or re.search(r"\w-$", line)] == []


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_fits_the_terminal(
    name: str, columns: int, small: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "dumb")
    done = small(*REFUSED[name], on_terminal=True)
    assert done.code == 2
    assert [line for line in done.err.split("\n") if len(line) > columns and " " in line.strip()] == []


def test_a_refusal_is_one_line_where_no_person_reads_it(small: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert small("profiles", "nvidia-sn560").err.count("\n") == 1


def test_what_is_copied_out_of_a_refusal_stays_whole(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for columns in range(40, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        refused = cli("profiles", "nvidia-sn560", on_terminal=True).err
        assert "lossless profiles)" in refused
        assert "'my own rule'" in cli("rule", "my own rule", on_terminal=True).err


def _unfenced(markdown: str) -> str:
    """Return Markdown without what is fenced, which is copied as it is."""
    return re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)


def test_where_nobody_says_how_wide_it_is_a_report_has_a_hundred_columns(small: Cli) -> None:
    text = small("simulate", "fabric.yaml", "--closed-form", "-v").out
    assert 90 < max(map(len, text.split("\n"))) <= 100


def test_a_simulation_fits_one_screen_in_short(small: Cli) -> None:
    text = small(*OF_SMALL["simulate"]).out
    assert 15 < len(text.split("\n")) <= 40
    assert [
        word for word in ("verdict:", "limiting port:", "PFC ", "ECN ", "headroom ") if word not in text
    ] == []

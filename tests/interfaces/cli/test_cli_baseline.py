"""A baseline: what was there when a repository began is known, what comes after is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.formats.sonic import shapes
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import intent_with, leaf_with
from tests.paths import RULE_BASES

OVERSUBSCRIBED = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
WATCHDOG = leaf_with("PFC_WD", "Ethernet4", action=None).replace('"hostname": "leaf1"', '"hostname": "tor1"')
BASELINE = Path("lossless-baseline.json")


@pytest.fixture
def site(cli: Cli) -> Cli:
    """A repository with an oversubscribed intent and a switch without a watchdog on one port."""
    Path(".git").mkdir()
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    Path("configs").mkdir()
    Path("configs/tor1.json").write_text(WATCHDOG)
    return cli


@pytest.fixture
def known(site: Cli) -> Cli:
    """The same, with a baseline that the configuration names."""
    Path("lossless.toml").write_text('baseline = "lossless-baseline.json"\n')
    assert site("baseline").code == 0
    return site


def report(cli: Cli, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(cli("lint", "--format", "json", *arguments).out))


def codes(cli: Cli, *arguments: str) -> list[str]:
    return [finding["code"] for finding in report(cli, *arguments)["findings"]]


def test_what_a_baseline_looks_like(site: Cli) -> None:
    assert site("baseline") == (
        0,
        "",
        snapshot("""\
lossless-baseline.json: 2 findings known (2 new, 0 gone)
commit it, and put baseline = "lossless-baseline.json" in lossless.toml: then every lint uses it
"""),
    )
    head, watchdog, oversubscribed, foot = BASELINE.read_text().splitlines()
    assert (head, foot) == ('{"version": 2, "findings": [', "]}")
    entry = json.loads(watchdog.removesuffix(","))
    assert list(entry) == ["file", "object", "code", "value", "severity", "on"]
    assert entry["on"] == ["tor1:Ethernet4"]
    assert entry["value"]["message"].startswith("PFC is on and the port has no PFC_WD row")
    assert json.loads(oversubscribed) == {
        "file": "fabric.yaml",
        "object": "topology.leaf_spine.uplinks",
        "code": "TOP001",
        "severity": "error",
        "value": {"down_bps": 3_200 * 10**9, "up_bps": 1_600 * 10**9, "ratio": 2.0},
        "on": ["leaf1", "leaf2"],
    }


def test_what_is_known_is_counted_and_not_shown(known: Cli) -> None:
    found = report(known)
    assert found["findings"] == []
    assert (found["summary"]["baselined"], found["summary"]["files"]) == (2, 2)
    assert known("lint").code == 0
    assert codes(known, "--no-baseline") == ["WD001", "TOP001"]
    assert codes(known, "--no-config") == ["WD001", "TOP001"]
    assert codes(known, "--no-config", "--baseline", "lossless-baseline.json") == []


def test_lines_do_not_matter_and_neither_does_where_a_run_begins(
    known: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("fabric.yaml").write_text("# one more line\n" + OVERSUBSCRIBED)
    assert codes(known) == []
    monkeypatch.chdir("configs")
    assert codes(known) == []
    assert codes(known, "../fabric.yaml") == []


def test_one_more_finding_is_shown(known: Cli) -> None:
    Path("configs/tor1.json").write_text(WATCHDOG.replace('"xoff": "231424"', '"xoff": "131072"'))
    assert set(codes(known)) == {"BUF002"}


def test_a_worse_value_and_one_more_port_are_shown(cli: Cli) -> None:
    """131,424 B are known to be short of what vendors reserve; 20,000 B are far below the floor."""
    short = leaf_with("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", xoff="131424")
    Path("leaf1.json").write_text(short)
    cli("baseline")
    assert codes(cli, "--baseline", str(BASELINE)) == []
    Path("leaf1.json").write_text(short.replace('"131424"', '"20000"'))
    assert "BUF002" in codes(cli, "--baseline", str(BASELINE))
    tables = json.loads(short)
    del tables["PFC_WD"]["Ethernet4"]
    Path("leaf1.json").write_text(json.dumps(tables))
    cli("baseline")
    del tables["PFC_WD"]["Ethernet0"]
    Path("leaf1.json").write_text(json.dumps(tables))
    findings = report(cli, "--baseline", str(BASELINE))["findings"]
    assert [finding["elements"] for finding in findings if finding["code"] == "WD001"] == [
        ["leaf1:Ethernet0"]
    ]


def test_the_severity_that_counts_is_the_one_that_is_configured(site: Cli) -> None:
    configured = 'baseline = "lossless-baseline.json"\n[severity]\nTOP001 = "{}"\n'
    Path("lossless.toml").write_text(configured.format("warning"))
    site("baseline")
    assert codes(site) == []
    Path("lossless.toml").write_text(configured.format("error"))
    assert codes(site) == ["TOP001"]
    assert site("baseline").err.startswith("lossless-baseline.json: 2 findings known (0 new, 0 gone)\n")
    assert codes(site) == []
    (entry,) = (e for e in json.loads(BASELINE.read_text())["findings"] if e["code"] == "TOP001")
    assert (entry["severity"], entry["on"]) == ("error", ["leaf1", "leaf2"])


def test_what_is_fixed_is_stale_and_pruned(known: Cli) -> None:
    Path("fabric.yaml").write_text(intent_with("uplinks: 2 x 800G", "uplinks: 2 x 800G"))
    code, out, _ = known("lint")
    assert code == 0
    assert out == snapshot("""\
lossless-baseline.json:3:1: SUP003 baseline-stale: 1 finding of this baseline is not found any more [warning]
  |
3 | {"file": "fabric.yaml", "object": "topology.leaf_spine.uplinks", "code": "TOP001", "value": {...
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = on: fabric.yaml topology.leaf_spine.uplinks TOP001
  = help: lossless baseline --prune removes what is fixed

""")
    assert known("baseline", "--prune").err == snapshot("lossless-baseline.json: 1 finding known (1 gone)\n")
    assert [entry["code"] for entry in json.loads(BASELINE.read_text())["findings"]] == ["WD001"]
    assert codes(known) == []
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    assert codes(known) == ["TOP001"]
    assert known("baseline", "--prune").err == "lossless-baseline.json: 1 finding known (0 gone)\n"
    assert codes(known) == ["TOP001"]


def test_a_run_over_some_files_calls_no_other_stale(known: Cli) -> None:
    before = BASELINE.read_bytes()
    assert codes(known, "fabric.yaml") == []
    assert codes(known, "--select", "ECN") == []
    assert known("baseline", "--prune", "fabric.yaml").code == 0
    assert known("baseline", "fabric.yaml").code == 0
    assert BASELINE.read_bytes() == before


def test_a_file_that_is_gone_is_stale(known: Cli) -> None:
    Path("configs/tor1.json").unlink()
    assert codes(known, "fabric.yaml") == ["SUP003"]
    known("baseline", "--prune", "fabric.yaml")
    assert codes(known, "fabric.yaml") == []


def test_a_finding_of_several_files_is_stale_only_in_a_run_over_all(cli: Cli) -> None:
    bases = RULE_BASES
    Path("a.json").write_bytes((bases / "wired-leaf.json").read_bytes())
    spine = json.loads((bases / "wired-spine.json").read_text())
    for port in spine["PORT"].values():
        port["mtu"] = "1500"
    Path("b.json").write_text(json.dumps(spine))
    cli("baseline")
    assert "LNK002" in BASELINE.read_text()
    Path("b.json").write_bytes((bases / "wired-spine.json").read_bytes())
    assert "SUP003" not in codes(cli, "--baseline", str(BASELINE), "a.json")
    assert "SUP003" not in codes(cli, "--baseline", str(BASELINE), "a.json", "b.json")
    assert "SUP003" in codes(cli, "--baseline", str(BASELINE))


@pytest.mark.parametrize("form", [dict, *shapes.WHOLE.values()])
def test_a_finding_in_whose_place_another_one_is_shown_is_not_stale(
    form: Callable[[dict[str, Any]], Any], cli: Cli
) -> None:
    """A profile that does not mark, and then one whose mode orchagent does not know: it does not mark either."""

    def mark(mode: str) -> list[str]:
        leaf = leaf_with("WRED_PROFILE", "AZURE_LOSSLESS", ecn=mode)
        Path("leaf1.json").write_text(json.dumps(form(json.loads(leaf))))
        return codes(cli, "--ignore", "CFG012")

    Path("lossless.toml").write_text('baseline = "lossless-baseline.json"\n')
    assert mark("ecn_none") == ["ECN001"]
    cli("baseline")
    known = BASELINE.read_bytes()
    assert mark("ecn_none") == []
    assert mark("ecn_purple") == ["SWS003", "SCM002"]
    cli("baseline", "--prune")
    assert BASELINE.read_bytes() == known
    assert mark("ecn_all") == ["SUP003"]


def test_the_same_bytes_whatever_the_order(known: Cli) -> None:
    before = BASELINE.read_bytes()
    for paths in (("configs", "fabric.yaml"), ("fabric.yaml", "configs"), ("./configs/tor1.json", ".")):
        BASELINE.unlink()
        assert known("baseline", *paths).code == 0
        assert BASELINE.read_bytes() == before


def test_a_merge_that_left_an_entry_twice_is_read_as_one(known: Cli) -> None:
    data = json.loads(BASELINE.read_text())
    data["findings"] += data["findings"]
    BASELINE.write_text(json.dumps(data))
    assert codes(known) == []


def test_a_baseline_of_its_own_folder(site: Cli) -> None:
    assert site("baseline", "configs", "-o", "configs/known.json").code == 0
    assert json.loads(Path("configs/known.json").read_text())["findings"][0]["file"] == "tor1.json"
    Path("configs/lossless.toml").write_text('baseline = "known.json"\n')
    assert codes(site) == ["TOP001"]


def test_nothing_is_written_where_something_cannot_be_read(known: Cli) -> None:
    before = BASELINE.read_bytes()
    Path("configs/config_db.json").write_text("{")
    for arguments in ((), ("--prune",)):
        code, out, err = known("baseline", *arguments)
        assert (code, out) == (2, "")
        assert (
            err.splitlines()[-1]
            == "lossless-baseline.json: nothing was written, since not everything could be read"
        )
        assert err.startswith("configs/config_db.json:1:2: ")
    assert BASELINE.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "lossless-baseline.json:1:2: the file ends too early; is it cut off?"),
        (
            '{"version": 1}',
            "lossless-baseline.json:1:13: not a baseline of version 2; "
            "delete the file, and lossless baseline writes it again",
        ),
        ('{"version": 2, "findings": 3}', "lossless-baseline.json:1:28: findings is no list"),
        (
            '{"version": 2, "findings": [{"file": "a"}]}',
            "lossless-baseline.json:1:29: object is missing",
        ),
        (
            '{"version": 2, "findings": [{"file": "a", "object": "b", "code": "WD001", "severity": "error"}]}',
            "lossless-baseline.json:1:29: an entry needs a count of 1 or more, or a list of names in on",
        ),
        (
            '{"version": 2, "findings": [{"file": "a", "object": "b", "code": "WD0", "severity": "info", "count": 1}]}',
            "lossless-baseline.json:1:29: no rule 'WD0'; did you mean WD? (lossless rules lists all)",
        ),
        ("<<<<<<< HEAD\n{}", "lossless-baseline.json:1:1: expected a value"),
    ],
)
def test_a_broken_baseline_is_named_and_the_rest_checked(text: str, message: str, known: Cli) -> None:
    BASELINE.write_text(text)
    code, out, err = known("lint", "-q")
    assert code == 2
    assert [line.split()[1] for line in out.splitlines()] == ["WD001", "TOP001"]
    assert err == f"{message}\n"
    assert known("baseline") == (2, "", f"{message}\n")
    assert BASELINE.read_text() == text


def test_a_baseline_that_is_missing(site: Cli) -> None:
    Path("lossless.toml").write_text('baseline = "known.json"\n')
    code, _, err = site("lint", "-q")
    assert (code, err) == (2, "known.json: no such file; lossless baseline writes it\n")
    assert site("baseline", "--prune").code == 2
    assert site("baseline").code == 0
    assert site("lint").code == 0


def test_what_is_about_suppressions_is_never_known(site: Cli) -> None:
    Path("lossless.toml").write_text('[[suppress]]\nrules = ["ECN001"]\nreason = "x"\n')
    site("baseline")
    assert "SUP" not in BASELINE.read_text()
    assert codes(site, "--baseline", str(BASELINE)) == ["SUP001"]


def test_suppressing_what_is_known_makes_nothing_stale(known: Cli) -> None:
    Path("lossless.toml").write_text(
        'baseline = "lossless-baseline.json"\n[[suppress]]\nrules = ["ALL"]\nreason = "x"\n'
    )
    found = report(known)
    assert (found["findings"], found["summary"]["suppressed"], found["summary"]["baselined"]) == ([], 2, 0)

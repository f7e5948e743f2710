"""Choosing rules, severities and what fails a run: on the command line and in a configuration."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from inline_snapshot import snapshot

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import LEAF, intent_with, leaf_with
from tests.paths import RULE_BASES

OVERSUBSCRIBED = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
SLOW_MTU = leaf_with("PORT", "Ethernet4", mtu="1500")
WATCHDOG = leaf_with("PFC_WD", "Ethernet4", action=None)


def codes(cli: Cli, *arguments: str) -> list[str]:
    return [finding["code"] for finding in found(cli, *arguments)]


def found(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    out = cli("lint", "--format", "json", *arguments).out
    return list(json.loads(out)["findings"])


@pytest.fixture
def site(cli: Cli) -> Cli:
    """A repository with an oversubscribed intent and a switch without a watchdog on one port."""
    Path(".git").mkdir()
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    Path("configs").mkdir()
    Path("configs/tor1.json").write_text(WATCHDOG.replace('"hostname": "leaf1"', '"hostname": "tor1"'))
    return cli


# --- on the command line ---


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), ["WD001", "TOP001"]),
        (("--select", "WD"), ["WD001"]),
        (("--select", "watchdog-missing"), ["WD001"]),
        (("--select", "ECN,TOP"), ["TOP001"]),
        (("--select", "ECN", "--select", "TOP001"), ["TOP001"]),
        (("--ignore", "TOP"), ["WD001"]),
        (("--select", "ALL", "--ignore", "WD00"), ["TOP001"]),
        (("--select", "WD001", "--ignore", "WD"), ["WD001"]),
        (("--select", "ECN"), []),
    ],
)
def test_rules_are_chosen_by_code_name_and_family(
    arguments: tuple[str, ...], expected: list[str], site: Cli
) -> None:
    assert codes(site, *arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--select", "WDOG"),
            "Invalid value for '--select': no rule 'WDOG'; did you mean WD? (lossless rules lists all)",
        ),
        (("--ignore", "WD,"), "Invalid value for '--ignore': no rule ''; lossless rules lists all"),
        (("--config", "gone.toml"), "Invalid value for '--config': File 'gone.toml' does not exist."),
        (("--config", "fabric.yaml", "--no-config"), "--config and --no-config contradict each other"),
        (
            ("--baseline", "fabric.yaml", "--no-baseline"),
            "--baseline and --no-baseline contradict each other",
        ),
    ],
)
def test_what_cannot_be_chosen_is_refused(arguments: tuple[str, ...], message: str, site: Cli) -> None:
    code, out, err = site("lint", *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"Error: {message}"


def test_what_is_not_chosen_is_not_even_loaded(site: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from lossless.checks.rules import registry

    loaded: list[str] = []
    load = registry._load

    def watched(code: str, subject: registry.Subject) -> registry.LoadedRule:
        loaded.append(code)
        return load(code, subject)

    monkeypatch.setattr(registry, "_load", watched)
    registry._rules_for.cache_clear()
    site("lint", "--select", "WD001,ECN001")
    assert set(loaded) == {"WD001", "ECN001"}


def test_devices_are_compared_where_one_of_them_is_chosen_for_that(cli: Cli) -> None:
    Path(".git").mkdir()
    for name, chosen in (("a", "LNK"), ("b", "WD")):
        Path(name).mkdir()
        Path(name, "lossless.toml").write_text(f'select = ["{chosen}"]\n')
    shutil.copy(RULE_BASES / "wired-leaf.json", "a/leaf.json")
    spine = json.loads((RULE_BASES / "wired-spine.json").read_text())
    for port in spine["PORT"].values():
        port["mtu"] = "1500"
    Path("b/spine.json").write_text(json.dumps(spine))
    assert {(f["code"], f["file"]) for f in found(cli)} <= {("LNK002", "a/leaf.json")}
    Path("b/lossless.toml").write_text('select = ["LNK"]\n')
    assert "LNK002" in codes(cli)


def test_exit_codes(site: Cli) -> None:
    assert site("lint", "--exit-zero").code == 0
    assert site("lint", "--fail-on", "never").code == 0
    Path("configs/cut.json").write_text("{")
    assert site("lint", "--exit-zero", "configs/cut.json").code == 2
    Path("configs/cut.json").unlink()
    Path("lossless.toml").write_text('fail-on = "never"\n')
    assert site("lint").code == 0
    assert site("lint", "--fail-on", "error").code == 1


def test_the_strictest_folder_decides_what_fails(site: Cli) -> None:
    Path("lossless.toml").write_text('fail-on = "never"\n[severity]\nTOP = "warning"\nWD001 = "info"\n')
    assert site("lint").code == 0
    Path("configs/lossless.toml").write_text('fail-on = "warning"\n')
    assert site("lint").code == 1
    assert site("lint", "fabric.yaml").code == 0


# --- configuration ---


def test_severities_by_family_and_code(site: Cli) -> None:
    Path("lossless.toml").write_text('[severity]\nALL = "warning"\nWD = "error"\nwatchdog-missing = "info"\n')
    assert {f["code"]: f["severity"] for f in found(site)} == {"TOP001": "warning", "WD001": "info"}


def test_the_nearest_configuration_holds_whole(site: Cli) -> None:
    Path("lossless.toml").write_text('ignore = ["TOP"]\n')
    Path("configs/lossless.toml").write_text('select = ["ECN"]\n')
    assert codes(site) == []
    Path("configs/lossless.toml").write_text("")
    assert codes(site) == ["WD001"]


def test_it_does_not_matter_where_a_run_begins(site: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("lossless.toml").write_text('ignore = ["WD"]\n')
    root = Path.cwd()
    for folder, path in (
        (root, "configs/tor1.json"),
        (root / "configs", "tor1.json"),
        (root.parent, str(root / "configs")),
    ):
        monkeypatch.chdir(folder)
        assert codes(site, path) == []
    stdin = (root / "configs/tor1.json").read_bytes()
    monkeypatch.chdir(root)
    assert site("lint", "-", "--stdin-filename", "configs/tor1.json", stdin=stdin).code == 0


def test_nothing_above_the_repository_counts(site: Cli) -> None:
    Path("lossless.toml").write_text('ignore = ["WD"]\n')
    assert codes(site, "configs") == []
    Path("configs/.git").mkdir()
    assert codes(site, "configs") == ["WD001"]


def test_a_pyproject_counts_where_it_has_our_table(site: Cli) -> None:
    Path("configs/pyproject.toml").write_text('[project]\nname = "lossless-configs"\n')
    Path("lossless.toml").write_text('ignore = ["WD"]\n')
    assert codes(site, "configs") == []
    Path("configs/pyproject.toml").write_text('[tool.lossless]\nselect = ["WD"]\n')
    assert codes(site, "configs") == ["WD001"]
    Path("configs/pyproject.toml").write_text('[tool]\nother.key = 1\nlossless.select = ["WD"]\n')
    assert codes(site, "configs") == ["WD001"]
    Path("configs/lossless.toml").write_text('select = ["ECN"]\n')
    assert codes(site, "configs") == []


def test_what_others_broke_in_their_pyproject_is_no_matter(site: Cli) -> None:
    Path("pyproject.toml").write_text('[project\nname = "lossless"\n')
    assert site("lint", "configs").err.count("pyproject") == 0
    Path("pyproject.toml").write_text("[tool.lossless\n")
    code, _, err = site("lint", "configs")
    assert code == 2
    assert err.startswith("pyproject.toml:1:15: not valid TOML")


def test_a_configuration_can_be_named_or_left_out(site: Cli) -> None:
    Path("lossless.toml").write_text('ignore = ["WD"]\n')
    Path("ci.toml").write_text('ignore = ["TOP"]\n')
    assert codes(site) == ["TOP001"]
    assert codes(site, "--config", "ci.toml") == ["WD001"]
    assert codes(site, "--no-config") == ["WD001", "TOP001"]
    assert codes(site, "--select", "WD") == ["WD001"]


NEEDLESS = {
    "tomllib",
    *(f"lossless.checks.lint.{name}" for name in ("configuration.reader", "filter")),
}


def needless() -> set[str]:
    """Return what a run imports, of what only those need who have a configuration or a suppression."""
    code = (
        "import sys; sys.argv[1:] = ['lint', '.']; from lossless.interfaces.cli import main; main(); "
        f"print(*({NEEDLESS!r} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.usefixtures("site")
def test_who_has_no_configuration_pays_for_none() -> None:
    Path("pyproject.toml").write_text('[project]\nname = "a"\ndependencies = ["lossless"]\n')
    assert needless() <= {"tomllib"}  # hardware profiles
    Path("fabric.yaml").unlink()
    assert needless() == set()
    Path("pyproject.toml").write_text('[tool.poetry.dependencies]\nlossless = "^1"\n')
    assert needless() == set()
    Path("pyproject.toml").write_text("[tool.lossless]\n")
    assert needless() == NEEDLESS


# --- bad input ---

BROKEN = """\
select = ["WD", "TPO", 7]
ignore = "TOP"
fail-on = "warn"
sellect = []
baseline = ""

[severity]
WD001 = "fatal"
WD999 = "info"

[[suppress]]
rules = ["WD001"]
pfad = "x"

[[suppress]]
rules = []
reason = " "
until = "31.12.2026"
object = ["", 3]
"""


def test_every_mistake_in_a_configuration_is_named_where_it_stands(site: Cli) -> None:
    Path("lossless.toml").write_text(BROKEN)
    code, out, err = site("lint", "--no-source")
    assert code == 2
    assert "WD001" in out
    assert err == snapshot("""\
lossless.toml:1:17: select: no rule 'TPO'; did you mean TOP? (lossless rules lists all)

lossless.toml:1:24: select: 7 is no rule; expected a code, a name or a family, in quotes

lossless.toml:2:10: ignore: 'TOP' is no list of rules; expected one such as ["WD001", "ECN"]

lossless.toml:3:11: fail-on: 'warn' is none of error, warning, info, never; did you mean warning?

lossless.toml:4:1: no key 'sellect'; there are rdma-dscp, rules-url, exclude, force-exclude, fabric, ports, bandwidth

lossless.toml:5:12: baseline: '' is no text; expected one that says something, in quotes

lossless.toml:8:9: 'fatal' is none of error, warning, info

lossless.toml:9:1: no rule 'WD999'; did you mean WD009? (lossless rules lists all)

lossless.toml:11:1: reason is missing: why these findings are accepted, for whoever reads this later.

lossless.toml:13:1: no key 'pfad'; there are path, reason, object, until

lossless.toml:16:9: rules: [] is no list of rules; expected one such as ["WD001", "ECN"]

lossless.toml:17:10: reason: ' ' is no text; expected one that says something, in quotes

lossless.toml:18:9: until: '31.12.2026' is no date; expected one such as 2026-12-31

lossless.toml:19:11: object: '' is no text; expected one that says something, in quotes

lossless.toml:19:15: object: 3 is no text; expected one that says something, in quotes

check incomplete (15 problems in the input); the rest: 1 error, 0 warnings, 0 infos in 2 files (0
  suppressed, 0 baselined, 3 not checked)
""")


def test_what_has_a_meaning_holds_beside_what_has_none(site: Cli) -> None:
    Path("lossless.toml").write_text('ignore = ["WD", "TPO"]\n[severity]\nTOP001 = "info"\nWD1 = "info"\n')
    code, out, err = site("lint", "-q")
    assert code == 2
    assert [line.partition(": ")[2][:6] for line in out.splitlines()] == ["TOP001"]
    assert out.strip().endswith("[info]")
    assert len(err.splitlines()) == 2


def test_half_an_entry_keeps_nothing_back(site: Cli) -> None:
    Path("lossless.toml").write_text(
        '[[suppress]]\nrules = ["WD001"]\nreason = "x"\nobjct = "PORT|Ethernet0"\n'
    )
    code, out, err = site("lint", "-q", "configs")
    assert (code, "WD001" in out) == (2, True)
    assert err == "lossless.toml:4:1: no key 'objct'; did you mean object? (others: path, until)\n"


def test_a_broken_configuration_stops_nothing_else(site: Cli) -> None:
    Path("configs/lossless.toml").write_text("ignore = [\n")
    code, out, err = site("lint", "-q")
    assert code == 2
    assert [line.split(":")[0] for line in out.splitlines()] == ["configs/tor1.json", "fabric.yaml"]
    assert err == snapshot(
        "configs/lossless.toml:1:11: not valid TOML: Invalid value; "
        "the files below are checked as if it were not there\n"
    )


def test_one_unreadable_file_among_many_stops_nothing_else(cli: Cli) -> None:
    Path("configs").mkdir()
    for number in range(40):
        text = LEAF.replace('"hostname": "leaf1"', f'"hostname": "tor{number}"')
        Path(f"configs/config_db_{number:02}.json").write_text(text)
    Path("configs/config_db_07.json").write_bytes(b"\xff\xfe{")
    Path("configs/config_db_31.json").write_text('{"PORT": ')
    code, out, _ = cli("lint", "--format", "json", "configs")
    report = json.loads(out)
    assert code == 2
    assert [error["file"] for error in report["errors"]] == [
        "configs/config_db_07.json",
        "configs/config_db_31.json",
    ]
    assert report["summary"]["files"] == 38


def test_many_files_in_several_processes_are_checked_as_few_are(cli: Cli) -> None:
    Path(".git").mkdir()
    for number in range(40):
        folder = Path("lab" if number % 2 else "site")
        folder.mkdir(exist_ok=True)
        Path(folder, f"tor{number}.json").write_text(WATCHDOG.replace('"leaf1"', f'"tor{number}"'))
    Path("lossless.toml").write_text('[[suppress]]\nrules = ["WD"]\npath = "lab"\nreason = "x"\n')
    Path("site/lossless.toml").write_text('[severity]\nWD001 = "info"\n')
    report = json.loads(cli("lint", "--format", "json").out)
    assert (report["summary"]["suppressed"], report["summary"]["info"], report["summary"]["error"]) == (
        20,
        20,
        0,
    )
    assert codes(cli, "--select", "ECN") == []
    assert codes(cli, "--select", "ALL", "site") == ["WD001"] * 20


# --- schema ---


def test_the_schema_says_what_is_valid(site: Cli) -> None:
    import tomllib

    schema = json.loads(site("schema", "--config").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    valid = """
select = ["ALL"]
ignore = ["WD00", "watchdog-missing", "ECN001"]
fail-on = "warning"
baseline = "known.json"
[severity]
WD = "info"
[[suppress]]
rules = ["WD"]
path = ["a", "b"]
object = "PORT|*"
reason = "x"
until = "2026-12-31"
"""
    validator.validate(tomllib.loads(valid))
    Path("lossless.toml").write_text(valid.replace('baseline = "known.json"', ""))
    assert site("lint").err.count("lossless.toml") == 0
    mistakes = {tuple(error.absolute_path) for error in validator.iter_errors(tomllib.loads(BROKEN))}
    assert mistakes >= {("select", 1), ("select", 2), ("ignore",), ("fail-on",), (), ("baseline",)}
    assert mistakes >= {
        ("severity", "WD001"),
        ("suppress", 0),
        ("suppress", 1, "until"),
        ("suppress", 1, "rules"),
    }


def test_every_key_of_the_schema_is_described(cli: Cli) -> None:
    schema = json.loads(cli("schema", "--config").out)
    for keys in (schema["properties"], schema["properties"]["suppress"]["items"]["properties"]):
        assert all(key.get("description") or key["items"]["description"] for key in keys.values())

"""Rules of installed plugins: who may name them, what they take part in, and what is said of one that is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lossless import api
from lossless.checks.plan.evaluation import _codes
from lossless.checks.rules import registry
from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES, known_rules, rules_for
from tests.checks.rules.snippets import check, snippets
from tests.interfaces.cli.conftest import Cli
from tests.paths import ROOT, RULE_BASES

EXAMPLE = ROOT / "examples" / "plugin"
INTENT = (RULE_BASES / "leaf-spine.yaml").read_text("utf-8")
OTHER_PRIORITY = INTENT.replace("priority: 3,", "priority: 4,")
DOCUMENTED = '''"""{summary}.

Severity: warning
Subject: {subject}

## What it does
Is a rule of a test.
"""

from lossless.checks.rules.base import MissingInput, Violation
from lossless.ground.basics.findings import Origin


def check(subject):
{body}
'''
Plugin = Callable[..., Path]


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Forget the packages that a test imports: another test has another one of the same name."""
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        if name.partition(".")[0] in ("acme_rules", "plug", "plugs"):
            del sys.modules[name]
    registry._rules_for.cache_clear()


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the example installed."""
    monkeypatch.syspath_prepend(str(EXAMPLE))


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Plugin:
    """Return a function that installs a package ``plug`` with one rule, and returns the rule's file."""

    def install(
        body: str = "return iter(())",
        module: str = "plug001_test_rule",
        subject: str = "fabric",
        package: str = "plug",
        text: str | None = None,
    ) -> Path:
        site = tmp_path_factory.mktemp("site")
        (site / package).mkdir()
        (site / package / "__init__.py").touch()
        file = site / package / f"{module}.py"
        said = DOCUMENTED.format(summary="Is said", subject=subject, body=textwrap.indent(body, "    "))
        file.write_text(said if text is None else text)
        monkeypatch.syspath_prepend(str(site))
        return file

    return install


def codes(text: str) -> set[str]:
    return {finding["code"] for finding in json.loads(text)["findings"]}


@pytest.mark.usefixtures("acme")
def test_the_examples_of_the_example_are_true() -> None:
    with api.using_plugins(["acme_rules"]):
        text = rule_of("ACME001").documentation
        (bad,), (good,) = snippets(text, "Bad"), snippets(text, "Good")
        found = check(bad).findings
        assert {(each.code, each.origin.path) for each in found} == {("ACME001", bad.marked_path())}
        assert check(good).findings == ()


@pytest.mark.tools("installing")
def test_the_example_is_a_package_that_pip_installs(tmp_path: Path) -> None:
    """Without an index: the backend is that of this environment."""
    shutil.copytree(EXAMPLE, tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index"]
    target = tmp_path / "site"
    subprocess.run(
        [*command, "--target", str(target), str(tmp_path / "plugin")], check=True, capture_output=True
    )
    done = subprocess.run(
        [sys.executable, "-P", "-m", "lossless", "rule", "ACME001", "--plugin", "acme_rules"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(target)])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("# ACME001 lossless-priority-not-agreed")


@pytest.mark.usefixtures("acme")
def test_a_switch_is_checked_by_a_plugin_too(cli: Cli) -> None:
    leaf = json.loads((RULE_BASES / "leaf.json").read_text("utf-8"))
    leaf["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3,4"
    Path("config_db.json").write_text(json.dumps(leaf))
    code, out, _ = cli("lint", "--plugin", "acme_rules", "--select", "ACME", "--format", "json")
    (finding,) = json.loads(out)["findings"]
    assert code == 1
    assert finding["data"] == {"priorities": [4], "agreed": 3}


@pytest.mark.usefixtures("acme")
def test_a_plugin_is_named_by_option_or_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("fabric.yaml").write_text(OTHER_PRIORITY)
    assert cli("lint").code == 0
    assert cli("lint", "--plugin", "acme_rules").code == 1
    assert cli("lint").code == 0, "a run leaves its plugins to no other"
    monkeypatch.setenv("LOSSLESS_PLUGINS", "acme_rules")
    assert cli("lint").code == 1


@pytest.mark.usefixtures("acme")
def test_findings_of_a_plugin_are_selected_suppressed_and_recorded(cli: Cli) -> None:
    Path("fabric.yaml").write_text(OTHER_PRIORITY)
    named = ("--plugin", "acme_rules")
    for selector in ("ACME001", "ACME", "lossless-priority-not-agreed"):
        assert codes(cli("lint", *named, "--select", selector, "--format", "json").out) == {"ACME001"}
        assert cli("lint", *named, "--ignore", selector).code == 0
    Path("lossless.toml").write_text('[severity]\nACME001 = "info"\n')
    assert cli("lint", *named).code == 0
    Path("lossless.toml").unlink()
    Path("fabric.yaml").write_text(
        OTHER_PRIORITY.replace("  rdma:", "  # lossless: ignore[ACME001] -- moves\n  rdma:")
    )
    assert cli("lint", *named).code == 0
    Path("fabric.yaml").write_text(OTHER_PRIORITY)
    assert cli("baseline", *named, ".").code == 0
    Path("lossless.toml").write_text('baseline = "lossless-baseline.json"\n')
    assert cli("lint", *named).code == 0
    refused = cli("lint")
    assert refused.code == 2
    assert "no rule 'ACME001'; a rule of a plugin needs --plugin PACKAGE" in refused.err


@pytest.mark.usefixtures("acme")
def test_reports_describe_the_rules_of_a_plugin(cli: Cli) -> None:
    Path("fabric.yaml").write_text(OTHER_PRIORITY)
    Path("lossless.toml").write_text('rules-url = "https://rules.example/{code}"\n')
    shown = cli("lint", "--plugin", "acme_rules", "--format", "sarif")
    (rule,) = json.loads(shown.out)["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("ACME001", "lossless-priority-not-agreed")
    assert rule["shortDescription"]["text"] == "RDMA has priority 3 on every switch of ACME"
    assert "helpUri" not in rule, "the pages of rules are those of lossless"
    Path("lossless.toml").unlink()
    assert cli("lint", "--plugin", "acme_rules").hint.startswith("lossless rule ACME001 --plugin acme_rules")


@pytest.mark.usefixtures("acme")
def test_rules_of_a_plugin_are_listed_and_explained(cli: Cli) -> None:
    listed = json.loads(cli("rules", "--plugin", "acme_rules", "--format", "json").out)
    assert listed[-1]["code"] == "ACME001"
    assert len(listed) == len(RULES) + 1
    assert "RDMA has priority 3" in cli("rule", "--plugin", "acme_rules", "acme001").out
    assert cli("rule", "acme001").code == 2
    schema = json.dumps(json.loads(cli("schema", "--config", "--plugin", "acme_rules").out))
    assert '"ACME001"' in schema


@pytest.mark.usefixtures("acme")
def test_render_refuses_what_a_plugin_calls_an_error(cli: Cli) -> None:
    Path("fabric.yaml").write_text(OTHER_PRIORITY)
    assert cli("render", "fabric.yaml", "-o", "plain").code == 0
    assert cli("render", "fabric.yaml", "-o", "out", "--plugin", "acme_rules").code == 2
    assert not Path("out").exists()


@pytest.mark.usefixtures("acme")
def test_a_block_of_the_api_has_its_own_rules() -> None:
    document = api.load_text(OTHER_PRIORITY, "fabric.yaml")
    with api.using_plugins(["acme_rules"]):
        report = api.lint_documents([document])
        with api.using_plugins(["acme_rules"]):
            assert len(known_rules()) == len(RULES) + 1, "named twice, added once"
        assert "ACME" in api.report_as(report, "sarif").text
    assert {finding.code for finding in report.findings} == {"ACME001"}
    assert known_rules() is RULES
    assert api.lint_documents([document]).findings == ()
    assert all(loaded.code in RULES for loaded in rules_for("fabric"))
    with pytest.raises(api.LosslessError, match="no rule 'ACME001'"):
        api.rule("ACME001")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lossless.toml", 'plugins = ["plug"]\n'),
        ("lossless.toml", 'plugin = ["plug"]\n'),
        ("pyproject.toml", '[tool.lossless]\nplugins = ["plug"]\n'),
    ],
)
def test_a_checkout_names_no_plugin(name: str, text: str, cli: Cli, plugin: Plugin) -> None:
    ran = plugin().with_name("ran")
    (ran.parent / "__init__.py").write_text(f"import pathlib\npathlib.Path({str(ran)!r}).touch()\n")
    Path(name).write_text(text)
    Path("fabric.yaml").write_text(INTENT)
    refused = cli("lint")
    assert refused.code == 2
    assert f"{name}:" in refused.err
    assert not ran.exists()
    Path(name).unlink()
    assert cli("lint", "--plugin", "plug").code == 0
    assert ran.exists(), "the plant works where the person who runs names it"


def test_a_checkout_takes_the_place_of_no_plugin(tmp_path: Path) -> None:
    """``python -m`` puts the working folder first; ``PYTHONPATH`` stands for the packages that are installed."""
    (tmp_path / "acme_rules").mkdir()
    (tmp_path / "acme_rules" / "__init__.py").write_text("raise SystemExit('planted')\n")
    (tmp_path / "fabric.yaml").write_text(OTHER_PRIORITY)
    for path, code in ((EXAMPLE, 1), (tmp_path, 2)):
        done = subprocess.run(
            [sys.executable, "-m", "lossless", "lint", "-q", "--plugin", "acme_rules", "fabric.yaml"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(path)])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "planted" not in done.stderr
        assert done.returncode == code, done.stderr
    assert "acme_rules: no such package beside lossless" in done.stderr


VIOLATION = 'yield Violation(Origin(subject.fabric.sources[0], ("pfc",)), "seen")'


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (f"{VIOLATION}\nyield 1 / 0", 16, "ZeroDivisionError: division by zero"),
        ("yield 'a text'", None, "TypeError: it yields str; expected Violation or MissingInput"),
        ("yield Violation(None, 'no place')", None, "TypeError: a Violation needs an Origin and a message"),
        ("return 1", None, "TypeError: 'int' object is not iterable"),
    ],
)
def test_a_rule_that_fails_is_told_and_the_others_stay(
    body: str, line: int | None, message: str, cli: Cli, plugin: Plugin
) -> None:
    file = plugin(body)
    Path("fabric.yaml").write_text(re.sub("watchdog: .*", "watchdog: off", INTENT))
    without = json.loads(cli("lint", "--format", "json").out)
    code, out, _ = cli("lint", "--plugin", "plug", "--format", "json")
    report = json.loads(out)
    assert code == 2
    assert report["findings"] == without["findings"] != []
    (error,) = report["errors"]
    assert (error["file"], error["line"]) == (str(file), line)
    assert error["message"] == f"rule PLUG001 of the plugin plug failed: {message}"


def test_a_rule_that_fails_on_many_files_in_processes_is_told_once(cli: Cli, plugin: Plugin) -> None:
    plugin("raise ValueError('each time')")
    for number in range(33):
        Path(f"leaf{number}").mkdir()
        Path(f"leaf{number}/config_db.json").write_bytes((RULE_BASES / "leaf.json").read_bytes())
    code, out, _ = cli("lint", "--plugin", "plug", "--format", "json", "--select", "PLUG,WD001")
    report = json.loads(out)
    assert code == 2
    assert len(report["errors"]) == 1
    assert report["summary"]["files"] == 33


def test_a_rule_that_fails_lets_nothing_be_rendered(cli: Cli, plugin: Plugin) -> None:
    plugin("raise ValueError('here')", subject="fabric, device")
    Path("fabric.yaml").write_text(INTENT)
    refused = cli("render", "fabric.yaml", "-o", "out", "--plugin", "plug")
    assert refused.code == 2
    assert "rule PLUG001 of the plugin plug failed" in refused.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("buf901_of_ours", "BUF is a family of rules of lossless; a plugin has a prefix of its own"),
        ("xyz001_too_short", "the prefix XYZ is kept for lossless; a plugin has one of 4 letters or more"),
        ("scmx001_restates", "the prefix SCMX is kept for lossless; a plugin has one of 4 letters or more"),
        (
            "plug01_short",
            "the module of a rule is called like acme001_name, with three digits, not plug01_short",
        ),
        ("plug001_watchdog_missing", "clashes with WD001 watchdog-missing"),
        ("helpers", "no rule: a plugin is a package with modules like acme001_name"),
    ],
)
def test_a_code_that_is_no_plugin_s_is_refused(module: str, message: str, cli: Cli, plugin: Plugin) -> None:
    plugin(module=module)
    refused = cli("lint", "--plugin", "plug")
    assert refused.code == 2
    assert message in refused.err
    assert refused.err.startswith(("/", "plug."))


def test_families_of_lossless_are_shorter_than_prefixes_of_plugins() -> None:
    assert {code for code in RULES if len(code) > 6} == set()


def test_two_plugins_have_two_prefixes(cli: Cli, plugin: Plugin) -> None:
    plugin()
    plugin(module="plug002_other", package="plugs")
    refused = cli("lint", "--plugin", "plug", "--plugin", "plugs")
    assert (refused.code, "PLUG002 other of plugs clashes with PLUG001 test-rule" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Severity: warning", "Severity: fatal", "Severity: fatal; expected error, warning, info"),
        ("Severity: warning\n", "", "Severity: missing; expected error, warning, info"),
        ("Subject: fabric", "Subject: fabrics", "Subject: fabrics; expected fabric, buffers"),
        ("Subject: fabric", "Subject: suppressions", "Subject: suppressions; expected"),
        ("Subject: fabric", "Subject: fabric\nPriority: 1", "no line 'Priority'"),
        ("Subject: fabric", "Subject: devices", "no function across, which is given the subject devices"),
        ("\n## What it does\nIs a rule of a test.", "", "a summary, lines of metadata and sections"),
        ("def check", "1 / 0\n\n\ndef check", "the plugin cannot be imported: ZeroDivisionError"),
        (
            "from lossless.checks.rules.base",
            "from nowhere",
            "the plugin cannot be imported: No module named 'nowhere'",
        ),
    ],
)
def test_a_module_that_is_no_rule_is_refused(
    old: str, new: str, message: str, cli: Cli, plugin: Plugin
) -> None:
    text = DOCUMENTED.format(summary="Is said", subject="fabric", body="    return iter(())")
    assert old in text
    plugin(text=text.replace(old, new))
    refused = cli("lint", "--plugin", "plug")
    assert refused.code == 2
    assert message in refused.err


@pytest.mark.parametrize("name", ["nothing_of_this_name", "plug.nothing", "../plug", "a b"])
def test_a_package_that_is_not_there_is_refused(name: str, cli: Cli, plugin: Plugin) -> None:
    plugin()
    refused = cli("lint", "--plugin", name)
    assert refused.code == 2
    assert refused.err.startswith(f"{name}: ")


def test_a_rule_of_a_plugin_that_compares_devices_makes_lint_compare_them(cli: Cli, plugin: Plugin) -> None:
    text = DOCUMENTED.format(summary="Is said", subject="devices", body="    return iter(())")
    text += '\n\ndef across(devices):\n    yield MissingInput(f"{len(devices.summaries)} devices")\n'
    plugin(text=text)
    for name in ("a", "b"):
        Path(name).mkdir()
        Path(name, "config_db.json").write_bytes((RULE_BASES / "leaf.json").read_bytes())
    _, _, err = cli("lint", "-v", "--plugin", "plug", "--select", "PLUG")
    assert "PLUG001: 2 devices" in err


def test_a_trace_runs_no_rule_of_a_plugin(cli: Cli, plugin: Plugin) -> None:
    """What fails in one would be silent there."""
    plugin("import pathlib\npathlib.Path('ran').touch()\nreturn iter(())", subject="fabric, buffers, intent")
    Path("fabric.yaml").write_text(INTENT)
    ends = ("--from", "host1", "--to", "host5", "--dscp", "26")
    assert cli("trace", "fabric.yaml", *ends, "--plugin", "plug").code == 0
    assert not Path("ran").exists()
    assert cli("lint", "fabric.yaml", "--plugin", "plug").code == 0
    assert Path("ran").exists()


def test_a_family_of_lossless_selects_no_rule_of_a_plugin(cli: Cli, plugin: Plugin) -> None:
    plugin("raise ValueError('here')", module="wdog001_test_rule")
    Path("fabric.yaml").write_text(INTENT)
    assert cli("lint", "--plugin", "plug", "--select", "WD").code == 0
    assert cli("lint", "--plugin", "plug", "--select", "WDOG").code == 2


def test_running_state_is_checked_by_a_plugin(plugin: Plugin) -> None:
    plugin("yield MissingInput('a test asks for more')", subject="running device")
    capture = snippets(rule_of("APP001").documentation, "Bad")[0]
    before = check(capture)
    with api.using_plugins(["plug"]):
        after = check(capture)
    assert [each.code for each in after.findings] == [each.code for each in before.findings]
    assert ("PLUG001", "a test asks for more") in {(each.code, each.reason) for each in after.not_checked}


def test_steps_of_a_plan_are_evaluated_by_rules_of_lossless_alone(plugin: Plugin) -> None:
    text = DOCUMENTED.replace("warning", "error")
    plugin(text=text.format(summary="Is said", subject="fabric, device", body="    return iter(())"))
    _codes.cache_clear()
    with api.using_plugins(["plug"]):
        assert _codes() <= RULES.keys()

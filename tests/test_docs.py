"""What the documentation shows is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lossless.api import lint, lint_documents, render
from lossless.checks.rules.registry import RULES
from lossless.ground.basics import limits
from lossless.ground.documents import load_text
from lossless.interfaces.cli import main, options
from tests.checks.rules.snippets import merge
from tests.fuzz.test_fuzz import EXAMPLES, ROUNDS
from tests.interfaces.cli.repositories import repository, write
from tools import answers, headroom_guide, intent_reference
from tools.rule_pages import pages

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
ANSWERED = {
    "ci.md": 2,
    "diff.md": 2,
    "editors.md": 1,
    "host-facts.md": 1,
    "hosts.md": 4,
    "import.md": 2,
    "infiniband.md": 4,
    "jobs.md": 1,
    "lint.md": 5,
    "suppress.md": 4,
    "sweep.md": 1,
}
"""By guide: commands that are shown with what they print, each run by a test here or beside what it is about.

``tools/answers.py`` runs all of its pages.
"""


def blocks(path: Path, language: str = "") -> list[str]:
    every = re.findall(r"^```(\S*).*?\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)
    return [text for written_in, text in every if written_in == language]


def shown_by(path: Path, command: str) -> tuple[list[str], str]:
    """Return the arguments of the one command of a guide that begins so, and what the guide says it prints."""
    (block,) = (block for block in blocks(path) if block.startswith(f"$ {command}"))
    first, _, shown = block.partition("\n")
    return first.split()[2:], shown


@pytest.mark.parametrize(("command", "code"), [("lint examples/roce-256-as-published", 1), ("simulate", 0)])
def test_the_readme_shows_what_is_printed(
    command: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    arguments, shown = shown_by(ROOT / "README.md", f"lossless {command}")
    assert main(arguments) == code
    printed = capsys.readouterr().out
    for part in filter(None, shown.split("...\n")):
        assert part in printed


def test_no_answer_is_shown_that_no_test_asks_for() -> None:
    shown = {
        path.name: len(re.findall(r"^```\n\$ ", path.read_text(), re.MULTILINE))
        for path in GUIDES.glob("*.md")
        if f"guides/{path.name}" not in answers.PAGES
    }
    assert {name: answers for name, answers in shown.items() if answers} == ANSWERED


def test_the_comparison_of_headroom_methods_is_what_the_program_says() -> None:
    assert headroom_guide.GUIDE.read_text() == headroom_guide.with_table(headroom_guide.GUIDE.read_text())
    assert headroom_guide.PICTURE.read_text() == headroom_guide.picture()


def test_the_guide_shows_what_lint_prints_of_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ROOT / "examples" / "roce-256"
    render(example, tmp_path / "configs", base_dir=example / "base")
    (tmp_path / "fabric.yaml").write_bytes((example / "fabric.yaml").read_bytes())
    leaf = tmp_path / "configs" / "leaf1" / "config_db.json"
    tables = json.loads(leaf.read_text())
    tables["PORT"]["Ethernet128"]["mtu"] = "1500"
    tables["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "1048576"
    leaf.write_text(json.dumps(tables, indent=4))
    monkeypatch.chdir(tmp_path)
    for command in ("lossless lint fabric.yaml", "lossless lint --quiet", "lossless lint --statistics"):
        arguments, shown = shown_by(GUIDES / "lint.md", command)
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        assert shown in printed
        assert "ECN015" not in printed


def test_the_guide_shows_what_lint_prints_of_what_it_cannot_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ROOT / "examples" / "roce-256"
    render(example, tmp_path / "out" / "demo", base_dir=example / "base")
    monkeypatch.chdir(tmp_path)
    arguments, shown = shown_by(GUIDES / "lint.md", "lossless lint -v out/demo")
    assert main(arguments) == 0
    assert shown == "".join(capsys.readouterr())


def test_the_guide_shows_what_lint_prints_of_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    after = (ROOT / "examples" / "roce-256" / "fabric.yaml").read_text()
    before = after.replace("uplinks: 8 x 800G ", "uplinks: 1 x 800G ")
    repository(tmp_path, {"fabric.yaml": before})
    write(tmp_path, {"fabric.yaml": after.replace("detection: 1200ms", "detection: 50ms")})
    monkeypatch.chdir(tmp_path)
    for command in ("lossless lint --since main\n", "lossless lint --since main --format markdown\n"):
        arguments, shown = shown_by(GUIDES / "ci.md", command)
        assert main(arguments) == 1
        printed = capsys.readouterr()
        assert shown == printed.out + ("" if "markdown" in command else printed.err)


def test_the_guide_shows_what_lint_prints_of_traffic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ROOT / "examples" / "roce-256"
    render(example, tmp_path / "configs", base_dir=example / "base")
    leaf = tmp_path / "configs" / "leaf1" / "config_db.json"
    tables = json.loads(leaf.read_text())
    short = {"xoff": "51200", "size": str(51_200 + 19_456)}
    tables["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"] |= short
    leaf.write_text(json.dumps(tables, indent=4))
    monkeypatch.chdir(tmp_path)
    arguments, shown = shown_by(GUIDES / "lint.md", "lossless lint --simulate")
    assert main(arguments) == 1
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("number", [0, 2])
def test_the_guide_shows_what_diff_prints(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ROOT / "examples" / "roce-256"
    render(example, tmp_path, base_dir=example / "base")
    (tmp_path / "fabric.yaml").write_bytes((example / "fabric.yaml").read_bytes())
    leaf = tmp_path / "leaf1" / "config_db.json"
    tables = json.loads(leaf.read_text())
    tables["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"]["dynamic_th"] = "3"
    tables["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"
    tables["QUEUE"]["Ethernet8|7"] = {"scheduler": "scheduler.cnp"}
    for port in range(4, 44, 4):
        tables["CABLE_LENGTH"]["AZURE"][f"Ethernet{port}"] = "40m"
    leaf.write_text(json.dumps(tables, indent=4))
    monkeypatch.chdir(tmp_path)
    command, _, shown = blocks(GUIDES / "diff.md")[number].partition("\n")
    assert main(command.split()[2:]) == 1
    printed = capsys.readouterr()
    for part in filter(None, shown.split("...\n")):
        assert part in printed.out
    assert blocks(GUIDES / "diff.md")[1] in printed.err


def test_the_manifest_of_the_guide_is_as_it_is_written(tmp_path: Path) -> None:
    example = ROOT / "examples" / "roce-256"
    render(example, tmp_path, base_dir=example / "base")
    shown = json.loads(blocks(GUIDES / "render.md", "json")[0])
    listed = {entry["path"]: entry for entry in json.loads((tmp_path / "manifest.json").read_text())["files"]}
    assert {**listed[shown["path"]], "sha256": ".."} == shown


def test_the_guide_shows_what_is_left_after_suppressing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files of the guide are put where it says, and its commands are run, in its order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(options, "today", lambda: "2026-06-15")
    (tmp_path / ".git").mkdir()
    settings, intent = tmp_path / "lossless.toml", tmp_path / "fabric.yaml"
    settings.touch()
    intent.write_text((ROOT / "examples" / "roce-256-as-published" / "fabric.yaml").read_text())
    guide = (GUIDES / "suppress.md").read_text()
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert [language for language, _ in fences] == ["toml", "", "", "toml", "", "yaml", ""]
    for language, text in fences:
        if language == "toml":
            settings.write_text(text + settings.read_text())
        elif language == "yaml":
            key = text.partition(":")[0]
            before, _, after = intent.read_text().partition(f"\n{key}:")
            intent.write_text(f"{before}\n{text}{after.partition(chr(10))[2]}")
        else:
            command, _, shown = text.partition("\n")
            main(command.split()[2:])
            printed = "".join(capsys.readouterr())
            for part in filter(None, shown.split("...\n")):
                assert part in printed


def intents() -> list[str]:
    return blocks(GUIDES / "intent.md", "yaml")


def test_the_first_intent_of_the_guide_is_clean() -> None:
    report = lint_documents([load_text(intents()[0], "fabric.yaml")])
    assert (report.findings, report.errors) == ((), ())


@pytest.mark.parametrize("text", intents()[1:])
def test_every_part_of_the_guide_is_an_intent_on_top_of_the_first(text: str) -> None:
    first, part = load_text(intents()[0], "a.yaml").data, load_text(text, "b.yaml").data
    if "topology" in part:
        first.pop("topology")
    merged = json.dumps(merge(first, part))
    assert lint_documents([load_text(merged, "fabric.yaml")]).errors == ()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        assert target.startswith("http") or (path.parent / target).exists(), target


def test_rule_pages_are_those_of_the_rules() -> None:
    present = {path.name: path.read_text() for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert present == dict(pages())


def test_rules_are_counted_where_pages_are_written_and_nowhere_by_hand() -> None:
    counted = {
        str(path.relative_to(ROOT)): re.findall(r"\b(\d+) (?:\w+ )?rules\b", path.read_text())
        for path in DOCUMENTS
    }
    assert {name: numbers for name, numbers in counted.items() if numbers} == {
        "docs/rules/README.md": [str(len(RULES))]
    }


def test_the_page_of_all_keys_is_that_of_the_models() -> None:
    assert intent_reference.PAGE.read_text() == intent_reference.page()


def test_links_within_the_page_of_all_keys_lead_to_its_sections() -> None:
    page = intent_reference.page()
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= set(re.findall(r'<a id="([^"]+)">', page))


def test_the_readme_counts_what_is_found_and_how_soon_all_stall() -> None:
    readme, published = (ROOT / "README.md").read_text(), ROOT / "examples" / "roce-256-as-published"
    errors = [finding for finding in lint([published]).findings if finding.severity == "error"]
    assert ("`lint` reports seven errors" in readme, len(errors)) == (True, 7)
    storm = (GUIDES / "storm.md").read_text()
    still = r"^31 of 31 other hosts stall, 256 of 256 GPUs with its own; the last after (\d+) us$"
    (last_us,) = re.findall(still, storm, re.MULTILINE)
    stalls = "One dead NIC stalls every host of a 256-GPU fabric within a millisecond"
    assert (stalls in readme, 500 < int(last_us) < 1000) == (True, True)


def test_the_guide_to_reliability_names_every_limit() -> None:
    declared = {value for name, value in vars(limits).items() if name.isupper() and name != "MIB"}
    rows = re.findall(r"^\| [^|]+ \| ([\d,]+) \|$", (GUIDES / "reliability.md").read_text(), re.MULTILINE)
    assert {int(row.replace(",", "")) for row in rows} == declared
    assert len(rows) == sum(name.isupper() and name != "MIB" for name in vars(limits))


def test_the_guide_to_reliability_counts_the_mutated_files_of_a_run() -> None:
    text = " ".join((GUIDES / "reliability.md").read_text().split())
    assert f"Every run of the tests does {ROUNDS * EXAMPLES} of these." in text

"""What the documentation shows is what happens."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lossless.api import lint, lint_documents, storm
from lossless.checks.rules.registry import RULES
from lossless.formats.intent.document import PRESETS
from lossless.ground.basics import limits
from lossless.ground.basics.findings import Json
from lossless.ground.documents import load_text
from lossless.ground.documents.yaml.edits import on_one_line
from tests.checks.rules.snippets import merge
from tests.fuzz.test_fuzz import EXAMPLES, ROUNDS
from tools import (
    answers,
    capture_table,
    dialect_rules,
    headroom_guide,
    intent_reference,
    metrics_page,
    preset_page,
)
from tools.rule_pages import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
ANSWERED = {"docs/guides/hosts.md": 4, "docs/guides/infiniband.md": 1, "docs/guides/telemetry-exporter.md": 1}
"""By page: blocks that ``tools/answers.py`` does not run, as they need a host with NICs or a redis-server, or print how
long opensm took.

Tests run them: tests/formats/hosts/from_model/test_hosts_guide.py, tests/interfaces/cli/test_opensm.py and
test_cli_exporter.py.
"""


def blocks(path: Path, language: str = "") -> list[str]:
    every = re.findall(r"^```(\S*).*?\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)
    return [text for written_in, text in every if written_in == language]


DECISIONS = [
    *sorted((ROOT / "docs" / "adr").glob("*.md")),
    ROOT / "docs" / "architecture.md",
    ROOT / "CONTRIBUTING.md",
]
NO_PATHS = {"N/A", "out/site", "out/durations", ".lossless-staging/new"}
"""Words with a slash in them, and folders that commands make."""


def test_paths_in_decisions_and_in_the_map_exist() -> None:
    ends = {
        "/".join(path.parts[start:])
        for top in (
            ".ci",
            "benchmarks",
            "docs",
            "examples",
            "integrations",
            "lossless",
            "profiles",
            "templates",
            "tests",
            "tools",
        )
        for path in (entry.relative_to(ROOT) for entry in (ROOT / top, *(ROOT / top).rglob("*")))
        for start in range(len(path.parts))
    }
    dead = [
        (path.name, word)
        for path in DECISIONS
        for word in re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", path.read_text())
        if ("/" in word or word.endswith(".py")) and word.rstrip("/") not in ends and word not in NO_PATHS
    ]
    assert dead == [("CONTRIBUTING.md", "docs/rules/CODE.md")]


def test_no_answer_is_shown_that_no_test_asks_for() -> None:
    found = {str(path.relative_to(ROOT)): unasked(path) for path in DOCUMENTS}
    assert {name: count for name, count in found.items() if count} == ANSWERED


def unasked(path: Path) -> int:
    """Return how many blocks of a page begin with a command and are not run by ``tools/answers.py``."""
    run = str(path.relative_to(ROOT)) in answers.PAGES
    return len(re.findall(r"^    \$ " if run else r"^(?:```\w*\n|    )\$ ", path.read_text(), re.MULTILINE))


def test_the_comparison_of_headroom_methods_is_what_the_program_says() -> None:
    assert headroom_guide.GUIDE.read_text() == headroom_guide.with_table(headroom_guide.GUIDE.read_text())
    assert headroom_guide.PICTURE.read_text() == headroom_guide.picture()


def test_the_table_of_captures_is_that_of_the_registry() -> None:
    assert capture_table.GUIDE.read_text() == capture_table.with_table(capture_table.GUIDE.read_text())


def test_the_page_of_dialects_lists_the_rules_that_say_nothing_of_each() -> None:
    assert dialect_rules.PAGE.read_text() == dialect_rules.with_tables(dialect_rules.PAGE.read_text())


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


def test_the_page_of_presets_is_that_of_their_files() -> None:
    assert preset_page.PAGE.read_text() == preset_page.page()


def test_the_page_of_metrics_is_that_of_the_catalogue() -> None:
    assert metrics_page.PAGE.read_text() == metrics_page.page()


def test_the_page_of_presets_has_every_value_of_their_files() -> None:
    page = preset_page.page()
    for name in PRESETS:
        chapter = page.partition(f"## `preset: {name}`\n")[2].partition("\n## ")[0]
        text = (preset_page.FOLDER / f"{name}.toml").read_text()
        assert {value for value in leaves(tomllib.loads(text)["intent"]) if value not in chapter} == set()


def leaves(value: Json) -> Iterator[str]:
    """Yield every value of a tree, as YAML has it."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    else:
        yield on_one_line(value)


def test_links_within_the_page_of_all_keys_lead_to_its_sections() -> None:
    page = intent_reference.page()
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= set(re.findall(r'<a id="([^"]+)">', page))


def test_the_readme_counts_what_is_found_and_how_soon_all_stall() -> None:
    readme, published = (ROOT / "README.md").read_text(), ROOT / "examples" / "roce-256-as-published"
    errors = [finding for finding in lint([published]).findings if finding.severity == "error"]
    assert ("`lint` reports seven errors" in readme, len(errors)) == (True, 7)
    both_ms, one_ms = (last_stall_ms(end) for end in ("host17", "host17:port1"))
    assert "stalls every host of a 256-GPU fabric within a millisecond" in readme
    assert both_ms < 1
    assert f"(one NIC alone: in\n{one_ms:.2f} ms)" in readme


def last_stall_ms(end: str) -> float:
    """Return when the last host of the 256-GPU fabric stalls, in ms, after an end has begun to pause."""
    stages = storm(ROOT / "examples" / "roce-256", end).stages
    return max(stage.last_ns or 0 for stage in stages) / 1e6


def test_the_guide_to_reliability_names_every_limit() -> None:
    declared = {value for name, value in vars(limits).items() if name.isupper() and name != "MIB"}
    rows = re.findall(r"^\| [^|]+ \| ([\d,]+) \|$", (GUIDES / "reliability.md").read_text(), re.MULTILINE)
    assert {int(row.replace(",", "")) for row in rows} == declared
    assert len(rows) == sum(name.isupper() and name != "MIB" for name in vars(limits))


def test_the_guide_to_reliability_counts_the_mutated_files_of_a_run() -> None:
    text = " ".join((GUIDES / "reliability.md").read_text().split())
    assert f"Every run of the tests does {ROUNDS * EXAMPLES} of these." in text

"""An alert that was closed once must not come back because a line was inserted."""

from __future__ import annotations

from hypothesis import given, strategies as st

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Finding, Origin
from lossless.ground.documents import load_text
from lossless.output.report.lint.gitlab import finding_fingerprints, problem_fingerprints
from lossless.output.report.lint.text import FileNames, locate
from tests.output.report.samples import INTENT, finding, lint_run, on_switch, oversubscribed, sample

HERE = FileNames("/repo", "/repo")
OBJECTS = st.tuples(
    st.sampled_from(["WD001", "PFC004"]),
    st.sampled_from(["leaf1.json", "leaf2.json"]),
    st.lists(st.sampled_from(["PORT", "a|b", "a", "b", 0]), max_size=3).map(tuple),
)


def made(objects: list[tuple[str, str, tuple[str | int, ...]]]) -> list[Finding]:
    return [finding(Origin(file, path), code=code) for code, file, path in objects]


@given(st.lists(OBJECTS, max_size=12))
def test_all_differ_whatever_is_found(objects: list[tuple[str, str, tuple[str | int, ...]]]) -> None:
    marks = finding_fingerprints(made(objects), HERE)
    assert len(set(marks)) == len(objects)


@given(st.lists(OBJECTS, unique=True, max_size=8), st.integers(0, 7))
def test_a_finding_that_is_fixed_changes_no_other(
    objects: list[tuple[str, str, tuple[str | int, ...]]], fixed: int
) -> None:
    before = dict(zip(objects, finding_fingerprints(made(objects), HERE), strict=True))
    left = [one for number, one in enumerate(objects) if number != fixed]
    assert dict(zip(left, finding_fingerprints(made(left), HERE), strict=True)).items() <= before.items()


@given(st.integers(0, 9))
def test_lines_may_move(lines: int) -> None:
    def marks(text: str) -> list[str]:
        document = load_text(text, "fabric.yaml")
        findings = (oversubscribed(), finding(Origin("fabric.yaml", ("pfc", "watchdog"))))
        return finding_fingerprints(locate(lint_run(findings, documents={"fabric.yaml": document}))[1], HERE)

    assert marks("# a comment\n" * lines + INTENT) == marks(INTENT)


def test_numbers_in_a_message_may_change() -> None:
    before, after = (finding_fingerprints([oversubscribed(message=f"{ratio}:1")], HERE) for ratio in (8, 4))
    assert before == after


def test_the_folder_that_a_run_began_in_does_not_matter() -> None:
    def mark(file: str, folder: str) -> list[str]:
        return finding_fingerprints([finding(Origin(file, ("a",)))], FileNames(folder, "/repo"))

    assert (
        mark("site/a.json", "/repo")
        == mark("./a.json", "/repo/site")
        == mark("/repo/site/a.json", "/elsewhere")
    )


def test_rule_file_and_object_each_tell_findings_apart() -> None:
    findings = [
        on_switch("PORT", "Ethernet0"),
        on_switch("PORT", "Ethernet4"),
        on_switch("PORT", "Ethernet0", code="WD002"),
        finding(Origin("leaf2.json", ("PORT", "Ethernet0"))),
    ]
    alone = {finding_fingerprints([found], HERE)[0] for found in findings}
    assert len(alone) == 4


def test_the_order_of_rules_does_not_matter() -> None:
    same = [on_switch("PORT", message=str(number)) for number in range(3)]
    orders = [locate(sample(*order))[1] for order in (same, same[::-1])]
    assert orders[0] == orders[1]


def test_what_could_not_be_read_is_told_apart_from_findings() -> None:
    problems = [Problem("leaf1.json", 1, 1, "x"), Problem("leaf1.json", 9, 1, "y")]
    marks = problem_fingerprints(problems, HERE) + finding_fingerprints([finding(Origin("leaf1.json"))], HERE)
    assert len(set(marks)) == 3

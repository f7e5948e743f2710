"""What is fixed_documents is gone, nothing new has come, and fixing once more changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lossless.api import Options, fix, lint_documents
from lossless.checks.lint.cache import MOST_CHECKS, FixedDocuments, fixed_documents
from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import Edit, Finding, Origin
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document
from tests.checks.rules.helps import networks
from tests.checks.rules.snippets import BASES, Snippet, snippets

FIXABLE = [code for code in RULES if rule_of(code).fixable != "no"]


def cases() -> Iterator[object]:
    for code in FIXABLE:
        for number, snippet in enumerate(snippets(rule_of(code).documentation, "Bad"), 1):
            yield pytest.param(code, snippet, id=f"{code}-{number}")


def fixed(
    documents: Sequence[Document],
    options: Options = Options(),  # noqa: B008
    *,
    unsafe: bool = True,
) -> FixedDocuments:
    def check(edited: Sequence[Document]) -> tuple[Finding, ...]:
        return lint_documents(edited, options).findings

    return fixed_documents(documents, check, unsafe=unsafe)


def told(documents: Sequence[Document], options: Options) -> set[tuple[object, ...]]:
    """Return what is found above info, by rule and place."""
    report = lint_documents(documents, options)
    assert report.errors == ()
    return {(f.code, f.origin) for f in report.findings if f.severity != "info"}


@pytest.mark.parametrize(("code", "snippet"), list(cases()))
def test_a_fixed_finding_is_gone_and_none_has_come(code: str, snippet: Snippet) -> None:
    documents, options = [snippet.document(), *snippet.companions()], Options(rdma_dscps=snippet.rdma_dscps)
    before = told(documents, options)
    outcome = fixed(documents, options)
    after = told(outcome.documents, options)
    assert after <= before
    assert not {(f.code, f.origin) for f in outcome.findings} & after
    offered = {f.code for f in lint_documents(documents, options).findings if f.code == code and f.fix}
    assert {f.code for f in outcome.findings} | {f.code for f, _ in outcome.refused} >= offered


@pytest.mark.parametrize(("_code", "snippet"), list(cases()))
def test_fixing_twice_changes_nothing(_code: str, snippet: Snippet) -> None:
    documents, options = [snippet.document(), *snippet.companions()], Options(rdma_dscps=snippet.rdma_dscps)
    once = fixed(documents, options).documents
    again = fixed(once, options)
    assert [document.text for document in again.documents] == [document.text for document in once]
    assert again.findings == ()


def test_a_fix_that_would_draw_another_finding_is_not_made() -> None:
    """With QoS a table of lanes is read, and it names a lane that there is not."""
    fact = "IB017: tables of lanes are not checked while QoS is off"
    documents, options = next((files, options) for name, files, options in networks() if name == fact)
    outcome = fixed(documents, options)
    assert [(finding.code, caused) for finding, caused in outcome.refused] == [("IB028", "IB017")]
    assert [document.text for document in outcome.documents] == [document.text for document in documents]


def test_a_timer_is_set_to_no_less_than_two_polls() -> None:
    """The nearest restoration time that orchagent takes is shorter than the poll interval, which WD004 warns of."""
    text = (BASES / "leaf-spine.yaml").read_text()
    short = text.replace("restoration: 1200ms", "restoration: 50ms")
    assert short != text
    outcome = fixed([load_text(short, "fabric.yaml")])
    assert outcome.refused == ()
    assert outcome.documents[0].text == text


def rows_to_fix(document: Document, harmful: Sequence[int]) -> Iterator[Finding]:
    """Yield a finding per row of a number with a blank, and a warning per harmful row where it has none any more."""
    for name, row in document.data["ROWS"].items():
        origin = Origin(document.file, ("ROWS", name, "number"))
        if row["number"].startswith(" "):
            edit = Edit(origin, "set", row["number"].strip())
            yield Finding("X001", "odd", "info", "high", f"odd {name}", origin, fixable="safe", fix=(edit,))
        elif int(name) in harmful:
            yield Finding("X002", "harm", "warning", "high", f"harm {name}", origin)


@pytest.mark.parametrize("harmful", [(), (0,), (699,), (3, 400, 401)])
def test_of_many_fixes_only_those_that_cause_a_finding_are_refused_after_few_checks(
    harmful: tuple[int, ...],
) -> None:
    many, checks = 700, 0
    document = load_text(json.dumps({"ROWS": {str(n): {"number": f" {n}"} for n in range(many)}}), "x.json")

    def check(documents: Sequence[Document]) -> list[Finding]:
        nonlocal checks
        checks += 1
        return [*rows_to_fix(documents[0], harmful)]

    outcome = fixed_documents([document], check, unsafe=False)
    assert [(f.message, caused) for f, caused in outcome.refused] == [(f"odd {n}", "X002") for n in harmful]
    assert len(outcome.findings) == many - len(harmful)
    rows = outcome.documents[0].data["ROWS"]
    assert {name for name, row in rows.items() if row["number"] == f" {name}"} == {*map(str, harmful)}
    assert checks <= 2 + 2 * 10 * len(harmful)


def test_where_many_fixes_cause_findings_the_number_of_checks_is_bounded() -> None:
    many, checks = 700, 0
    document = load_text(json.dumps({"ROWS": {str(n): {"number": f" {n}"} for n in range(many)}}), "x.json")

    def check(documents: Sequence[Document]) -> list[Finding]:
        nonlocal checks
        checks += 1
        return [*rows_to_fix(documents[0], range(0, many, 2))]

    outcome = fixed_documents([document], check, unsafe=False)
    assert checks <= 2 * MOST_CHECKS
    assert len(outcome.refused) + len(outcome.findings) == many
    assert not [f for f in check(outcome.documents) if f.code == "X002"]


def test_every_rule_that_says_it_can_be_fixed_can() -> None:
    reports = (lint_documents(documents, options) for _, documents, options in networks())
    offered = {f.code: f.fixable for report in reports for f in report.findings if f.fix}
    assert offered == {code: rule_of(code).fixable for code in FIXABLE}


def test_what_changes_a_device_is_done_only_where_it_is_asked_for() -> None:
    text = (BASES / "leaf-spine.yaml").read_text() + "hosts: {trust: pcp}\n"
    document = load_text(text, "fabric.yaml")
    assert fixed([document], unsafe=False).documents[0].text == text
    assert "trust" not in fixed([document], unsafe=True).documents[0].text


def test_every_port_that_a_finding_counts_is_fixed() -> None:
    text = (BASES / "rendered-leaf.json").read_text()
    bare = text.replace('"pfcwd_sw_enable": "3"', '"pfcwd_sw_enable": ""')
    assert bare != text
    (after,) = fixed([load_text(bare, "leaf.json")]).documents
    assert after.text == text


# --- files ---


def test_the_file_keeps_its_mark_mode_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    text = (
        "# why\n" + (BASES / "leaf-spine.yaml").read_text() + "hosts: {trust: pcp, mtu: 9000}  # all\n"
    ).replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    path.chmod(0o640)
    done = fix([path], unsafe=True)
    assert [f.code for f in done.findings] == ["NIC009"]
    assert path.read_bytes() == b"\xef\xbb\xbf" + text.replace("trust: pcp, ", "").encode()
    assert path.stat().st_mode & 0o777 == 0o640


def test_without_writing_it_is_only_said(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    text = (BASES / "leaf-spine.yaml").read_text() + "hosts: {trust: pcp}\n"
    path.write_text(text)
    done = fix([path], unsafe=True, write=False)
    assert path.read_text() == text
    assert done.changed[str(path)] == (text, text.replace("{trust: pcp}", "{}"))


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    from lossless.ground.documents.atomic import rewrite

    path = tmp_path / "x.json"
    path.write_text('{"PORT": {}}')
    with pytest.raises(LosslessError, match="has changed since it was read; nothing was written"):
        rewrite(str(path), "{}", '{"QUEUE": {}}')
    assert path.read_text() == '{"PORT": {}}'
    assert list(tmp_path.iterdir()) == [path]


def test_where_one_file_changed_meanwhile_no_other_is_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (BASES / "leaf-spine.yaml").read_text() + "hosts: {trust: pcp}\n"
    paths = [tmp_path / name for name in ("a.yaml", "b.yaml", "c.yaml")]
    for path in paths:
        path.write_text(text)

    def check(file: str) -> None:
        if file == str(paths[-1]):
            paths[1].write_text(text + "# meanwhile\n")

    monkeypatch.setattr("lossless.ground.documents.atomic.require_writable", check)
    with pytest.raises(LosslessError, match=r"b\.yaml has changed since it was read; nothing was written"):
        fix(paths, unsafe=True)
    assert [path.read_text() for path in paths] == [text, text + "# meanwhile\n", text]


@pytest.mark.tools("records")
@pytest.mark.parametrize("kind", ["full", "probes", "partial"])
def test_nothing_new_comes_of_fixing_real_files(reference: Path, kind: str) -> None:
    options = Options(rdma_dscps=(26,))
    for path in sorted((reference / "corpus" / kind).glob("*.json")):
        if path.name == "index.json":
            continue
        document = load_text(path.read_text(), path.name)
        before = told([document], options) if not lint_documents([document], options).errors else None
        if before is None:
            continue
        outcome = fixed([document], options)
        assert told(outcome.documents, options) <= before, path.name
        assert fixed(outcome.documents, options).documents[0].text == outcome.documents[0].text, path.name

"""Laws of keeping findings back: nothing ever comes of it, and what is known is exactly what was found."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, strategies as st

from lossless.api import Options, Report, lint_documents
from lossless.checks.lint.baseline import baseline_text, entries_of, read_baseline
from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES
from lossless.checks.rules.selectors import EVERY, codes_of, families
from lossless.ground.basics.findings import Finding
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document
from tests.checks.rules.snippets import Snippet, snippets

SELECTORS = st.sampled_from([EVERY, *families(), *RULES])


@cache
def cases(kind: str) -> tuple[Snippet, ...]:
    """Return everything that rules of lint show as wrong, in files of one kind."""
    codes = [code for code in RULES if RULES[code].subjects != ("cabling",)]
    bad = (snippet for code in codes for snippet in snippets(rule_of(code).documentation, "Bad"))
    return tuple(one for one in bad if one.kind == kind and not one.simulate and not one.today)


@cache
def checked(kind: str, number: int) -> tuple[tuple[Document, ...], Report]:
    snippet = cases(kind)[number]
    documents = (snippet.document(), *snippet.companions())
    return documents, lint_documents(documents, Options(rdma_dscps=snippet.rdma_dscps))


def cases_of(kind: str) -> st.SearchStrategy[int]:
    return st.integers(0, len(cases(kind)) - 1)


def said(report: Report) -> set[tuple[object, ...]]:
    """Return what is found, apart from what is found of suppressions themselves."""
    return {
        (f.code, f.origin, f.message, f.severity) for f in report.findings if not f.code.startswith("SUP")
    }


@given(st.data(), cases_of("yaml intent"), st.lists(SELECTORS, min_size=1, max_size=3), st.booleans())
def test_a_comment_never_adds_a_finding(
    data: st.DataObject, number: int, rules: list[str], beside: bool
) -> None:
    documents, before = checked("yaml intent", number)
    lines = documents[0].text.splitlines()
    line = data.draw(st.integers(0, len(lines) - 1))
    comment = f"# lossless: ignore[{', '.join(rules)}] -- agreed"
    lines[line] = f"{lines[line]}  {comment}" if beside else f"{comment}\n{lines[line]}"
    commented = load_text("\n".join(lines) + "\n", documents[0].file)
    assert commented.data == documents[0].data
    after = lint_documents(
        [commented, *documents[1:]], Options(rdma_dscps=cases("yaml intent")[number].rdma_dscps)
    )
    assert said(after) <= said(before)
    gone = said(before) - said(after)
    assert {code for code, *_ in gone} <= frozenset().union(*map(codes_of, rules))
    assert after.suppressed == len(said(before)) - len(said(after))


@given(
    st.data(),
    cases_of("json config_db"),
    st.lists(SELECTORS, min_size=1, max_size=3),
    st.sampled_from(["*", "**", ""]),
)
def test_an_entry_never_adds_a_finding(data: st.DataObject, number: int, rules: list[str], glob: str) -> None:
    documents, before = checked("json config_db", number)
    objects = [finding.object for finding in before.findings] or ["PORT"]
    pattern = data.draw(st.sampled_from(objects)).rpartition("|")[0] + glob or "PORT"
    entry = f"[[suppress]]\nrules = {json.dumps(rules)}\nreason = 'agreed'\nobject = {json.dumps(pattern)}\n"
    with TemporaryDirectory() as folder:
        file = Path(folder) / "lossless.toml"
        file.write_text(entry)
        options = Options(rdma_dscps=cases("json config_db")[number].rdma_dscps, configuration=str(file))
        after = lint_documents(documents, options)
    assert after.errors == before.errors
    assert said(after) <= said(before)
    assert after.suppressed == len(before.findings) - len(after.findings)


@given(cases_of("json config_db"), SELECTORS)
def test_only_what_is_chosen_is_found(number: int, rule: str) -> None:
    documents, before = checked("json config_db", number)
    snippet = cases("json config_db")[number]
    chosen = lint_documents(documents, Options(rdma_dscps=snippet.rdma_dscps, select=(rule,)))
    assert {finding.code for finding in chosen.findings} <= codes_of(rule)
    assert {f[:3] for f in said(before) if f[0] in codes_of(rule)} <= {f[:3] for f in said(chosen)}
    others = lint_documents(documents, Options(rdma_dscps=snippet.rdma_dscps, ignore=(rule,)))
    assert codes_of(rule).isdisjoint(finding.code for finding in others.findings)


@given(st.data(), cases_of("json config_db"))
def test_what_is_known_is_exactly_what_was_found(data: st.DataObject, number: int) -> None:
    documents, before = checked("json config_db", number)
    known = data.draw(
        st.lists(st.sampled_from(before.findings), unique_by=id) if before.findings else st.just([])
    )
    options = Options(rdma_dscps=cases("json config_db")[number].rdma_dscps)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "known.json"
        file.write_text(baseline_text(entries_of(known, folder)))
        after = lint_documents(documents, options._replace(baseline=str(file)))
        assert baseline_text(read_baseline(str(file)).entries) == file.read_text()
    assert after.baselined == len(known)
    assert len(after.findings) == len(before.findings) - len(known)
    assert said(after) <= said(before)


@given(st.data(), cases_of("json config_db"))
def test_the_order_of_findings_does_not_matter(data: st.DataObject, number: int) -> None:
    findings: tuple[Finding, ...] = checked("json config_db", number)[1].findings
    shuffled = data.draw(st.permutations(findings))
    text = baseline_text(entries_of(findings, "/repository"))
    assert baseline_text(entries_of(shuffled, "/repository")) == text
    entries = [line for line in text.splitlines() if line.startswith('{"file"')]
    assert len(entries) == len(entries_of(findings, "/repository"))
    assert json.loads(text)["version"] == 2

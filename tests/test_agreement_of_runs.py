"""No command passes what another refuses: laws between lint, the closed forms and runs of traffic.

Clean is what lint reports nothing of above information, before selection, suppression and baselines. What lint finds
clean is not unsafe by the closed forms, in either buffer model; and not in runs either, but for what ``ONLY_IN_RUNS``
names. With ``--simulate`` there is no exception.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.buffers.verdict import fabric_verdict
from lossless.analysis.simulation.question.request import Limits, SimulationRequest
from lossless.analysis.simulation.study.answer import answer
from lossless.api import Options, lint_documents, load_fabrics
from lossless.checks.rules.registry import codes_for
from lossless.formats.sonic.from_model import OWNED
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View
from tests.checks.rules.snippets import BASES, merge
from tests.strategies import intents, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.text import Document

Data = dict[str, Any]
pytestmark = pytest.mark.laws

ONLY_IN_RUNS = {
    "cycle": "an intent that does not state topology.routing: whether shortest paths close a cycle is not checked",
}
"""Why runs may be unsafe where lint without them is clean, by the kind of cause; docs/guides/simulate.md has it too."""
SN5600 = ({"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": "connectx-7"}, "400G", "800G")
SN3700 = ({"leaf": "nvidia-sn3700", "spine": "nvidia-sn3700", "nic": "connectx-6-dx"}, "100G", "100G")


def is_clean(document: Document, *, simulate: bool = False) -> bool:
    """Return whether a file is read, and nothing above information is found in it."""
    report = lint_documents([document], Options(simulate=simulate))
    return not report.errors and all(finding.severity == "info" for finding in report.findings)


def views(document: Document) -> list[View]:
    return [View(fabric) for fabric in load_fabrics([document]).fabrics]


def unsafe_kinds(document: Document) -> Iterator[str]:
    """Yield the kinds of what makes runs unsafe, asked as lint asks."""
    for view in views(document):
        for run in answer(view, SimulationRequest(limits=Limits(4), pfc_load=False)).runs:
            yield from (cause.kind for cause in run.causes if cause.verdict == "unsafe")


@st.composite
def small_intents(draw: st.DrawFn) -> Document:
    """Draw leaf-spines of few hosts: products, links, cables, tiers with PFC, buffer models, with DCQCN or without."""
    hardware, host_rate, up_rate = draw(st.sampled_from([SN5600, SN3700]))
    shape = {
        "leaves": draw(st.integers(2, 3)),
        "spines": draw(st.integers(1, 2)),
        "hosts_per_leaf": draw(st.integers(1, 4)),
        "host_links": f"{draw(st.integers(1, 2))} x {host_rate}",
        "uplinks": f"{draw(st.integers(1, 2))} x {up_rate}",
        "oversubscription": 16,
        "cables": {
            "host": draw(st.sampled_from(["3m", "30m"])),
            "uplink": draw(st.sampled_from(["30m", "300m"])),
        },
    }
    patch: Data = {"hardware": hardware, "topology": {"leaf_spine": shape}}
    if draw(st.booleans()):
        patch |= {"congestion_control": "pfc-only", "classes": {"rdma": {"ecn": "off"}}}
    if tiers := draw(st.sampled_from([None, ["hosts"], ["uplinks"], ["hosts", "uplinks"]])):
        patch["pfc"] = {"tiers": tiers}
    if draw(st.booleans()):
        patch["buffers"] = {"model": "dynamic"}
    base = load_text((BASES / "leaf-spine.yaml").read_text(), "fabric.yaml")
    return load_text(json.dumps(merge(base.data, patch)), "fabric.yaml")


@st.composite
def changed_switches(draw: st.DrawFn) -> Document:
    """Draw a rendered leaf of three ports in which a value is another, or is not there."""
    tables: Data = json.loads((BASES / "leaf.json").read_text())
    fields = [
        (table, key, field) for table in OWNED for key, row in tables.get(table, {}).items() for field in row
    ]
    table, key, field = draw(st.sampled_from(fields))
    changed, value = deepcopy(tables), tables[table][key][field]
    number = int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() else None
    others = (
        ["", "x"]
        if number is None
        else [str(other) for other in (0, number // 10, number * 10, number + 1, -8)]
    )
    other = draw(st.sampled_from([None, *others]))
    if other is None:
        del changed[table][key][field]
    else:
        changed[table][key][field] = other
    return load_text(json.dumps(changed), "config_db.json")


@st.composite
def modelled_intents(draw: st.DrawFn) -> Document:
    """Draw an intent of any kind, in either buffer model."""
    data = draw(intents())
    if draw(st.booleans()):
        kept = {
            key: value for key, value in data.get("buffers", {}).items() if key != "headroom_oversubscription"
        }
        data = {**data, "buffers": {**kept, "model": "dynamic"}}
    return load_text(written(data), "fabric.yaml")


@settings(max_examples=60)
@given(modelled_intents())
def test_what_lint_finds_clean_is_not_unsafe_by_the_closed_forms(document: Document) -> None:
    if is_clean(document):
        assert [fabric_verdict(view).overall for view in views(document)] != ["unsafe"]


@settings(max_examples=150)
@given(changed_switches())
def test_nor_is_a_changed_switch_that_lint_finds_clean(document: Document) -> None:
    assert not is_clean(document) or [fabric_verdict(view).overall for view in views(document)] != ["unsafe"]


@settings(max_examples=60)
@given(st.one_of(modelled_intents(), changed_switches()))
def test_what_closed_forms_check_no_rule_on_buffers_leaves_unchecked(document: Document) -> None:
    report = lint_documents([document])
    if not report.errors and not any(fabric_verdict(view).not_checked for view in views(document)):
        assert {gap.code for gap in report.not_checked}.isdisjoint(codes_for("buffers"))


@settings(max_examples=20)
@given(st.one_of(small_intents(), changed_switches()))
def test_runs_of_what_lint_finds_clean_are_unsafe_for_known_reasons_alone(document: Document) -> None:
    if is_clean(document):
        assert set(unsafe_kinds(document)) <= ONLY_IN_RUNS.keys()


@settings(max_examples=15)
@given(st.one_of(small_intents(), changed_switches()))
def test_what_lint_with_traffic_finds_clean_simulate_does_not_call_unsafe(document: Document) -> None:
    if is_clean(document, simulate=True):
        assert set(unsafe_kinds(document)) == set()
        assert "unsafe" not in [fabric_verdict(view).overall for view in views(document)]


def test_each_reason_is_one_that_runs_show_and_lint_alone_does_not() -> None:
    """Five leaves in a ring, and nothing said of the way packets take."""
    numbers = range(1, 6)
    devices = {f"l{n}": {"role": "leaf"} for n in numbers} | {f"h{n}": {"role": "host"} for n in numbers}
    links = [{"a": f"l{n}", "b": f"h{n}", "links": "4 x 100G", "cable": "3m"} for n in numbers]
    links += [{"a": f"l{n}", "b": f"l{n % 5 + 1}", "links": "1 x 10G", "cable": "30m"} for n in numbers]
    patch = {
        "hardware": SN3700[0], "congestion_control": "pfc-only", "classes": {"rdma": {"ecn": "off"}},
        "topology": {"leaf_spine": None, "devices": devices, "links": links},
    }  # fmt: skip
    base = load_text((BASES / "leaf-spine.yaml").read_text(), "fabric.yaml")
    ring = load_text(json.dumps(merge(base.data, patch)), "fabric.yaml")
    alone, with_runs = (lint_documents([ring], Options(simulate=simulate)) for simulate in (False, True))
    assert not {"TOP005", "SIM001"} & {finding.code for finding in alone.findings}
    (deadlock,) = (finding for finding in with_runs.findings if finding.code == "SIM001")
    assert deadlock.data["seeds_with_cycles"]

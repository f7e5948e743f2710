"""Workloads of an intent: each mistake, and exactly what is said of it; and what is resolved of those without."""

from __future__ import annotations

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.interfaces.api.simulate import DEFAULTS, declared_questions
from lossless.model.fabric.view import View
from tests.formats.intent.intent_texts import SHAPE, said_of

MISTAKES = {
    "a: {}": (
        "24:6: workloads.a: state what moves: either a pattern, such as incast, or a collective, such as all-reduce"
    ),
    "a: {pattern: incast, collective: all-reduce}": (
        "24:6: workloads.a: state what moves: either a pattern, such as incast, or a collective, such as all-reduce"
    ),
    "a: {pattern: incest}": (
        "24:16: workloads.a.pattern: 'incest' is not one of incast, all-to-all, ring, tree or permutation; did you "
        "mean incast?"
    ),
    "a: {pattern: incast, gpus: 8}": "24:30: workloads.a.gpus: gpus has no meaning for a pattern",
    "a: {collective: all-reduce, nics: 8}": "24:37: workloads.a.nics: nics has no meaning for a collective",
    "a: {pattern: incast, nics: 1}": (
        "24:30: workloads.a.nics: 1 is not a number of NIC ports that send to each other; expected a whole number from "
        "2 to 65536"
    ),
    "a: {pattern: incast, size: 0 B}": (
        "24:30: workloads.a.size: a workload that sends nothing shows nothing; state at least 1 B"
    ),
    "a: {pattern: incast, storage: 100%}": (
        "24:33: workloads.a.storage: 100% leaves nothing of the workload itself; state less"
    ),
    "a: {pattern: incast, slow_nic: 0G}": (
        "24:34: workloads.a.slow_nic: a slow NIC takes in something; a NIC that never resumes is a dead one: dead_nic: "
        "true"
    ),
    "a: {pattern: incast, slow_nic: 10G, dead_nic: true}": (
        "24:34: workloads.a.slow_nic: a NIC is slow or dead; leave out slow_nic or dead_nic"
    ),
    "a: {pattern: incast, link_down: [leaf1]}": (
        "24:36: workloads.a.link_down.0: expected a port as leaf1:Ethernet0, found 'leaf1'"
    ),
}
ABSENT = {
    "a: {pattern: incast, class: cnp}": "24:31: workloads.a.class: no lossless class is called 'cnp'",
    "a: {pattern: incast, target: host9}": (
        "24:32: workloads.a.target: no NIC port is called 'host9'; did you mean host"
    ),
    "a: {pattern: ring, link_down: ['leaf9:Ethernet0']}": (
        "24:34: workloads.a.link_down.0: no port is called 'leaf9:Ethernet0'; did you mean leaf"
    ),
    "a: {collective: all-to-all, algorithm: tree}": (
        "24:42: workloads.a.algorithm: all-to-all has direct, pxn, not tree"
    ),
}


def text_with(line: str) -> str:
    return f"{SHAPE}workloads:\n  {line}\n"


@pytest.mark.parametrize(("line", "told"), MISTAKES.items(), ids=str)
def test_what_has_no_meaning_is_reported_at_its_place(line: str, told: str) -> None:
    assert said_of(text_with(line)) == [told]


@pytest.mark.parametrize(("line", "told"), ABSENT.items(), ids=str)
def test_what_is_not_there_is_reported_at_its_place(line: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        resolve(load_intent(load_text(text_with(line), "fabric.yaml")))
    (problem,) = refused.value.problems
    assert f"{problem.line}:{problem.column}: {problem.message}".startswith(told)


def view_of(text: str) -> View:
    return View(resolve(load_intent(load_text(text, "fabric.yaml"))))


def test_a_pattern_is_the_question_that_simulate_asks_by_the_same_words() -> None:
    line = (
        "a: {pattern: incast, nics: 5, size: 2 MiB, class: rdma, target: 'host2:port1', slow_nic: 100G,"
        " link_down: ['leaf1:Ethernet0']}"
    )
    (asked,) = declared_questions(view_of(text_with(line)))
    question = asked.question
    assert question is not None
    assert (asked.name, question.pattern, question.nics, question.size_bytes) == ("a", "incast", 5, 2 << 20)
    assert (question.traffic_class, question.target) == ("rdma", "host2:port1")
    assert (question.slow_nic_bps, question.failed) == (100_000_000_000, ("leaf1:Ethernet0",))


def test_a_collective_is_its_own_traffic_and_its_worst_fan_in() -> None:
    """All 16 GPUs, one a NIC port, send to all others: each of 15 parts, and 15 at once to one."""
    asked = declared_questions(view_of(text_with("a: {collective: all-to-all, size: 15 MiB}")))
    assert [each.name for each in asked] == ["a", "a, worst fan-in"]
    traffic, fan_in = (each.question for each in asked)
    assert traffic is not None
    assert fan_in is not None
    assert len(traffic.moves) == 16 * 15
    assert fan_in.nics == 16


def test_without_workloads_an_incast_stands_for_them() -> None:
    assert declared_questions(view_of(SHAPE)) == DEFAULTS


def test_workloads_change_nothing_on_any_device() -> None:
    """Two fabrics that differ in workloads alone have the same switches, hosts and links."""
    plain, declared = (
        view_of(text).fabric for text in (SHAPE, text_with("a: {pattern: incast, dead_nic: true}"))
    )
    assert declared.workloads
    assert (plain.switches, plain.hosts, plain.links) == (declared.switches, declared.hosts, declared.links)

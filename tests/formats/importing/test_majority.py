"""What most ports have is declared; where as many have something else, no order of files or ports decides."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.importing.configured import Vote, dissent_notes, most
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from tests.formats.sonic.devices import Config, base, patched

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


@given(st.lists(st.sampled_from(["drop", "alert", "forward"]), min_size=1))
def test_nothing_is_met_more_often_than_the_winner_and_every_vote_counts(values: list[str]) -> None:
    winner, vote = most(values)
    assert winner is not None
    assert max(values.count(value) for value in values) == values.count(winner)
    assert vote == Vote(values.count(winner), len(values))
    assert vote.unanimous == (len(set(values)) == 1)


@given(st.lists(st.integers(0, 3), min_size=1).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_no_order_of_votes_changes_the_winner(orders: tuple[list[int], list[int]]) -> None:
    first, second = orders
    assert most(first) == most(second)


@pytest.mark.parametrize("values", [["b", "a"], ["a", "b"], ["b", "a", "b", "a", "c"]])
def test_of_equal_votes_the_first_in_a_fixed_order_wins(values: list[str]) -> None:
    assert most(values)[0] == "a"


def test_where_nobody_votes_nothing_wins() -> None:
    assert most([]) == (None, Vote(0, 0))


def test_a_note_counts_those_that_differ_and_only_where_some_do() -> None:
    assert dissent_notes(Vote(5, 8), "PFC") == ("PFC: 5 of 8 ports have it so, 3 differ",)
    assert dissent_notes(Vote(8, 8), "PFC") == ()


def two_ports(**tables: tuple[Any, Any]) -> list[Config]:
    """Return a switch with two ports in use that differ in some tables, and the same with the two swapped."""
    configs = []
    for values in (tables, {name: pair[::-1] for name, pair in tables.items()}):
        rows = {
            name: {port: {**base()[name][port], **row} for port, row in zip(PORTS, pair, strict=False)}
            for name, pair in values.items()
        }
        config = patched(base(), **rows)
        del config["PORT_QOS_MAP"][PORTS[2]]
        configs.append(config)
    return configs


DIFFERENCES: dict[str, dict[str, tuple[Any, Any]]] = {
    "priorities": {"PORT_QOS_MAP": ({"pfc_enable": "3"}, {"pfc_enable": "4"})},
    "watchdog": {"PFC_WD": ({"detection_time": "200"}, {"detection_time": "400"})},
    "mtu": {"PORT": ({"mtu": "9100"}, {"mtu": "9216"})},
    "asymmetric": {"PORT": ({"pfc_asym": "on"}, {"pfc_asym": "off"})},
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_where_each_of_two_ports_has_its_own_it_does_not_matter_which_has_which(case: str) -> None:
    declared = []
    for config in two_ports(**DIFFERENCES[case]):
        text = import_documents([load_text(json.dumps(config), "leaf1/config_db.json")]).text
        declared.append([line for line in text.splitlines() if '"leaf1:' not in line])
    assert declared[0] == declared[1]

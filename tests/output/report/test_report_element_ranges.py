"""The elements of a finding in few words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from lossless.output.report.lint.text import elements_text


def ports(device: str, numbers: range) -> tuple[str, ...]:
    return tuple(f"{device}:Ethernet{number}" for number in numbers)


@pytest.mark.parametrize(
    ("elements", "places", "text"),
    [
        (("leaf1:Ethernet4",), 1, "leaf1:Ethernet4"),
        (("leaf1", "leaf2"), 2, "leaf1, leaf2"),
        (("leaf1", "leaf2", "leaf3"), 3, "leaf1-leaf3 (3 in all)"),
        (ports("leaf1", range(0, 64, 4)), 16, "leaf1:Ethernet0-Ethernet60 (16 ports)"),
        (ports("leaf1", range(0, 64, 4)), 64, "leaf1:Ethernet0-Ethernet60 and 48 more (64 ports)"),
        (
            ports("leaf1", range(0, 12, 4)) + ports("leaf1", range(16, 64, 8)),
            9,
            "leaf1:Ethernet0-Ethernet8, leaf1:Ethernet16-Ethernet56 (9 ports)",
        ),
        (("leaf10:a", "leaf2:a", "leaf1:a", "leaf3:a"), 4, "leaf1:a, leaf2:a, leaf3:a and 1 more (4 ports)"),
        (("host01", "host02", "host03"), 3, "host01, host02, host03"),
        (("fabric",), 3, "fabric and 2 more (3 in all)"),
        # Groups, rows and profiles are no ports, nor is a port beside them.
        (
            ("leaf1:E0:PG3", "leaf1:E1:PG3", "leaf1:E2:PG3"),
            4,
            "leaf1:E0:PG3, leaf1:E1:PG3, leaf1:E2:PG3 and 1 more (4 in all)",
        ),
        (("COUNTER|PORT:E0", "COUNTER|PORT:E1", "COUNTER|PORT:E2"), 3, "COUNTER|PORT:E0-E2 (3 in all)"),
        (("leaf1:E0", "leaf1:E1", "leaf1:E2", "own"), 4, "leaf1:E0-E2, own (4 in all)"),
    ],
)
def test_consecutive_ports_become_a_range(elements: tuple[str, ...], places: int, text: str) -> None:
    assert elements_text(elements, places) == text


@given(st.sets(st.integers(0, 40), min_size=1), st.integers(0, 50))
def test_every_place_is_either_named_or_counted(numbers: set[int], beyond: int) -> None:
    places = len(numbers) + beyond
    text = elements_text([f"leaf1:Ethernet{number}" for number in numbers], places)
    named, _, rest = text.partition(" and ")
    single = [int(n) for n in re.findall(r":Ethernet(\d+)(?!\d|-)", named)]
    more = int(rest.split()[0]) if rest else 0
    name_ranges = [(int(a), int(b)) for a, b in re.findall(r":Ethernet(\d+)-Ethernet(\d+)", named)]
    within = {n for n in numbers for low, high in name_ranges if low <= n <= high}
    assert set(single) <= numbers
    assert len(within | set(single)) + more == places


@given(st.permutations([f"leaf{d}:Ethernet{n}" for d in (1, 2, 10) for n in (0, 4, 8, 12, 20)]))
def test_the_order_of_elements_does_not_matter(elements: list[str]) -> None:
    assert elements_text(elements, 15) == elements_text(sorted(elements), 15)

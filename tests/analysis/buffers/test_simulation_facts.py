"""What runs of the packet-level model leave for rules: plain values."""

from __future__ import annotations

from hypothesis import given, strategies as st

from lossless.analysis.buffers.simulation_facts import HeadroomUse, PortRef, SimulationFacts


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_headroom_that_was_not_used_is_the_margin(given_bytes: int, used_bytes: int) -> None:
    use = HeadroomUse(PortRef("leaf1", "Ethernet0"), given_bytes, used_bytes, None, 0, frozenset())
    assert use.used_bytes + use.margin_bytes == given_bytes


def test_a_port_is_named_with_its_switch() -> None:
    assert str(PortRef("leaf1", "Ethernet0")) == "leaf1:Ethernet0"


def test_where_nothing_was_run_nothing_was_shown() -> None:
    nothing = SimulationFacts(not_run="no NIC profile")
    assert (nothing.priority, nothing.seeds, nothing.causes, nothing.short) == (0, 0, (), ())

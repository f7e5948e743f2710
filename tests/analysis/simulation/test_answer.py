"""What a verdict says beside its word: how quick peers must be, the figures of runs, and each of several devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.buffers.verdict import fabric_verdict
from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.request import Limits, Question, SimulationRequest
from lossless.analysis.simulation.study.answer import answer
from lossless.analysis.simulation.study.measure import measure
from lossless.analysis.simulation.study.study import peer_reaction_limit, study
from tests.analysis.simulation.fabrics import (
    PFC_ONLY,
    Patch,
    checked,
    declared,
    deployed,
    headroom,
    of_every_port,
    put,
    seen_as,
)
from tests.checks.rules.checking import patched

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

MIB = 1 << 20


# --- peers that are slower than a vendor thinks ---

SN4700: Patch = {
    **PFC_ONLY,
    "hardware": {"leaf": "nvidia-sn4700", "spine": "nvidia-sn4700"},
    "topology": {
        "leaf_spine": {
            "hosts_per_leaf": 10,
            "host_links": "1 x 400G",
            "uplinks": "4 x 400G",
            "oversubscription": 2,
        }
    },
}


def test_a_vendors_own_headroom_under_slow_peers_is_on_the_edge_and_says_how_quick_they_must_be() -> None:
    """905 quanta at 400G are 1,158 ns; in sixteenths of that, half is still quick enough."""
    view = declared(SN4700)
    verdict = checked(view)
    assert (verdict.verdict, verdict.drops.seeds) == ("on the edge", 2)
    assert re.match(
        r"lossless frames are dropped at \S+ in 2 of 2 seeds, where peers take the 1,158 ns to obey PFC that "
        r"IEEE 802.3 allows; none are dropped up to 579 ns: the headroom is the vendor's own",
        verdict.reasons[0],
    )
    assert fabric_verdict(view).overall == "safe"


def test_the_reaction_time_that_is_called_safe_is_and_a_sixteenth_more_is_not() -> None:
    found = put(declared(SN4700))
    again = {part: study(found._replace(reaction=part / 16), Limits(2)) for part in (8, 9)}
    drops = {part: sum(one.drops for one in seen.seeds) for part, seen in again.items()}
    assert drops[8] == 0
    assert drops[9] > 0


def test_the_safe_time_is_known_to_a_sixteenth() -> None:
    """SN3700 at 200G: 453 quanta are 1,160 ns, of which fifteen sixteenths are quick enough."""
    shape = {"hosts_per_leaf": 4, "host_links": "1 x 200G", "uplinks": "4 x 200G"}
    hardware = {"leaf": "nvidia-sn3700", "spine": "nvidia-sn3700"}
    view = declared({**PFC_ONLY, "hardware": hardware, "topology": {"leaf_spine": shape}})
    (reason,) = checked(view).reasons
    assert (
        "peers take the 1,160 ns to obey PFC that IEEE 802.3 allows; none are dropped up to 1,087 ns"
        in reason
    )
    found = put(view)
    assert sum(one.drops for one in study(found._replace(reaction=15 / 16), Limits(2)).seeds) == 0


def test_where_even_peers_that_obey_at_once_lose_frames_no_time_is_safe() -> None:
    view = declared(SN4700)
    found = put(view)
    ends = {
        key: end._replace(groups=tuple(group._replace(headroom_bytes=5000) for group in end.groups))
        for key, end in found.ends.items()
    }
    short = found._replace(ends=ends)
    assert study(short._replace(reaction=0.0), Limits(1)).seeds[0].drops > 0
    assert peer_reaction_limit(view, study(short, Limits(1)), Limits(1)) is None


def test_headroom_below_the_vendors_own_is_unsafe_even_if_quick_peers_would_fit() -> None:
    """20,480 B of 231,424 B: peers that obey at once would lose nothing, and nobody promised that they do."""
    found = put(deployed(headroom(20_480)))
    assert study(found._replace(reaction=0.0), Limits(1)).seeds[0].drops == 0
    assert checked(deployed(headroom(20_480))).verdict == "unsafe"


def test_more_headroom_for_slow_peers_is_advised_and_is_enough() -> None:
    found = put(declared(SN4700))
    texts = "".join(checked(declared(SN4700)).changes)
    need = max(int(text.replace(",", "")) for text in re.findall(r"to at least ([\d,]+) B", texts))
    ends = {
        key: end._replace(groups=tuple(group._replace(headroom_bytes=need) for group in end.groups))
        for key, end in found.ends.items()
    }
    again = study(found._replace(ends=ends), Limits(2))
    assert sum(one.drops for one in again.seeds) == 0
    assert min(one.tightest.margin_bytes for one in again.seeds if one.tightest) >= found.frame_bytes


CURVE = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
LOW = {"dynamic_th": -5}
QUIETER: tuple[tuple[Patch, str, str], ...] = (
    ({"buffer": LOW}, "buffer", "ecn"),
    ({"buffer": LOW, "ecn": {**CURVE, "by_tier": {"leaf": CURVE}}}, "buffer", "ecn.by_tier.leaf"),
    ({"buffer": LOW, "ecn": {**CURVE, "by_speed": {"400G": CURVE}}}, "buffer", "ecn.by_speed.400G"),
    ({"buffer": {"by_tier": {"leaf": LOW}}}, "buffer.by_tier.leaf", "ecn"),
)
"""What a class states, and where what counts at the port of a host stands in it."""


@pytest.mark.parametrize(("rdma", "buffer", "ecn"), QUIETER)
def test_the_lines_that_are_advised_are_those_that_count_at_the_port(
    rdma: Patch, buffer: str, ecn: str
) -> None:
    """A line for all switches changes nothing where a tier, a speed or a device has one of its own."""
    changes = checked(declared({"classes": {"rdma": rdma}}), 4, pattern="tree").changes
    assert [change.partition("in the intent: ")[2] for change in changes] == [
        f"classes.rdma.{buffer}.dynamic_th, classes.rdma.{ecn}.max"
    ]


def test_a_curve_of_the_preset_is_advised_as_the_key_that_overrides_it() -> None:
    view = declared({"preset": "nvidia", "classes": {"rdma": {"buffer": {"dynamic_th": -7}, "ecn": None}}})
    (change,) = checked(view, 4, pattern="tree", size_bytes=64 << 20).changes
    assert change.endswith("in the intent: classes.rdma.buffer.dynamic_th, classes.rdma.ecn.max")


def test_an_incast_advises_no_thresholds_as_it_pauses_whatever_they_are() -> None:
    verdict = checked(declared({"classes": {"rdma": {"buffer": LOW}}}), 4)
    assert (verdict.pfc.seeds, verdict.changes) == (4, ())


# --- figures ---


def test_the_deepest_queue_drains_at_the_rate_of_its_own_port() -> None:
    """Two leaves of three hosts send through one spine into a third, over one link of 100G each."""
    leaves, hosts = ("l1", "l2", "l3"), range(1, 10)
    devices = {**{leaf: {"role": "leaf"} for leaf in leaves}, "s1": {"role": "spine"}}
    devices |= {f"h{n}": {"role": "host"} for n in hosts}
    links = [{"a": leaves[(n - 1) // 3], "b": f"h{n}", "links": "1 x 400G", "cable": "3m"} for n in hosts] + [
        {"a": leaf, "b": "s1", "links": "1 x 100G", "cable": "30m"} for leaf in leaves
    ]
    topology = {"leaf_spine": None, "devices": devices, "links": links, "oversubscription": 12}
    verdict = checked(declared({**PFC_ONLY, "topology": topology}))
    assert verdict.egress_at is not None
    assert verdict.egress_at.startswith("s1:")
    assert verdict.drain_us == pytest.approx(verdict.egress_bytes.most * 8 / 100e9 * 1e6)


def test_marks_come_before_pfc_in_no_more_seeds_than_pfc_fires_in() -> None:
    verdict = checked(declared(), size_bytes=64 << 10)
    assert verdict.marks.seeds > 0
    assert verdict.marks_before_pfc <= verdict.pfc.seeds


def test_pause_propagation_is_counted_by_hops_ports_and_nics() -> None:
    """A dead NIC stops its leaf's port; senders at the leaf and, through the spines, those of the other leaf."""
    verdict = checked(declared(PFC_ONLY), dead_nic=True, size_bytes=64 * MIB)
    assert verdict.spread_links == 4
    assert verdict.spread_nics == "15 of 16"
    assert verdict.spread_ports.endswith(" of 32")


def test_what_is_seen_of_a_run_does_not_depend_on_when_it_is_looked_at() -> None:
    staged = instantiate(put(deployed()), 1)
    simulation = Simulation(staged.network, 1)
    assert simulation.advance(1e9)
    first = measure(simulation, staged, 1, cut=False)
    assert measure(simulation, staged, 1, cut=False) == first
    assert first.outcome.size_bytes == 11 * 8 * MIB


# --- fabrics of several devices ---


def leaf9(patch: Patch) -> Document:
    alone = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf9"}}, "DEVICE_NEIGHBOR": None}
    return patched("rendered-leaf.json", {**alone, **patch}, "leaf9.json")


DROPS: Patch = {"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}}


def verdicts_of(*documents: Document) -> list[str]:
    return [one.verdict for one in answer(seen_as(*documents), SimulationRequest(Question(), Limits(1))).runs]


def test_devices_without_a_link_between_them_are_checked_one_by_one() -> None:
    leaf1 = patched("rendered-leaf.json", {}, "leaf1.json")
    assert verdicts_of(leaf1, leaf9(DROPS)) == ["safe", "unsafe"]


def test_a_device_apart_from_others_that_are_linked_is_checked_too() -> None:
    leaf1 = patched("rendered-leaf.json", {}, "leaf1.json")
    spine1 = patched("rendered-spine.json", {}, "spine1.json")
    assert "unsafe" in verdicts_of(leaf1, spine1, leaf9(DROPS))


def test_a_target_on_one_device_leaves_the_others_checked() -> None:
    leaf1 = patched("rendered-leaf.json", {}, "leaf1.json")
    assert answer(
        seen_as(leaf1, leaf9({})), SimulationRequest(Question(target="leaf1:Ethernet8"), Limits(1))
    ).runs


# --- what must not stop the rest ---

UNRUNNABLE: tuple[Patch, ...] = (
    {"BUFFER_POOL": {"ingress_lossless_pool": {"size": "0"}}},
    {"BUFFER_POOL": {"ingress_lossless_pool": {"size": "4000"}}},
    {"PFC_WD": of_every_port({"restoration_time": "0"})},
)


@pytest.mark.parametrize("patch", UNRUNNABLE, ids=["no pool", "less than a frame", "restoration 0"])
def test_a_value_that_cannot_be_run_is_a_verdict_or_a_reason(patch: Patch) -> None:
    found = answer(deployed(patch), SimulationRequest())
    assert found.runs or found.not_run


# --- what is said of what had to be assumed ---


def test_without_a_nic_it_is_said_that_nobody_slows_down() -> None:
    assert checked(deployed()).assumed[0].startswith("no NIC is known: senders keep to line rate")


def test_a_nic_whose_dcqcn_is_unknown_is_an_assumption() -> None:
    thor = {"hardware": {"nic": "broadcom-thor-2"}, "congestion_control": "dcqcn"}
    found = put(declared(thor))
    assert found.dcqcn is None
    assert any("DCQCN" in said for said in found.assumed)

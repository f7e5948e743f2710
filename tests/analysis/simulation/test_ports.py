"""What a port and a switch's memory do, from an intent or a deployed file: every number arrives unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from lossless.analysis.simulation.engine.network import (
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWatchdog,
    SimWred,
)
from lossless.analysis.simulation.question.ports import SimClass, sim_port, sim_switch
from lossless.analysis.simulation.question.request import Question
from lossless.analysis.simulation.question.scenario import scenario
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.hosts import RDMA_MTUS
from lossless.model.fabric.qos import Recovery, WatchdogAction
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import (
    HOST_PORTS,
    HOST_PROFILE,
    PORTS,
    UPLINK_PROFILE,
    UPLINKS,
    Patch,
    declared,
    deployed,
    example,
    of_every_port,
    put,
)
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.model.fabric.model import Port

KIB = 1024
ROCE = example()


def end_at(found: Scenario, switch: str, port: str) -> SimPort:
    """Return what one port of one switch does."""
    plant = found.topology
    for wire in plant.wires:
        for node, at in ((wire.a, wire.a_port), (wire.b, wire.b_port)):
            end = found.end(node, at)
            if plant.names[node] == switch and at is not None and at.name == port and end is not None:
                return end
    raise AssertionError(f"{switch}:{port} has no link")


def memory(found: Scenario, name: str) -> SimSwitch:
    return found.switch(found.topology.names.index(name))


# --- the example, by hand ---


def test_a_port_does_what_its_intent_and_its_row_of_the_hwsku_say() -> None:
    """ACS-SN5600: 400G over 5 m 231,424 and 19,456 B, 800G over 40 m 362,496 and 38,912 B; dynamic_th 0 is alpha 1.

    An egress queue may take 128/129 of the chip's 158,229,504 B: dynamic_th 7.
    """
    found = put(ROCE)
    queue = SimQueue(SimWred(800 * KIB, 3200 * KIB, 0.2), strict=False, weight=50, limit_bytes=157_002_918)
    assert end_at(found, "leaf1", "Ethernet0") == SimPort((queue,), (SimGroup(1.0, 231_424, 19_456),))
    assert end_at(found, "leaf2", "Ethernet248") == SimPort((queue,), (SimGroup(1.0, 362_496, 38_912),))
    assert end_at(found, "spine2", "Ethernet0") == SimPort((queue,), (SimGroup(1.0, 362_496, 38_912),))


def test_a_switch_has_the_pool_cells_and_watchdog_that_were_resolved_for_it() -> None:
    found = put(ROCE)
    watchdog = SimWatchdog(600, 1200, 1200, "drop", "mellanox", (0,))
    pools = {
        switch.name: pool.size_bytes
        for switch in ROCE.fabric.switches
        for pool in switch.qos.pools
        if pool.name == "ingress_lossless_pool" and pool.size_bytes is not None
    }
    assert pools == {"leaf1": 69_203_968, "leaf2": 69_203_968, "spine1": 73_766_912, "spine2": 73_766_912}
    for name, pool_bytes in pools.items():
        assert memory(found, name) == SimSwitch(
            158_229_504, pool_bytes, None, 192, watchdog, reserved_apart=True
        )


# --- any intent ---


def ports_and_ends(found: Scenario) -> Iterator[tuple[bool, Port, SimPort]]:
    """Yield every port of a switch with what it does, and whether its switch takes reserved bytes for its own."""
    for wire in found.topology.wires:
        for node, port in ((wire.a, wire.a_port), (wire.b, wire.b_port)):
            end = found.end(node, port)
            if port is not None and end is not None:
                profile = found.topology.switch_of[node].profile
                assert profile is not None
                yield profile.asic.formula is None, port, end


def group_of(port: Port, priority: int, *, reserves: bool) -> SimGroup:
    """Return the group of a lossless class, read off the fabric: an intent counts priority p in group p.

    Of two pools the lossless one is the first; a switch on which no port pauses has only one.
    """
    group = port.qos.groups[priority] if port.qos is not None else None
    assert group is not None
    profile = group.buffer
    assert profile is not None
    return SimGroup(
        alpha=None if profile.dynamic_th is None else 2.0**profile.dynamic_th,
        headroom_bytes=profile.headroom_bytes,
        xon_bytes=profile.xon_bytes or 0,
        xon_offset_bytes=profile.xon_offset_bytes or 0,
        reserved_bytes=profile.reserved_bytes if reserves else 0,
        static_bytes=profile.static_th_bytes,
    )


def curve_of(port: Port, priority: int) -> SimWred | None:
    """Return the ECN curve of a lossless class, read off the fabric: an intent queues priority p in queue p."""
    queue = port.qos.queues[priority] if port.qos is not None else None
    assert queue is not None
    if queue.wred is None:
        return None
    curve = queue.wred.green
    assert curve.min_bytes is not None
    assert curve.max_bytes is not None
    return SimWred(curve.min_bytes, curve.max_bytes, (curve.probability_percent or 0) / 100, curve.marks)


@settings(max_examples=40)
@given(intents(renderable=True))
def test_every_group_and_queue_of_an_intent_is_as_its_ports_have_it(data: dict[str, Any]) -> None:
    found = scenario(View(fabric_of(data)), Question())
    if isinstance(found, MissingInput):
        # The second where the only other NICs are on other rails.
        assert found.reason in (
            "fewer than two ports with PFC lead to a NIC: there is nobody to send to",
            "no other NIC reaches host1:port1",
        )
        return
    priority = found.classes[0].priority
    for reserves, port, end in ports_and_ends(found):
        (group,) = end.groups
        assert group._replace(pool=0) == group_of(port, priority, reserves=reserves)
        assert group.pool == 0 or group.headroom_bytes is None
        assert [queue.wred for queue in end.queues] == [curve_of(port, priority)]


# --- read from a device ---


def group_with(profile: Patch) -> SimGroup:
    found = put(deployed({"BUFFER_PROFILE": {HOST_PROFILE: profile}}))
    return end_at(found, "leaf1", "Ethernet0").groups[0]


@pytest.mark.parametrize(("exponent", "alpha"), [(-8, 1 / 256), (-1, 0.5), (0, 1), (3, 8), (7, 128)])
def test_a_dynamic_threshold_is_a_power_of_two(exponent: int, alpha: float) -> None:
    assert group_with({"dynamic_th": str(exponent)}) == SimGroup(alpha, 231_424, 19_456)


def test_a_static_threshold_is_bytes() -> None:
    found = group_with({"dynamic_th": None, "static_th": "150000"})
    assert found == SimGroup(None, 231_424, 19_456, static_bytes=150_000)


def test_xon_and_its_offset_arrive() -> None:
    assert group_with({"xon": "0", "xon_offset": "3616"}) == SimGroup(1.0, 231_424, 0, 3616)


def test_headroom_that_size_does_not_hold_does_not_exist_on_nvidia() -> None:
    """``size`` 40,960 holds xon, 19,456 B, and 21,504 B more; with a shared pool all of xoff exists."""
    assert group_with({"size": "40960"}).headroom_bytes == 21_504
    shared = {"ingress_lossless_pool": {"xoff": "2000000"}}
    found = put(deployed({"BUFFER_POOL": shared, "BUFFER_PROFILE": {HOST_PROFILE: {"size": "19456"}}}))
    assert end_at(found, "leaf1", "Ethernet0").groups[0].headroom_bytes == 231_424
    assert memory(found, "leaf1").headroom_pool_bytes == 2_000_000


def test_a_group_without_headroom_does_not_pause() -> None:
    found = end_at(put(deployed(), storage=0.2), "leaf1", "Ethernet0")
    assert [group.headroom_bytes for group in found.groups] == [231_424, None]
    assert [group.pool for group in found.groups] == [0, 1]


def wred_of(profile: Patch) -> SimWred | None:
    found = put(deployed({"WRED_PROFILE": {"AZURE_LOSSLESS": profile}}))
    return end_at(found, "leaf1", "Ethernet0").queues[0].wred


def test_ecn_and_wred_arrive_as_the_curve_of_green_packets() -> None:
    curve = {"green_min_threshold": "1000", "green_max_threshold": "2000", "green_drop_probability": "5"}
    assert wred_of(curve) == SimWred(1000, 2000, 0.05, marks=True)
    assert wred_of({**curve, "ecn": "ecn_none"}) == SimWred(1000, 2000, 0.05, marks=False)
    assert wred_of({**curve, "ecn": "ecn_yellow"}) == SimWred(1000, 2000, 0.05, marks=False)
    assert wred_of({"wred_green_enable": "false"}) is None


def test_the_scheduler_arrives() -> None:
    strict = put(deployed({"SCHEDULER": {"scheduler.rdma": {"type": "STRICT"}}}))
    heavy = put(deployed({"SCHEDULER": {"scheduler.rdma": {"weight": "70"}}}))
    assert end_at(strict, "leaf1", "Ethernet0").queues[0].strict
    assert end_at(heavy, "leaf1", "Ethernet0").queues[0].weight == 70


def test_an_egress_limit_arrives() -> None:
    """A lossy queue with dynamic_th 3 may take 8/9 of its pool, 75,372,544 B."""
    queues = {f"{port}|3": {"profile": "q_lossy_profile"} for port in PORTS}
    found = put(deployed({"BUFFER_QUEUE": queues}))
    assert end_at(found, "leaf1", "Ethernet0").queues[0].limit_bytes == 75_372_544 * 8 // 9


def watchdog_of(patch: Patch) -> SimWatchdog | None:
    return memory(put(deployed({"PFC_WD": patch})), "leaf1").watchdog


DOG = SimWatchdog(600, 1200, 1200, "drop", "mellanox", (0,))


@pytest.mark.parametrize("action", ["drop", "forward", "alert"])
def test_the_watchdog_arrives_with_its_action(action: WatchdogAction) -> None:
    assert watchdog_of(of_every_port({"action": action})) == DOG._replace(action=action)


def test_the_quickest_watchdog_of_a_switch_counts() -> None:
    quick = {"detection_time": "400", "restoration_time": "300"}
    assert watchdog_of({"Ethernet8": quick}) == DOG._replace(detection_ms=400, restoration_ms=300)


@pytest.mark.parametrize("recovery", ["quiet", "fixed", "unknown"])
def test_recovery_of_the_watchdog_arrives_or_is_said_not_to_be_simulated(recovery: Recovery) -> None:
    """No file of SONiC states another than its own: the recovery of one of its ports is exchanged."""
    view = declared()
    dogs = {
        id(port.qos): port.qos._replace(watchdog=port.qos.watchdog._replace(recovery=recovery))
        for switch in view.fabric.switches
        for port in switch.ports
        if port.qos is not None and port.qos.watchdog is not None
    }
    switches = tuple(
        switch._replace(
            ports=tuple(port._replace(qos=dogs.get(id(port.qos), port.qos)) for port in switch.ports)
        )
        for switch in view.fabric.switches
    )
    found = put(View(view.fabric._replace(switches=switches)))
    assert {dog.fixed for dog in found.watchdogs} == {recovery == "fixed"}
    said = [text for text in found.assumed if text.startswith("restoration by the watchdog of")]
    assert len(said) == (recovery == "unknown")


def test_a_port_whose_watchdog_differs_has_its_own() -> None:
    """The quickest is the switch's, so that every other port has one of its own; one without any watches no class."""
    quick = {"detection_time": "400", "restoration_time": "300"}
    found = put(deployed({"PFC_WD": {"Ethernet8": quick, "Ethernet4": None}}))
    ends = {port: end_at(found, "leaf1", port).watchdog for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
    assert ends["Ethernet8"] is None
    assert ends["Ethernet0"] == DOG
    assert ends["Ethernet4"] is not None
    assert ends["Ethernet4"].classes == ()
    assert end_at(put(deployed({})), "leaf1", "Ethernet0").watchdog is None


def test_without_a_poll_interval_sonic_polls_every_hundred_milliseconds() -> None:
    assert watchdog_of({"GLOBAL": None}) == DOG._replace(poll_ms=100)


def test_without_restoration_what_is_stopped_stays_so() -> None:
    assert watchdog_of(of_every_port({"restoration_time": None})) == DOG._replace(restoration_ms=None)


def test_no_watchdog_runs_where_none_is_or_its_counters_are_off() -> None:
    off = {"PFCWD": {"FLEX_COUNTER_STATUS": "disable"}}
    assert memory(put(deployed({"PFC_WD": None})), "leaf1").watchdog is None
    assert memory(put(deployed({"FLEX_COUNTER_TABLE": off})), "leaf1").watchdog is None


def test_a_watchdog_that_watches_other_priorities_watches_no_class_of_ours() -> None:
    other = deployed({"PORT_QOS_MAP": of_every_port({"pfcwd_sw_enable": "4"})})
    assert memory(put(other), "leaf1").watchdog == DOG._replace(classes=())


@pytest.mark.parametrize(
    ("port_mtu", "rdma_mtu"), [("9100", 4096), ("4174", 4096), ("4173", 2048), ("1500", 1024), ("300", 256)]
)
def test_the_rdma_mtu_is_the_largest_that_fits_with_its_headers(port_mtu: str, rdma_mtu: int) -> None:
    """60 bytes of IP, UDP and RDMA headers and 18 of Ethernet, which a switch's MTU may count."""
    assert rdma_mtu in RDMA_MTUS
    assert put(deployed({"PORT": of_every_port({"mtu": port_mtu})})).mtu_bytes == rdma_mtu


def test_the_host_says_which_mtu_it_has() -> None:
    assert put(declared({"hosts": {"mtu": 4200}})).mtu_bytes == 4096
    assert put(declared({"hosts": {"mtu": 4155}})).mtu_bytes == 2048


# --- what is missing ---


def test_ends_and_memory_name_what_they_lack() -> None:
    """Class 5 is counted in group 5, which has no row."""
    (switch,) = deployed({"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"5": "5"}}}).fabric.switches
    lossless, other = SimClass("priority 3", 3, lossless=True), SimClass("other", 5, lossless=False)
    none = MissingInput("leaf1 has no buffer pool for the classes that are simulated")
    assert sim_switch(switch, [other]) == none
    assert sim_port(switch, switch.ports[0], [lossless, other]) == MissingInput(
        "leaf1:Ethernet0 has no buffer profile for class other"
    )


def test_uplinks_have_a_profile_of_their_own() -> None:
    found = put(deployed({"BUFFER_PROFILE": {UPLINK_PROFILE: {"xoff": "300000", "size": "338912"}}}))
    assert {end_at(found, "leaf1", port).groups[0].headroom_bytes for port in UPLINKS} == {300_000}
    assert {end_at(found, "leaf1", port).groups[0].headroom_bytes for port in HOST_PORTS} == {231_424}

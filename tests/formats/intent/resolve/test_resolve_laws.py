"""Laws of every fabric that an intent declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import lint_documents
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.qos import PRIORITIES
from lossless.model.fabric.view import View, bare
from lossless.model.hardware.load import load_nic
from tests.strategies import document_of, fabric_of, intents, loaded_of, shuffled

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from lossless.ground.basics.errors import Problem
    from lossless.model.fabric.model import Fabric, Port, Switch

Data = dict[str, Any]
pytestmark = pytest.mark.laws


def known(value: Any) -> Any:
    """Return what must not be missing."""
    assert value is not None
    return value


def ports(fabric: Fabric) -> list[tuple[Switch, Port]]:
    return [(switch, port) for switch in fabric.switches for port in switch.ports]


@given(intents())
def test_resolving_refuses_with_located_problems_or_not_at_all(data: Data) -> None:
    loaded = loaded_of(data)
    for problem in refused_by(lambda: resolve(loaded)):
        assert problem.line is not None


@given(intents())
def test_the_same_intent_twice_is_the_same_fabric(data: Data) -> None:
    assert outcome(data) == outcome(data)


def outcome(data: Data) -> Any:
    try:
        return fabric_of(data)
    except InputError as error:
        return error.problems


def refused_by(action: Callable[[], object]) -> tuple[Problem, ...]:
    try:
        action()
    except InputError as error:
        return error.problems
    return ()


@given(intents(renderable=True), st.randoms(use_true_random=False))
def test_the_order_of_keys_means_nothing(data: Data, random: Random) -> None:
    other = shuffled(data, random)
    assert bare(fabric_of(other)) == bare(fabric_of(data))
    assert findings(other) == findings(data)


def findings(data: Data) -> list[Any]:
    report = lint_documents([document_of(data)])
    assert report.errors == ()
    return sorted((f.code, f.message, str(f.origin.path), f.places, f.elements) for f in report.findings)


@given(intents(renderable=True))
def test_every_class_has_its_buffers_on_every_port(data: Data) -> None:
    fabric = fabric_of(data)
    for _, port in ports(fabric):
        assert port.qos is not None
        for cls in fabric.classes.classes:
            assert cls.priority is not None
            queue = known(port.qos.queues[port.qos.queue_of(cls.priority)])
            group = known(port.qos.groups[port.qos.group_of(cls.priority)])
            assert queue.scheduler is not None
            assert known(group.buffer).lossless == (cls.lossless and not port.pfc_unwanted)
            assert known(known(queue.buffer).pool).kind == "egress"
            assert known(known(group.buffer).pool).kind == "ingress"


@given(intents(renderable=True))
def test_every_dscp_reaches_the_class_that_names_it(data: Data) -> None:
    fabric = fabric_of(data)
    for _, port in ports(fabric):
        second = second_priorities(port)
        for dscp, target in enumerate(known(known(port.qos).dscp_to_tc).targets):
            assert target == second.get(dscp, known(fabric.classes.of_dscp(dscp)).priority)


@given(intents(renderable=True))
def test_pfc_is_on_for_the_lossless_classes_and_leads_to_their_group_and_queue(data: Data) -> None:
    fabric = fabric_of(data)
    lossless = {cls.priority for cls in fabric.classes.lossless if cls.priority is not None}
    for _, port in ports(fabric):
        qos = port.qos
        assert qos is not None
        if port.pfc_unwanted:
            assert (qos.pfc.priorities, qos.watchdog_mask, qos.watchdog, qos.pfc_to_pg) == (
                (),
                None,
                None,
                None,
            )
            continue
        assert set(qos.pfc.priorities) == lossless | second_priorities(port).keys()
        assert set(known(qos.watchdog_mask).priorities) == lossless
        for priority in qos.pfc.priorities:
            assert known(qos.pfc_to_queue).targets[priority] == qos.queue_of(priority)
            assert qos.pfc_to_pg is None or qos.pfc_to_pg.targets[priority] == qos.group_of(priority)


def second_priorities(port: Port) -> dict[int, int]:
    """Return the priorities that tunnels of dual ToRs have on a port beside those that are watched."""
    qos = known(port.qos)
    watched = qos.watchdog_mask.priorities if qos.watchdog_mask else ()
    return {p: p for p in qos.pfc.priorities if p not in watched}


@given(intents(renderable=True))
def test_pfc_is_on_at_both_ends_of_a_link_or_at_neither(data: Data) -> None:
    fabric = fabric_of(data)
    view = View(fabric)
    for link in fabric.links:
        near = known(known(view.port(link.a, link.a_port)).qos)
        if link.to_host:
            assert near.pfc.priorities == view.host_by_name[link.b].qos.pfc_priorities
        else:
            far = known(known(view.port(link.b, link.b_port)).qos)
            assert near.pfc.priorities == far.pfc.priorities


@given(intents(renderable=True))
def test_second_priorities_are_on_links_between_dual_tors_and_spines_alone(data: Data) -> None:
    fabric = fabric_of(data)
    view = View(fabric)
    tors = {switch.name for switch in fabric.switches if switch.qos.tunnel}
    for link in fabric.links:
        seconds = second_priorities(known(view.port(link.a, link.a_port)))
        between = {link.a, link.b} & tors and not link.to_host and not {link.a, link.b} <= tors
        assert bool(seconds) == bool(between)
        assert set(seconds) <= {2, 6}


@given(intents(renderable=True))
def test_members_of_a_lag_are_identical_in_all_but_their_headroom(data: Data) -> None:
    for switch in fabric_of(data).switches:
        lags: dict[str, set[Any]] = {}
        for port in switch.ports:
            if port.lag is not None:
                qos = known(port.qos)
                identical = (
                    port.speed_bps,
                    port.mtu_bytes,
                    bare(qos.pfc),
                    bare(qos.queues),
                    bare(qos.watchdog),
                )
                lags.setdefault(port.lag, set()).add(identical)
        assert all(len(found) == 1 for found in lags.values())


@given(intents(renderable=True))
def test_no_lane_is_used_twice_and_every_port_of_the_switch_is_used_or_not(data: Data) -> None:
    for switch in fabric_of(data).switches:
        own = {port.name for port in switch.ports}
        specs = [known(port.spec) for port in switch.ports]
        specs += [spec for spec in switch.unused if spec.name not in own]
        lanes = [lane for spec in specs for lane in spec.lanes]
        assert len(lanes) == len(set(lanes))
        assert len({spec.name for spec in specs}) == len(specs)


@given(intents(renderable=True))
def test_weights_are_shares(data: Data) -> None:
    for _, port in ports(fabric_of(data)):
        assert port.qos is not None
        weights = [
            q.scheduler.weight for q in port.qos.queues if q and q.scheduler and q.scheduler.kind == "DWRR"
        ]
        assert all(weight is not None and 1 <= weight <= 100 for weight in weights)


@given(intents())
def test_pools_are_never_negative_and_headroom_fits_or_is_reported(data: Data) -> None:
    try:
        fabric = fabric_of(data)
    except InputError:
        return
    for switch in fabric.switches:
        for pool in switch.qos.pools:
            assert known(pool.size_bytes) >= 0
            assert pool.shared_headroom_bytes is None or pool.shared_headroom_bytes >= 0


@given(intents())
def test_ports_of_a_switch_have_names_and_lanes_of_their_own(data: Data) -> None:
    try:
        fabric = fabric_of(data)
    except InputError:
        return
    for switch in fabric.switches:
        assert switch.profile is not None
        names = [port.name for port in switch.ports]
        assert len(set(names)) == len(names)
        specs = {name: port for name, port in zip(names, switch.ports, strict=True) if port.placed}
        assert all(port.lanes for port in specs.values())


@given(intents(renderable=True))
def test_renderable_intents_find_a_port_for_every_link(data: Data) -> None:
    assert all(port.placed for _, port in ports(fabric_of(data)))


@given(intents())
def test_links_join_ports_that_exist_each_once(data: Data) -> None:
    try:
        fabric = fabric_of(data)
    except InputError:
        return
    view = View(fabric)
    hosts = {host.name for host in fabric.hosts}
    ends = [(link.a, link.a_port) for link in fabric.links] + [(link.b, link.b_port) for link in fabric.links]
    assert len(set(ends)) == len(ends)
    assert all(name in hosts or view.port(name, port) is not None for name, port in ends)
    at_switches = [end for end in ends if end[0] not in hosts]
    assert len(at_switches) == sum(len(switch.ports) for switch in fabric.switches)
    for link in fabric.links:
        assert link.to_host == (link.b in hosts)
        for name, port_name in ((link.a, link.a_port), (link.b, link.b_port)):
            port = view.port(name, port_name)
            assert port is None or port.speed_bps == link.speed_bps


@given(intents(renderable=True))
def test_the_configured_cable_is_never_shorter_than_the_real_one(data: Data) -> None:
    for switch, port in ports(fabric_of(data)):
        rows = {r.cable_m for r in known(switch.hwsku).headroom if r.speed_bps == port.speed_bps}
        assert isinstance(port.cable.real_m, int)
        assert known(port.cable.configured_m) in rows
        assert port.cable.configured_m == min(length for length in rows if length >= port.cable.real_m)


@given(intents(renderable=True))
def test_headroom_of_a_group_is_that_of_the_row_of_its_port(data: Data) -> None:
    for switch, port in ports(fabric_of(data)):
        assert switch.hwsku is not None
        assert port.qos is not None
        row = switch.hwsku.row(port.speed_bps or 0, port.cable.configured_m or 0)
        for group in port.qos.groups:
            if group is not None and group.buffer is not None and group.buffer.lossless:
                assert row is not None
                assert (group.buffer.headroom_bytes, group.buffer.xon_bytes) == (
                    row.headroom_bytes,
                    row.xon_bytes,
                )
                assert (group.buffer.dynamic_th is None) != (group.buffer.static_th_bytes is None)


@given(intents(renderable=True))
def test_hosts_mark_traffic_for_a_lossless_class_and_agree_with_the_switches(data: Data) -> None:
    fabric = fabric_of(data)
    masks = {port.qos.pfc.priorities for _, port in ports(fabric) if port.qos and port.leads_to == "host"}
    for host in fabric.hosts:
        qos = host.qos
        assert {qos.pfc_priorities} == masks
        assert isinstance(qos.traffic_class, int)
        assert not isinstance(qos.dscp_to_priority, Unknown)
        assert known(fabric.classes.of_dscp(qos.traffic_class >> 2)).lossless
        assert {name for name, _ in qos.dcqcn.values} >= set(qos.dcqcn.stated)
        assert set(dict(qos.dcqcn.values)) <= {name.lower() for name in load_nic(qos.nic_name).dcqcn}
        for dscp, priority in qos.dscp_to_priority:
            assert known(fabric.classes.of_dscp(dscp)).priority == priority


@given(intents(renderable=True))
def test_every_blamed_place_can_be_shown(data: Data) -> None:
    loaded = loaded_of(data)
    fabric = resolve(loaded)
    for _, port in ports(fabric):
        assert port.qos is not None
        maps = (port.qos.dscp_to_tc, port.qos.tc_to_pg, port.qos.tc_to_queue, port.qos.pfc_to_pg)
        entries = [m.entry_origin(i) for m in maps if m is not None for i in PRIORITIES]
        origins = [port.origin, port.cable.origin, port.qos.pfc.origin, *entries]
        origins += [queue.origin for queue in port.qos.queues if queue]
        origins += [queue.wred.origin for queue in port.qos.queues if queue and queue.wred]
        assert all(loaded.document.exists(origin.path) for origin in origins)

"""The record arrays of a simulation, and their construction from a network.

Flows that are received in any order, and senders with a congestion window, have arrays of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine import records
from lossless.analysis.simulation.engine.check import largest_frame
from lossless.analysis.simulation.engine.memory_units import lay_out_units
from lossless.analysis.simulation.engine.network import UNBOUNDED
from lossless.analysis.simulation.engine.records import ANY_ORDER, NEVER, NEWS
from lossless.analysis.simulation.engine.wiring import PS_PER_BYTE, Wiring, spread, transfers, wire
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.analysis.simulation.engine.network import (
        SimFlow,
        SimNetwork,
        SimPort,
        SimWatchdog,
        SimWindow,
    )


_FRAMES, _MOST_FRAMES = 1024, 1 << 18
"""Frames at the start, in addition to those that switches can hold, and the maximum then; a run requests more."""
_BITS_IN_TIME = 62
"""The bits of an agenda entry: a time in ps, then a slot (``kernel.agenda``). A time that does not fit beside its slot
is never reached."""


class SimState(NamedTuple):
    """All arrays of one simulation, in the order the kernel takes them; ``records`` has the fields of each."""

    clock: Any  # one CLOCK
    agenda: Any  # i8: tree of what happens next, ps << bits | slot (``kernel.agenda``)
    frames: Any  # FRAME, in use and free
    links: Any  # LINK
    queues: Any  # QUEUE, by link and class
    groups: Any  # GROUP, by link and class
    units: Any  # UNIT
    flows: Any  # FLOW: transfers and ACKs, those of one NIC together
    points: Any  # POINT, one a flow
    params: Any  # DCQCN
    cnps: Any  # i8, ps: when each CNP under way arrives; a ring a flow
    paths: Any  # i4: the links of each flow's path, the flows that wait for others, the links of fans
    receivers: Any  # RECEIVER
    holds: Any  # HOLD
    delays: Any  # i8: frames of the first class by how long they waited in a switch port, in steps
    probes: Any  # PROBE
    samples: Any  # f8: what each probe saw, a row for each time
    routes: Any  # i4: the fan of each switch toward each switch with hosts
    fans: Any  # FAN
    flowlets: Any  # FLOWLET, by switch and flow
    packets: Any  # u1, bits of each packet that is received in any order (``kernel.agenda``)
    sent: Any  # SENT, of each of them whose sender has a window
    asked: Any  # ASK, of each of them if a receiver gives credit
    senders: Any  # SENDER
    news: Any  # WINDOW_NEWS: a ring for each sender
    windows: Any  # WINDOW
    pullers: Any  # PULLER

    def copy(self) -> SimState:
        """Return a copy of the state without its frames, which :meth:`set_to` does not need."""
        return SimState(*(array.copy() for array in self._replace(frames=self.frames[:0])))

    def set_to(self, other: SimState) -> None:
        """Copy the contents of an earlier state of the same network, without new memory."""
        for name, mine, theirs in zip(self._fields, self, other, strict=True):
            if name != "frames" and theirs.size:
                # Records are copied field by field; their bytes are one move.
                mine.view(np.uint8)[...] = theirs.view(np.uint8)
        free_all(self.clock, self.frames)


class ArrayIndex(NamedTuple):
    """The mapping of array indexes to the network; ``flow_at[i]`` is the index of flow i of the network."""

    wiring: Wiring
    flow_at: tuple[int, ...]
    bits: int

    @property
    def classes(self) -> int:
        """The number of traffic classes of a link in the arrays: with one more for ACKs where these travel apart."""
        return self.wiring.classes

    @property
    def horizon_ps(self) -> int:
        """The longest time in ps that fits in an agenda entry beside a slot."""
        return (1 << (_BITS_IN_TIME - self.bits)) - 1


def build(network: SimNetwork, seed: int = 1) -> tuple[SimState, ArrayIndex]:
    """Return the arrays of a network at time zero, and their index."""
    wiring = wire(network)
    links = _links(network, wiring)
    moved = transfers(network, wiring, links)
    spreading = spread(network, wiring, moved.flows, moved.place, len(moved.paths))
    windows = windows_of(network, moved.flows, moved.place, links)
    queues, groups = _ports(network, wiring)
    receivers, holds = _receivers(network, wiring, links), _holds(network, wiring)
    _foresee(links, moved.flows, moved.params, holds)
    units = lay_out_units(network, wiring, groups)
    queues["watch_left_ps"] = np.repeat(links["detection_ps"], wiring.classes)
    slots = 3 * len(links) + len(windows.pullers) + len(receivers) + len(holds) + len(units) + 1
    index = ArrayIndex(wiring, moved.place, max(2, (slots - 1).bit_length() + 1 & ~1))
    state = SimState(
        clock=_clock(moved.flows, seed),
        agenda=np.full(2 << index.bits, records.NEVER, np.int64),
        frames=np.zeros(_frames(network, units) + len(queues), records.FRAME),
        links=links,
        queues=queues,
        groups=groups,
        units=units,
        flows=moved.flows,
        points=moved.points,
        params=moved.params,
        cnps=moved.cnps,
        paths=np.append(moved.paths, np.array(spreading.links, np.int32)),
        receivers=receivers,
        holds=holds,
        delays=np.zeros(records.DELAY_STEPS, np.int64),
        probes=np.zeros(0, records.PROBE),
        samples=np.zeros((0, 0)),
        routes=spreading.routes,
        fans=spreading.fans,
        flowlets=spreading.flowlets,
        packets=windows.packets,
        sent=windows.sent,
        asked=windows.asked,
        senders=windows.senders,
        news=windows.news,
        windows=windows.windows,
        pullers=windows.pullers,
    )
    free_all(state.clock, state.frames)
    _first_plans(state, index)
    return state, index


def _frames(network: SimNetwork, units: Any) -> int:
    """Return how many frame records a run starts with, besides one per queue; their number may grow.

    They are enough for full switches and some wires, up to a maximum. Memory that no frame has used costs nothing.
    """
    smallest = min((flow.mtu_bytes for flow in network.flows), default=1)
    in_switches = np.minimum(units["buffer_bytes"] // smallest, _MOST_FRAMES).sum()
    return min(_MOST_FRAMES, _FRAMES + int(in_switches))


def free_all(clock: Any, frames: Any) -> None:
    """Mark every frame as free."""
    clock["free"], clock["fresh"], clock["free_frames"] = -1, 0, len(frames)


def more_frames(state: SimState) -> SimState:
    """Return the state with twice as many frame records, the new ones free."""
    many = len(state.frames)
    frames = np.zeros(2 * many, records.FRAME)
    frames[:many] = state.frames
    state.clock["free_frames"] += many
    return state._replace(frames=frames)


def _links(network: SimNetwork, wiring: Wiring) -> Any:
    links = np.zeros(len(wiring.ends), records.LINK)
    physics = network.physics
    links["gap_bytes"] = physics.gap_bytes
    links["pfc_wire_bytes"] = physics.pfc_frame_bytes + physics.gap_bytes
    for name in ("wire_head", "wire_tail", "pfc_head", "pfc_tail", "receiver", "leaving"):
        links[name] = -1
    links["idle"] = 1
    for name in ("sends_at", "next_arrives_at", "rewind_at"):
        links[name] = records.NEVER
    cables = wiring.cables
    links["ps_per_byte"] = [PS_PER_BYTE / cable.rate_bps for cable, _ in cables]
    links["ps_per_64_kib"] = np.rint(links["ps_per_byte"] * (1 << 16))
    links["propagation_ps"] = [round(cable.propagation_ns * 1000) for cable, _ in cables]
    reactions = [cable.a_reaction_ns if forward else cable.b_reaction_ns for cable, forward in cables]
    links["reaction_ps"] = [round(reaction * 1000) for reaction in reactions]
    parallel = {
        link: at for parallel_links in wiring.link_of.values() for at, link in enumerate(parallel_links)
    }
    links["reverse"] = [wiring.link_of[b, a][parallel[at]] for at, (a, b) in enumerate(wiring.ends)]
    links["sender_unit"] = [wiring.unit_of.get(a, -1) for a, _ in wiring.ends]
    links["receiver_unit"] = [wiring.unit_of.get(b, -1) for _, b in wiring.ends]
    ends = [cable.a_end if forward else cable.b_end for cable, forward in cables]
    extra = 1 << network.classes if wiring.classes > network.classes else 0
    links["strict"] = [
        extra | (sum(1 << number for number, queue in enumerate(end.queues) if queue.strict) if end else 0)
        for end in ends
    ]
    links["seen"][[wiring.routes[number][-1] for number in wiring.acked]] = 1
    for number, ((sender, _), end) in enumerate(zip(wiring.ends, ends, strict=True)):
        usual = network.switches[sender].watchdog if sender in network.switches else None
        if usual is not None:
            _set_watchdog(
                links[number], end.watchdog if end is not None and end.watchdog is not None else usual
            )
    return links


def _set_watchdog(link: Any, watchdog: SimWatchdog) -> None:
    link["detection_ps"] = round(watchdog.detection_ms * 1e9)
    link["restoration_ps"] = round((watchdog.restoration_ms or 0) * 1e9)
    link["fixed"] = watchdog.fixed
    link["watched"] = sum(1 << number for number in watchdog.classes)
    link["action"] = ("drop", "forward", "alert").index(watchdog.action)


def _ports(network: SimNetwork, wiring: Wiring) -> tuple[Any, Any]:
    """Return the queues at the sending and the groups at the receiving ends of all links."""
    shape = (len(wiring.ends), wiring.classes)
    queues, groups = np.zeros(shape, records.QUEUE), np.zeros(shape, records.GROUP)
    for name in ("head", "tail", "paused_since", "first_mark_at", "max_at", "storm_at"):
        queues[name] = -1
    queues["limit_bytes"] = UNBOUNDED
    queues["quantum"] = 1
    for name in ("first_pause_at", "first_drop_at"):
        groups[name] = -1
    groups["static_bytes"] = UNBOUNDED
    kinds: dict[int, tuple[Any, Any]] = {}
    data = slice(0, network.classes)
    for number, (cable, forward) in enumerate(wiring.cables):
        sending, receiving = (cable.a_end, cable.b_end) if forward else (cable.b_end, cable.a_end)
        if sending is not None:
            queues[number, data] = _kind(kinds, sending, network)[0]
        if receiving is not None:
            groups[number, data] = _kind(kinds, receiving, network)[1]
    return queues.reshape(-1), groups.reshape(-1)


def _kind(kinds: dict[int, tuple[Any, Any]], end: SimPort, network: SimNetwork) -> tuple[Any, Any]:
    """Return the queue and group records of a switch port; ports that are one object are laid out once."""
    if id(end) not in kinds:
        kinds[id(end)] = _queues(end, network), _groups(end)
    return kinds[id(end)]


def _queues(end: SimPort, network: SimNetwork) -> Any:
    records_ = np.zeros(len(end.queues), records.QUEUE)
    largest = largest_frame(network)
    for record, queue in zip(records_, end.queues, strict=True):
        for name in ("head", "tail", "paused_since", "first_mark_at", "max_at", "storm_at"):
            record[name] = -1
        record["limit_bytes"], record["alpha"] = queue.limit_bytes, queue.alpha
        record["pool_bytes"], record["until_sent"] = queue.pool_bytes, queue.until_sent
        if queue.trim is not None:
            record["trim_bytes"], record["trim_class"] = queue.trim.size_bytes, queue.trim.traffic_class
        record["quantum"] = queue.weight * largest
        if queue.wred is not None:
            record["wred"] = (3 if queue.until_sent else 1) if queue.wred.marks else 2
            record["kmin"], record["kmax"] = queue.wred.kmin_bytes, queue.wred.kmax_bytes
            record["pmax"] = queue.wred.pmax
        record["rare"] = queue.until_sent or record["wred"] == 2
    return records_


def _groups(end: SimPort) -> Any:
    records_ = np.zeros(len(end.groups), records.GROUP)
    for record, group in zip(records_, end.groups, strict=True):
        record["first_pause_at"] = record["first_drop_at"] = -1
        record["lossless"] = group.headroom_bytes is not None
        record["headroom_bytes"] = group.headroom_bytes or 0
        record["reserved_bytes"] = group.reserved_bytes
        record["alpha"] = group.alpha or 0.0
        record["static_bytes"] = -1 if group.static_bytes is None else group.static_bytes
        record["xon"], record["xon_offset"] = group.xon_bytes, group.xon_offset_bytes
    return records_


def _receivers(network: SimNetwork, wiring: Wiring, links: Any) -> Any:
    """Return the receive buffers of slow hosts, one for each link that ends there."""
    slow = {host.node: host for host in network.slow_hosts}
    places = [(at, slow[end]) for at, (_, end) in enumerate(wiring.ends) if end in slow]
    receivers = np.zeros(len(places), records.RECEIVER)
    for number, (record, (link, host)) in enumerate(zip(receivers, places, strict=True)):
        record["link"], record["drain_ps_per_byte"] = link, PS_PER_BYTE / host.drain_bps
        record["xoff_bytes"], record["xon_bytes"] = host.xoff_bytes, host.xon_bytes
        links[link]["receiver"], links[link]["seen"] = number, 1
    return receivers


def _foresee(links: Any, flows: Any, params: Any, holds: Any) -> None:
    """Mark the NICs whose next frame is foreseeable: no ACKs among their data, no window, no rate that rises in a wait.

    NICs of slow hosts, and those that are held, are not marked either.
    """
    # Without DCQCN a flow has number -1: the last.
    unlocked = np.append(params["pacing_lock"] == 0, False)[flows["dcqcn"]]
    open_ended = (flows["counts"] == 0) & (flows["apart"] == 0) | unlocked | (flows["sender"] >= 0)
    links["foreseen"] = (links["flows"] > 0) & (links["sender_unit"] < 0)
    links["foreseen"][flows["first_link"][open_ended]] = 0
    links["foreseen"][links["reverse"][links["receiver"] >= 0]] = 0
    links["foreseen"][holds["link"]] = 0


def _holds(network: SimNetwork, wiring: Wiring) -> Any:
    held = [hold for hold in network.holds if hold.duty > 0 or not hold.period_ns]
    places = [(hold, link) for hold in held for link in wiring.link_of[hold.node, hold.peer]]
    holds = np.zeros(len(places), records.HOLD)
    for record, (hold, link) in zip(holds, places, strict=True):
        record["link"], record["classes"] = link, sum(1 << number for number in hold.classes)
        record["starts_at"], record["ends_at"] = round(hold.start_ns * 1000), round(hold.end_ns * 1000)
        # Held for all of each period is held throughout.
        record["period_ps"] = round(hold.period_ns * 1000) if hold.duty < 1 else 0
        record["duty_ps"] = round(hold.period_ns * hold.duty * 1000)
    return holds


def _clock(flows: Any, seed: int) -> Any:
    clock = np.zeros(1, records.CLOCK)
    for name in ("first_pause_at", "first_mark_at", "first_drop_at", "first_trim_at", "first_storm_at"):
        clock[name] = -1
    clock["unfinished"] = int(flows["counts"].sum())
    clock["random"] = scrambled(seed)
    clock["salt"] = scrambled(seed + (1 << 32))
    return clock


def scrambled(seed: int) -> int:
    """Return a seed spread over 64 bits, never 0: xorshift starts small from small seeds (splitmix64)."""
    word = (seed + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return (word ^ (word >> 31)) or 1


def _first_plans(state: SimState, index: ArrayIndex) -> None:
    """Set the first event of each slot of the agenda, and the tree above the slots."""
    many = len(state.links)
    starts = np.full(many, records.NEVER)
    np.minimum.at(
        starts,
        state.flows["first_link"],
        np.where(state.flows["size_bytes"] > 0, state.flows["next_at"], records.NEVER),
    )
    others = 3 * many + len(state.pullers) + len(state.receivers)
    plans = dict(enumerate(starts.tolist(), 2 * many))
    plans |= dict(enumerate(state.holds["starts_at"].tolist(), others))
    polls = [poll or records.NEVER for poll in state.units["poll_ps"].tolist()]
    plans |= dict(enumerate(polls, others + len(state.holds)))
    leaves = 1 << index.bits
    for slot, at_ps in plans.items():
        if at_ps <= index.horizon_ps:
            state.agenda[leaves + slot] = at_ps << index.bits | slot
    _close_tree(state.agenda, index.bits)


def plan_recorder(state: SimState, index: ArrayIndex) -> None:
    """Plan the recorder's first sample for time zero."""
    slot = (
        3 * len(state.links) + len(state.pullers) + len(state.receivers) + len(state.holds) + len(state.units)
    )
    state.agenda[(1 << index.bits) + slot] = slot
    _close_tree(state.agenda, index.bits)


def _close_tree(agenda: Any, bits: int) -> None:
    for level in range(bits - 2, -1, -2):
        first = 1 << level
        below = agenda[4 * first : 8 * first].reshape(-1, 4)
        agenda[first : 2 * first] = below.min(axis=1)


_CONTROLS = {"none": 0, "nscc": 1}
_PS_PER_BYTE = 8e12
_SPARE_NEWS = 64
"""Room for news of a flow beside those of its window: credit that its sender has not taken yet."""


class Windows(NamedTuple):
    """The arrays of flows received in any order and of senders with a congestion window.

    ``packets`` has an entry for each packet of these flows; so has ``sent`` if a sender has a window, and ``asked`` if
    a receiver gives credit.
    """

    packets: Any
    sent: Any
    asked: Any
    senders: Any
    news: Any
    windows: Any
    pullers: Any


def windows_of(network: SimNetwork, flows: Any, place: Sequence[int], links: Any) -> Windows:
    """Return the arrays of a network's windows, and set the indexes of its flows in them."""
    flows["first_packet"] = flows["sender"] = -1
    any_order = [n for n, flow in enumerate(network.flows) if flow.window or flow.ahead_frames is not None]
    packets = _set_packets(network, flows, place, any_order)
    windowed = [(n, window) for n in any_order if (window := network.flows[n].window) is not None]
    lines = [
        (window, round(_PS_PER_BYTE / float(links["ps_per_byte"][flows[place[n]]["first_link"]])))
        for n, window in windowed
    ]
    kinds = sorted(set(lines), key=repr)
    senders = np.zeros(len(windowed), records.SENDER)
    senders["window"] = [kinds.index(line) for line in lines]
    depths = [
        _set_sender(record, network.flows[n], flows[place[n]], line)
        for record, (n, _), line in zip(senders, windowed, lines, strict=True)
    ]
    senders["depth"] = depths
    senders["first_news"] = 2 * (np.cumsum(depths) - depths) if depths else 0
    senders["flow"] = [place[n] for n, _ in windowed]
    flows["sender"][senders["flow"]] = range(len(windowed))
    flows["stamped"][senders["flow"]] = True
    for number, acks in enumerate(flows["acks"][senders["flow"]].tolist()):
        if acks >= 0:
            flows["taken"][acks], flows["told"][acks] = NEWS, number
    hosts = _set_pullers(network, senders, windowed)
    return Windows(
        packets=np.zeros(packets, np.uint8),
        sent=np.zeros(packets if windowed else 0, records.SENT),
        asked=np.zeros(packets if hosts else 0, records.ASK),
        senders=senders,
        news=np.zeros(2 * sum(depths), records.WINDOW_NEWS),
        windows=_windows(kinds),
        pullers=_pullers(network, flows, place, links, hosts),
    )


def _set_packets(network: SimNetwork, flows: Any, place: Sequence[int], any_order: Sequence[int]) -> int:
    """Set the index of the first packet of each flow received in any order; return the number of their packets."""
    many = 0
    for number in any_order:
        flow, record = network.flows[number], flows[place[number]]
        record["taken"], record["first_packet"] = ANY_ORDER, many
        record["window_frames"] = flow.ahead_frames or 0
        many += -(-flow.size_bytes // flow.mtu_bytes)
    return many


def _set_sender(record: Any, flow: SimFlow, own: Any, line: tuple[SimWindow, float]) -> int:
    """Set the state of a sender at its start; return the maximum number of news under way to it."""
    window, line_bps = line
    record["base_rtt_ps"] = round(window.base_rtt_us * 1e6)
    first_bytes = max(window.bdps * line_bps / 8 * window.base_rtt_us / 1e6, _frame_bytes(own))
    record["cwnd"] = first_bytes if window.control == "nscc" or not window.credit_bytes else float(NEVER)
    record["credit"] = round(first_bytes)
    record["speculates"] = window.credit_bytes > 0
    record["puller"] = record["first_sent"] = record["last_sent"] = record["last_held"] = -1
    record["recycles"] = bool(flow.spread and flow.spread.recycles)
    packets = -(-flow.size_bytes // flow.mtu_bytes)
    return int(min(packets, 4 * first_bytes // _frame_bytes(own))) + _SPARE_NEWS


def _frame_bytes(flow: Any) -> int:
    return int(flow["mtu_bytes"]) + int(flow["overhead_bytes"])


def _windows(kinds: Sequence[tuple[SimWindow, float]]) -> Any:
    rows = np.zeros(len(kinds), records.WINDOW)
    for record, (window, line_bps) in zip(rows, kinds, strict=True):
        record["bdps"], record["target"] = window.bdps, window.target_rtts
        record["line_bytes_per_ps"] = line_bps / _PS_PER_BYTE
        record["base_rtt_ps"] = round(window.base_rtt_us * 1e6)
        record["timeout_ps"] = round((window.timeout_us or 0) * 1e6)
        record["ack_bytes"] = window.ack_bytes
        record["control"], record["nacks"] = _CONTROLS[window.control], window.nacks
    return rows


def _set_pullers(
    network: SimNetwork, senders: Any, windowed: Sequence[tuple[int, SimWindow]]
) -> dict[int, list[int]]:
    """Set for each sender the receiver that gives it credit (its puller); return the flows of each such host."""
    hosts: dict[int, list[int]] = {}
    for record, (number, window) in zip(senders, windowed, strict=True):
        if window.credit_bytes:
            host = network.flows[number].path[-1]
            hosts.setdefault(host, []).append(number)
            record["puller"] = list(hosts).index(host)
    return hosts


def _pullers(
    network: SimNetwork, flows: Any, place: Sequence[int], links: Any, hosts: dict[int, list[int]]
) -> Any:
    rows = np.zeros(len(hosts), records.PULLER)
    for record, numbers in zip(rows, hosts.values(), strict=True):
        window = network.flows[numbers[0]].window
        assert window is not None
        ps_per_byte = float(links["ps_per_byte"][flows["last_link"][place[numbers[0]]]])
        record["credit_bytes"] = window.credit_bytes
        record["ps_per_byte"] = ps_per_byte / window.credit_part
        record["first_ask"], record["first"] = -1, -1
    return rows

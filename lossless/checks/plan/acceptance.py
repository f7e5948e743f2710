"""The acceptance test of a new fabric: its lines, the figures that they expect, and the outcome of each.

A plan has pairs of host ports in rounds (``analysis/topology/traffic_rounds.py``), and for each step its lines. A line
has an outcome of its own: by the verdict of ``verify`` on the result of perftest or nccl-tests, by what a script
recorded, or by how counters of switches grew. Lines that need SONiC's counters or commands are left out for other
systems, and named.
"""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from lossless.analysis.topology.traffic_rounds import host_ports, traffic_rounds
from lossless.checks.rules.host_counters.traffic_tests import (
    PASS_MARKS,
    carried_share,
    least_bus_bandwidth,
)
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import grouped, natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined
from lossless.model.fabric.hosts import RDMA_HEADERS_BYTES, RDMA_MTUS
from lossless.model.fabric.infiniband.subnet import job_level
from lossless.model.fabric.model import Link, known_tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.topology.traffic_rounds import (
        HostPort,
        LinkCoverage,
        PortPair,
        Spread,
        TrafficRounds,
    )
    from lossless.checks.lint.run import CheckedReport
    from lossless.checks.rules.host_counters.traffic_tests import TrafficVerdict
    from lossless.formats.inputs.captures import CaptureInputs
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric, Switch

Step = Literal["mtu", "bandwidth", "dscp", "collectives", "counters", "link-pull", "pfc-watchdog"]
LineOutcome = Literal["pass", "fail", "not checked", "not run"]

TEST_S = 10
"""How long perftest measures, in seconds. A choice: queue pairs start in a second, and counters are polled in ten."""
OVERHEAD_S = 8
"""Seconds that a round takes beside its measurement, to connect twice to each host and start servers. A choice."""
COLLECTIVE_S = 120
"""Seconds of one run of nccl-tests from 1 MiB to 8 GiB, 25 times each. A choice: 8 GiB at 50 GB/s take 0.2 s."""
MANY_PACKETS = 10_000
"""Packets by which a counter has to grow to show traffic of a test: control traffic sends fewer in a minute."""
_SHARE = 0.9
"""The least share of the packets of a port that the queue of the tested DSCP has: the rest are CNPs and control."""
_WITHIN_FLOWS = 4
"""Queue pairs of a test within a switch, as the help of HCT014 advises."""
_SENDERS = 8
"""The most senders of the incast: 8 to 1 fills a queue whatever DCQCN does in the first round trip. A choice."""
_WITH_OWN_LINES = ("HCT013", "HCT014", "HCT015")
"""Rules on traffic tests, whose results are lines of their own."""


class TestPair(NamedTuple):
    """One run of perftest between two host ports, in a round, and the least bandwidth that passes, in Gb/s.

    A port is an RDMA device, an interface, or ``#2`` for the second RDMA device of the host. ``mark_gbps`` is None
    where a link on its path is slower than its ports.
    """

    id: str
    round: int
    source: str
    source_port: str
    target: str
    target_port: str
    queue_pairs: int
    expected_gbps: float | None
    mark_gbps: float | None


class AcceptanceLine(NamedTuple):
    """One line of the test, which has an outcome of its own: its step, and the condition that passes, as text."""

    id: str
    step: Step
    text: str
    passes: str


class TestedClass(NamedTuple):
    """A DSCP of a lossless class, the traffic class byte of its packets, and the queue that they take at switches."""

    name: str
    dscp: int
    tos: int
    queue: int


class LinkPull(NamedTuple):
    """The link between switches that is taken down, and the pair (its id) whose traffic crosses it."""

    switch: str
    port: str
    far: str
    pair: str


class PauseTest(NamedTuple):
    """The host port that senders of one switch congest, and that sends pauses of its own.

    ``sender_ports`` are their ports at the switch. ``detection_ms`` is None where no watchdog watches the port,
    ``restoration_ms`` where it never restores.
    """

    switch: str
    switch_port: str
    target: str
    target_port: str
    senders: tuple[tuple[str, str], ...]
    sender_ports: tuple[str, ...]
    priority: int
    tos: int
    detection_ms: int | None
    restoration_ms: int | None


class Collectives(NamedTuple):
    """Runs of nccl-tests on hosts: GPUs of each (None: unknown), variables of jobs, tests and marks in GB/s."""

    hosts: tuple[str, ...]
    gpus_per_host: int | None
    variables: tuple[tuple[str, str], ...]
    tests: tuple[tuple[str, float], ...]


class AcceptancePlan(NamedTuple):
    """The acceptance test of a fabric.

    ``coverage`` has both directions of each link between switches, ``alone`` the host ports that no pair tests.
    ``switches`` run SONiC. ``mtu_bytes`` is the least MTU of host interfaces, None on InfiniBand, ``tos`` the traffic
    class byte of RDMA, ``service_level`` that of InfiniBand; None: perftest's own. ``seconds`` is the
    estimated time of the steps that do not disturb traffic. ``not_covered`` has the parts that no line tests, and why.
    """

    name: str
    transport: Literal["rocev2", "infiniband"]
    spread: Spread
    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    mtu_bytes: int | None
    tos: int | None
    service_level: int | None
    gid_index: int | None
    rounds: int
    flows: int
    seconds: int
    pairs: tuple[TestPair, ...]
    coverage: tuple[LinkCoverage, ...]
    alone: tuple[str, ...]
    classes: tuple[TestedClass, ...]
    collectives: Collectives | None
    link_pull: LinkPull | None
    pause_test: PauseTest | None
    lines: tuple[AcceptanceLine, ...]
    not_covered: tuple[str, ...]

    @property
    def across(self) -> tuple[TestPair, ...]:
        """The pairs that cross links between switches."""
        return tuple(pair for pair in self.pairs if pair.id.startswith("across"))

    @property
    def host_port_count(self) -> int:
        """The number of host ports that some pair tests."""
        return len({(pair.source, pair.source_port) for pair in self.pairs})


class LineResult(NamedTuple):
    """The outcome of one line, and the reason or the measurement."""

    id: str
    step: Step
    text: str
    outcome: LineOutcome
    note: str


_NOTHING, _LOAD = "nothing", "loads ports and links"


class StepRow(NamedTuple):
    """One script of the test: its purpose, its number of lines, its duration, and the traffic that it disturbs."""

    script: str
    what: str
    lines: int
    time: str
    disturbs: str


def minutes(seconds: int) -> str:
    """Return a time as text: ``6 min``."""
    return f"{-(-seconds // 60)} min"


def step_rows(plan: AcceptancePlan) -> tuple[StepRow, ...]:
    """Return the scripts of a test in the order in which they run, those that disturb last."""
    counts = {step: len(lines) for step, lines in grouped((each.step, each) for each in plan.lines).items()}

    def lines(step: Step) -> int:
        return counts.get(step, 0)

    round_s = TEST_S + OVERHEAD_S
    across = max(len({pair.round for pair in plan.across}), 1)
    rows = [StepRow("before.sh", "counters before", 0, minutes(OVERHEAD_S), _NOTHING)]
    if plan.mtu_bytes is not None:
        what = f"{plan.mtu_bytes} bytes in one packet between host ports"
        rows.append(StepRow("mtu.sh", what, lines("mtu"), minutes(2 * OVERHEAD_S), _NOTHING))
    what = f"perftest, {plan.rounds} rounds of disjoint pairs"
    rows.append(StepRow("bandwidth.sh", what, lines("bandwidth"), minutes(plan.rounds * round_s), _LOAD))
    if plan.classes:
        named = ", ".join(str(each.dscp) for each in plan.classes)
        time = minutes(across * len(plan.classes) * (round_s + OVERHEAD_S))
        rows.append(
            StepRow("dscp.sh", f"queues of DSCP {named} and links in use", lines("dscp"), time, _LOAD)
        )
    if plan.collectives is not None:
        names = " and ".join(name for name, _ in plan.collectives.tests)
        time = minutes(COLLECTIVE_S * len(plan.collectives.tests))
        rows.append(
            StepRow("collectives.sh", f"nccl-tests: {names} of all hosts", lines("collectives"), time, _LOAD)
        )
    rows.append(StepRow("after.sh", "counters after", lines("counters"), minutes(OVERHEAD_S), _NOTHING))
    if plan.link_pull is not None:
        pull = plan.link_pull
        what = f"{pull.switch}:{pull.port} to {pull.far} down under traffic"
        rows.append(
            StepRow("disturbing/link-pull.sh", what, lines("link-pull"), "3 min", "**takes a link down**")
        )
    if plan.pause_test is not None:
        what = f"incast to {plan.pause_test.target}, then pauses into {plan.pause_test.switch}"
        rows.append(
            StepRow("disturbing/pfc-watchdog.sh", what, lines("pfc-watchdog"), "2 min", "**pauses a class**")
        )
    return tuple(rows)


class CoverageRow(NamedTuple):
    """Links from one switch to others: how many a pair may cross, and the most flows that may cross one.

    ``missed`` is the mean number of these links that no flow crosses.
    """

    switch: str
    links: str
    flows: int
    missed: str


def coverage_rows(plan: AcceptancePlan) -> tuple[CoverageRow, ...]:
    """Return the coverage of links between switches, by the switch that sends into them."""
    rows = []
    linked = grouped((each.switch, each) for each in plan.coverage)
    for switch, links in sorted(linked.items(), key=lambda item: natural_key(item[0])):
        crossed = [each for each in links if each.pairs]
        missed = sum(each.missed for each in crossed)
        flows = plan.flows * max((each.pairs for each in crossed), default=0)
        rows.append(CoverageRow(switch, f"{len(crossed)} of {len(links)}", flows, f"{missed:.2g}"))
    return tuple(rows)


def expected_figures(plan: AcceptancePlan) -> Iterator[str]:
    """Yield the figures that the lines of the test have to reach, once for each kind of pair."""
    kinds = grouped(
        ((pair.expected_gbps, pair.mark_gbps), pair) for pair in plan.pairs if pair.mark_gbps is not None
    )
    for (expected, mark), pairs in kinds.items():
        yield f"perftest of {len(pairs)} pairs: {expected:g} Gb/s, passed from {mark:g} Gb/s on"
    if plan.collectives is not None:
        for name, mark in plan.collectives.tests:
            yield f"{name} of {len(plan.collectives.hosts)} hosts: busbw passed from {mark:g} GB/s on"


def spread_sentence(plan: AcceptancePlan) -> str:
    """Return a sentence on the choice among equal paths, and its effect on the coverage."""
    if not plan.across:
        return "No pair crosses a link between switches."
    if plan.spread == "packet":
        return "Switches choose a path for each packet: every link of a group is crossed."
    if plan.spread == "destination":
        return (
            "The forwarding tables choose the path by the destination: every host port sends to another leaf. How "
            "likely each link is crossed holds for tables that spread destinations at random; routing engines spread "
            "them evenly."
        )
    return (
        f"Switches choose among equal paths by a hash of each flow, which no test steers: {plan.flows} queue pairs of "
        "each pair across have a UDP source port each where the driver derives it from the queue pair. dscp.sh shows "
        "which links were used."
    )


class AcceptanceResults(NamedTuple):
    """The outcomes of all lines of an acceptance test, and how many lines have each."""

    name: str
    passed: int
    failed: int
    not_checked: int
    not_run: int
    lines: tuple[LineResult, ...]


Growth = dict[tuple[str, str, str, str], int]
"""Packets by which counters grew: by device, port, queue or priority, and the name of the counter."""


def fabric_acceptance(fabric: Fabric, marks: Mapping[str, float]) -> AcceptancePlan:
    """Return the acceptance test of an Ethernet fabric; ``marks`` are configured pass marks.

    Raises:
        LosslessError: it has no hosts and switches of its own, fewer than two hosts, or hosts of Ultra Ethernet.
    """
    if fabric.ultra_ethernet:
        raise LosslessError(f"{fabric.name}: perftest and nccl-tests over Ultra Ethernet are not known")
    qos_of = {host.name: host.qos for host in fabric.hosts}
    spread = _spread(fabric)
    rounds = traffic_rounds([link for link in fabric.links if not link.to_host or link.b in qos_of], spread)
    _require_pairs(fabric.name, rounds)
    pairs = _pairs(rounds, qos_of, _rdma_mtu(fabric), "Ethernet", marks)
    first = fabric.hosts[0].qos
    sonic = {switch.name: switch for switch in fabric.switches if switch.runs_sonic}
    classes = _classes(fabric, first) if sonic else ()
    pause = _pause_test(fabric, sonic, qos_of)
    pull = _link_pull(rounds, pairs, sonic)
    tos = first.traffic_class if isinstance(first.traffic_class, int) else None
    mtus = [qos.mtu_bytes for qos in qos_of.values() if isinstance(qos.mtu_bytes, int)]
    gpus = fabric.cluster.gpus_per_host if fabric.cluster is not None else None
    oversubscribed = [each for each in fabric.capacities if each.down_bps > each.up_bps]
    collectives = _collectives(
        [link for link in fabric.links if link.to_host and link.b in qos_of],
        gpus,
        tuple((each.name, each.value) for each in first.jobs.variables),
        marks,
        is_oversubscribed=bool(oversubscribed),
    )
    plan = AcceptancePlan(
        name=fabric.name,
        transport="rocev2",
        spread=spread,
        hosts=_hosts(pairs),
        switches=tuple(sorted({switch.device for switch in sonic.values()}, key=natural_key)),
        mtu_bytes=min(mtus, default=None),
        tos=tos,
        service_level=None,
        gid_index=first.jobs.gid_index if isinstance(first.jobs.gid_index, int) else None,
        rounds=len(rounds.within) + len(rounds.across),
        flows=rounds.flows,
        seconds=0,
        pairs=pairs,
        coverage=_by_device(rounds.coverage),
        alone=tuple(f"{port.host} {port.port}" for port in rounds.alone),
        classes=classes,
        collectives=collectives,
        link_pull=pull,
        pause_test=pause,
        lines=(),
        not_covered=(),
    )
    left = [*_not_covered(plan), *_left_by_systems(fabric, plan)]
    if oversubscribed:
        leaf = oversubscribed[0]
        ratio = leaf.down_bps / max(leaf.up_bps, 1)
        left.append(f"alltoall: {leaf.leaf} is oversubscribed {ratio:.3g}:1, no figure is expected of it")
    return _finished(plan, left)


def subnet_acceptance(subnet: Subnet, marks: Mapping[str, float]) -> AcceptancePlan:
    """Return the acceptance test of an InfiniBand subnet, on its hosts for compute and storage.

    Raises:
        LosslessError: fewer than two hosts have links.
    """
    roles = {host.name: host.role for host in subnet.hosts} if isinstance(subnet.hosts, tuple) else {}
    links = [link for link in subnet_links(subnet) if not link.to_host or roles.get(link.b) != "management"]
    rounds = traffic_rounds(links, "destination")
    _require_pairs(subnet.name, rounds)
    pairs = _pairs(rounds, {}, RDMA_MTUS[0], "InfiniBand", marks)
    compute = [link for link in links if link.to_host and roles.get(link.b) == "compute"]
    job = subnet.job.environment if subnet.job is not None else ()
    shape = subnet.shape
    plan = AcceptancePlan(
        name=subnet.name,
        transport="infiniband",
        spread="destination",
        hosts=_hosts(pairs),
        switches=(),
        mtu_bytes=None,
        tos=None,
        service_level=job_level(subnet),
        gid_index=None,
        rounds=len(rounds.within) + len(rounds.across),
        flows=rounds.flows,
        seconds=0,
        pairs=pairs,
        coverage=rounds.coverage,
        alone=tuple(f"{port.host} {port.port}" for port in rounds.alone),
        classes=(),
        collectives=_collectives(
            compute,
            subnet.cluster.gpus_per_host if subnet.cluster is not None else None,
            tuple((each.key, each.text) for each in job),
            marks,
            is_oversubscribed=getattr(shape, "oversubscription", 1.0) > 1,
        ),
        link_pull=None,
        pause_test=None,
        lines=(),
        not_covered=(),
    )
    left = [
        *_not_covered(plan),
        "DSCP, PFC and the watchdog: InfiniBand has credits; the service level is that of jobs",
        "the MTU: perftest prints that of the port, which the subnet manager sets",
        "counters of switches and a link pulled: run ibdiagnet before and after; verify reads both",
    ]
    return _finished(plan, left)


def subnet_links(subnet: Subnet) -> tuple[Link, ...]:
    """Return the links of a declared subnet in the form of those of a fabric; the port of a host is its RDMA device."""
    adapters = {hca.name: hca for hca in subnet.hcas} if isinstance(subnet.hcas, tuple) else {}
    links = []
    for each in subnet.links if isinstance(subnet.links, tuple) else ():
        far = (each.b, str(each.b_port))
        if each.to_hca:
            far = (adapters[each.b].host, adapters[each.b].device)
        links.append(Link(each.a, str(each.a_port), *far, each.rate.bits_per_second, to_host=each.to_hca))
    return tuple(links)


def _require_pairs(name: str, rounds: TrafficRounds) -> None:
    if not rounds.within and not rounds.across:
        raise LosslessError(f"{name}: no two hosts with links, so there is nothing to test between")


def _spread(fabric: Fabric) -> Spread:
    """Return the unit for which switches choose among equal paths; of several, the one that covers fewest links."""
    order = fabric.packet_order
    if order is None:
        return "flow"
    tiers = (known_tier(switch.tier) for switch in fabric.switches)
    choices = {order.at_role(tier.word if tier else "switch") for tier in tiers}
    return "flow" if "ecmp" in choices else "packet"


def _rdma_mtu(fabric: Fabric) -> int:
    """Return the least RDMA MTU of all hosts in bytes: a declared one, or the largest within that of a NIC."""

    def of_host(qos: HostQos) -> int:
        if isinstance(qos.rdma_mtu_bytes, int):
            return qos.rdma_mtu_bytes
        room = qos.mtu_bytes - RDMA_HEADERS_BYTES if isinstance(qos.mtu_bytes, int) else RDMA_MTUS[0]
        return next((mtu for mtu in RDMA_MTUS if mtu <= room), RDMA_MTUS[-1])

    return min(of_host(host.qos) for host in fabric.hosts)


def _share(marks: Mapping[str, float], key: str) -> float:
    return marks.get(key, PASS_MARKS[key].share)


def _pairs(
    rounds: TrafficRounds,
    qos_of: Mapping[str, HostQos],
    mtu_bytes: int,
    layer: str,
    marks: Mapping[str, float],
) -> tuple[TestPair, ...]:
    made: list[TestPair] = []
    number = 0
    for kind, each, flows in (
        ("within", rounds.within, _WITHIN_FLOWS),
        ("across", rounds.across, max(rounds.flows, _WITHIN_FLOWS)),
    ):
        count = 0
        for pairs in each:
            number += 1
            for pair in pairs:
                count += 1
                made.append(_pair(f"{kind}-{count}", number, pair, qos_of, flows, mtu_bytes, layer, marks))
    return tuple(made)


def _pair(
    name: str,
    number: int,
    pair: PortPair,
    qos_of: Mapping[str, HostQos],
    flows: int,
    mtu_bytes: int,
    layer: str,
    marks: Mapping[str, float],
) -> TestPair:
    expected = pair.rate_bps / 1e9 * carried_share(mtu_bytes, layer)
    mark = expected * _share(marks, "perftest")
    return TestPair(
        name,
        number,
        pair.source.host,
        port_word(pair.source, qos_of.get(pair.source.host)),
        pair.target.host,
        port_word(pair.target, qos_of.get(pair.target.host)),
        flows,
        round(expected, 1) if pair.line_rate else None,
        round(mark, 1) if pair.line_rate else None,
    )


def _hosts(pairs: Iterable[TestPair]) -> tuple[str, ...]:
    return tuple(sorted({pair.source for pair in pairs}, key=natural_key))


def port_word(port: HostPort, qos: HostQos | None) -> str:
    """Return the name by which a script finds a host port: RDMA device, interface, or ``#2`` for the second one.

    A name of another form than ``port2`` in an intent is that of an interface or a device itself.
    """
    digits = port.port.removeprefix("port")
    if qos is None or not digits.isdecimal():
        return port.port
    index = int(digits) - 1
    for names in (qos.rdma_devices, qos.interfaces):
        if index < len(names):
            return names[index]
    return f"#{digits}"


def _classes(fabric: Fabric, qos: HostQos) -> tuple[TestedClass, ...]:
    """Return the DSCP of each lossless class: that of RDMA where it is one of the class, else the first."""
    ecn = qos.traffic_class & 3 if isinstance(qos.traffic_class, int) else 2
    rdma = qos.traffic_class >> 2 if isinstance(qos.traffic_class, int) else None
    found = []
    for each in fabric.classes.lossless:
        if each.dscps and each.priority is not None:
            dscp = rdma if rdma in each.dscps and rdma is not None else each.dscps[0]
            found.append(TestedClass(each.name, dscp, dscp << 2 | ecn, each.priority))
    return tuple(found)


def _collectives(
    links: Sequence[Link],
    gpus: int | None,
    variables: tuple[tuple[str, str], ...],
    marks: Mapping[str, float],
    *,
    is_oversubscribed: bool,
) -> Collectives | None:
    """Return the runs of nccl-tests on all hosts of links, None of fewer than two; alltoall needs a count of GPUs."""
    rates = grouped((link.b, link.speed_bps / 8e9) for link in links)
    if len(rates) < 2:
        return None
    total, share = min(map(sum, rates.values())), _share(marks, "collective")
    ranks = len(rates) * (gpus or 0)
    tests = [("all_reduce", share * least_bus_bandwidth("all_reduce", total, ranks, gpus or 0))]
    if gpus is not None and not is_oversubscribed:
        tests.append(("alltoall", share * least_bus_bandwidth("alltoall", total, ranks, gpus)))
    hosts = tuple(sorted(rates, key=natural_key))
    return Collectives(hosts, gpus, variables, tuple((name, round(mark, 2)) for name, mark in tests))


def _link_pull(
    rounds: TrafficRounds, pairs: Sequence[TestPair], sonic: Mapping[str, Switch]
) -> LinkPull | None:
    """Return a link to take down, of a SONiC switch with another for the same traffic, and a pair that crosses it."""
    across = [pair for each in rounds.across for pair in each]
    tested = [pair for pair in pairs if pair.id.startswith("across")]
    for pair, test in zip(across, tested, strict=True):
        switch = pair.source.switch
        links = [each for each in rounds.coverage if each.switch == switch and each.pairs]
        if switch in sonic and len(links) > 1 and pair.line_rate:
            return LinkPull(sonic[switch].device, links[0].port, links[0].far, test.id)
    return None


def _pause_test(
    fabric: Fabric, sonic: Mapping[str, Switch], qos_of: Mapping[str, HostQos]
) -> PauseTest | None:
    """Return the incast and the pauses at the first SONiC switch with a lossless class and hosts enough; else None."""
    classes = [each for each in fabric.classes.lossless if each.priority is not None and each.dscps]
    links = [link for link in fabric.links if link.to_host and link.b in qos_of]
    for switch, ports in grouped((each.switch, each) for each in host_ports(links)).items():
        target = ports[0]
        senders = [each for each in ports if each.host != target.host][:_SENDERS]
        if switch not in sonic or len(senders) < 2 or not classes:
            continue
        qos = next((port.qos for port in sonic[switch].ports if port.name == target.switch_port), None)
        watchdog = qos.watchdog if qos is not None else None
        tested = _classes(fabric, qos_of[target.host])[0]
        return PauseTest(
            sonic[switch].device,
            target.switch_port,
            target.host,
            port_word(target, qos_of[target.host]),
            tuple((each.host, port_word(each, qos_of[each.host])) for each in senders),
            tuple(each.switch_port for each in senders),
            tested.queue,
            tested.tos,
            watchdog.detection_ms if watchdog is not None else None,
            watchdog.restoration_ms if watchdog is not None else None,
        )
    return None


def _by_device(coverage: Iterable[LinkCoverage]) -> tuple[LinkCoverage, ...]:
    """Return links by the names of devices: ``leaf1`` for ``leaf1:asic0``."""
    return tuple(
        each._replace(switch=each.switch.partition(":")[0], far=each.far.partition(":")[0])
        for each in coverage
    )


def _not_covered(plan: AcceptancePlan) -> Iterator[str]:
    never = [f"{each.switch}:{each.port}" for each in plan.coverage if not each.pairs]
    if never:
        yield f"links between switches that no shortest path of a pair takes: {joined(never, 4)}"
    if plan.alone:
        yield f"host ports without another host to test with: {joined(plan.alone, 4)}"
    slow = [pair.id for pair in plan.pairs if pair.mark_gbps is None]
    if slow:
        yield f"bandwidth of {joined(slow, 4)}: a link on the path is slower than the ports; counters show it"
    if plan.collectives is None:
        yield "collectives: fewer than two hosts"
    elif plan.collectives.gpus_per_host is None:
        yield "alltoall: the intent has no number of GPUs of a host (cluster.gpus_per_host)"


def _left_by_systems(fabric: Fabric, plan: AcceptancePlan) -> Iterator[str]:
    """Yield the parts not tested at switches, for lack of SONiC, a second link, hosts, a class or a watchdog."""
    others = [switch for switch in fabric.switches if not switch.runs_sonic]
    if others:
        systems = ", ".join(sorted({switch.format for switch in others}))
        names = joined([switch.name for switch in others], 4)
        yield f"{names} ({systems}): queues by DSCP, counters, a link pulled, PFC and the watchdog need SONiC"
    if plan.switches and plan.link_pull is None:
        yield "a link pulled: no SONiC switch has two links that the same traffic may take"
    if plan.switches and plan.pause_test is None:
        yield "PFC and the watchdog: no SONiC switch has hosts enough, or no class is lossless"
    elif plan.pause_test is not None and plan.pause_test.detection_ms is None:
        yield f"the watchdog: none watches {plan.pause_test.switch}:{plan.pause_test.switch_port}"


def _finished(plan: AcceptancePlan, left: Iterable[str]) -> AcceptancePlan:
    round_s = TEST_S + OVERHEAD_S
    across = len({pair.round for pair in plan.across})
    seconds = plan.rounds * round_s + max(across, 1) * len(plan.classes) * round_s
    seconds += (2 if plan.mtu_bytes else 1) * 2 * OVERHEAD_S
    seconds += COLLECTIVE_S * len(plan.collectives.tests) if plan.collectives is not None else 0
    return plan._replace(lines=tuple(_lines(plan)), seconds=seconds, not_covered=tuple(left))


def _lines(plan: AcceptancePlan) -> Iterator[AcceptanceLine]:
    if plan.mtu_bytes is not None:
        for pair in mtu_pairs(plan):
            passes = f"{plan.mtu_bytes} bytes arrive in one packet"
            yield AcceptanceLine(f"mtu-{pair.id}", "mtu", _ends_of(pair), passes)
    for pair in plan.pairs:
        if pair.mark_gbps is not None:
            yield AcceptanceLine(
                pair.id, "bandwidth", _ends_of(pair), f"{pair.mark_gbps:g} of {pair.expected_gbps:g} Gb/s"
            )
    for each in plan.classes:
        passes = f"{_SHARE:.0%} of the packets in queue {each.queue}"
        for switch in plan.switches:
            yield AcceptanceLine(f"dscp{each.dscp}-{switch}", "dscp", f"DSCP {each.dscp} at {switch}", passes)
    for switch, links in _crossed(plan).items():
        passes = f"packets at each of {len(links)} ports to switches"
        if plan.classes and switch in plan.switches:
            yield AcceptanceLine(f"links-{switch}", "dscp", f"links of {switch}", passes)
    if plan.collectives is not None:
        for name, mark in plan.collectives.tests:
            of = f"{name} of {len(plan.collectives.hosts)} hosts"
            yield AcceptanceLine(name, "collectives", of, f"busbw {mark:g} GB/s")
    yield AcceptanceLine(
        "counters", "counters", "counters before and after", "no error, no warning of verify"
    )
    if plan.link_pull is not None:
        pull = plan.link_pull
        where = f"{pull.switch}:{pull.port} down"
        pair = next(each for each in plan.pairs if each.id == pull.pair)
        yield AcceptanceLine(
            "pull-traffic", "link-pull", f"traffic while {where}", "perftest ends without error"
        )
        yield AcceptanceLine(
            "pull-bandwidth", "link-pull", f"bandwidth with {where}", f"{pair.mark_gbps:g} Gb/s"
        )
        yield AcceptanceLine("pull-restored", "link-pull", f"{pull.switch}:{pull.port} up again", "oper up")
    if plan.pause_test is not None:
        test = plan.pause_test
        ports = f"ports of {len(test.senders)} senders"
        yield AcceptanceLine(
            "pfc-sent",
            "pfc-watchdog",
            f"incast to {test.target}",
            f"{test.switch} sends PFC {test.priority} at {ports}",
        )
        if test.detection_ms is not None:
            where = f"{test.switch}:{test.switch_port}"
            yield AcceptanceLine(
                "watchdog-detected", "pfc-watchdog", f"pauses into {where}", "storm detected"
            )
            if test.restoration_ms is not None:
                yield AcceptanceLine(
                    "watchdog-restored", "pfc-watchdog", f"pauses ended at {where}", "restored"
                )


def mtu_pairs(plan: AcceptancePlan) -> tuple[TestPair, ...]:
    """Return the pairs whose ends ping each other: one for each source port, across switches where there is one."""
    return tuple({(pair.source, pair.source_port): pair for pair in plan.pairs}.values())


def _ends_of(pair: TestPair) -> str:
    return f"{pair.source} {pair.source_port} to {pair.target} {pair.target_port}"


def _crossed(plan: AcceptancePlan) -> Mapping[str, list[LinkCoverage]]:
    """Return the links by switch that a pair may cross, each in the direction away from that switch."""
    return grouped((each.switch, each) for each in plan.coverage if each.pairs)


def growth(before: CaptureInputs, after: CaptureInputs) -> Growth:
    """Return how counters of queues and priorities of ports grew between two captures, where both have them."""
    earlier, later = _counted(before), _counted(after)
    return {key: value - earlier[key] for key, value in later.items() if key in earlier}


def _counted(inputs: CaptureInputs) -> Growth:
    counts: Growth = {}
    for device in inputs.devices:
        for capture in device.captures:
            for reading in capture.readings:
                parts = dict(reading.identity)
                unicast = parts.get("queue_kind", "UC") in ("UC", "ALL")
                if isinstance(reading.value, int) and "port" in parts and unicast:
                    part = parts.get("queue") or parts.get("priority") or ""
                    counts[device.name, parts["port"], part, reading.name] = reading.value
    return counts


class Recorded(NamedTuple):
    """The results of the scripts: the report of verify, the outcomes that they recorded, and growth of counters.

    ``classes`` has the growth of counters while each DSCP was tested, ``pauses`` the growth during the incast and the
    storm, None if these were not run.
    """

    report: CheckedReport
    lines: Mapping[str, tuple[bool, str]]
    classes: Mapping[int, Growth]
    pauses: Growth | None
    captured: bool


def evaluated(plan: AcceptancePlan, recorded: Recorded) -> AcceptanceResults:
    """Return the outcome of every line of a plan."""
    verdicts = {PurePath(test.origin.file).stem: test for test in recorded.report.tests}
    lines = tuple(
        LineResult(line.id, line.step, line.text, *_outcome(plan, line, recorded, verdicts))
        for line in plan.lines
    )
    counts = Counter(line.outcome for line in lines)
    return AcceptanceResults(
        plan.name, counts["pass"], counts["fail"], counts["not checked"], counts["not run"], lines
    )


def _outcome(
    plan: AcceptancePlan,
    line: AcceptanceLine,
    recorded: Recorded,
    verdicts: Mapping[str, TrafficVerdict],
) -> tuple[LineOutcome, str]:
    if line.id in recorded.lines:
        passed, note = recorded.lines[line.id]
        return "pass" if passed else "fail", note
    if line.step in ("bandwidth", "collectives") or line.id == "pull-bandwidth":
        return _of_verdict(verdicts.get(line.id))
    if line.step == "dscp":
        return _of_class(plan, line, recorded.classes)
    if line.step == "counters" and recorded.captured:
        return _of_findings(recorded.report.findings)
    if line.step == "pfc-watchdog" and plan.pause_test is not None and recorded.pauses is not None:
        return _of_pauses(plan.pause_test, line.id, recorded.pauses)
    return "not run", ""


def _of_verdict(verdict: TrafficVerdict | None) -> tuple[LineOutcome, str]:
    if verdict is None:
        return "not run", ""
    if verdict.outcome == "not checked":
        return "not checked", verdict.note
    outcome: LineOutcome = "pass" if verdict.outcome in ("as expected", "above the NICs") else "fail"
    return outcome, verdict.text


def _of_findings(findings: Sequence[Finding]) -> tuple[LineOutcome, str]:
    bad = [
        each
        for each in findings
        if each.severity in ("error", "warning") and each.code not in _WITH_OWN_LINES
    ]
    if not bad:
        return "pass", ""
    return "fail", joined(dict.fromkeys(f"{each.code} {each.message}" for each in bad), 3)


def _of_class(
    plan: AcceptancePlan, line: AcceptanceLine, grown: Mapping[int, Growth]
) -> tuple[LineOutcome, str]:
    kind, _, switch = line.id.partition("-")
    if kind == "links":
        return _of_links(_crossed(plan)[switch], [_of_switch(each, switch) for each in grown.values()])
    tested = next(each for each in plan.classes if f"dscp{each.dscp}" == kind)
    queues: dict[str, int] = {}
    for (_, queue), count in _of_switch(grown.get(tested.dscp, {}), switch).items():
        queues[queue] = queues.get(queue, 0) + count
    if not queues:
        return "not run", ""
    total, own = sum(queues.values()), queues.get(str(tested.queue), 0)
    if total < MANY_PACKETS:
        return "not checked", f"{total:,} packets are too few to tell"
    most = max(queues, key=lambda queue: queues[queue])
    note = f"queue {tested.queue} has {own / total:.1%} of {total:,} packets"
    if own >= _SHARE * total:
        return "pass", note
    return "fail", f"{note}; most are in queue {most}"


def _of_links(
    links: Sequence[LinkCoverage], grown: Sequence[Mapping[tuple[str, str], int]]
) -> tuple[LineOutcome, str]:
    """Return whether packets left by each link of a switch; ``grown`` are packets by port and queue, of each class."""
    packets: dict[str, int] = {}
    for (port, _), count in (item for each in grown for item in each.items()):
        packets[port] = packets.get(port, 0) + count
    if not packets:
        return "not run", ""
    if sum(packets.values()) < MANY_PACKETS:
        return "not checked", f"{sum(packets.values()):,} packets are too few to tell"
    silent = [each for each in links if packets.get(each.port, 0) < MANY_PACKETS]
    if not silent:
        return "pass", ""
    names = joined([f"{each.port} to {each.far}" for each in silent], 4)
    chance = max(each.missed for each in silent)
    return "fail", f"no traffic at {names}; a hash misses each in {chance:.1g} of runs"


def _of_switch(grown: Growth, switch: str) -> dict[tuple[str, str], int]:
    """Return the packets that left a switch, by port and queue."""
    return {
        (port, queue): count
        for (device, port, queue, name), count in grown.items()
        if device == switch and name == "packets" and queue
    }


def _of_pauses(test: PauseTest, line: str, grown: Growth) -> tuple[LineOutcome, str]:
    priority = str(test.priority)
    if not any(device == test.switch for device, *_ in grown):
        return "not run", ""
    heard = grown.get((test.switch, test.switch_port, priority, "pfc_rx"), 0)
    if line == "pfc-sent":
        counts = [grown.get((test.switch, port, priority, "pfc_tx"), 0) for port in test.sender_ports]
        note = f"{sum(counts):,} PFC frames to {sum(map(bool, counts))} of {len(counts)} senders"
        if any(counts):
            return "pass", note
        if heard < MANY_PACKETS:
            return "not checked", f"{note}: ECN may have slowed the senders first"
        return "fail", f"{note}, while {test.target} paused the switch"
    name = "pfcwd_detected" if line == "watchdog-detected" else "pfcwd_restored"
    storms = grown.get((test.switch, test.switch_port, priority, name), 0)
    note = f"{heard:,} PFC frames received, {storms} storms {name.removeprefix('pfcwd_')}"
    if storms > 0:
        return "pass", note
    if heard < MANY_PACKETS:
        return "not checked", f"{note}: the NIC of {test.target} does not send pauses that software makes"
    return "fail", note

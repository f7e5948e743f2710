"""Traffic tests in captures: their results, the bandwidth to expect of them by NICs and algorithm, and the verdict.

Expected bandwidth of a collective, with N hosts, n GPUs, g = n/N GPUs and B bytes per second of NICs at each host:

- a ring passes every byte once over the NICs of each host: busbw up to B, whatever the collective (nccl-tests
  doc/PERFORMANCE.md @a0b82b2 defines busbw so);
- any algorithm has to bring S (N-1)/N bytes of an allgather of S into each host, and twice that in and out for an
  allreduce without reduction in the network: busbw up to B (n-1)/n N/(N-1). On two hosts Tree and NVLSTree reach it
  (NVIDIA/nccl-tests#22, #153, #196), so that busbw exceeds the NICs;
- with reduction in the network (SHARP) each host sends and receives an allreduce once: busbw up to 2 B (n-1)/n;
- of an alltoall n-g of n-1 parts leave the host: busbw B/g (n-1)/(n-g) (nccl-tests#130 has N/(N-1) of the NIC);
- a shift to the next rank (sendrecv) leaves each host once, over one NIC or all of them.

Of perftest: the rate of the port, less the headers of each packet. RoCEv2 adds 82 bytes to the payload of an MTU:
preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, gap 12; InfiniBand 26: LRH 8, BTH 12, ICRC 4, VCRC 2
(IEEE 802.3; InfiniBand Architecture Specification, volume 1, 5.2 and annex A17). ``-b`` doubles it.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import log2
from typing import TYPE_CHECKING, Literal

from lossless.checks.rules.counting import Count, counted, each
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.ground.basics.findings import Json, Origin
    from lossless.model.fabric.state import PlacedReading


class PassMark(NamedTuple):
    """A share that decides a verdict: its meaning, and where it comes from."""

    share: float
    meaning: str
    source: str


PASS_MARKS = {
    "collective": PassMark(
        0.9,
        "the least share of the expected bandwidth of a collective",
        "NVIDIA/aicr#1256: nccl_all_reduce_bw_constraint.go passes 0.9 of the value in a recipe",
    ),
    "perftest": PassMark(
        0.94,
        "the least share of a port's rate, less headers, that perftest has to reach",
        "Azure/azurehpc-health-checks conf/nd96isr_h100_v5.conf @0611432: check_ib_bw_gdr 375 of 400 Gb/s",
    ),
    "same": PassMark(
        0.9,
        "the least share of the best of several tests of one kind",
        "one of eight NICs that carries nothing leaves 0.875",
    ),
}
"""The pass marks by their key in the table ``bandwidth`` of ``lossless.toml``."""
REACHED = 0.96
"""The share of the rate of NICs that NCCL reaches: 24 of 25 GB/s at 200 Gb/s, 48 of 50 GB/s at 400 Gb/s, as its
maintainers say (NVIDIA/nccl-tests#119, #319)."""
_FLAT = 0.05
"""The share by which the bandwidth may change on a flat curve while the message doubles."""
_LARGE = 1 << 30
"""A message of a collective that is certainly beyond latency, in bytes: nccl-tests#119 and nccl#583 are flat there."""
_WINDOW = 65536
"""perftest's default message: 128 of them are on their way, 8 MiB, which no round trip in a fabric exhausts."""
_HEADERS = {"Ethernet": 82, "IB": 26, "InfiniBand": 26}
_LOGGED_LAYERS = ("IB", "RoCE")
"""Link layers as NCCL's log has them; other captures say InfiniBand and Ethernet."""
_RING = frozenset({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"})
_BY_ROOT = frozenset({"broadcast", "reduce"})
_READ = (
    *("test_rank", "test_name", "test_algorithm", "test_adapters", "test_sockets", "test_bus"),
    *("test_algorithmic", "test_wrong", "test_out_of_bounds", "perftest_kind", "perftest_dual_port"),
    *("perftest_device", "perftest_queue_pairs", "perftest_connection", "perftest_mtu"),
    *("perftest_link_type", "perftest_average", "perftest_peer", "perftest_failed"),
)
_EXCESS = 1.01
"""A bandwidth may exceed its limit by rounding of the printed values."""

Outcome = Literal["as expected", "above the NICs", "too low", "too high", "not checked", "wrong data"]


class TrafficVerdict(NamedTuple):
    """The verdict on one traffic test.

    ``measured``, the expected range ``low`` to ``high`` and ``mark`` are in ``unit``; None where they are unknown.
    ``note`` is the reason or the explanation of the result. ``elements`` are the hosts or the device that were tested.
    """

    origin: Origin
    name: str
    outcome: Outcome
    unit: str
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    mark: float | None = None
    note: str = ""
    help: str = ""
    elements: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The verdict in one line: measured, expected and mark, then the outcome."""
        parts = [] if self.measured is None else [f"{self.measured:.4g} {self.unit}"]
        if self.low is not None and self.high is not None:
            upper = "" if self.high <= self.low * _EXCESS else f" to {self.high:.4g}"
            parts.append(f"expected {self.low:.4g}{upper} {self.unit}")
        if self.mark is not None:
            parts.append(f"mark {self.mark:.4g} {self.unit}")
        said = f"{self.name}: {', '.join(parts)}" if parts else self.name
        return f"{said}: {self.outcome}"

    @property
    def data(self) -> dict[str, Json]:
        """The verdict as plain data, for reports to programs."""
        return {
            "name": self.name,
            "outcome": self.outcome,
            "unit": self.unit,
            "measured": self.measured,
            "expected_low": self.low,
            "expected_high": self.high,
            "mark": self.mark,
            "note": self.note or None,
            "elements": list(self.elements),
        }


class TrafficTest:
    """The readings of one test in one file; ``device`` is the one that its file belongs to."""

    def __init__(self, device: RunningDevice, readings: Sequence[PlacedReading]) -> None:
        self.device = device
        self.readings = tuple(readings)
        self._by_name = grouped((placed.reading.name, placed) for placed in readings)

    def every(self, name: str) -> Sequence[PlacedReading]:
        """Return the readings of a name."""
        return self._by_name.get(name, ())

    def said(self, name: str) -> object:
        """Return the value of the last reading of a name, for names that a test has once; None without a reading."""
        found = self.every(name)
        return found[-1].reading.value if found else None

    @property
    def file(self) -> str:
        """The file of the results."""
        return self.readings[0].file

    @cached_property
    def is_pair(self) -> bool:
        """Whether it is a test of perftest, between two ports."""
        return bool(self.every("perftest_kind"))

    @cached_property
    def sizes(self) -> Sequence[tuple[int, float, PlacedReading]]:
        """The bandwidth by size of the message, the higher of both places, smallest size first."""
        best: dict[int, tuple[float, PlacedReading]] = {}
        for placed in self.every("perftest_average" if self.is_pair else "test_bus"):
            value, size = placed.reading.value, int(placed.part("size") or 0)
            if isinstance(value, int | float) and value > best.get(size, (-1.0, placed))[0]:
                best[size] = (float(value), placed)
        return [(size, *best[size]) for size in sorted(best)]

    @cached_property
    def wrong(self) -> tuple[int, PlacedReading] | None:
        """The largest count of wrong values, and the first place with one; None where none is counted."""
        counts = [*self.every("test_wrong"), *self.every("test_out_of_bounds")]
        bad = [
            (placed.reading.value, placed)
            for placed in counts
            if isinstance(placed.reading.value, int | float) and placed.reading.value > 0
        ]
        return (int(max(value for value, _ in bad)), bad[0][1]) if bad else None

    @cached_property
    def ranks(self) -> Mapping[str, tuple[str, ...]]:
        """The hosts that list each rank, more than one where several processes ran by themselves."""
        pairs = ((placed.part("rank") or "", placed.reading.value) for placed in self.every("test_rank"))
        return {
            rank: tuple(dict.fromkeys(host for host in hosts if isinstance(host, str)))
            for rank, hosts in grouped(pairs).items()
        }

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The hosts with ranks of the test, in the order of the output."""
        return tuple(dict.fromkeys(host for hosts in self.ranks.values() for host in hosts))

    @cached_property
    def size(self) -> int:
        """The number of ranks: those listed, or the one that the two bandwidths of an allreduce imply; 0 if unknown."""
        listed_all = max((int(rank) for rank in self.ranks), default=-1) + 1
        if listed_all == len(self.ranks) or self.collective != "all_reduce":
            return listed_all
        factor = self._factor
        return max(listed_all, round(2 / (2 - factor))) if factor and factor < 1.99 else listed_all

    @cached_property
    def _factor(self) -> float | None:
        """Return busbw divided by algbw at the largest size that has both; None without one."""
        for bus in reversed(self.every("test_bus")):
            for algorithmic in self.every("test_algorithmic"):
                if algorithmic.reading.identity == bus.reading.identity:
                    above, below = bus.reading.value, algorithmic.reading.value
                    if isinstance(above, int | float) and isinstance(below, int | float) and below > 0:
                        return above / below
        return None

    @cached_property
    def collective(self) -> str:
        """The collective that was tested; where the output names none, allreduce by its factor, else empty."""
        named = self.said("test_name")
        if isinstance(named, str) and named:
            return named
        # No other collective has a factor above 1 (doc/PERFORMANCE.md).
        return "all_reduce" if self._factor and self._factor > 1.05 else ""

    @cached_property
    def name(self) -> str:
        """The test as text: its kind, and the NIC, or the numbers of hosts and GPUs."""
        if self.is_pair:
            to = f" to {self.peer}" if self.peer else ""
            return f"{self.said('perftest_kind')} of {self.said('perftest_device') or 'a NIC'}{to}"
        gpus = f", {self.size} GPUs" if self.size else ""
        return f"{self.collective or 'a collective'} of {len(self.hosts) or 'unnamed'} hosts{gpus}"

    @property
    def peer(self) -> str:
        """The host at the other end of a test of perftest; empty where the capture does not name it."""
        return str(self.said("perftest_peer") or "")

    @property
    def algorithm(self) -> str:
        """The algorithm that a variable chose, in lower case; empty without one."""
        logged = next((p.reading.value for p in self.logged("algo")), None)
        chosen = self.said("test_algorithm") or logged
        return chosen.strip("'\"").lower() if isinstance(chosen, str) else ""

    @property
    def in_network(self) -> bool:
        """Whether the network may reduce: the log shows NICs with SHARP, or a variable chose it."""
        return "collnet" in self.algorithm or any(True for _ in self.logged("sharp"))

    @property
    def by_sockets(self) -> bool:
        """Whether the log shows that the test ran over sockets, not RDMA."""
        return bool(self.every("test_sockets"))

    def adapters(self, host: str) -> tuple[str, ...]:
        """Return the NICs of a host in the log, or those of all hosts where the log names none for this host."""
        logged = [
            (placed.part("host"), placed.part("device") or "")
            for placed in self.logged("link_layer")
            if placed.reading.value in _LOGGED_LAYERS
        ]
        own = [name for at, name in logged if at == host] or [name for _, name in logged]
        return tuple(dict.fromkeys(filter(None, own)))

    def chosen(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the NICs among names that NCCL_IB_HCA selects, all if it is not set."""
        value = self.said("test_adapters")
        return selected(value, names) if isinstance(value, str) and value else tuple(names)

    def logged(self, name: str) -> Iterator[PlacedReading]:
        """Yield the readings of a name in the log that is in the same file."""
        for placed in self.device.state.every(name):
            if placed.file == self.file:
                yield placed


def selected(value: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the NICs among names that a value of NCCL_IB_HCA selects.

    A name selects by its beginning, after ``=`` exactly; ``^`` excludes (NCCL, environment variables).
    """
    value = value.strip("'\"")
    exact, excludes = "=" in value[:2], value.startswith("^")
    stated = [name.partition(":")[0] for name in value.lstrip("^=").split(",")]
    return tuple(
        name
        for name in names
        if any(name == one if exact else name.startswith(one) for one in stated) != excludes
    )


def traffic_tests(fabric: RunningFabric) -> tuple[TrafficTest, ...]:
    """Return the traffic tests with results in all captures, in the order of devices, files and places."""
    tests = []
    for device in fabric.devices:
        readings = device.state.every(*_READ)
        each = grouped(((placed.file, placed.part("test")), placed) for placed in readings)
        tests += [TrafficTest(device, same) for same in each.values()]
    return tuple(test for test in tests if test.sizes or test.wrong or test.said("perftest_failed"))


class _Adapters(NamedTuple):
    """The rates of the NICs of a host that a test used, in Gb/s, and where they are known from."""

    rates: tuple[float, ...]
    source: str


def _adapters(fabric: RunningFabric, test: TrafficTest, host: str) -> _Adapters | None:
    """Return the NICs of a host that a test used; None where no capture and no intent has their rates."""
    owners = [device for device in fabric.devices if device.name == host] or [test.device]
    rates = captured_rates(owners[0])
    used = test.adapters(host)
    if rates:
        names = [name for name in used if name in rates] or test.chosen(rates)
        return _Adapters(tuple(rates[name] for name in names), f"{len(names)} NICs of {owners[0].name}")
    speeds = [link.speed_bps / 1e9 for link in fabric.links if link.to_host and link.b == host]
    if not speeds:
        return None
    count = min(len(used) or len(speeds), len(speeds))
    return _Adapters(tuple(sorted(speeds)[:count]), f"{count} NICs of {host} by the intent")


def captured_rates(device: RunningDevice) -> dict[str, float]:
    """Return the rate of each RDMA device of a host in Gb/s, of its ports that are active or of unknown state."""
    rates: dict[str, float] = {}
    for placed in device.state.named("rate", "device", "port"):
        name, port = placed.part("device") or "", placed.part("port") or ""
        state = device.state.value("state", device=name, port=port)
        word = str(placed.reading.value).partition(" ")[0]
        if "active" in str(state).lower() or not isinstance(state, str):
            rates[name] = rates.get(name, 0.0) + (
                float(word) if word.replace(".", "", 1).isdecimal() else 0.0
            )
    return {name: rate for name, rate in rates.items() if rate}


def verdicts(fabric: RunningFabric) -> tuple[TrafficVerdict, ...]:
    """Return the verdict on each traffic test in the captures, by the pass marks of its file."""
    return tuple(
        _pair(fabric, test, _share(fabric, test, "perftest"))
        if test.is_pair
        else _collective(fabric, test, _share(fabric, test, "collective"))
        for test in traffic_tests(fabric)
    )


def _share(fabric: RunningFabric, test: TrafficTest, key: str) -> float:
    return fabric.pass_marks.get(test.file, {}).get(key, PASS_MARKS[key].share)


def _collective(fabric: RunningFabric, test: TrafficTest, share: float) -> TrafficVerdict:
    origin = (test.sizes[-1][2] if test.sizes else test.readings[0]).origin
    verdict = TrafficVerdict(origin, test.name, "not checked", "GB/s", elements=test.hosts)
    if test.wrong is not None:
        return verdict._replace(
            origin=test.wrong[1].origin,
            outcome="wrong data",
            note=f"{test.wrong[0]:,} wrong values: a bandwidth of wrong data proves nothing",
        )
    measured = test.sizes[-1][1]
    verdict = verdict._replace(measured=measured)
    reason = _not_comparable(test)
    if reason:
        return verdict._replace(note=reason)
    found = [_adapters(fabric, test, host) for host in test.hosts]
    adapters = [known for known in found if known is not None]
    if not adapters or not all(known.rates for known in adapters):
        return verdict._replace(
            note="no rate of a NIC: no intent has these hosts, and no capture beside it is of ibstat or ibstatus"
        )
    slowest = min(adapters, key=lambda known: sum(known.rates))
    low, high = _expected(test, slowest)
    return _compared(fabric, test, verdict._replace(low=low, high=high, mark=share * low), slowest)


def _not_comparable(test: TrafficTest) -> str:
    """Return the reason why a collective's bandwidth cannot be compared with NICs; empty where it can."""
    if any(len(hosts) > 1 for hosts in test.ranks.values()):
        return "several hosts have the same rank: each process ran by itself (nccl-tests built without MPI=1)"
    if not test.hosts:
        return "the output names no hosts: keep its lines with the ranks"
    if len(test.hosts) == 1 and (test.by_sockets or any(True for _ in test.logged("gdrdma"))):
        return f"all ranks are on {test.hosts[0]}: the share that NET carried in its log is unknown"
    if len(test.hosts) == 1:
        return f"all ranks are on {test.hosts[0]}: the network carried nothing"
    if test.collective not in (*_RING, "alltoall", "sendrecv"):
        named = test.collective or "the test, which neither the output nor a command line names"
        return f"no expected bandwidth of {named}"
    return ""


def _expected(test: TrafficTest, adapters: _Adapters) -> tuple[float, float]:
    """Return the expected range of busbw in GB/s: that of the least favorable algorithm, and the limit of any."""
    hosts, ranks = len(test.hosts), test.size
    gpus, total = ranks / hosts, sum(adapters.rates) / 8
    if test.collective == "alltoall":
        low = least_bus_bandwidth("alltoall", total, ranks, gpus)
        return low, low / REACHED
    if test.collective == "sendrecv":
        return REACHED * min(adapters.rates) / 8, total
    low, high = total, total * (ranks - 1) / ranks * hosts / (hosts - 1)
    if test.collective in _BY_ROOT or test.algorithm == "ring":
        high = total
    elif test.collective == "all_reduce" and test.in_network:
        high = 2 * total * (ranks - 1) / ranks
    elif test.algorithm == "tree":
        # An inner host of the two trees sends and receives the data twice.
        low = high if hosts == 2 else total * (ranks - 1) / ranks
    return REACHED * low, max(low, high)


def least_bus_bandwidth(collective: str, total: float, ranks: int, gpus: float) -> float:
    """Return the least expected busbw in GB/s of an alltoall, or of a collective by a ring.

    ``total`` is the rate of the NICs of a host in GB/s, ``ranks`` the number of GPUs, ``gpus`` that of each host.
    """
    if collective == "alltoall":
        return REACHED * total / gpus * (ranks - 1) / (ranks - gpus)
    return REACHED * total


def _compared(
    fabric: RunningFabric, test: TrafficTest, verdict: TrafficVerdict, adapters: _Adapters
) -> TrafficVerdict:
    """Return the verdict on a collective by its expected range and its mark; below the mark only on a flat curve."""
    measured, high = verdict.measured or 0.0, verdict.high or 0.0
    total = sum(adapters.rates) / 8
    rates = ", ".join(f"{count} x {rate:g} Gb/s" for rate, count in Counter(adapters.rates).items())
    of = f"{adapters.source}: {rates}, {total:.4g} GB/s{_carried(test)}"
    if measured > high * _EXCESS:
        return verdict._replace(
            outcome="too high",
            note=f"{of}; no algorithm gets as much through them: the test used other NICs, or more",
        )
    if measured >= (verdict.mark or 0.0):
        if measured > total * _EXCESS and test.collective != "alltoall":
            return verdict._replace(outcome="above the NICs", note=f"{of}; {_above(test)}")
        return verdict._replace(outcome="as expected", note=of)
    if not _is_flat(test, _LARGE):
        return verdict._replace(
            outcome="not checked",
            note=f"{of}; the curve is not flat at its largest message: measure up to 8 GiB",
        )
    note = f"{of}{_explained(test, adapters)}{_moved(fabric, test.hosts)}"
    return verdict._replace(outcome="too low", note=note, help=_LOW_HELP)


_LOW_HELP = (
    "measure each NIC of each host with ib_write_bw, then run it with NCCL_DEBUG=INFO and NCCL_ALGO=RING: look for the "
    "NICs that NCCL uses, GDRDMA, ACS of PCI switches, and pauses and discards of the class"
)


def _above(test: TrafficTest) -> str:
    """Return the algorithm by which busbw exceeds the NICs."""
    if test.algorithm:
        return f"NCCL_ALGO={test.algorithm} sends less over the NICs than a ring"
    if len(test.hosts) == 2:
        return "on two hosts Tree and NVLSTree send less over the NICs than a ring: NCCL_ALGO=RING measures the NICs"
    return "a ring cannot: SHARP or an algorithm that reduces in the host first"


def _carried(test: TrafficTest) -> str:
    """Return the transport of a collective by its log, as text; empty where the log does not show it."""
    if test.by_sockets:
        return "; the log shows NET/Socket: TCP carried it, not RDMA"
    direct = {placed.reading.value for placed in test.logged("gdrdma")}
    if False in direct:
        return "; RDMA carried it without GPUDirect (GDRDMA): data goes through the memory of the host"
    return "; RDMA carried it, with GPUDirect (GDRDMA)" if True in direct else ""


def _explained(test: TrafficTest, adapters: _Adapters) -> str:
    """Return a cause of a low bandwidth that the numbers of GPUs and NICs show, as text; empty without one."""
    gpus = test.size / len(test.hosts)
    if len(adapters.rates) > gpus and not test.by_sockets:
        return f"; {gpus:g} GPU a host has {len(adapters.rates)} NICs: its PCIe link may be the limit"
    return ""


_MOVING = {
    **dict.fromkeys(("pfc_rx", "pfc_tx"), ("device", "priority")),
    **dict.fromkeys(("rx_discards", "rx_crc_errors_phy", "pause_storm_warnings", "link_downed"), ("device",)),
    **dict.fromkeys(
        ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "rp_cnp_handled"),
        ("device", "port"),
    ),
}
"""Counters of hosts that may explain a low bandwidth, and the parts that identify each."""
_MOST_MOVED = 6


def _moved(fabric: RunningFabric, hosts: Sequence[str]) -> str:
    """Return the counters of hosts that rose between two captures, as text; empty without two captures."""
    counts: list[str] = []
    for device in fabric.devices:
        if device.name not in hosts or device.before is None:
            continue
        for name, kinds in _MOVING.items():
            for placed in each(device.state, name, *kinds):
                count = counted(device, placed, *kinds)
                if isinstance(count, Count) and count.between and count.amount:
                    heading = placed.reading.heading or name
                    where = " ".join(filter(None, (device.name, placed.part("device"))))
                    counts.append(f"{heading} of {where} by {count.amount:,}")
    if not counts:
        return ""
    more = f" and {len(counts) - _MOST_MOVED} more" if len(counts) > _MOST_MOVED else ""
    return f"; meanwhile rose {', '.join(counts[:_MOST_MOVED])}{more}"


def _is_flat(test: TrafficTest, large: int) -> bool:
    """Return whether the last doubling of the size changes the bandwidth little; a single size must be large."""
    if len(test.sizes) == 1:
        return test.sizes[0][0] >= large
    (smaller, before, _), (larger, last, _) = test.sizes[-2:]
    if not before or not last:
        return False
    return abs(log2(last / before)) <= log2(1 + _FLAT) * max(1.0, log2(larger / max(smaller, 1)))


def carried_share(mtu_bytes: int, layer: str) -> float:
    """Return the share of a port's rate that is payload at an RDMA MTU; ``layer`` is perftest's word for the link.

    Headers of an unknown layer count as none.
    """
    return mtu_bytes / (mtu_bytes + _HEADERS.get(layer, 0))


def _pair(fabric: RunningFabric, test: TrafficTest, share: float) -> TrafficVerdict:
    """Return the verdict on a test of perftest."""
    name = test.said("perftest_device")
    element = f"{test.device.name}:{name}" if isinstance(name, str) else test.device.name
    if not test.sizes:
        failed = f"it failed: {test.said('perftest_failed')}"
        return TrafficVerdict(
            test.readings[0].origin, test.name, "not checked", "Gb/s", note=failed, elements=(element,)
        )
    size, measured, placed = test.sizes[-1]
    verdict = TrafficVerdict(placed.origin, test.name, "not checked", "Gb/s", measured, elements=(element,))
    found = _port_rate(fabric, test, str(name))
    if isinstance(found, str):
        return verdict._replace(note=found)
    rate, mtu, layer = found, test.said("perftest_mtu"), str(test.said("perftest_link_type"))
    payload = mtu if isinstance(mtu, int) and mtu > 0 else 4096
    carried = carried_share(payload, layer)
    directions = 2 if "Bidirectional" in str(test.said("perftest_kind")) else 1
    netdev = str(test.device.state.value("netdev", device=str(name), port="1"))
    bonded = "bond" in str(name) or "bond" in netdev or test.said("perftest_dual_port") == "ON"
    low = rate * carried * directions
    verdict = verdict._replace(low=low, high=low * (2 if bonded else 1), mark=share * low)
    headers = (
        f"an MTU of {payload} leaves {carried:.1%} of it" if layer in _HEADERS else "its headers are unknown"
    )
    of = f"{name} has {rate:g} Gb/s, {headers}{', in both directions' if directions == 2 else ''}"
    one = test.said("perftest_queue_pairs") == 1
    if measured > (verdict.high or 0.0) * _EXCESS:
        return verdict._replace(
            outcome="too high", note=f"{of}; another port, or both directions, were measured"
        )
    if measured >= (verdict.mark or 0.0):
        linked = "; one queue pair measures one link of a bond: -q 2 and more use both"
        return verdict._replace(outcome="as expected", note=f"{of}{linked if bonded and one else ''}")
    if not _is_flat(test, _WINDOW) or size < _WINDOW:
        return verdict._replace(
            note=f"{of}; the curve is not flat at {size:,} bytes: measure with -a or -s 8388608"
        )
    if bonded and one and 2 * measured >= (verdict.mark or 0.0):
        return verdict._replace(
            note=f"{of}; one queue pair of a bond uses one of its links, and this is that of one: repeat with -q 8"
        )
    moved = _moved(fabric, (test.device.name, test.peer))
    return verdict._replace(outcome="too low", note=f"{of}{moved}", help=_PAIR_HELP)


_PAIR_HELP = (
    "repeat it with -s 8388608 -q 4 on the CPU of the NIC (numactl), then compare the PCIe link (LnkSta of lspci), and "
    "look for pauses, discards and out_of_sequence at both ends"
)


def _port_rate(fabric: RunningFabric, test: TrafficTest, name: str) -> float | str:
    """Return the rate of the tested port in Gb/s, or the reason why it is unknown."""
    rates = captured_rates(test.device)
    if name in rates:
        return rates[name]
    speeds = {link.speed_bps / 1e9 for link in fabric.links if link.to_host and link.b == test.device.name}
    if len(speeds) == 1 and "bond" not in name:
        return speeds.pop()
    if speeds:
        return f"the ports of {test.device.name} have different rates: ibstat beside it names that of {name}"
    have = (
        f"ibstat beside it has {listed(sorted(rates))}"
        if rates
        else "no capture beside it is of ibstat or ibstatus"
    )
    return f"no rate of {name}: no intent has host {test.device.name}, and {have}"

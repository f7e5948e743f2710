"""Networks that cannot be are refused before anything runs, by the name of the field that is wrong."""

from __future__ import annotations

import ast
import inspect
import math
import sys
from typing import TYPE_CHECKING, get_args, get_type_hints

import pytest

from lossless.analysis.simulation.engine import check as checking, network as network_records
from lossless.analysis.simulation.engine.check import check
from lossless.analysis.simulation.engine.network import (
    UNBOUNDED,
    Choice,
    Hold,
    Physics,
    SimCable,
    SimDcqcn,
    SimFlow,
    SimGroup,
    SimLoads,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSpread,
    SimSwitch,
    SimTrim,
    SimWatchdog,
    SimWindow,
    SimWred,
    SlowHost,
)
from lossless.analysis.simulation.engine.run import Simulation
from lossless.ground.basics.errors import ScenarioError
from tests.analysis.simulation.wrong_networks import (
    DCQCN,
    END,
    FAR,
    FLOW,
    GROUP,
    LEFT,
    RIGHT,
    SOUND,
    SPREAD,
    STRANGER,
    WATCHDOG,
    WINDOW,
    WRED,
    Range,
    Wrong,
    with_cable,
    with_dcqcn,
    with_end,
    with_flow,
    with_group,
    with_hold,
    with_loads,
    with_network,
    with_physics,
    with_port_watchdog,
    with_queue,
    with_slow_host,
    with_spread,
    with_switch,
    with_trim,
    with_watchdog,
    with_window,
    with_wred,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FRAME, THOUSAND_SECONDS_NS = 1 << 20, 1e12
RANGES = (
    Range(with_physics, "overhead_bytes", 0, FRAME, "0 to "),
    Range(with_physics, "gap_bytes", 0, FRAME, "0 to "),
    Range(with_physics, "pfc_frame_bytes", 1, FRAME, "1 to "),
    Range(with_physics, "ack_frame_bytes", 1, FRAME, "1 to "),
    Range(with_physics, "ack_every", 1, 1 << 20, "1 to "),
    Range(with_physics, "nack_interval_us", 0.0, 1e9, "0 to 1e+09"),
    Range(with_physics, "timeout_ms", 1e-6, 1e6, "1e-06 to 1e+06"),
    Range(with_cable, "rate_bps", 1e6, 1e15, "1e+06 to 1e+15"),
    Range(with_cable, "a_reaction_ns", 0.0, THOUSAND_SECONDS_NS, "0 to 1e+12"),
    Range(with_cable, "b_reaction_ns", 0.0, THOUSAND_SECONDS_NS, "0 to 1e+12"),
    Range(with_cable, "propagation_ns", 0.0, THOUSAND_SECONDS_NS, "0 to 1e+12"),
    Range(with_queue, "weight", 1, 1 << 20, "1 to "),
    Range(with_queue, "limit_bytes", 0, UNBOUNDED, "0 to "),
    Range(with_queue, "alpha", 0, 2.0**20, "0 to "),
    Range(with_queue, "pool_bytes", 0, UNBOUNDED, "0 to "),
    Range(with_wred, "kmax_bytes", 0, UNBOUNDED, "0 to ", {"kmin_bytes": 0}),
    Range(with_wred, "pmax", 0.0, 1.0, "0 to 1"),
    Range(with_group, "alpha", 2.0**-20, 2.0**20, "9.53674e-07 to "),
    Range(with_group, "headroom_bytes", 0, UNBOUNDED, "0 to "),
    Range(with_group, "xon_bytes", 0, UNBOUNDED, "0 to "),
    Range(with_group, "xon_offset_bytes", 0, UNBOUNDED, "0 to "),
    Range(with_group, "reserved_bytes", 0, UNBOUNDED, "0 to "),
    Range(with_group, "static_bytes", 0, UNBOUNDED, "0 to ", {"alpha": None}),
    Range(with_switch, "cell_bytes", 1, FRAME, "1 to "),
    Range(with_switch, "headroom_pool_bytes", 0, UNBOUNDED, "0 to "),
    Range(with_switch, "parts", 1, 64, "1 to 64"),
    Range(with_switch, "ports_per_part", 0, 4096, "0 to 4096"),
    Range(with_watchdog, "poll_ms", 1e-6, 1e6, "1e-06 to 1e+06"),
    Range(with_watchdog, "detection_ms", 1e-6, 1e6, "1e-06 to 1e+06"),
    Range(with_watchdog, "restoration_ms", 1e-6, 1e6, "1e-06 to 1e+06"),
    Range(with_port_watchdog, "detection_ms", 1e-6, 1e6, "1e-06 to 1e+06"),
    Range(with_flow, "size_bytes", 1, UNBOUNDED, "1 to "),
    Range(with_flow, "start_ns", 0.0, THOUSAND_SECONDS_NS, "0 to 1e+12"),
    *(
        Range(with_dcqcn, timer, 1e-6, 1e9, "1e-06 to 1e+09")
        for timer in ("alpha_us", "decrease_us", "increase_us")
    ),
    Range(with_dcqcn, "cnp_gate_us", 0.0, 1e9, "0 to 1e+09"),
    Range(with_dcqcn, "min_rate_bps", 1e3, 1e15, "1000 to 1e+15"),
    *(
        Range(with_dcqcn, rate, 0.0, 1e15, "0 to 1e+15")
        for rate in ("ai_bps", "hai_bps", "first_rate_bps", "release_bps")
    ),
    *(
        Range(with_dcqcn, part, 0.0, 1.0, "0 to 1")
        for part in ("g", "initial_alpha", "alpha_to_rate", "min_decrease")
    ),
    Range(with_trim, "size_bytes", 1, FRAME, "1 to "),
    Range(with_loads, "sample_ns", 0.0, THOUSAND_SECONDS_NS, "0 to 1e+12"),
    Range(with_loads, "flowlet_us", 0.0, 1e9, "0 to 1e+09"),
    Range(with_flow, "ahead_frames", 0, 1 << 20, "0 to "),
    Range(with_window, "base_rtt_us", 1e-6, 1e9, "1e-06 to 1e+09"),
    Range(with_window, "timeout_us", 1e-6, 1e9, "1e-06 to 1e+09"),
    Range(with_window, "bdps", 2.0**-10, 2.0**10, "0.000976562 to 1024"),
    Range(with_window, "target_rtts", 2.0**-10, 2.0**10, "0.000976562 to 1024"),
    Range(with_window, "ack_bytes", 1, FRAME, "1 to "),
    Range(with_window, "credit_bytes", 0, FRAME, "0 to "),
    Range(with_window, "credit_part", 2.0**-10, 1.0, "0.000976562 to 1"),
    Range(with_hold, "duty", 0.0, 1.0, "0 to 1"),
    Range(with_slow_host, "drain_bps", 1e3, 1e15, "1000 to 1e+15"),
    Range(with_slow_host, "xoff_bytes", 0, UNBOUNDED, "0 to ", {"xon_bytes": 0}),
)


END_BELOW_ZERO, IN_SECOND_POOL = (
    SimPort((SimQueue(),), (wrong,)) for wrong in (GROUP._replace(xon_bytes=-1), GROUP._replace(pool=1))
)
WRONG = (
    *(wrong for one in RANGES for wrong in one.outside()),
    *(
        with_network(f"classes is {many}; expected 1 to 31", classes=many)
        for many in (0, 32, -1, math.nan, math.inf)
    ),
    with_network("cables is empty; expected at least one", cables=()),
    with_physics("acks is none; expected apart or data", acks="none"),
    with_cable("b is 0; expected another node than a", b=LEFT),
    *(
        with_cable(f"a is {node}; expected a node from 0 to 4", a=node)
        for node in (5, STRANGER, -1, math.nan)
    ),
    *(
        with_cable(f"b is {node}; expected a node from 0 to 4", b=node)
        for node in (5, STRANGER, -1, math.nan)
    ),
    with_cable("b_end is missing; expected set, as node 2 is a switch", b_end=None),
    with_cable("a_end is set; expected missing, as node 0 is a host", a_end=END),
    with_end("queues is 2; expected one for each of 1 classes", SimPort((SimQueue(), SimQueue()), (GROUP,))),
    with_end("groups is 0; expected one for each of 1 classes", SimPort((SimQueue(),), ())),
    *(
        with_wred(f"kmin_bytes is {kmin}; expected 0 to kmax_bytes, 50000", kmin_bytes=kmin)
        for kmin in (60_000, -1, math.nan, math.inf)
    ),
    with_cable(
        "propagation_ns is 0; expected above 0, as frames are marked once they have gone",
        propagation_ns=0,
        b_end=END._replace(queues=(SimQueue(WRED, until_sent=True),)),
    ),
    with_group("alpha is None; expected either alpha or static_bytes to be set", alpha=None),
    with_group("alpha is 1.0; expected either alpha or static_bytes to be set", static_bytes=1000),
    *(with_group(f"pool is {pool}; expected 0 to 0", pool=pool) for pool in (1, -1, math.nan, math.inf)),
    *(
        with_switch(f"{name} is {size}; expected at least one frame a part, 4158 B", **{name: size})
        for name in ("buffer_bytes", "pool_bytes")
        for size in (4157, -1, UNBOUNDED + 1, math.nan, math.inf)
    ),
    with_switch(
        "pool_bytes is 4158; expected at least one frame a part, 4352 B", pool_bytes=4158, cell_bytes=256
    ),
    *(
        with_switch(f"other_pools[1] is {size}; expected 0 to ", other_pools=(1, size))
        for size in (-1, UNBOUNDED + 1, math.nan, math.inf)
    ),
    with_watchdog("action is reboot; expected one of drop, forward, alert", action="reboot"),
    with_watchdog("vendor is acme; expected one of mellanox, broadcom", vendor="acme"),
    *(
        with_watchdog(f"classes is {one}; expected 0 to 0", classes=(0, one))
        for one in (1, 40, -1, math.nan, math.inf)
    ),
    *(
        with_flow(f"mtu_bytes is {size}; expected 1 to ", mtu_bytes=size)
        for size in (0, -1, FRAME + 1, math.nan, -math.inf)
    ),
    *(
        with_flow(f"traffic_class is {one}; expected 0 to 0", traffic_class=one)
        for one in (1, -1, math.nan, math.inf)
    ),
    with_flow("path is (); expected at least a source and a destination", path=()),
    with_flow("path is (0,); expected at least a source and a destination", path=(LEFT,)),
    with_flow("path is (0, 0); expected no node twice", path=(LEFT, LEFT)),
    with_flow("path is (0, 2, 0, 2, 3, 1); expected no node twice", path=(LEFT, 2, LEFT, 2, 3, RIGHT)),
    with_flow("path is (0, 2, 3, 2, 3, 1); expected no node twice", path=(LEFT, 2, 3, 2, 3, RIGHT)),
    with_flow("path is (0, 3, 1); expected a cable from 0 to 3", path=(LEFT, 3, RIGHT)),
    with_flow("path is (0, 2, 9); expected a cable from 2 to 9", path=(LEFT, 2, STRANGER)),
    with_flow("path is (0, 2, 3); expected hosts at both ends, not switch 3", path=(LEFT, 2, 3)),
    with_flow("path is (2, 3, 1); expected hosts at both ends, not switch 2", path=(2, 3, RIGHT)),
    with_network(
        "flows[0].path is (0, 4, 1); expected switches between them, not host 4",
        cables=(*SOUND.cables, SimCable(LEFT, FAR, 1e9, 0), SimCable(FAR, RIGHT, 1e9, 0)),
        flows=(FLOW._replace(path=(LEFT, FAR, RIGHT)),),
    ),
    *(
        with_flow(f"after is {one}; expected the number of an earlier flow", after=(0, one))
        for one in (1, -1, math.nan, math.inf)
    ),
    *(
        with_dcqcn(f"{name} is {value}; expected a whole number from 0 on", **{name: value})
        for name in ("byte_reset", "threshold")
        for value in (-1, 0.5, 1 << 31, math.nan, math.inf)
    ),
    *(
        with_trim(f"traffic_class is {one}; expected 0 to 1", traffic_class=one)
        for one in (2, -1, math.nan, math.inf)
    ),
    with_trim("traffic_class is 0; expected another class than the queue's own", traffic_class=0),
    *(
        with_loads(f"levels_bytes is {levels}; expected three that do not fall", levels_bytes=levels)
        for levels in ((2, 1, 3), (1, 3, 2), (-1, 0, 1), (0, 1, UNBOUNDED + 1), (0, 1, math.nan))
    ),
    with_switch("choice is by lot; expected one of hash, in turn, adaptive, flowlets", choice="by lot"),
    with_spread("choice is by lot; expected one of hash, in turn, adaptive, flowlets", choice="by lot"),
    *(
        with_spread(f"entropies is {many}; expected a power of two from 1 to 16384", entropies=many)
        for many in (0, 3, -1, 1 << 15, 2.0, math.nan, math.inf)
    ),
    with_network(
        "flows[0].spread is hash; expected a path with a switch, which can choose",
        cables=(*SOUND.cables, SimCable(LEFT, RIGHT, 1e9, 0)),
        flows=(FLOW._replace(path=(LEFT, RIGHT), spread=SPREAD),),
    ),
    with_flow("window.control is nscc; expected none, or dcqcn to be missing", window=WINDOW, dcqcn=DCQCN),
    with_window("control is reno; expected none or nscc", control="reno"),
    with_hold("peer is 0; expected a neighbor of 3", peer=LEFT),
    with_hold("peer is 9; expected a neighbor of 3", peer=STRANGER),
    with_hold("peer is 1; expected a neighbor of 2", node=2),
    *(
        with_hold(f"start_ns is {start}; expected 0 to 1e+12", start_ns=start)
        for start in (-1, 1e13, math.nan, math.inf)
    ),
    *(
        with_hold(f"end_ns is {end}; expected a time from 1000 to 1e+12", start_ns=1000, end_ns=end)
        for end in (1000, 0, 1e13, math.nan, math.inf)
    ),
    *(
        with_hold(f"period_ns is {period}; expected 1 to 1e+12", period_ns=period)
        for period in (-1, 0.0001, 1e13, math.nan, math.inf)
    ),
    *(
        with_hold(f"classes is {one}; expected 0 to 0", classes=(0, one))
        for one in (1, 5, -1, math.nan, math.inf)
    ),
    with_slow_host("node is 4; expected a host with a cable", node=FAR),
    with_slow_host("node is 9; expected a host with a cable", node=STRANGER),
    with_slow_host("node is 3; expected a host with a cable", node=3),
    with_network(
        "slow_hosts[0].node is 1; expected each host once",
        slow_hosts=(SlowHost(RIGHT, 1e9, 20_000, 10_000),) * 2,
    ),
    *(
        with_slow_host(f"xon_bytes is {xon}; expected 0 to xoff_bytes, 20000", xon_bytes=xon)
        for xon in (20_001, -1, math.nan, math.inf)
    ),
    # Ends that come after sound ones, or are as others but at a switch that has no such pool.
    with_network(
        "cables[2].b_end.groups[0].xon_bytes is -1",
        cables=(*SOUND.cables[:2], SOUND.cables[2]._replace(b_end=END_BELOW_ZERO)),
    ),
    with_network(
        "cables[1].b_end.groups[0].pool is 1; expected 0 to 0",
        cables=tuple(
            cable._replace(a_end=cable.a_end and IN_SECOND_POOL, b_end=IN_SECOND_POOL)
            for cable in SOUND.cables
        ),
        switches={**SOUND.switches, 2: SOUND.switches[2]._replace(other_pools=(50_000,))},
    ),
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.said.split(";")[0])
def test_a_network_that_cannot_be_is_refused_by_the_name_of_its_wrong_field(wrong: Wrong) -> None:
    with pytest.raises(ScenarioError) as refused:
        Simulation(wrong.network)
    assert str(refused.value).startswith(wrong.said)


EVERY = SOUND._replace(
    flows=(FLOW, FLOW._replace(dcqcn=DCQCN, after=(0,))),
    holds=(Hold(3, RIGHT, 0, 1000),),
    slow_hosts=(SlowHost(RIGHT, 1e9, 20_000, 10_000),),
    switches={**SOUND.switches, 3: SOUND.switches[3]._replace(watchdog=WATCHDOG)},
)
SOUND_ONES = {
    "as it is before one value is wrong": SOUND,
    "with one of everything": EVERY,
    "one cable between two hosts": SimNetwork(2, {}, (SimCable(0, 1, 1e9, 0),), (SimFlow((0, 1), 1),)),
    "as many classes as there may be": SimNetwork(
        2, {}, (SimCable(0, 1, 1e9, 0),), (SimFlow((0, 1), 1),), classes=31
    ),
    "room for just one frame": with_switch("", buffer_bytes=4158, pool_bytes=4158).network,
    "more room than is ever used": with_switch("", buffer_bytes=UNBOUNDED, pool_bytes=UNBOUNDED).network,
    "pools beside the first": with_switch("", other_pools=(0, UNBOUNDED)).network,
    "ACKs that travel apart": with_physics("", acks="apart").network,
    "a hold as late as can be": with_hold(
        "", start_ns=THOUSAND_SECONDS_NS - 1, end_ns=THOUSAND_SECONDS_NS
    ).network,
    "holds that come back": with_hold("", period_ns=1).network,
    "largest frames": with_flow("", mtu_bytes=FRAME).network,
    "smallest frames": with_flow("", mtu_bytes=1).network,
    "a trimmed class": with_trim("").network,
    "levels that are one": with_loads("", levels_bytes=(0, 0, 0)).network,
    "every choice of paths": SOUND._replace(
        flows=tuple(FLOW._replace(spread=SimSpread(choice)) for choice in get_args(Choice))
    ),
    "as many entropy values as there may be": with_spread("", entropies=1 << 14).network,
    "a window that stays": with_window("", control="none", timeout_us=None, credit_bytes=4096).network,
    "no byte counter": with_dcqcn("", byte_reset=0, threshold=0).network,
    "the largest byte counter": with_dcqcn("", byte_reset=(1 << 31) - 1, threshold=(1 << 31) - 1).network,
}


@pytest.mark.parametrize("network", SOUND_ONES.values(), ids=SOUND_ONES.keys())
def test_a_network_that_can_be_is_not_refused(network: SimNetwork) -> None:
    check(network)


@pytest.mark.parametrize("bounds", RANGES, ids=lambda one: f"{one.place.__name__} {one.field}")
def test_both_ends_of_a_range_are_in_it(bounds: Range) -> None:
    for network in bounds.ends():
        check(network)


PLACES: tuple[tuple[type, Callable[..., Wrong]], ...] = (
    (SimNetwork, with_network),
    (Physics, with_physics),
    (SimCable, with_cable),
    (SimQueue, with_queue),
    (SimWred, with_wred),
    (SimGroup, with_group),
    (SimSwitch, with_switch),
    (SimWatchdog, with_watchdog),
    (SimFlow, with_flow),
    (SimDcqcn, with_dcqcn),
    (SimTrim, with_trim),
    (SimLoads, with_loads),
    (SimSpread, with_spread),
    (SimWindow, with_window),
    (Hold, with_hold),
    (SlowHost, with_slow_host),
)
"""Every record of a network that has numbers, and what puts one into a sound network."""


def numbers() -> Iterator[tuple[Callable[..., Wrong], str]]:
    """Give every field of a network that is one number."""
    for record, place in PLACES:
        for field, kind in get_type_hints(record).items():
            if kind in (int, float, int | None, float | None):
                yield place, field


def test_the_places_have_every_record_of_a_network() -> None:
    records = {
        one for _, one in inspect.getmembers(network_records, inspect.isclass) if hasattr(one, "_fields")
    }
    assert records - {record for record, _ in PLACES} == {SimPort}


@pytest.mark.parametrize(("place", "field"), list(numbers()))
def test_no_number_of_a_network_may_be_none(place: Callable[..., Wrong], field: str) -> None:
    with pytest.raises(ScenarioError):
        check(place("", **{field: math.nan}).network)


def demands() -> set[int]:
    """Return the lines of the check at which something is required."""
    calls = (node for node in ast.walk(ast.parse(inspect.getsource(checking))) if isinstance(node, ast.Call))
    named = ((call.lineno, call.func.id) for call in calls if isinstance(call.func, ast.Name))
    helpers = inspect.getsourcelines(checking._in_range)[1]
    return {line for line, name in named if name in ("_require", "_in_range") and line < helpers}


def test_everything_that_is_required_is_refused_by_a_network_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusing = set()

    def require(meaningful: bool, *_: object) -> None:
        if not meaningful:
            caller = sys._getframe(1)
            asked = caller.f_back if caller.f_code is checking._in_range.__code__ else caller
            assert asked is not None
            refusing.add(asked.f_lineno)
            raise ScenarioError

    monkeypatch.setattr(checking, "_require", require)
    for wrong in WRONG:
        with pytest.raises(ScenarioError):
            check(wrong.network)
    assert demands() - refusing == set()

"""Networks that cannot be are refused before anything runs, by the name of the field that is wrong."""

from __future__ import annotations

import ast
import inspect
import math
import sys
from typing import Any, NamedTuple

import pytest

from lossless.errors import ScenarioError
from lossless.simulation import check as checking
from lossless.simulation.check import check
from lossless.simulation.engine import Simulation
from lossless.simulation.network import (
    Cable,
    Dcqcn,
    End,
    Flow,
    Group,
    Hold,
    Network,
    Physics,
    Queue,
    SlowHost,
    Switch,
    Watchdog,
    Wred,
)

FAR, LEFT, RIGHT, STRANGER = 4, 0, 1, 9
GROUP, WRED, END = Group(1.0, 50_000), Wred(10_000, 50_000, 0.2), End((Queue(),), (Group(1.0, 50_000),))
CABLE = Cable(LEFT, 2, 100e9, 500, None, END)
FLOW = Flow((LEFT, 2, 3, RIGHT), 100_000)
WATCHDOG = Watchdog(200, 400, 400, "drop", "mellanox", (0,))
DCQCN = Dcqcn(
    g=1 / 256,
    alpha_us=55,
    decrease_us=50,
    increase_us=55,
    threshold=5,
    ai_bps=40e6,
    hai_bps=200e6,
    min_rate_bps=100e6,
)
SOUND = Network(
    nodes=5,
    switches={2: Switch(2_000_000, 1_500_000), 3: Switch(2_000_000, 1_500_000)},
    cables=(CABLE, Cable(RIGHT, 3, 100e9, 500, None, END), Cable(2, 3, 100e9, 500, END, END)),
    flows=(FLOW,),
)
"""Hosts 0 and 1 at switches 2 and 3; host 4 has no cable."""


class Wrong(NamedTuple):
    """One wrong value, and the beginning of what is said of it."""

    network: Network
    said: str


def with_cable(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(cables=(CABLE._replace(**wrong), *SOUND.cables[1:])), f"cables[0].{said}")


def with_end(said: str, end: End) -> Wrong:
    return with_cable(f"b_end.{said}", b_end=end)


def with_wred(said: str, **wrong: Any) -> Wrong:
    return with_end(f"queues[0].wred.{said}", End((Queue(WRED._replace(**wrong)),), (GROUP,)))


def with_group(said: str, **wrong: Any) -> Wrong:
    return with_end(f"groups[0].{said}", End((Queue(),), (GROUP._replace(**wrong),)))


def with_switch(said: str, **wrong: Any) -> Wrong:
    switches = {**SOUND.switches, 3: SOUND.switches[3]._replace(**wrong)}
    return Wrong(SOUND._replace(switches=switches), f"switches[3].{said}")


def with_watchdog(said: str, **wrong: Any) -> Wrong:
    return with_switch(f"watchdog.{said}", watchdog=WATCHDOG._replace(**wrong))


def with_flow(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(flows=(FLOW, FLOW._replace(**wrong))), f"flows[1].{said}")


def with_dcqcn(said: str, **wrong: Any) -> Wrong:
    return with_flow(f"dcqcn.{said}", dcqcn=DCQCN._replace(**wrong))


def with_hold(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(holds=(Hold(3, RIGHT, 0, 1000)._replace(**wrong),)), f"holds[0].{said}")


def with_slow_host(said: str, **wrong: Any) -> Wrong:
    slow = SlowHost(RIGHT, 1e9, 20_000, 10_000)._replace(**wrong)
    return Wrong(SOUND._replace(slow_hosts=(slow,)), f"slow_hosts[0].{said}")


def with_physics(name: str, value: float) -> Wrong:
    physics = Physics(**{name: value})  # type: ignore[arg-type]
    return Wrong(SOUND._replace(physics=physics), f"physics.{name} is {value}; expected")


WRONG = (
    Wrong(SOUND._replace(classes=0), "classes is 0; expected 1 to 31"),
    Wrong(SOUND._replace(classes=32), "classes is 32; expected 1 to 31"),
    Wrong(SOUND._replace(cables=()), "cables is empty; expected at least one"),
    with_physics("overhead_bytes", -1),
    with_physics("gap_bytes", -1),
    with_physics("pfc_frame_bytes", 0),
    with_physics("ack_frame_bytes", 0),
    with_physics("ack_every", 0),
    with_physics("nack_interval_us", -1),
    with_physics("nack_interval_us", math.nan),
    with_physics("timeout_ms", 0),
    with_physics("timeout_ms", math.inf),
    Wrong(SOUND._replace(physics=Physics(acks="none")), "physics.acks is none; expected apart or data"),  # type: ignore[arg-type]
    *(
        with_cable(f"rate_bps is {rate}; expected 1000 to 1e+15", rate_bps=rate)
        for rate in (0, -100, math.nan, math.inf)
    ),
    *(
        with_cable(f"propagation_ns is {time}; expected 0 to 1e+12", propagation_ns=time)
        for time in (-1, math.nan, 1e13)
    ),
    with_cable("a_reaction_ns is -5; expected 0 to", a_reaction_ns=-5),
    with_cable("b_reaction_ns is inf; expected 0 to", b_reaction_ns=math.inf),
    with_cable("b is 0; expected another node than a", b=LEFT),
    with_cable("a is 9; expected a node from 0 to 4", a=STRANGER),
    with_cable("a is -1; expected a node from 0 to 4", a=-1),
    with_cable("b_end is missing; expected set, as node 2 is a switch", b_end=None),
    with_cable("a_end is set; expected missing, as node 0 is a host", a_end=END),
    with_end("queues is 2; expected one for each of 1 classes", End((Queue(), Queue()), (GROUP,))),
    with_end("groups is 0; expected one for each of 1 classes", End((Queue(),), ())),
    with_end("queues[0].weight is 0; expected 1 to", End((Queue(weight=0),), (GROUP,))),
    with_end("queues[0].weight is 2097152; expected 1 to", End((Queue(weight=1 << 21),), (GROUP,))),
    with_end("queues[0].limit_bytes is -1; expected 0 to", End((Queue(limit_bytes=-1),), (GROUP,))),
    with_wred("kmax_bytes is inf; expected 0 to", kmax_bytes=math.inf),
    with_wred("kmin_bytes is 60000; expected 0 to kmax_bytes, 50000", kmin_bytes=60_000),
    with_wred("kmin_bytes is -1; expected 0 to kmax_bytes", kmin_bytes=-1),
    with_wred("kmin_bytes is nan; expected 0 to kmax_bytes", kmin_bytes=math.nan),
    *(with_wred(f"pmax is {part}; expected 0 to 1", pmax=part) for part in (2, -0.1, math.nan)),
    with_group("alpha is None; expected either alpha or static_bytes to be set", alpha=None),
    with_group("alpha is 1.0; expected either alpha or static_bytes to be set", static_bytes=1000),
    *(with_group(f"alpha is {alpha}; expected", alpha=alpha) for alpha in (0, -1, math.nan, math.inf)),
    *(
        with_group(f"{name} is -1; expected 0 to", **{name: -1})
        for name in ("headroom_bytes", "xon_bytes", "xon_offset_bytes", "reserved_bytes")
    ),
    with_group("static_bytes is -1; expected 0 to", alpha=None, static_bytes=-1),
    with_group("pool is 1; expected 0 to 0", pool=1),
    with_switch("cell_bytes is 0; expected 1 to", cell_bytes=0),
    with_switch("buffer_bytes is 4157; expected at least one frame, 4158 B", buffer_bytes=4157),
    with_switch("pool_bytes is 4158; expected at least one frame, 4352 B", pool_bytes=4158, cell_bytes=256),
    with_switch("other_pools[0] is -1; expected 0 to", other_pools=(-1,)),
    with_switch("headroom_pool_bytes is -1; expected 0 to", headroom_pool_bytes=-1),
    with_watchdog("poll_ms is 0; expected", poll_ms=0),
    with_watchdog("poll_ms is inf; expected", poll_ms=math.inf),
    with_watchdog("detection_ms is -1; expected", detection_ms=-1),
    with_watchdog("restoration_ms is 0; expected", restoration_ms=0),
    with_watchdog("action is reboot; expected one of drop, forward, alert", action="reboot"),
    with_watchdog("vendor is acme; expected one of mellanox, broadcom", vendor="acme"),
    with_watchdog("classes is 40; expected 0 to 0", classes=(40,)),
    *(
        with_flow(f"size_bytes is {size}; expected 1 to", size_bytes=size)
        for size in (0, -1, 1 << 61, math.inf)
    ),
    *(
        with_flow(f"start_ns is {time}; expected 0 to", start_ns=time)
        for time in (-1, math.nan, math.inf, 1e13)
    ),
    with_flow("mtu_bytes is 0; expected 1 to", mtu_bytes=0),
    with_flow("mtu_bytes is 1048577; expected 1 to", mtu_bytes=1_048_577),
    with_flow("traffic_class is 1; expected 0 to 0", traffic_class=1),
    with_flow("path is (0,); expected at least a source and a destination", path=(LEFT,)),
    with_flow("path is (0, 2, 0, 2, 3, 1); expected no node twice", path=(LEFT, 2, LEFT, 2, 3, RIGHT)),
    with_flow("path is (0, 3, 1); expected a cable from 0 to 3", path=(LEFT, 3, RIGHT)),
    with_flow("path is (0, 2, 9); expected a cable from 2 to 9", path=(LEFT, 2, STRANGER)),
    with_flow("path is (0, 2, 3); expected hosts at both ends, not switch 3", path=(LEFT, 2, 3)),
    with_flow("path is (2, 3, 1); expected hosts at both ends, not switch 2", path=(2, 3, RIGHT)),
    Wrong(
        SOUND._replace(
            cables=(*SOUND.cables, Cable(FAR, 2, 1e9, 0, None, END), Cable(FAR, 3, 1e9, 0, None, END)),
            flows=(FLOW._replace(path=(LEFT, 2, FAR, 3, RIGHT)),),
        ),
        "flows[0].path is (0, 2, 4, 3, 1); expected switches between them, not host 4",
    ),
    with_flow("after is 1; expected the number of an earlier flow", after=(1,)),
    with_flow("after is -1; expected the number of an earlier flow", after=(-1,)),
    *(
        with_dcqcn(f"{name} is {time}; expected 1e-06 to", **{name: time})
        for name in ("alpha_us", "decrease_us", "increase_us")
        for time in (0, -4, math.nan, math.inf, 1e-7)
    ),
    with_dcqcn("cnp_gate_us is -1; expected 0 to", cnp_gate_us=-1),
    with_dcqcn("min_rate_bps is 0; expected 1000 to", min_rate_bps=0),
    with_dcqcn("min_rate_bps is inf; expected 1000 to", min_rate_bps=math.inf),
    *(
        with_dcqcn(f"{name} is -1; expected 0 to", **{name: -1})
        for name in ("ai_bps", "hai_bps", "first_rate_bps", "release_bps")
    ),
    *(
        with_dcqcn(f"{name} is {value}; expected a whole number from 0 on", **{name: value})
        for name in ("byte_reset", "threshold")
        for value in (-1, 0.5, 1 << 31)
    ),
    with_dcqcn("g is 1.5; expected 0 to 1", g=1.5),
    with_dcqcn("initial_alpha is 2; expected 0 to 1", initial_alpha=2),
    with_dcqcn("alpha_to_rate is -0.5; expected 0 to 1", alpha_to_rate=-0.5),
    with_dcqcn("min_decrease is nan; expected 0 to 1", min_decrease=math.nan),
    with_hold("peer is 0; expected a neighbour of 3", peer=LEFT),
    with_hold("peer is 9; expected a neighbour of 3", peer=STRANGER),
    with_hold("start_ns is -1; expected 0 to", start_ns=-1),
    with_hold("end_ns is 1000; expected a time from 1000 to", start_ns=1000),
    with_hold("end_ns is inf; expected a time from 0 to", end_ns=math.inf),
    with_hold("period_ns is -1; expected 1 to", period_ns=-1),
    with_hold("period_ns is 0.0001; expected 1 to", period_ns=0.0001),
    with_hold("duty is 1.1; expected 0 to 1", duty=1.1),
    with_hold("classes is 5; expected 0 to 0", classes=(5,)),
    with_hold("classes is -1; expected 0 to 0", classes=(-1,)),
    with_slow_host("node is 4; expected a host with a cable", node=FAR),
    with_slow_host("node is 3; expected a host with a cable", node=3),
    Wrong(
        SOUND._replace(slow_hosts=(SlowHost(RIGHT, 1e9, 20_000, 10_000),) * 2),
        "slow_hosts[0].node is 1; expected each host once",
    ),
    with_slow_host("drain_bps is 0; expected 1000 to", drain_bps=0),
    with_slow_host("drain_bps is inf; expected 1000 to", drain_bps=math.inf),
    with_slow_host("xoff_bytes is -1; expected 0 to", xoff_bytes=-1),
    with_slow_host("xon_bytes is 20001; expected 0 to xoff_bytes, 20000", xon_bytes=20_001),
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.said.split(";")[0])
def test_a_network_that_cannot_be_is_refused_by_the_name_of_its_wrong_field(wrong: Wrong) -> None:
    with pytest.raises(ScenarioError) as refused:
        Simulation(wrong.network)
    assert str(refused.value).startswith(wrong.said)


def test_the_network_in_which_one_value_is_wrong_each_time_is_sound() -> None:
    check(SOUND)
    every = SOUND._replace(
        flows=(FLOW, FLOW._replace(dcqcn=DCQCN, after=(0,))),
        holds=(Hold(3, RIGHT, 0, 1000),),
        slow_hosts=(SlowHost(RIGHT, 1e9, 20_000, 10_000),),
        switches={**SOUND.switches, 3: SOUND.switches[3]._replace(watchdog=WATCHDOG)},
    )
    check(every)


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

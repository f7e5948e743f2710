"""A buffer verdict as a person sees it."""

from __future__ import annotations

from typing import Any

from inline_snapshot import snapshot

from lossless.analysis.buffers.verdict import (
    BufferVerdict,
    FabricVerdict,
    FanIn,
    FanOut,
    HeadroomCheck,
    PoolVerdict,
    PortVerdict,
)
from lossless.analysis.simulation.study.answer import SimulationResult
from lossless.output.report.columns import TextStyle
from lossless.output.report.simulation.verdict_text import verdict_text

VERBOSE = TextStyle(verbose=True)


def fan_in(senders: int, egress: int, kmin_margin: int, kmax_margin: int) -> FanIn:
    return FanIn(senders, egress // senders, egress, kmin_margin, kmax_margin)


def fan_out(egresses: int, kmin_margin: int) -> FanOut:
    return FanOut(egresses, 34_994_432, kmin_margin, -119_015_168)


def headroom(given_bytes: int) -> HeadroomCheck:
    return HeadroomCheck(
        given_bytes=given_bytes,
        stated_bytes=given_bytes,
        need_bytes=231_424,
        method="vendor row",
        floor_bytes=None,
        cable_bytes=0,
        cable_plus_mtu_bytes=0,
        mtu_bytes=9_216,
        margin_bytes=0,
    )


def line(**fields: Any) -> PortVerdict:
    given: dict[str, Any] = {
        "verdict": "safe",
        "switch": "leaf1",
        "switches": 2,
        "ports": 64,
        "elements": (),
        "priority": 3,
        "speed_bps": 400 * 10**9,
        "cable_m": 5,
        "headroom": headroom(231_424),
        "fan_in": (fan_in(2, 46_659_242, 45_840_042, 43_382_442),),
        "fan_out": (fan_out(1, 33_356_032), fan_out(47, -3_507_968)),
        "watchdog": "running",
        "reasons": (),
        "not_checked": (),
    }
    return PortVerdict(**given | fields)


def pool(**fields: Any) -> PoolVerdict:
    given: dict[str, Any] = {
        "verdict": "safe",
        "switch": "leaf1",
        "switches": 1,
        "pool": "ingress_lossless_pool",
        "groups": 3,
        "headroom_bytes": 825_344,
        "shared_headroom_bytes": None,
        "ratio": None,
        "accepted_ratio": None,
        "chip_bytes": None,
        "reasons": (),
    }
    return PoolVerdict(**given | fields)


def verdict(overall: BufferVerdict, **fields: Any) -> SimulationResult:
    return SimulationResult(FabricVerdict(overall, (), (), (), ())._replace(**fields))


def test_a_safe_fabric() -> None:
    safe = verdict("safe", lines=(line(),), pools=(pool(),))
    assert verdict_text(safe) == snapshot("""\
verdict: safe
  closed forms find nothing unsafe
limiting port: leaf1 (+1 identical), priority 3, 400G, 5 m: headroom 231,424 B, needed 231,424 B
  (vendor row)

lossless groups: 64 safe; buffer pools: 1 safe
-v shows every kind of port, every pool, XOFF against ECN\
""")
    assert verdict_text(safe, VERBOSE) == snapshot("""\
verdict: safe
  closed forms find nothing unsafe
limiting port: leaf1 (+1 identical), priority 3, 400G, 5 m: headroom 231,424 B, needed 231,424 B
  (vendor row)

verdict  kind of port                                 ports  headroom   needed  method      watchdog
                                                                  (B)      (B)
safe     leaf1 (+1 identical), priority 3, 400G, 5 m     64   231,424  231,424  vendor row  running

verdict  switch  pool                   groups    headroom of all groups  shared headroom (B)  ratio
                                                                     (B)
safe     leaf1   ingress_lossless_pool       3                   825,344  none                 -

XOFF against ECN                             pattern    XOFF at (B)     Kmin before      Kmax before
                                                                           XOFF (B)         XOFF (B)
leaf1 (+1 identical), priority 3, 400G, 5 m  2 into 1    46,659,242      45,840,042       43,382,442
                                             1 into 47   34,994,432      -3,507,968     -119,015,168
(N into 1 fills an egress queue, 1 into N an ingress PG; below zero: reached after XOFF. Marking
before XOFF does not prevent PFC: these margins do not change the verdict)\
""")


def test_the_limiting_port_has_the_least_headroom_left() -> None:
    text = verdict_text(verdict("unsafe", lines=(line(), line(switch="leaf9", headroom=headroom(231_423)))))
    assert text.splitlines()[1] == (
        "limiting port: leaf9 (+1 identical), priority 3, 400G, 5 m: headroom 231,423 B, needed 231,424 B"
    )


def test_what_is_wrong_and_what_is_unknown_is_said_below() -> None:
    text = verdict_text(
        verdict(
            "unsafe",
            lines=(
                line(verdict="unsafe", switches=1, watchdog="missing", fan_in=(), fan_out=()),
                line(switch="x\x1b[2J", headroom=None, speed_bps=None, cable_m=None, fan_in=(), fan_out=()),
            ),
            pools=(pool(shared_headroom_bytes=400_000, ratio=2.063, accepted_ratio=1.5),),
            reasons=("nothing ends a pause storm: watchdog missing",),
            not_checked=("headroom: no speed is known",),
        ),
        VERBOSE,
    )
    why, ports, pools, unknown = text.split("\n\n")[1:]
    (missing,) = (row for row in ports.splitlines() if row.startswith("unsafe"))
    assert missing.endswith("  missing")
    assert "x\\x1b[2J" in ports
    assert "(+1 identical)" in ports
    assert ports.splitlines()[-1].strip() == "unknown, cable unknown"
    assert pools.splitlines()[-1].endswith("  400,000  2.063 (1.5 accepted)")
    assert why == "why:\n  nothing ends a pause storm: watchdog missing"
    assert unknown == "not checked:\n  headroom: no speed is known"


def test_a_fabric_without_lossless_ports_has_no_table() -> None:
    text = verdict_text(verdict("not checked", not_checked=("no port in service has PFC on",)))
    assert text == "verdict: not checked\n\nnot checked:\n  no port in service has PFC on"

"""A buffer verdict as a person sees it."""

from __future__ import annotations

from typing import Any

from lossless.output.report.simulation.verdict_text import verdict_text


def fan_in(senders: int, egress: int, kmin_margin: int, kmax_margin: int) -> dict[str, int]:
    margins = {"kmin_margin_bytes": kmin_margin, "kmax_margin_bytes": kmax_margin}
    return {"senders": senders, "egress_bytes": egress} | margins


def fan_out(egresses: int, kmin_margin: int) -> dict[str, int]:
    margins = {"kmin_margin_bytes": kmin_margin, "kmax_margin_bytes": -119_015_168}
    return {"egresses": egresses, "group_bytes": 34_994_432} | margins


def line(**fields: Any) -> dict[str, Any]:
    headroom = {"given_bytes": 231_424, "need_bytes": 231_424, "method": "vendor row"}
    given = {
        "verdict": "safe",
        "switch": "leaf1",
        "switches": 2,
        "ports": 64,
        "priority": 3,
        "speed_bps": 400 * 10**9,
        "cable_m": 5,
        "headroom": headroom,
        "fan_in": [fan_in(2, 46_659_242, 45_840_042, 43_382_442)],
        "fan_out": [fan_out(1, 33_356_032), fan_out(47, -3_507_968)],
        "watchdog": "running",
    }
    return given | fields


def pool(**fields: Any) -> dict[str, Any]:
    given = {
        "verdict": "safe",
        "switch": "leaf1",
        "switches": 1,
        "pool": "ingress_lossless_pool",
        "groups": 3,
        "headroom_bytes": 825_344,
        "shared_headroom_bytes": None,
        "ratio": None,
        "accepted_ratio": None,
    }
    return given | fields


def verdict(overall: str, **fields: Any) -> dict[str, Any]:
    return {"overall": overall, "lines": [], "pools": [], "reasons": [], "not_checked": []} | fields


def test_a_safe_fabric() -> None:
    assert verdict_text(verdict("safe", lines=[line()], pools=[pool()])).splitlines() == [
        "verdict: safe",
        "  closed forms find nothing unsafe",
        "",
        "verdict  switch                ports  prio  link       headroom   needed                  watchdog",
        "safe     leaf1 (+1 identical)  64     3     400G, 5 m  231,424 B  231,424 B (vendor row)  running",
        "",
        "verdict  switch  pool                   headroom of all groups  shared headroom  ratio",
        "safe     leaf1   ingress_lossless_pool  825,344 B in 3 groups   none             -",
        "",
        "XOFF against ECN           XOFF at       Kmin reached              Kmax reached",
        "leaf1 (+1 identical), priority 3, 400G, 5 m",
        "  2 into 1   egress queue  46,659,242 B  45,840,042 B before XOFF  43,382,442 B before XOFF",
        "  1 into 47  ingress PG    34,994,432 B  3,507,968 B after XOFF    119,015,168 B after XOFF",
        "(marking before XOFF does not prevent PFC: these margins do not change the verdict)",
    ]


def test_what_is_wrong_and_what_is_unknown_is_said_below() -> None:
    text = verdict_text(
        verdict(
            "unsafe",
            lines=[
                line(verdict="unsafe", switches=1, watchdog="missing", fan_in=[], fan_out=[]),
                line(switch="x\x1b[2J", headroom=None, speed_bps=None, cable_m=None, fan_in=[], fan_out=[]),
            ],
            pools=[pool(shared_headroom_bytes=400_000, ratio=2.063, accepted_ratio=1.5)],
            reasons=["nothing ends a pause storm: watchdog missing"],
            not_checked=["headroom: no speed is known"],
        )
    )
    why, ports, pools, unknown = text.split("\n\n")[1:]
    assert ports.splitlines()[1].endswith("  missing")
    assert "x\\x1b[2J" in ports
    assert "(+1 identical)" in ports
    assert "unknown, cable  " in ports
    assert pools.splitlines()[-1].endswith("400,000 B        2.063 (1.5 accepted)")
    assert why == "why:\n  nothing ends a pause storm: watchdog missing"
    assert unknown == "not checked:\n  headroom: no speed is known"


def test_a_fabric_without_lossless_ports_has_no_table() -> None:
    text = verdict_text(verdict("not checked", not_checked=["no port in service has PFC on"]))
    assert text == "verdict: not checked\n\nnot checked:\n  no port in service has PFC on"

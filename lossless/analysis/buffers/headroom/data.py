"""Comparisons as plain data, for machines and for the text output: names of the model, with units.

Published names stay; ``version`` changes with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.headroom.comparison import ConfiguredHeadroom, NoHeadroom
from lossless.analysis.buffers.headroom.methods import uses_lanes
from lossless.analysis.buffers.headroom.port import asic_inputs
from lossless.ground.basics.findings import MissingInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.analysis.buffers.headroom.comparison import HeadroomComparison
    from lossless.analysis.buffers.headroom.methods import HeadroomCase, MethodResult
    from lossless.ground.basics.findings import Json

VERSION = 1
"""The version of the names in the object."""
_NAMES = ("switch", "switches", "ports", "elements")
_SHOWN_ELEMENTS = 5


def headroom_data(comparisons: Iterable[HeadroomComparison]) -> dict[str, Json]:
    """Return comparisons as one object; identical kinds of port on several devices are one kind."""
    kinds: dict[str, dict[str, Any]] = {}
    for kind in map(_comparison, comparisons):
        key = repr({name: value for name, value in kind.items() if name not in _NAMES})
        if key in kinds:
            first = kinds[key]
            first["switches"] += kind["switches"]
            first["ports"] += kind["ports"]
            first["elements"] = (first["elements"] + kind["elements"])[:_SHOWN_ELEMENTS]
        else:
            kinds[key] = kind
    return {"version": VERSION, "kinds": list(kinds.values())}


def _comparison(comparison: HeadroomComparison) -> dict[str, Any]:
    configured = comparison.configured
    return {
        "switch": comparison.switch or None,
        "switches": len(comparison.switches),
        "ports": comparison.ports,
        "elements": list(comparison.elements[:_SHOWN_ELEMENTS]),
        "priorities": list(comparison.priorities),
        "profile": comparison.profile.name if comparison.profile else None,
        "asic": comparison.profile.asic.name if comparison.profile else None,
        "hwsku": comparison.hwsku.name if comparison.hwsku else None,
        "speed_bps": comparison.speed_bps,
        "cable_m": comparison.cable_m,
        "configured_cable_m": comparison.configured_cable_m,
        "configured": _configured(configured) if isinstance(configured, ConfiguredHeadroom) else None,
        "configured_absent": configured.reason if isinstance(configured, NoHeadroom) else None,
        "configured_unknown": configured.reason if isinstance(configured, MissingInput) else None,
        "least_bytes": comparison.least_bytes,
        "methods": {answer.key: _answer(comparison, answer) for answer in comparison.answers},
        "inputs": list(_inputs(comparison.case)) if comparison.case else [],
    }


def _configured(configured: ConfiguredHeadroom) -> dict[str, Json]:
    return {
        "name": configured.name or None,
        "by": configured.by,
        "headroom_bytes": configured.given_bytes,
        "xoff_bytes": configured.stated_bytes,
        "xon_bytes": configured.xon_bytes,
        "reserved_bytes": configured.reserved_bytes,
    }


def _answer(comparison: HeadroomComparison, answer: MethodResult) -> dict[str, Json]:
    need = answer.need
    terms: list[Json] = [
        {"name": term.name, "bytes": round(term.bytes, 3), "formula": term.formula}
        for term in (need.terms if need else ())
    ]
    return {
        "name": answer.name,
        "headroom_bytes": need.headroom_bytes if need else None,
        "xon_bytes": need.xon_bytes if need else None,
        "reserved_bytes": need.reserved_bytes if need else None,
        "margin_bytes": comparison.margin_bytes(answer),
        "terms": terms,
        "unknown": answer.unknown or None,
        "notes": list(answer.notes),
        "source": answer.source or None,
    }


def _inputs(case: HeadroomCase) -> Iterator[Json]:
    """Yield the inputs of the formula, none for a chip without one."""
    asic = case.profile.asic if case.profile else None
    chip = asic_inputs(asic) if asic else None
    if asic is None or chip is None:
        return
    yield _input("cell size", chip.cell_bytes, "B", "ASIC table")
    yield _input("pipeline latency", chip.pipeline_latency_bytes, "B", "ASIC table")
    yield _input("MAC and PHY delay", chip.mac_phy_delay_bytes, "B", "ASIC table")
    yield _input("port MTU", case.port_mtu_bytes.value, "B", case.port_mtu_bytes.source)
    yield _input("lossless MTU", case.lossless_mtu_bytes.value, "B", case.lossless_mtu_bytes.source)
    yield _input("small packets", case.small_packet_percent.value, "%", case.small_packet_percent.source)
    yield _input("gearbox", case.gearbox_ns.value, "ns", case.gearbox_ns.source)
    if uses_lanes(asic):
        yield _input("lanes", case.lanes.value, "", case.lanes.source)
        yield _input("shared headroom", case.shared_headroom.value, "", case.shared_headroom.source)


def _input(name: str, value: float | None, unit: str, source: str) -> Json:
    return {"name": name, "value": value, "unit": unit, "source": source}

"""Labels of quantities by their names in JSON, and headroom as text.

Reports, tables of pictures and guides take their words from the labels. A quantity that several commands report has
one name everywhere.

The text has the configured headroom beside three methods, then, if wanted, each sum term by term.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes, format_rate, joined
from lossless.output.report.columns import PLAIN, TextStyle, cut, facts, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.buffers.headroom.comparison import FormulaInput, HeadroomAnswer, HeadroomKind


LABELS = {
    "drops": "drops",
    "pfc": "PFC",
    "marks": "ECN",
    "watchdog": "watchdog",
    "loss": "loss",
    "slowdown": "longest completion",
    "cost": "against no loss",
    "dropped_share": "dropped",
    "trimmed_share": "trimmed",
    "resent_share": "resent",
    "timeouts": "timeouts",
    "unfinished": "unfinished",
    "queue_dynamic_th": "queue dynamic_th",
    "trimming": "trimming",
    "egress_bytes": "peak queue depth",
    "peak_queue_depth_bytes": "peak queue depth",
    "group_bytes": "peak PG occupancy",
    "headroom_bytes": "headroom",
    "headroom_margin_bytes": "headroom left",
    "headroom_left_bytes": "headroom left",
    "longest_pause_us": "longest pause",
    "pauses": "pauses",
    "nics_paused": "NICs paused",
    "time_in_pause": "time in pause",
    "goodput_bps": "goodput",
    "load": "load",
    "pfc_load": "PFC load",
    "pfc_seeds": "seeds with PFC",
    "verdict": "verdict",
    "pfc_before_ecn": "PFC before ECN",
    "pause_us": "PFC Pause Duration",
    "pause_share": "ports in pause",
    "pause_count": "PFC Pause Count",
    "marking_ratio": "ECN Marking Ratio",
    "jct_ratio": "JCT Ratio",
    "queue_us": "p99 queueing delay",
    "dynamic_th": "dynamic_th",
    "kmin_bytes": "Kmin",
    "kmax_bytes": "Kmax",
    "pmax_percent": "Pmax",
    "margin_bytes": "margin",
    "need_bytes": "needed",
    "shared_headroom_bytes": "shared headroom",
    "kmin_margin_bytes": "Kmin before XOFF",
    "kmax_margin_bytes": "Kmax before XOFF",
}
"""The label of a quantity in text, by its key in JSON, which stays once shipped."""

SINCE = {
    "clear": "the last clear",
    "last poll": "the last poll",
    "user clear": "the last user clear",
    "persistent clear": "the last persistent clear",
    "period": "the last period",
    "unknown": "boot or the last clear",
    "earlier capture": "the earlier capture",
}
"""The start of the period that a counter covers in text, by its word in JSON."""


def over_time(name: str) -> str:
    """Return the label of a curve over time of a quantity whose label is a peak: ``queue depth``."""
    return LABELS[name].removeprefix("peak ")


def headed(name: str, unit: str) -> str:
    """Return the head of a column of a quantity: its label and unit."""
    return f"{LABELS[name]} ({unit})"


_UNKNOWN = "unknown"
_WHAT = (
    "what the vendor ships for this HWSKU",
    "what SONiC's dynamic buffer model computes",
    "what is enough for full frames, with a peer as slow as IEEE 802.3 allows",
)
"""The meaning of the headroom of the vendor's row, the formula and the floor, in this order."""
_SUM = "headroom (xoff)"
_HEADS = (headed("headroom_bytes", "B"), headed("margin_bytes", "B"), "why")
_LEGEND = (
    "The margin is what is configured less what the method asks for; the methods are never mixed. Below the floor it "
    "depends on the peer: less headroom is enough if it sends shorter frames, or obeys PFC sooner than IEEE 802.3 "
    "requires."
)


def headroom_text(kinds: Sequence[HeadroomKind], style: TextStyle = PLAIN, *, sums: bool) -> str:
    """Return the headroom of kinds of port or link, with ``sums`` term by term and with sources, which -v shows too.

    Without -v at most ROWS kinds are shown."""
    return "\n\n".join(_blocks(spelled_out(kinds), style, sums=sums))


def _blocks(kinds: Sequence[HeadroomKind], style: TextStyle, *, sums: bool) -> Iterator[str]:
    configured = [kind for kind in kinds if kind.configured]
    if configured:
        without = len(kinds) - len(configured)
        yield wrapped(_without(without, len(kinds)) + _result(configured), style)
    if not kinds:
        yield "no port in service has PFC on: nothing is lossless here"
    yield from cut([_kind(kind, style, sums=sums) for kind in kinds], style)
    if configured and (style.verbose or any(_short(kind) for kind in configured)):
        yield wrapped(_LEGEND, style, hanging="")
    order = [] if sums else _sources(kinds)
    if order and style.verbose:
        yield "sources\n" + facts(order, style, "  ")
    elif order:
        yield "-v shows the sources of the methods"


def _result(kinds: Sequence[HeadroomKind]) -> str:
    """Return the number of port kinds with less configured headroom than a method requires, and the method."""
    short = [kind for kind in kinds if _short(kind)]
    many = f"{len(kinds)} kind{'s' if len(kinds) > 1 else ''} of lossless port"
    if not short:
        return f"configured headroom meets every method that gives a figure, on {many}"
    names = dict.fromkeys(name for kind in short for name in _short(kind))
    asked = f"{joined(f'the {name}' for name in names)} {'ask' if len(names) > 1 else 'asks'} for"
    return f"configured headroom is less than {asked}, on {len(short)} of {many}"


def _without(number: int, of: int) -> str:
    """Return how many kinds of port have no known headroom, as the beginning of a sentence; empty for none."""
    if not number:
        return ""
    return f"{number} of {of} kinds of lossless port {'has' if number == 1 else 'have'} no known headroom; "


def _short(kind: HeadroomKind) -> list[str]:
    """Return the names of the methods that require more headroom than is configured."""
    methods = kind.methods
    return [method.name for method in methods if method.margin_bytes is not None and method.margin_bytes < 0]


def _kind(kind: HeadroomKind, style: TextStyle, *, sums: bool) -> str:
    parts = [f"{_head(kind, style)}\n{_table(kind, style)}"]
    if sums:
        parts += (_sum(kind, method, what, style) for method, what in zip(kind.methods, _WHAT, strict=True))
    return "\n\n".join(parts)


def _head(kind: HeadroomKind, style: TextStyle) -> str:
    where = _where(kind)
    hardware = (kind.profile, kind.asic, kind.hwsku and f"HWSKU {kind.hwsku}")
    named = ", ".join(filter(None, hardware))
    head = wrapped(f"{where}{': ' if where else ''}{_link(kind)}", style)
    return head + (f"\n{wrapped(named, style, '  ')}" if named else "")


def _where(kind: HeadroomKind) -> str:
    if kind.switch is None:
        return ""
    ports, priorities = kind.ports, ", ".join(map(str, kind.priorities))
    identical = f" (+{kind.switches - 1} identical)" if kind.switches > 1 else ""
    first = kind.elements[0] if ports == 1 else f"{kind.switch}{identical}, {ports} ports"
    lossless = (
        f", {'priorities' if len(kind.priorities) > 1 else 'priority'} {priorities}" if priorities else ""
    )
    return f"{first}{lossless}"


def _link(kind: HeadroomKind) -> str:
    speed = _UNKNOWN if kind.speed_bps is None else format_rate(kind.speed_bps)
    cable, configured = kind.cable_m, kind.configured_cable_m
    length = "a cable of unknown length" if cable is None else f"{cable} m"
    differs = f", configured as {configured} m" if configured not in (None, cable) else ""
    return f"{speed} over {length}{differs}"


def _table(kind: HeadroomKind, style: TextStyle) -> str:
    rows: list[tuple[str, ...]] = []
    if kind.switch is not None:
        rows.append(("configured", *_configured(kind)))
    rows += [_method(kind, method) for method in kind.methods]
    if not any(margin for _, _, margin, _ in rows):
        return table([("", *_HEADS[:1], *_HEADS[2:]), *((*row[:2], row[3]) for row in rows)], style, "  ")
    return table([("", *_HEADS), *rows], style, "  ")


def _laid_out(rows: Sequence[tuple[str, str, str]], style: TextStyle, indent: str) -> str:
    """Return rows of a term, its figure aligned to the right, and how it is computed."""
    width = max(len(figure) for _, figure, _ in rows)
    return facts([(name, figure.rjust(width), why) for name, figure, why in rows], style, indent)


def _configured(kind: HeadroomKind) -> tuple[str, str, str]:
    configured = kind.configured
    if configured is None:
        absent = kind.configured_absent
        return ("none", "", absent) if absent else (_UNKNOWN, "", kind.configured_unknown or "")
    name = "computed by the switch" if configured.by == "switch" else configured.name
    hollow = configured.headroom_bytes < configured.xoff_bytes
    backed = f"; its xoff of {format_bytes(configured.xoff_bytes)} is not backed by size" if hollow else ""
    return f"{configured.headroom_bytes:,}", "", f"{name}{backed}"


def _method(kind: HeadroomKind, method: HeadroomAnswer) -> tuple[str, str, str, str]:
    if method.headroom_bytes is None:
        return method.name, _UNKNOWN, "", method.unknown or ""
    margin = method.margin_bytes
    signed = "" if margin is None else f"{margin:+,}"
    return method.name, f"{method.headroom_bytes:,}", signed, _remark(kind, method)


def _remark(kind: HeadroomKind, method: HeadroomAnswer) -> str:
    """Return the remark of a method's line in the table: the vendor's row, the inputs, or a shortfall."""
    if method is kind.methods.floor:
        return _too_little(kind)
    if method is kind.methods.row:
        return "; ".join([f"row {method.terms[0].formula}", *method.notes])
    (small,) = (given for given in kind.inputs if given.name == "small packets")
    return "; ".join([f"{small.value} % small packets, {small.source}", *method.notes])


def _too_little(kind: HeadroomKind) -> str:
    configured, least_bytes = kind.configured, kind.least_bytes
    if configured is None or least_bytes is None or configured.headroom_bytes >= least_bytes:
        return ""
    return f"configured is less than the cable and one frame hold, {format_bytes(least_bytes)}"


def _sum(kind: HeadroomKind, method: HeadroomAnswer, what: str, style: TextStyle) -> str:
    lines = [f"{method.name}: {what}"]
    if method.headroom_bytes is None:
        lines.append(_labelled(_UNKNOWN, method.unknown or "", style))
    else:
        terms = _terms(kind, method, format_bytes(method.headroom_bytes))
        lines.append(_laid_out([*terms, *_rest(method)], style, "  "))
    if method is kind.methods.formula and method.headroom_bytes is not None:
        lines.append("  with")
        lines.append(_laid_out([_input(given) for given in kind.inputs], style, "    "))
    lines += (_labelled("note", note, style) for note in method.notes)
    if method.source:
        lines.append(_labelled("source", method.source, style))
    return "\n".join(lines)


def _labelled(label: str, text: str, style: TextStyle) -> str:
    return wrapped(f"{label}: {text}", style, "  ", " " * (len(label) + 2))


def _terms(kind: HeadroomKind, method: HeadroomAnswer, total: str) -> Iterator[tuple[str, str, str]]:
    if method is kind.methods.row:
        yield _SUM, total, f"row {method.terms[0].formula}"
        return
    for term in method.terms:
        yield term.name, _bytes(term.bytes), term.formula
    yield _SUM, total, ""


def _rest(method: HeadroomAnswer) -> Iterator[tuple[str, str, str]]:
    for name, size_bytes in (("xon", method.xon_bytes), ("size", method.reserved_bytes)):
        if size_bytes is not None:
            yield name, format_bytes(size_bytes), ""


def _input(given: FormulaInput) -> tuple[str, str, str]:
    if given.name == "shared headroom":
        return given.name, "yes" if given.value else "no", given.source
    value = _UNKNOWN if given.value is None else f"{given.value:,.0f} {given.unit}".strip()
    return given.name, value, given.source


def _bytes(size_bytes: float) -> str:
    """Return the size of a term in bytes, with one decimal if it is not whole."""
    whole = round(size_bytes, 1)
    return format_bytes(int(whole)) if whole == int(whole) else f"{whole:,.1f} B"


def _sources(kinds: Sequence[HeadroomKind]) -> list[tuple[str, str]]:
    """Return the name and source of each method that gave a figure for a port, the floor last."""
    sources = {
        (method.name, method.source)
        for kind in kinds
        for method in kind.methods
        if method.source and method.headroom_bytes is not None
    }
    return sorted(sources, key=lambda source: (source[0] == "floor", source))

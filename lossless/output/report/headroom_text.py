"""Headroom as people read it: what is configured and three methods side by side, then each sum term by term."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.output.report.columns import columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """Comparisons as plain data, by the names of :mod:`lossless.analysis.buffers.headroom.data`."""

COLUMNS = 100
"""What is shown fits these, whatever the terminal has: it is meant for tickets too."""
_UNKNOWN = "unknown"
_WHAT = {
    "row": "what the vendor ships for this HWSKU",
    "formula": "what SONiC's dynamic buffer model computes",
    "floor": "what is enough for full-size frames with any peer",
}
_SUM = "headroom (xoff)"
_LEGEND = (
    "The margin is what is configured less what the method asks for; the methods are never mixed.\n"
    "Below the floor it depends on the peer: less headroom is enough if it sends shorter frames, or\n"
    "obeys PFC sooner than IEEE 802.3 requires."
)


def headroom_text(data: Data, *, sums: bool) -> str:
    """Return all kinds of link, with every sum term by term where ``sums`` asks for it."""
    return "\n\n".join(_blocks(spelled_out(data["kinds"]), sums=sums))


def _blocks(kinds: Sequence[Data], *, sums: bool) -> Iterator[str]:
    for kind in kinds:
        yield f"{_head(kind)}\n{_table(kind)}"
        if sums:
            yield from (_sum(kind, key) for key in _WHAT)
    if not kinds:
        yield "no port in service has PFC on: nothing is lossless here"
    order = [] if sums else _sources(kinds)
    if order:
        yield "sources\n" + _laid_out(order, "  ", figures=())
    if any(kind["configured"] for kind in kinds):
        yield _LEGEND


def _head(kind: Data) -> str:
    where = _where(kind)
    hardware = (kind["profile"], kind["asic"], kind["hwsku"] and f"HWSKU {kind['hwsku']}")
    named = ", ".join(filter(None, hardware))
    return f"{where}{': ' if where else ''}{_link(kind)}" + (f"\n  {named}" if named else "")


def _where(kind: Data) -> str:
    if kind["switch"] is None:
        return ""
    ports, priorities = kind["ports"], ", ".join(map(str, kind["priorities"]))
    identical = f" (+{kind['switches'] - 1} identical)" if kind["switches"] > 1 else ""
    first = kind["elements"][0] if ports == 1 else f"{kind['switch']}{identical}, {ports} ports"
    lossless = (
        f", {'priorities' if len(kind['priorities']) > 1 else 'priority'} {priorities}" if priorities else ""
    )
    return f"{first}{lossless}"


def _link(kind: Data) -> str:
    speed = _UNKNOWN if kind["speed_bps"] is None else format_rate(kind["speed_bps"])
    cable, configured = kind["cable_m"], kind["configured_cable_m"]
    length = "a cable of unknown length" if cable is None else f"{cable} m"
    differs = f", configured as {configured} m" if configured not in (None, cable) else ""
    return f"{speed} over {length}{differs}"


def _table(kind: Data) -> str:
    rows = []
    if kind["switch"] is not None:
        rows.append(("configured", *_configured(kind)))
    rows += [_method(kind, kind["methods"][key]) for key in _WHAT]
    return _laid_out(rows, "  ", figures=(1, 2))


def _laid_out(rows: Sequence[tuple[str, ...]], indent: str, figures: Sequence[int] = (1,)) -> str:
    """Return rows with figures to the right; the text in the last column wraps below itself."""
    aligned = _aligned(rows, figures)
    leads = columns([row[:-1] for row in aligned], indent).splitlines()
    width = max(map(len, leads)) + 2
    lines: list[str] = []
    for lead, row in zip(leads, aligned, strict=True):
        lines += _wrapped(row[-1], lead.ljust(width)) or [lead]
    return "\n".join(lines)


def _aligned(rows: Sequence[tuple[str, ...]], figures: Sequence[int]) -> list[list[str]]:
    """Return rows without columns that are empty throughout; the last one stays."""
    across = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in across]
    return [
        [cell.rjust(widths[n]) if n in figures else cell for n, cell in enumerate(row[:-1]) if widths[n]]
        + [row[-1]]
        for row in rows
    ]


def _wrapped(text: str, lead: str) -> list[str]:
    return wrap(
        text,
        COLUMNS,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
        break_long_words=False,
    )


def _configured(kind: Data) -> tuple[str, str, str]:
    configured = kind["configured"]
    if configured is None:
        absent = kind["configured_absent"]
        return ("none", "", absent) if absent else (_UNKNOWN, "", kind["configured_unknown"])
    name = "computed by the switch" if configured["by"] == "switch" else configured["name"]
    hollow = configured["headroom_bytes"] < configured["xoff_bytes"]
    backed = f"; its xoff of {format_bytes(configured['xoff_bytes'])} is not backed by size" if hollow else ""
    return format_bytes(configured["headroom_bytes"]), "", f"{name}{backed}"


def _method(kind: Data, method: Data) -> tuple[str, str, str, str]:
    if method["headroom_bytes"] is None:
        return method["name"], _UNKNOWN, "", method["unknown"]
    margin = method["margin_bytes"]
    signed = "" if margin is None else f"{margin:+,} B"
    return method["name"], format_bytes(method["headroom_bytes"]), signed, _remark(kind, method)


def _remark(kind: Data, method: Data) -> str:
    """Return the text of a line of the table beside its figures: the row that counts, and what must not be missed."""
    if method is kind["methods"]["floor"]:
        return _too_little(kind)
    if method is kind["methods"]["row"]:
        return "; ".join([f"row {method['terms'][0]['formula']}", *method["notes"]])
    (small,) = (given for given in kind["inputs"] if given["name"] == "small packets")
    return "; ".join([f"{small['value']} % small packets, {small['source']}", *method["notes"]])


def _too_little(kind: Data) -> str:
    configured, least_bytes = kind["configured"], kind["least_bytes"]
    if configured is None or configured["headroom_bytes"] >= least_bytes:
        return ""
    return f"configured is less than the cable and one frame hold, {format_bytes(least_bytes)}"


def _sum(kind: Data, key: str) -> str:
    method = kind["methods"][key]
    lines = [f"{method['name']}: {_WHAT[key]}"]
    if method["headroom_bytes"] is None:
        lines += _wrapped(method["unknown"], f"  {_UNKNOWN}: ")
    else:
        lines.append(_laid_out([*_terms(key, method), *_rest(method)], "  "))
    if key == "formula" and method["headroom_bytes"] is not None:
        lines.append("  with")
        lines.append(_laid_out([_input(given) for given in kind["inputs"]], "    "))
    for note in method["notes"]:
        lines += _wrapped(note, "  note: ")
    if method["source"]:
        lines += _wrapped(method["source"], "  source: ")
    return "\n".join(lines)


def _terms(key: str, method: Data) -> Iterator[tuple[str, str, str]]:
    if key != "row":
        for term in method["terms"]:
            yield term["name"], _bytes(term["bytes"]), term["formula"]
    why = f"row {method['terms'][0]['formula']}" if key == "row" else ""
    yield _SUM, format_bytes(method["headroom_bytes"]), why


def _rest(method: Data) -> Iterator[tuple[str, str, str]]:
    for name, field in (("xon", "xon_bytes"), ("size", "reserved_bytes")):
        if method[field] is not None:
            yield name, format_bytes(method[field]), ""


def _input(given: Data) -> tuple[str, str, str]:
    if given["name"] == "shared headroom":
        return given["name"], "yes" if given["value"] else "no", given["source"]
    value = _UNKNOWN if given["value"] is None else f"{given['value']:,.0f} {given['unit']}".strip()
    return given["name"], value, given["source"]


def _bytes(size_bytes: float) -> str:
    """Return a term, which need not be whole, with one decimal where it has any."""
    whole = round(size_bytes, 1)
    return format_bytes(int(whole)) if whole == int(whole) else f"{whole:,.1f} B"


def _sources(kinds: Sequence[Data]) -> list[tuple[str, str]]:
    """Return the sources of the methods that gave a figure; none, where nothing is known of any port."""
    sources = {
        (method["name"], method["source"])
        for kind in kinds
        for method in kind["methods"].values()
        if method["source"] and method["headroom_bytes"] is not None
    }
    return sorted(sources, key=lambda source: (source[0] == "floor", source))

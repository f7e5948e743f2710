"""What an intent changes of the current one, as lines of text: devices renamed, added and removed, cables moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out, visible
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.units import format_rate
from lossless.ground.documents.yaml.scalars import text_scalar
from lossless.output.report.columns import table, wrapped
from lossless.output.report.text_style import PLAIN, TextStyle
from lossless.output.report.topology.text import first_to_last, many

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """Moves as plain data, by the names of :mod:`lossless.analysis.topology.recabling`."""

    Row = tuple[str, ...]

_FEW = 4


def recabling_text(data: Data, path: str, against: str, style: TextStyle = PLAIN) -> str:
    """Return what an intent changes of the current one."""
    return "\n\n".join(_blocks(spelled_out(data), visible(path), visible(against), style))


def pins_yaml(names: Mapping[str, str], ports: Mapping[str, Sequence[str]]) -> str:
    """Return names and ports as they are stated beside a shape."""
    lines = ["  names:"] if names else []
    lines += [f"    {text_scalar(old)}: {text_scalar(new)}" for old, new in names.items()]
    lines += ["  ports:"] if ports else []
    lines += [
        f"    {_quoted(ends)}: [{', '.join(map(text_scalar, stated))}]" for ends, stated in ports.items()
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=not text.isprintable())


def _blocks(data: Data, path: str, against: str, style: TextStyle) -> Iterator[str]:
    yield wrapped(f"{path} against {against}: {_in_short(data)}", style)
    devices = list(_devices(data["devices"]))
    if devices:
        yield table([("devices", "how many", "which"), *devices], style)
    links = list(_links(data["links"]))
    if links:
        yield table([("links", "how many", "which"), *links], style)
    if data["links"]["moved"]:
        heads = ("cables that move", "how many", "at", "from", "to")
        yield table([heads, *_ends(data["links"]["moved"])], style)


def _in_short(data: Data) -> str:
    devices, links = data["devices"], data["links"]
    parts = [
        *_counted("device", len(devices["renamed"]), "renamed"),
        *_counted("device", len(devices["removed"]), "removed"),
        *_counted("cable", len(links["moved"]), "moved"),
        *_counted("cable", len(links["changed"]), "changed"),
        *_counted("cable", len(links["removed"]), "removed"),
    ]
    if parts:
        return ", ".join(parts)
    added = bool(devices["added"] or links["added"])
    return "no existing device or cable changes" if added else "nothing changes"


def _counted(what: str, number: int, done: str) -> Iterator[str]:
    if number:
        yield f"{many(number, what)} {done}"


def _devices(devices: Data) -> Iterator[Row]:
    for done in ("renamed", "added", "removed"):
        for role, group in grouped((device["role"], device) for device in devices[done]).items():
            yield done, many(len(group), role), _some([_called(device) for device in group])


def _called(device: Data) -> str:
    return f"{device['was']} -> {device['name']}" if "was" in device else str(device["name"])


def _links(links: Data) -> Iterator[Row]:
    for tier, group in grouped((pair["was"]["tier"], pair) for pair in links["moved"]).items():
        yield "moved", f"{len(group):,} {tier}", "below"
    changed = grouped(((pair["was"]["tier"], _change(pair)), pair) for pair in links["changed"])
    for (tier, change), group in changed.items():
        yield "changed", f"{len(group):,} {tier}", change
    for done in ("added", "removed"):
        for tier, group in grouped((wire["tier"], wire) for wire in links[done]).items():
            yield done, f"{len(group):,} {tier}", _range([_wire(wire) for wire in group])


def _change(pair: Data) -> str:
    was, now = (f"{format_rate(pair[k]['speed_bps'])} {pair[k]['cable_m']:,} m" for k in ("was", "is"))
    return f"{was} -> {now}"


def _wire(wire: Data) -> str:
    return f"{_end(wire, 'a')} - {_end(wire, 'b')}"


def _end(wire: Data, end: str) -> str:
    port = wire[f"{end}_port"]
    return str(wire[end]) if port is None else f"{wire[end]}:{port}"


def _ends(pairs: Iterable[Data]) -> Iterator[Row]:
    """Yield, for two devices and each end of the cables between them that moves, the ports from first to last."""
    between = grouped(((pair["was"]["a"], pair["was"]["b"]), pair) for pair in pairs)
    for (a, b), group in between.items():
        for device, port in ((a, "a_port"), (b, "b_port")):
            there = [pair for pair in group if pair["was"][port] != pair["is"][port]]
            if there:
                old, new = (_range([pair[side][port] for pair in there]) for side in ("was", "is"))
                yield f"{a} - {b}", str(len(there)), device, old, new


def _range(names: Sequence[str]) -> str:
    return first_to_last(names[0], names[-1])


def _some(names: Sequence[str]) -> str:
    """Return all names where they are few; devices that are added need not follow each other."""
    if len(names) <= _FEW:
        return ", ".join(names)
    return f"{names[0]}, {first_to_last(names[1], names[-1])}"

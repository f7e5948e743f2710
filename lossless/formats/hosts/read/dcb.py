"""Reads ``dcb -j OBJECT show dev IF``: JSON about an interface of a host.

``dcb`` prints one JSON object for each of app, pfc, ets, buffer, dcbx and apptrust. Source: iproute2
dcb/dcb_{app,pfc,ets,buffer}.c (pmachata/iproute2 @3c3a345, @cecd504, @63672e4), dcb/dcb_dcbx.c (iproute2/iproute2
@9ef3210) and lib/json_print.c: on and off are booleans in JSON; maps of app are lists of pairs, maps of priorities
(``prio_tc``, ``prio_buffer``) lists of eight values.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.read.facts import (
    HostFact,
    SectionFlaw,
)
from lossless.ground.documents.text import ValuePlace
from lossless.model.fabric.cluster import priorities_of_flags
from lossless.model.fabric.hosts import Ets, ReceiveBuffers
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeGuard

    from lossless.formats.hosts.read.facts import Reading, Section


OBJECTS = ("app", "pfc", "ets", "buffer", "dcbx", "apptrust")
_TSA = ("strict", "cbs", "ets", "vendor")


def read(section: Section) -> Reading:
    """Yield the facts in the JSON object of ``dcb -j``; no output, other text and an invalid ``prio_pfc`` are flaws."""
    if not section.text.strip():
        yield SectionFlaw(
            f"{section.title}: it printed nothing",
            ValuePlace(section.start, section.start, section.start, section.start),
        )
        return
    try:
        data = json.loads(section.text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        yield SectionFlaw(f"{section.title}: expected the JSON object of dcb -j", section.lines[0].place)
        return
    if "prio_pfc" in data and _flags(data["prio_pfc"]) is None:
        yield SectionFlaw(
            f"{section.title}: prio_pfc: expected eight of on and off, or of true and false",
            _place(section, "prio_pfc"),
        )
    for fact in said_by(data, section.scope, section.title, _object(section)):
        yield fact._replace(place=_place(section, str(fact.path[-1])))


def said_by(data: Mapping[str, Any], scope: str, title: str, about: str = "") -> Iterator[HostFact]:
    """Yield the host facts in a JSON object of dcb; ``about`` is the name of that object where it is known."""
    yield from _pauses(data, scope, title)
    yield from _classes(data, scope, title)
    if about == "app" or "dscp_prio" in data:
        yield from _map(data, scope, title)
    if about == "dcbx" or {"host", "lld_managed"} & data.keys():
        hosted = data.get("host") is True and data.get("lld_managed") is not True
        key = "host" if "host" in data else "lld_managed"
        yield HostFact(scope, "dcbx", "os" if hosted else "firmware", (title, key))
    order = data.get("order")
    if isinstance(order, list) and order and order[0] in ("dscp", "pcp"):
        yield HostFact(scope, "trust", order[0], (title, "order"))


def _pauses(data: Mapping[str, Any], scope: str, title: str) -> Iterator[HostFact]:
    flags = _flags(data.get("prio_pfc"))
    if flags is not None:
        yield HostFact(scope, "pfc", priorities_of_flags(flags), (title, "prio_pfc"))
    if _is_number(data.get("delay")):
        yield HostFact(scope, "pfc_delay", data["delay"], (title, "delay"))
    buffers, sizes = data.get("prio_buffer"), data.get("buffer_size")
    if _are_numbers(buffers, 8) and _are_numbers(sizes, 8):
        yield HostFact(scope, "buffers", ReceiveBuffers(tuple(buffers), tuple(sizes)), (title, "buffer_size"))


def _classes(data: Mapping[str, Any], scope: str, title: str) -> Iterator[HostFact]:
    tcs, percent, tsa = data.get("prio_tc"), data.get("tc_bw"), data.get("tc_tsa")
    if not (_are_numbers(tcs, 8) and _are_numbers(percent, 8) and isinstance(tsa, list)):
        return
    if len(tsa) == 8 and all(word in _TSA for word in tsa) and {*tcs} <= {*PRIORITIES}:
        yield HostFact(scope, "ets", Ets(tuple(tcs), tuple(tsa), tuple(percent)), (title, "tc_tsa"))


def _map(data: Mapping[str, Any], scope: str, title: str) -> Iterator[HostFact]:
    """Yield the DSCP map, if no DSCP occurs twice, and the trust that follows from it.

    A DSCP without an entry has the default priority, which is 0 if none is printed.
    """
    pairs = [pair for pair in data.get("dscp_prio") or () if _are_numbers(pair, 2) and 0 <= pair[0] < 64]
    defaults = data.get("default_prio")
    default = defaults[0] if _are_numbers(defaults, 1) else 0
    priority_by_dscp = {pair[0]: pair[1] for pair in pairs}
    if len(priority_by_dscp) == len(pairs):
        whole = tuple((dscp, priority_by_dscp.get(dscp, default)) for dscp in range(64))
        yield HostFact(scope, "dscp_to_priority", whole, (title, "dscp_prio"), rank=0 if pairs else 1)
    # Drivers without a trust order of their own trust DSCP as soon as one is mapped (mlx5 core/en_dcbnl.c).
    yield HostFact(scope, "trust", "dscp" if pairs else "pcp", (title, "dscp_prio"), rank=1)


def _object(section: Section) -> str:
    return next((word for word in section.words if word in OBJECTS), "")


def _place(section: Section, key: str) -> ValuePlace:
    for line in section.lines:
        at = line.text.find(f'"{key}"')
        if at >= 0:
            return ValuePlace(
                line.start + at,
                line.start + at + len(key) + 2,
                line.start + at,
                line.start + at + len(key) + 2,
            )
    return section.lines[0].place


def _flags(value: object) -> list[bool] | None:
    """Return whether each of eight priorities is on; None if the value is no such list."""
    if not isinstance(value, list) or len(value) != 8:
        return None
    if not all(isinstance(item, bool) or item in ("on", "off") for item in value):
        return None
    return [item in (True, "on") for item in value]


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_numbers(value: object, count: int) -> TypeGuard[list[int]]:
    return isinstance(value, list) and len(value) == count and all(_is_number(item) for item in value)


_DCB = ({"dscp_prio"}, {"prio_pfc"}, {"tc_tsa", "prio_tc"}, {"prio_buffer", "buffer_size"}, {"lld_managed"})
_BARE_DCBX = frozenset({"host", "ieee", "cee", "static"})


def has_keys_of_dcb(data: Mapping[Any, Any]) -> bool:
    """Return whether a document has keys of the output of ``dcb -j``."""
    if any(keys <= data.keys() for keys in _DCB):
        return True
    return bool(data) and data.keys() <= _BARE_DCBX and all(value is True for value in data.values())

"""Tier and rail of a fabric's devices: labels of a scrape, by which dashboards group them.

Writes plain data as YAML, for the files of Prometheus and Alertmanager: few shapes, and many of the same.

A general writer takes minutes for the rules of a large fabric. Texts are quoted as in JSON, which YAML reads
the same way (YAML 1.2.2, 1.2), except for words that every reader takes for text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, Union

from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import known_tier
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.model import Fabric, Switch


NO_TIER = "switch"
"""The label of a switch without a tier, as in a torus: its role in an intent."""


class SwitchPlace(NamedTuple):
    """A device with its tier in an intent's spelling, and its rail (from ``0``), empty where it serves several."""

    name: str
    tier: str
    rail: str = ""


def switch_places(fabric: Fabric) -> tuple[SwitchPlace, ...]:
    """Return the places of all devices in the order of the fabric, one for a device with several ASICs."""
    rails = _rails(fabric)
    devices = grouped((switch.device, switch) for switch in fabric.switches)
    return tuple(
        SwitchPlace(device, _tier(units[0]), rails.get(device, "")) for device, units in devices.items()
    )


def places_in_service(fabric: Fabric) -> tuple[SwitchPlace, ...]:
    """Return the places of the devices that the intent has in service."""
    gone = [cable.names for cable in fabric.failures.out_of_service] if fabric.failures else []
    return tuple(place for place in switch_places(fabric) if (place.name,) not in gone)


def tiers(fabric: Fabric) -> tuple[str, ...]:
    """Return the tiers that have switches, the lowest first."""
    present = {place.tier for place in switch_places(fabric)}
    return tuple(tier for tier in (NO_TIER, "leaf", "spine", "super-spine") if tier in present)


def _tier(switch: Switch) -> str:
    tier = known_tier(switch.tier)
    return NO_TIER if tier is None else tier.word


def _rails(fabric: Fabric) -> dict[str, str]:
    """Return the rail of each device with one port of every host below it, counted within its plane.

    With several planes the ports of an adapter follow each other, one in each plane: rail n is the n-th of those ports
    that are in the plane.
    """
    view = View(fabric)
    device_of = {switch.name: switch.device for switch in fabric.switches}
    ports = grouped((device_of.get(link.a, link.a), link.b_port) for link in fabric.links if link.to_host)
    of_rail = {device: names[0] for device, names in ports.items() if len(set(names)) == 1}
    planes = grouped((view.plane_of.get(device, 0), port) for device, port in of_rail.items())
    order = {plane: sorted(set(names), key=_numbered) for plane, names in planes.items()}
    if len(of_rail) < len(ports) or not any(len(names) > 1 for names in order.values()):
        return {}
    return {device: str(order[view.plane_of.get(device, 0)].index(port)) for device, port in of_rail.items()}


def _numbered(port: str) -> tuple[int, str]:
    return len(port), port


def host_facing(fabric: Fabric) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each tier with the names of ports that go to hosts on all of its switches that use them."""
    for tier in tiers(fabric):
        switches = [switch for switch in fabric.switches if _tier(switch) == tier]
        used = {id(switch.ports): switch.ports for switch in switches}
        leads = grouped((port.name, port.leads_to) for ports in used.values() for port in ports)
        names = tuple(name for name, kinds in leads.items() if name and set(kinds) == {"host"})
        if names:
            yield tier, names


Yaml: TypeAlias = Union["Mapping[str, Yaml]", "Sequence[Yaml]", str, int, float, bool]
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""Words that a reader of YAML 1.1 takes for something other than text."""


def yaml_text(data: Mapping[str, Yaml], comment: str = "") -> str:
    """Return data as a YAML document, below a comment."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*lines, *_members(data, "")]) + "\n"


def _members(data: Mapping[str, Yaml], margin: str) -> Iterator[str]:
    for key, value in data.items():
        yield from _member(f"{margin}{_scalar(key)}:", value, margin + "  ")


def _items(data: Sequence[Yaml], margin: str) -> Iterator[str]:
    for value in data:
        lines = list(_member("", value, margin + "  "))
        first, *rest = lines[1:] if lines[0] == "" else lines
        yield f"{margin}- {first.strip()}"
        yield from rest


def _member(head: str, value: Yaml, margin: str) -> Iterator[str]:
    """Yield the lines of a value after a key; an item of a list has an empty ``head``."""
    if isinstance(value, str) and "\n" in value:
        yield f"{head} |-"
        yield from (f"{margin}{line}".rstrip() for line in value.split("\n"))
    elif isinstance(value, str | int | float):
        yield f"{head} {_scalar(value)}"
    elif not value:
        yield f"{head} {'{}' if isinstance(value, Mapping) else '[]'}"
    else:
        yield head
        yield from _members(value, margin) if isinstance(value, Mapping) else _items(value, margin)


def _scalar(value: str | float) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)

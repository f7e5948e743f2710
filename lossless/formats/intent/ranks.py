"""Ranks of values of a class: device before tier before speed before fabric.

The sections of this form (``pg``, ``ecn``, ``buffer``, ``queue``) have values for all switches, with exceptions:
``by_speed`` for links of one speed, ``by_tier`` for the switches of one role, ``by_device`` for single switches.
Within a tier or a device ``by_speed`` makes exceptions too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from pydantic import AfterValidator, WithJsonSchema

from lossless.formats.intent.base import refused, shown
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import parse_rate
from lossless.model.fabric.tier import SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

_Values = TypeVar("_Values", covariant=True)
CLASS_SECTIONS = ("pg", "ecn", "buffer", "queue")
"""The sections of a class that have this form."""


class BySpeed(Protocol[_Values]):
    """Values for ports of all speeds, None where there are none, and exceptions for ports of one speed."""

    @property
    def values(self) -> _Values | None:
        """The values for ports of all speeds."""

    @property
    def by_speed(self) -> Mapping[int, _Values]:
        """The values for ports of one speed, by the speed in b/s."""


class Ranked(BySpeed[_Values], Protocol[_Values]):
    """Values for all switches, with exceptions for some of them."""

    @property
    def by_tier(self) -> Mapping[str, BySpeed[_Values]]:
        """The values for switches of one role, by role."""

    @property
    def by_device(self) -> Mapping[str, BySpeed[_Values]]:
        """The values for single switches, by name."""


class ClassPlace(NamedTuple):
    """A place at which a class has queues and groups: the ports of one speed of one switch.

    ``device`` is empty where no exception names the switch; ``role`` is the role of the switch.
    """

    device: str
    role: str
    speed_bps: int


def statements(policy: Ranked[_Values], place: ClassPlace) -> Iterator[tuple[_Values, Path]]:
    """Yield the values that apply at a place, the highest rank first, each with its path below the policy."""
    for key, layers, name in (
        ("by_device", policy.by_device, place.device),
        ("by_tier", policy.by_tier, place.role),
    ):
        if name in layers:
            yield from _by_speed(layers[name], (key, name), place.speed_bps)
    yield from _by_speed(policy, (), place.speed_bps)


def _by_speed(layer: BySpeed[_Values], path: Path, speed_bps: int) -> Iterator[tuple[_Values, Path]]:
    if speed_bps in layer.by_speed:
        yield layer.by_speed[speed_bps], (*path, "by_speed", speed_bps)
    if layer.values is not None:
        yield layer.values, path


def everywhere(policy: Ranked[_Values]) -> Iterator[tuple[_Values, Path]]:
    """Yield all values of a policy, for any place, each with its path below the policy; speeds are in b/s."""
    layers: list[tuple[BySpeed[_Values], Path]] = [(policy, ())]
    layers += [(layer, ("by_tier", name)) for name, layer in policy.by_tier.items()]
    layers += [(layer, ("by_device", name)) for name, layer in policy.by_device.items()]
    for layer, path in layers:
        if layer.values is not None:
            yield layer.values, path
        yield from ((values, (*path, "by_speed", speed_bps)) for speed_bps, values in layer.by_speed.items())


def as_written(document: Document, path: Path) -> Path:
    """Return a path with its speeds as the file spells them, since 400G and 400 Gb/s are the same key."""
    written_path: Path = ()
    for at, key in enumerate(path):
        if at and path[at - 1] == "by_speed":
            keys = mapping_keys(document, written_path)
            key = next((written for written in keys if parse_rate(written) == key), key)
        written_path = (*written_path, key)
    return written_path


def speed_mappings(document: Document, class_name: str) -> Iterator[Path]:
    """Yield the paths of a class at which the keys of a mapping are speeds."""
    for section in CLASS_SECTIONS:
        path: Path = ("classes", class_name, section)
        layers = [
            (*path, key, name)
            for key in ("by_tier", "by_device")
            for name in mapping_keys(document, (*path, key))
        ]
        yield from ((*layer, "by_speed") for layer in (path, *layers))


def mapping_keys(document: Document, path: Path) -> list[str]:
    """Return the keys of the mapping at a path as they are written; empty where there is no mapping."""
    value: object = document.data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return list(value) if isinstance(value, dict) else []


def tier_name(name: str) -> str:
    """Return the role of a switch.

    Raises:
        PydanticCustomError: the name is not a role.
    """
    if name not in SWITCH_ROLES:
        hint = suggestion(name, [*SWITCH_ROLES], most=None)
        raise refused(f"{shown(name)} is no role of a switch{hint}", at_key=True)
    return name


def exceptions_schema(pattern: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of exceptions, a mapping whose keys (tiers, devices, speeds) match a pattern."""
    return {
        "type": "object",
        "minProperties": 1,
        "patternProperties": {pattern: entry},
        "additionalProperties": False,
    }


TIER_PATTERN = f"^({'|'.join(SWITCH_ROLES)})$"
TierName = Annotated[
    str, AfterValidator(tier_name), WithJsonSchema({"type": "string", "pattern": TIER_PATTERN})
]
"""The role of switches, as a key of exceptions."""

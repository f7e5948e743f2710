"""Which of several statements about a class counts at a place: device over tier over speed over fabric.

What is declared of a class in this form (``pg``, ``ecn``, ``buffer``, ``queue``) is declared for all switches, with
exceptions: ``by_speed`` for links of one speed, ``by_tier`` for the switches of one role, ``by_device`` for single
switches. Within a tier or a device ``by_speed`` makes exceptions too.
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
"""The sections of a class that are declared in this form."""


class BySpeed(Protocol[_Values]):
    """What is stated for all links, None where nothing is, and for those of one speed."""

    @property
    def values(self) -> _Values | None:
        """What holds for all speeds."""

    @property
    def by_speed(self) -> Mapping[int, _Values]:
        """What holds for links of a speed, in b/s."""


class Ranked(BySpeed[_Values], Protocol[_Values]):
    """What is stated for all switches, and for some of them."""

    @property
    def by_tier(self) -> Mapping[str, BySpeed[_Values]]:
        """What holds for switches of a role."""

    @property
    def by_device(self) -> Mapping[str, BySpeed[_Values]]:
        """What holds for a switch."""


class ClassPlace(NamedTuple):
    """A place at which a class has queues and groups: ports of one speed of a switch with a role.

    ``device`` is empty where nothing is stated for the switch by its name.
    """

    device: str
    role: str
    speed_bps: int


def statements(policy: Ranked[_Values], place: ClassPlace) -> Iterator[tuple[_Values, Path]]:
    """Yield what counts at a place, the highest rank first, with its path below the policy; speeds are in b/s."""
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
    """Yield all that is stated, with its path below the policy; speeds are in b/s."""
    layers: list[tuple[BySpeed[_Values], Path]] = [(policy, ())]
    layers += [(layer, ("by_tier", name)) for name, layer in policy.by_tier.items()]
    layers += [(layer, ("by_device", name)) for name, layer in policy.by_device.items()]
    for layer, path in layers:
        if layer.values is not None:
            yield layer.values, path
        yield from ((values, (*path, "by_speed", speed_bps)) for speed_bps, values in layer.by_speed.items())


def as_written(document: Document, path: Path) -> Path:
    """Return a path with the keys of speeds as the operator wrote them: 400G and 400 Gb/s mean the same."""
    written_path: Path = ()
    for at, key in enumerate(path):
        if at and path[at - 1] == "by_speed":
            keys = mapping_keys(document, written_path)
            key = next((written for written in keys if parse_rate(written) == key), key)
        written_path = (*written_path, key)
    return written_path


def speed_mappings(document: Document, class_name: str) -> Iterator[Path]:
    """Yield the paths of a class at which speeds may be written."""
    for section in CLASS_SECTIONS:
        path: Path = ("classes", class_name, section)
        layers = [
            (*path, key, name)
            for key in ("by_tier", "by_device")
            for name in mapping_keys(document, (*path, key))
        ]
        yield from ((*layer, "by_speed") for layer in (path, *layers))


def mapping_keys(document: Document, path: Path) -> list[str]:
    """Return the keys of a mapping as they are written, none where there is no mapping."""
    value: object = document.data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return list(value) if isinstance(value, dict) else []


def tier_name(name: str) -> str:
    """Return the role of a switch.

    Raises:
        PydanticCustomError: it is none.
    """
    if name not in SWITCH_ROLES:
        hint = suggestion(name, [*SWITCH_ROLES], most=None)
        raise refused(f"{shown(name)} is no role of a switch{hint}", at_key=True)
    return name


def exceptions_schema(pattern: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of exceptions by the names that a pattern matches: tiers, devices, speeds."""
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
"""The role of switches, as a key."""

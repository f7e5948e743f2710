"""What an intent states of the buffers of its lossless classes, and whether a switch can hold it.

In the traditional model buffermgrd gives every lossless group of a port the one profile named after its speed and cable
length, and writes over whatever else a row of it names; a profile of that name that is configured already it takes as
it is (sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b, doSpeedUpdateTask). So stated values go into that profile, where they
survive link-down and reload, and all lossless classes of a port must agree.

In the dynamic model a group may name a profile that states its threshold alone, with ``headroom_type`` dynamic: the
headroom is computed all the same (sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b, refreshPgsForPort).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.ranks import as_written, statements
from lossless.formats.intent.resolve.classes import priority_groups
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.model.fabric.qos import BufferProfile
from lossless.model.hardware.buffer_names import INGRESS_LOSSLESS_POOL, pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.ranks import ClassPlace
    from lossless.formats.intent.resolve.buffers import BufferModel
    from lossless.formats.intent.resolve.switch_kinds import SwitchKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.qos import Pool
    from lossless.model.hardware.model import HeadroomRow


class StatedBuffers(NamedTuple):
    """What counts for a class at a place; None: nothing is stated."""

    dynamic_th: int | None = None
    static_th_bytes: int | None = None

    def shown(self) -> str:
        """Return it in words."""
        if self.static_th_bytes is not None:
            return f"static_th {format_bytes(self.static_th_bytes)}"
        return "nothing" if self.dynamic_th is None else f"dynamic_th {self.dynamic_th}"


class LocatedBuffers(NamedTuple):
    """What counts for a class at a place, and where it is stated; the class itself where nothing is."""

    stated: StatedBuffers
    origin: Origin


def class_buffers(loaded: LoadedIntent, class_name: str, place: ClassPlace) -> LocatedBuffers:
    """Return what counts for a class at a place: of each key what the highest rank states."""
    policy = loaded.intent.classes[class_name].buffer
    for values, path in statements(policy, place) if policy else ():
        if values.dynamic_th is not None or values.static_th is not None:
            key = "static_th" if values.dynamic_th is None else "dynamic_th"
            written = as_written(loaded.document, ("classes", class_name, "buffer", *path, key))
            return LocatedBuffers(StatedBuffers(values.dynamic_th, values.static_th), loaded.origin(*written))
    return LocatedBuffers(StatedBuffers(), loaded.origin("classes", class_name))


class GroupBuffers(NamedTuple):
    """What the groups of a class have: a profile, or where the switch computes one, a threshold of their own."""

    profile: BufferProfile | None = None
    override: BufferProfile | None = None


class LosslessBuffers:
    """Makes the profiles of the lossless groups of one kind of switch, sharing what is alike."""

    def __init__(
        self, loaded: LoadedIntent, kind: SwitchKind, pools: Mapping[str, Pool], model: BufferModel
    ) -> None:
        self._loaded, self._kind, self._pools, self._model = loaded, kind, pools, model
        self._classes = [name for name, cls in loaded.intent.classes.items() if cls.lossless]
        self._group_of = priority_groups(loaded.intent.classes)
        self._overrides: dict[StatedBuffers, BufferProfile] = {}

    def of(self, row: HeadroomRow | None, speed_bps: int) -> dict[str, GroupBuffers]:
        """Return what the groups of each lossless class have on ports of one speed and length.

        Raises:
            InputError: the buffer model cannot hold what is stated.
        """
        place = self._kind.place(speed_bps)
        by_class = {name: class_buffers(self._loaded, name, place) for name in self._classes}
        for located in by_class.values():
            self._require_kind(located)
        self._require_one(by_class, speed_bps)
        if self._model == "dynamic":
            return {
                name: GroupBuffers(override=self._override(located)) for name, located in by_class.items()
            }
        if row is None or not by_class:
            return dict.fromkeys(by_class, GroupBuffers())
        return dict.fromkeys(by_class, GroupBuffers(self._profile(row, next(iter(by_class.values())))))

    def _require_kind(self, located: LocatedBuffers) -> None:
        """Refuse a threshold of another kind than the pool has, as rule SWS013 reports it on devices."""
        pool, asic = self._pools[INGRESS_LOSSLESS_POOL], self._kind.profile.asic
        stated = {"dynamic": located.stated.static_th_bytes, "static": located.stated.dynamic_th}
        if stated.get(pool.mode) is None or (self._model != "dynamic" and asic.formula != "mellanox"):
            return
        message = (
            f"{located.stated.shown()} does not fit {self._kind.profile.name}, whose {pool.name} is {pool.mode}; "
            f"state {pool.mode}_th"
        )
        raise InputError([self._loaded.problem(located.origin, f"{_dotted(located.origin)}: {message}")])

    def _require_one(self, by_class: Mapping[str, LocatedBuffers], speed_bps: int) -> None:
        """Refuse classes that state different buffers and have one profile."""
        first_of: dict[int | None, str] = {}
        for name, located in by_class.items():
            first = first_of.setdefault(self._group_of[name] if self._model == "dynamic" else None, name)
            if located.stated == by_class[first].stated:
                continue
            blamed, other = (first, name) if located.stated == StatedBuffers() else (name, first)
            here, there = by_class[blamed], by_class[other]
            ports = f"{format_rate(speed_bps)} ports of {self._kind.called}"
            message = (
                f"{here.stated.shown()} for class {blamed}, and {there.stated.shown()} for class {other}, on {ports}: "
                f"{self._why_one(other)}; state the same for both"
            )
            raise InputError([self._loaded.problem(here.origin, f"{_dotted(here.origin)}: {message}")])

    def _why_one(self, class_name: str) -> str:
        if self._model == "dynamic":
            return f"both have priority group {self._group_of[class_name]}"
        return "the traditional buffer model has one profile for each speed and cable length of a switch"

    def _override(self, located: LocatedBuffers) -> BufferProfile | None:
        """Return the profile that states a threshold for groups whose headroom the switch computes."""
        stated = located.stated
        if stated == StatedBuffers():
            return None
        if stated not in self._overrides:
            self._overrides[stated] = BufferProfile(
                name=_override_name(stated),
                pool=self._pools[INGRESS_LOSSLESS_POOL],
                reserved_bytes=0,
                headroom_bytes=None,
                xon_bytes=None,
                xon_offset_bytes=None,
                dynamic_th=stated.dynamic_th,
                static_th_bytes=stated.static_th_bytes,
                origin=located.origin,
            )
        return self._overrides[stated]

    def _profile(self, row: HeadroomRow, located: LocatedBuffers) -> BufferProfile:
        pool, stated = self._pools[INGRESS_LOSSLESS_POOL], located.stated
        static = pool.mode == "static"
        usual = StatedBuffers(None, row.threshold) if static else StatedBuffers(row.threshold)
        threshold = usual if stated == StatedBuffers() else stated
        return BufferProfile(
            name=pg_profile_name(row.speed_bps, row.cable_m),
            pool=pool,
            reserved_bytes=row.reserved_bytes,
            headroom_bytes=row.headroom_bytes,
            xon_bytes=row.xon_bytes,
            xon_offset_bytes=row.xon_offset_bytes,
            dynamic_th=threshold.dynamic_th,
            static_th_bytes=threshold.static_th_bytes,
            origin=self._kind.hardware_origin if stated == StatedBuffers() else located.origin,
        )


def _override_name(stated: StatedBuffers) -> str:
    if stated.dynamic_th is None:
        return f"lossless_static_th_{stated.static_th_bytes}"
    return f"lossless_dynamic_th_{stated.dynamic_th}"


def _dotted(origin: Origin) -> str:
    return ".".join(map(str, origin.path))

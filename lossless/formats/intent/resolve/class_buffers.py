"""What an intent states of the buffers of its lossless classes, and whether a switch can hold it.

In the traditional model buffermgrd gives every lossless group of a port the one profile named after its speed and cable
length, and writes over whatever else a row of it names; a profile of that name that is configured already it takes as
it is (sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b, doSpeedUpdateTask). So stated values go into that profile, where they
survive link-down and reload, and all lossless classes of a port must agree.

In the dynamic model a group may name a profile that states its threshold alone, with ``headroom_type`` dynamic: the
headroom is computed all the same. One that states its headroom is taken whole (sonic-swss cfgmgr/buffermgrdyn.cpp
@e6b0c5b, refreshPgsForPort and handleSingleBufferPgEntry).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.ranks import as_written, statements
from lossless.formats.intent.resolve.buffers import DEFAULT_ALPHA_EXPONENT
from lossless.formats.intent.resolve.pool_sizes import stated_pools
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.model.fabric.qos import BufferProfile
from lossless.model.hardware.buffer_names import INGRESS_LOSSLESS_POOL, pg_profile_name
from lossless.model.hardware.model import HeadroomRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.formats.intent.class_buffers import Threshold
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.ranks import ClassPlace, Ranked
    from lossless.formats.intent.resolve.switch_kinds import SwitchKind
    from lossless.ground.basics.findings import Origin, Path
    from lossless.model.fabric.model import BufferModel
    from lossless.model.fabric.qos import Pool


class StatedBuffers(NamedTuple):
    """What counts for a class at a place, by the names of an intent, in bytes; None: nothing is stated."""

    dynamic_th: int | None = None
    static_th: int | None = None
    xoff: int | None = None
    xon: int | None = None
    xon_offset: int | None = None

    @property
    def threshold(self) -> tuple[int | None, int | None]:
        """Its ``dynamic_th`` and ``static_th``, one of them at most."""
        return self.dynamic_th, self.static_th

    @property
    def headroom(self) -> tuple[int | None, ...]:
        """What is stated of its headroom."""
        return self.xoff, self.xon, self.xon_offset

    def shown(self) -> str:
        """Return it in words."""
        values = {key: value for key, value in self._asdict().items() if value is not None}
        words = (
            f"{key} {value if key == 'dynamic_th' else format_bytes(value)}" for key, value in values.items()
        )
        return ", ".join(words) or "nothing"


NOTHING = StatedBuffers()
_NO_ROW = HeadroomRow(0, 0, 0, 0, 0, DEFAULT_ALPHA_EXPONENT, None)


class LocatedBuffers(NamedTuple):
    """What counts for a class at a place, and where it is stated; the class itself where nothing is."""

    stated: StatedBuffers
    origin: Origin


_RIVALS = (("xoff",), ("xon",), ("xon_offset",), ("dynamic_th", "static_th"))
"""Keys of which the highest rank counts that states one: a threshold is of either kind."""


def class_buffers(loaded: LoadedIntent, class_name: str, place: ClassPlace) -> LocatedBuffers:
    """Return what counts for a class at a place: of each key what the highest rank states."""
    policy = loaded.intent.classes[class_name].buffer
    values, origin = ranked_values(loaded, ("classes", class_name, "buffer"), policy, place, _RIVALS)
    return LocatedBuffers(StatedBuffers(**values), origin)


def ranked_values(
    loaded: LoadedIntent,
    path: Path,
    policy: Ranked[Threshold] | None,
    place: ClassPlace,
    rivals: Sequence[tuple[str, ...]],
) -> tuple[dict[str, int], Origin]:
    """Return what a section of a class states at a place by key, and the place of the first.

    Of ``rivals`` the highest rank counts that states one of them.
    """
    ranks = [*statements(policy, place)] if policy else []
    stated_keys: dict[str, tuple[int, Path]] = {}
    for keys in rivals:
        stated = (
            (key, getattr(values, key), (*path, *below, key))
            for values, below in ranks
            for key in keys
            if getattr(values, key) is not None
        )
        for key, value, where in [*stated][:1]:
            stated_keys[key] = value, where
    values = {key: value for key, (value, _) in stated_keys.items()}
    first = next((where for _, where in stated_keys.values()), path[:2])
    return values, loaded.origin(*as_written(loaded.document, first))


def stated_row(row: HeadroomRow, stated: StatedBuffers) -> HeadroomRow:
    """Return a row of the HWSKU with the headroom that is stated instead of its own.

    Where ``size`` holds xon and xoff, it grows and shrinks with both; where it holds xon alone and a shared pool lends
    the rest, with xon.
    """
    changed = row._replace(
        headroom_bytes=row.headroom_bytes if stated.xoff is None else stated.xoff,
        xon_bytes=row.xon_bytes if stated.xon is None else stated.xon,
        xon_offset_bytes=row.xon_offset_bytes if stated.xon_offset is None else stated.xon_offset,
    )
    reserved_bytes = row.reserved_bytes
    if reserved_bytes >= row.headroom_bytes:
        reserved_bytes += changed.headroom_bytes - row.headroom_bytes + changed.xon_bytes - row.xon_bytes
    elif reserved_bytes == row.xon_bytes:
        reserved_bytes = changed.xon_bytes
    return changed._replace(reserved_bytes=max(0, reserved_bytes))


def other_kind(kind: SwitchKind, model: BufferModel, pool: Pool, stated: Mapping[str, int | None]) -> str:
    """Return why a threshold does not fit a pool, empty where it does: it has another kind, which NVIDIA refuses."""
    wrong = {"dynamic": "static_th", "static": "dynamic_th"}.get(pool.mode, "")
    if stated.get(wrong) is None or (model != "dynamic" and kind.profile.asic.formula != "mellanox"):
        return ""
    return f"does not fit {kind.profile.name}, whose {pool.name} is {pool.mode}; state {pool.mode}_th"


class GroupBuffers(NamedTuple):
    """What the groups of a class have: a profile, or where the switch computes one, a threshold of their own."""

    profile: BufferProfile | None = None
    override: BufferProfile | None = None


class LosslessBuffers:
    """Makes the profiles of the lossless groups of one kind of switch, sharing what is identical."""

    def __init__(
        self, loaded: LoadedIntent, kind: SwitchKind, pools: Mapping[str, Pool], model: BufferModel
    ) -> None:
        self._loaded, self._kind, self._model = loaded, kind, model
        self._pool = pools.get(INGRESS_LOSSLESS_POOL)
        self._classes = [name for name, cls in loaded.intent.classes.items() if cls.lossless]
        self._own: dict[StatedBuffers, GroupBuffers] = {}

    def of(
        self, row: HeadroomRow | None, speed_bps: int, groups: Mapping[str, int]
    ) -> dict[str, GroupBuffers]:
        """Return what the groups of each lossless class have on ports of one speed and length.

        ``groups`` are their numbers there, by class.

        Raises:
            InputError: the buffer model cannot hold what is stated.
        """
        place = self._kind.place(speed_bps)
        by_class = {name: class_buffers(self._loaded, name, place) for name in self._classes}
        for located in by_class.values():
            self._require_kind(located)
        self._require_one(by_class, speed_bps, groups)
        if self._model == "dynamic":
            return {name: self._computed(located) for name, located in by_class.items()}
        if row is None or not by_class:
            return dict.fromkeys(by_class, GroupBuffers())
        return dict.fromkeys(by_class, GroupBuffers(self._of_row(row, next(iter(by_class.values())))))

    def _require_kind(self, located: LocatedBuffers) -> None:
        """Refuse a threshold of another kind than the pool has, as rule SWS013 reports it on devices."""
        if self._pool is None:
            why = f"cannot be set on {self._kind.profile.name}: its system computes buffers; leave it out"
            why = "" if located.stated == NOTHING else why
        else:
            why = other_kind(self._kind, self._model, self._pool, located.stated._asdict())
        if why:
            raise self._refusal(located, f"{located.stated.shown()} {why}")

    def _require_one(
        self, by_class: Mapping[str, LocatedBuffers], speed_bps: int, groups: Mapping[str, int]
    ) -> None:
        """Refuse classes that state different buffers and have one profile."""
        first_of: dict[int | None, str] = {}
        for name, located in by_class.items():
            first = first_of.setdefault(groups[name] if self._model == "dynamic" else None, name)
            if located.stated == by_class[first].stated:
                continue
            blamed, other = (first, name) if located.stated == NOTHING else (name, first)
            here, there = by_class[blamed], by_class[other]
            ports = f"{format_rate(speed_bps)} ports of {self._kind.called}"
            raise self._refusal(
                here,
                f"{here.stated.shown()} for class {blamed}, and {there.stated.shown()} for class {other}, on {ports}: "
                f"{self._why_one(groups[other])}; state the same for both",
            )

    def _why_one(self, group: int) -> str:
        if self._model == "dynamic":
            return f"both have priority group {group}"
        return "the traditional buffer model has one profile for each speed and cable length of a switch"

    def _refusal(self, located: LocatedBuffers, message: str) -> InputError:
        dotted = ".".join(map(str, located.origin.path))
        return InputError([self._loaded.problem(located.origin, f"{dotted}: {message}")])

    def _computed(self, located: LocatedBuffers) -> GroupBuffers:
        """Return what groups have whose headroom the switch computes, unless it is stated."""
        stated = located.stated
        if stated != NOTHING and stated not in self._own:
            alone = stated.headroom == NOTHING.headroom
            row = _NO_ROW if alone else self._whole_row(located)
            profile = self._profile(_name(stated), row, located)
            threshold = profile._replace(headroom_bytes=None, xon_bytes=None)
            self._own[stated] = GroupBuffers(override=threshold) if alone else GroupBuffers(profile)
        return self._own.get(stated, GroupBuffers())

    def _whole_row(self, located: LocatedBuffers) -> HeadroomRow:
        """Return headroom that is stated instead of a computed one: ``size`` holds what no shared pool lends.

        Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b.
        """
        stated = located.stated
        if stated.xoff is None or stated.xon is None:
            why = "in the dynamic buffer model a group has a computed headroom or a stated one; state xoff and xon"
            raise self._refusal(located, f"{stated.shown()} does not say all of it: {why}")
        shared = stated_pools(self._loaded, self._kind).lends()
        row = _NO_ROW._replace(reserved_bytes=stated.xon if shared else stated.xon + stated.xoff)
        return row._replace(
            xon_bytes=stated.xon, headroom_bytes=stated.xoff, xon_offset_bytes=stated.xon_offset
        )

    def _of_row(self, row: HeadroomRow, located: LocatedBuffers) -> BufferProfile:
        return self._profile(pg_profile_name(row.speed_bps, row.cable_m), row, located)

    def _profile(self, name: str, row: HeadroomRow, located: LocatedBuffers) -> BufferProfile:
        stated, static = located.stated, self._pool is not None and self._pool.mode == "static"
        usual = (None, row.threshold) if static else (row.threshold, None)
        dynamic_th, static_th_bytes = usual if stated.threshold == NOTHING.threshold else stated.threshold
        return BufferProfile(
            name=name,
            pool=self._pool,
            reserved_bytes=row.reserved_bytes,
            headroom_bytes=row.headroom_bytes,
            xon_bytes=row.xon_bytes,
            xon_offset_bytes=row.xon_offset_bytes,
            dynamic_th=dynamic_th,
            static_th_bytes=static_th_bytes,
            origin=self._kind.hardware_origin if stated == NOTHING else located.origin,
        )


def _name(stated: StatedBuffers) -> str:
    """Return the name of a profile by what it states: equal on a switch means the same."""
    values = (f"{key}_{value}" for key, value in stated._asdict().items() if value is not None)
    return "_".join(("lossless", *values))

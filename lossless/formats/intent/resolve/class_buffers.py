"""Buffers that an intent declares for a switch kind and its lossless classes, and whether the switch supports them.

In the traditional model buffermgrd gives every lossless group of a port the one profile named after its speed and cable
length, and overwrites any other profile that a row names; it uses a configured profile of that name unchanged
(sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b, doSpeedUpdateTask). So declared values go into that profile, where they
survive link-down and reload, and all lossless classes of a port must agree.

In the dynamic model a group may name a profile with a threshold alone and ``headroom_type`` dynamic: its headroom is
still computed. A profile with headroom is used unchanged (sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b,
refreshPgsForPort and handleSingleBufferPgEntry).

Choices for a switch kind are the buffer model and the form of the pools; some combinations are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.policy import as_written, statements
from lossless.formats.intent.resolve.pool_sizes import RATIO, stated_pools
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.model.fabric.qos import BufferProfile, DynamicBuffers, Pool
from lossless.model.hardware.buffers import (
    EGRESS_LOSSLESS_POOL,
    INGRESS_LOSSLESS_POOL,
    BufferDefaults,
    pg_profile_name,
)
from lossless.model.hardware.load import load_switch, switch_names
from lossless.model.hardware.model import SONIC, HeadroomRow, backs_headroom

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.intent.class_groups import Threshold
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.policy import ClassPlace, Ranked
    from lossless.formats.intent.resolve.unused_ports import SwitchKind
    from lossless.ground.basics.findings import Origin, Path
    from lossless.model.fabric.model import BufferModel
    from lossless.model.hardware.model import Asic, Hwsku


DEFAULT_ALPHA_EXPONENT = 0
"""The default_dynamic_th of every switch (sonic-buildimage files/build_templates/buffers_config.j2 @02aaf5c)."""
LOSSLESS_MTU_BYTES = 1024
"""The largest lossless packet for the headroom calculation where the intent has no ``lossless_mtu`` (same file)."""
SMALL_PACKET_PERCENT = 100
"""The percentage of small packets for the headroom calculation where the intent has no ``small_packets``.

It is the value that SONiC configured until sonic-buildimage pull request 20632 (2024-10, 50 since), gives the most
headroom, and is the assumption of NVIDIA's own rows.
"""
NO_BUFFERS = BufferDefaults("", (), (), None)
"""The defaults of a switch whose buffers no public source documents."""
_MOST_RATIO = 65_535
"""DEFAULT_LOSSLESS_BUFFER_PARAMETER|over_subscribe_ratio is a uint16 (sonic-default-lossless-buffer-parameter.yang
@a3488c1)."""


def buffer_model(loaded: LoadedIntent, kind: SwitchKind) -> BufferModel:
    """Return the buffer model of a kind of switch, traditional or dynamic.

    Raises:
        InputError: SONiC has no dynamic model for it, or none that supports the declared ratio.
    """
    if loaded.intent.buffers.model.get(kind.role) != "dynamic":
        return "traditional"
    problems = list(_refused(loaded, kind))
    if problems:
        raise InputError([loaded.problem(origin, message) for origin, message in problems])
    return "dynamic"


def _refused(loaded: LoadedIntent, kind: SwitchKind) -> Iterator[tuple[Origin, str]]:
    asic, stated = kind.profile.asic, stated_pools(loaded, kind)
    ratio = stated.ratio
    if asic.formula is None:
        message = (
            f"buffers.model: SONiC has no dynamic buffer model for {kind.profile.name} ({asic.name}); "
            f"switches here that have one: {', '.join(_with_formula())}"
        )
        yield loaded.origin("buffers", "model", kind.role), message
        return
    at = stated.values[RATIO][1] if ratio is not None else loaded.origin("buffers")
    dotted = ".".join(map(str, at.path))
    if ratio is not None and asic.formula == "barefoot":
        yield (
            at,
            (
                f"{dotted}: on {kind.profile.name} ({asic.name}) the dynamic buffer model "
                "takes its own size of the shared headroom pool, whatever ratio is configured; leave it out"
            ),
        )
    elif ratio is not None and (ratio != int(ratio) or ratio > _MOST_RATIO):
        yield (
            at,
            (
                f"{dotted}: the dynamic buffer model divides by a whole number of at most "
                f"{_MOST_RATIO:,}; {ratio:g} is none"
            ),
        )


def _with_formula() -> Iterator[str]:
    return (name for name in switch_names() if load_switch(name).asic.formula is not None)


def dynamic_buffers(loaded: LoadedIntent, kind: SwitchKind) -> DynamicBuffers:
    """Return the settings of the dynamic buffer model; ``oversubscription`` is None without a declared ratio."""
    policy, ratio = loaded.intent.buffers, stated_pools(loaded, kind).ratio
    mtu_bytes, percent = policy.lossless_mtu, policy.small_packets
    return DynamicBuffers(
        default_dynamic_th=DEFAULT_ALPHA_EXPONENT,
        oversubscription=None if ratio is None else int(ratio),
        lossless_mtu_bytes=LOSSLESS_MTU_BYTES if mtu_bytes is None else mtu_bytes,
        small_packet_percent=SMALL_PACKET_PERCENT if percent is None else percent,
        origin=loaded.origin("buffers"),
    )


def dynamic_pools(asic: Asic, defaults: BufferDefaults, origin: Origin) -> tuple[Pool, ...]:
    """Return the pools of the dynamic model: the switch sizes all but the one that spans the whole buffer.

    On Barefoot chips the switch sizes none: older releases use the vendor's sizes whatever is configured, newer ones
    the configured sizes, and fail without them (buffer_pool_barefoot.lua @fbc3657 and @e6b0c5b).

    Source: sonic-buildimage device/mellanox/x86_64-mlnx_msn4700-r0/Mellanox-SN4700-O28/buffers_defaults_objects.j2
    @5b13506; sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d and buffer_pool_barefoot.lua @fbc3657.
    """
    fixed = asic.formula == "barefoot"
    return tuple(
        Pool(
            name=pool.name,
            kind=pool.type,
            mode=pool.mode,
            size_bytes=pool.size_bytes if fixed or pool.name == EGRESS_LOSSLESS_POOL else None,
            shared_headroom_bytes=None,
            origin=origin,
        )
        for pool in defaults.pools
    )


def buffer_defaults(loaded: LoadedIntent, kind: SwitchKind, templates: Sequence[str]) -> BufferDefaults:
    """Return the pools and profiles of a switch kind, from the first of the named templates that has lossless buffers.

    Where they have another form than the declared one, they are those of another HWSKU of the product. A switch that
    SONiC does not support and that runs another system has none: its own values are unknown.

    Raises:
        InputError: the HWSKU ships no lossless buffers, or no HWSKU of the product ships them in the declared form.
    """
    wanted = loaded.intent.buffers.pools.get(kind.role)
    shipped = [defaults for template in templates if (defaults := _own(kind, template))]
    if not shipped and kind.profile.format != SONIC:
        return NO_BUFFERS
    if not shipped:
        raise InputError([loaded.problem(kind.hardware_origin, _without_buffers(kind))])
    if wanted is None or _form(shipped[0]) == wanted:
        return shipped[0]
    others = (_of_others(kind, template, wanted) for template in templates)
    substitute = next((defaults for defaults in others if defaults), None)
    if substitute is None:
        raise InputError(
            [loaded.problem(loaded.origin("buffers", "pools", kind.role), _without_form(kind, wanted))]
        )
    return substitute


def _own(kind: SwitchKind, template: str) -> BufferDefaults | None:
    defaults = kind.hwsku.buffer_defaults(template)
    return defaults if defaults is not None and backs_headroom(kind.hwsku, defaults) else None


def _of_others(kind: SwitchKind, template: str, wanted: str) -> BufferDefaults | None:
    """Return the first template of the product's HWSKUs in a form, None where none holds this HWSKU's headroom."""
    for hwsku in kind.profile.hwskus:
        defaults = hwsku.buffer_defaults(template)
        if (
            defaults is not None
            and _in_form(hwsku, defaults, wanted)
            and backs_headroom(kind.hwsku, defaults)
        ):
            return defaults
    return None


def _in_form(hwsku: Hwsku, defaults: BufferDefaults, wanted: str) -> bool:
    """Return whether pools of a HWSKU have a form and hold its headroom; those for lossy fabrics do not."""
    return _form(defaults) == wanted and backs_headroom(hwsku, defaults)


def _form(defaults: BufferDefaults) -> str:
    return "single" if sum(pool.type == "ingress" for pool in defaults.pools) == 1 else "split"


def _without_buffers(kind: SwitchKind) -> str:
    if kind.profile.asic.voq:
        return (
            f"{kind.profile.name} has virtual output queues, whose buffers an intent cannot declare; lint, trace and "
            "verify read the files of such a switch"
        )
    others = [h.name for h in kind.profile.hwskus if any(backs_headroom(h, d) for d in h.buffers)]
    return (
        f"HWSKU {kind.hwsku.name} ships no buffers for lossless groups; "
        f"HWSKUs of {kind.profile.name} that do: {', '.join(others) or 'none'}"
    )


def _without_form(kind: SwitchKind, wanted: str) -> str:
    pools = "a single ingress pool" if wanted == "single" else "ingress pools split into lossless and lossy"
    identical = [h.name for h in kind.profile.hwskus if any(_in_form(h, d, wanted) for d in h.buffers)]
    return (
        f"buffers.pools: no HWSKU of {kind.profile.name} ships {pools} for the headroom of {kind.hwsku.name}; "
        f"HWSKUs with {pools}: {', '.join(identical) or 'none'}"
    )


class StatedBuffers(NamedTuple):
    """The buffer values that an intent declares for a class on ports of one speed, by key; None where not declared.

    All are in bytes except ``dynamic_th``, the exponent of alpha.
    """

    dynamic_th: int | None = None
    static_th: int | None = None
    xoff: int | None = None
    xon: int | None = None
    xon_offset: int | None = None

    @property
    def threshold(self) -> tuple[int | None, int | None]:
        """The declared ``dynamic_th`` and ``static_th``, at most one of them set."""
        return self.dynamic_th, self.static_th

    @property
    def headroom(self) -> tuple[int | None, ...]:
        """The declared headroom values in bytes: xoff, xon and xon_offset."""
        return self.xoff, self.xon, self.xon_offset

    def shown(self) -> str:
        """Return the declared buffer values as text for a message; ``nothing`` where there are none."""
        values = {key: value for key, value in self._asdict().items() if value is not None}
        words = (
            f"{key} {value if key == 'dynamic_th' else format_bytes(value)}" for key, value in values.items()
        )
        return ", ".join(words) or "nothing"


NOTHING = StatedBuffers()
_NO_ROW = HeadroomRow(0, 0, 0, 0, 0, DEFAULT_ALPHA_EXPONENT, None)


class LocatedBuffers(NamedTuple):
    """The declared buffer values of a class on ports of one speed, and the origin of the first, else of the class."""

    stated: StatedBuffers
    origin: Origin


_RIVALS = (("xoff",), ("xon",), ("xon_offset",), ("dynamic_th", "static_th"))
"""Keys of ``buffer`` in groups that exclude each other: the highest rank that declares one of a group decides it."""


def class_buffers(loaded: LoadedIntent, class_name: str, place: ClassPlace) -> LocatedBuffers:
    """Return the declared buffer values of a class on ports of a place, each from the highest rank that declares it."""
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
    """Return the values that a section of a class declares for ports of a place, by key, and the origin of the first.

    Without a value the origin is that of the class.

    ``rivals`` are groups of keys that exclude each other: of each group the first key of the highest rank applies.
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
    """Return a row of the HWSKU with the declared headroom in place of its own.

    Where ``size`` includes xon and xoff, it changes with both. Where it is xon alone, because a shared pool provides
    the rest, it changes with xon.
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
    """Return why a threshold is not of its pool's mode, dynamic or static, which NVIDIA's SAI refuses.

    The text is empty where it fits, and in the traditional model on chips of other vendors.
    """
    wrong = {"dynamic": "static_th", "static": "dynamic_th"}.get(pool.mode, "")
    if stated.get(wrong) is None or (model != "dynamic" and kind.profile.asic.formula != "mellanox"):
        return ""
    return f"does not fit {kind.profile.name}, whose {pool.name} is {pool.mode}; state {pool.mode}_th"


class GroupBuffers(NamedTuple):
    """Buffers of the priority groups of a class: a profile, a threshold where the switch computes it, or neither."""

    profile: BufferProfile | None = None
    override: BufferProfile | None = None


class LosslessBuffers:
    """Builds the buffer profiles of the lossless priority groups of one switch kind."""

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
        """Return the buffers of the priority group of each lossless class on ports of one speed and cable length.

        ``groups`` maps each class to its priority group there.

        Raises:
            InputError: the pool or the buffer model does not support the declared values, or classes that share a
                profile declare different ones.
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
        """Raise InputError for a threshold that :func:`other_kind` refuses, as rule SWS013 reports it on devices.

        Where the system of the switch computes buffers, any declared buffers of a class are refused too.
        """
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
        """Raise InputError for classes that share one profile and declare different buffers."""
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
        """Return the buffers of priority groups in the dynamic model: declared headroom, a threshold alone, or none."""
        stated = located.stated
        if stated != NOTHING and stated not in self._own:
            alone = stated.headroom == NOTHING.headroom
            row = _NO_ROW if alone else self._whole_row(located)
            profile = self._profile(_name(stated), row, located)
            threshold = profile._replace(headroom_bytes=None, xon_bytes=None)
            self._own[stated] = GroupBuffers(override=threshold) if alone else GroupBuffers(profile)
        return self._own.get(stated, GroupBuffers())

    def _whole_row(self, located: LocatedBuffers) -> HeadroomRow:
        """Return a headroom row of declared values; ``size`` is the part that no shared pool provides.

        Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b.

        Raises:
            InputError: xoff or xon is missing.
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
    """Return the name of a buffer profile, made of its declared values, so that equal ones of a switch share a name."""
    values = (f"{key}_{value}" for key, value in stated._asdict().items() if value is not None)
    return "_".join(("lossless", *values))

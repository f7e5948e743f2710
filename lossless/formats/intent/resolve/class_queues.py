"""Queue limits that an intent declares for its classes: the reserved buffer of each queue, and its threshold.

In both buffer models a row of BUFFER_QUEUE names any profile for a single port and queue, so every class can have its
own. Source: sonic-swss orchagent/bufferorch.cpp @e6b0c5b (processQueue).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.resolve.class_buffers import other_kind, ranked_values
from lossless.ground.basics.errors import InputError
from lossless.model.hardware.buffer_names import EGRESS_LOSSY_PROFILE
from lossless.model.hardware.model import SONIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.switch_kinds import SwitchKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import BufferModel
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.hardware.model import BufferDefaults

_THRESHOLDS = ("dynamic_th", "static_th")
_SIZE = ("size",)
_SUFFIX = "_profile"
_TRIMS = "_trim"


def stated_size(
    loaded: LoadedIntent, kind: SwitchKind, class_name: str, speed_bps: int
) -> tuple[int | None, Origin]:
    """Return the declared reserved buffer of each queue of a class on ports of one speed, in bytes, and its origin."""
    policy, path = loaded.intent.classes[class_name].queue, ("classes", class_name, "queue")
    stated, origin = ranked_values(loaded, path, policy, kind.place(speed_bps), (_SIZE,))
    return stated.get("size"), origin


class ReservedAtEgress:
    """Sums the egress buffer that ports of one switch kind reserve, for their queues and in their list of profiles."""

    def __init__(self, loaded: LoadedIntent, kind: SwitchKind, defaults: BufferDefaults) -> None:
        self._loaded, self._kind, self._defaults = loaded, kind, defaults
        self._each: dict[tuple[str, int], int] = {}
        listed = defaults.profile(EGRESS_LOSSY_PROFILE)
        self._listed_bytes = listed.reserved_bytes if listed else 0

    def of_port(self, class_names: Iterable[str], speed_bps: int) -> int:
        """Return the bytes that a port of a speed with one queue for each of these classes reserves.

        Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @e6b0c5b (iterate_all_items, iterate_profile_list).
        """
        return self._listed_bytes + sum(self._of_queue(name, speed_bps) for name in class_names)

    def _of_queue(self, class_name: str, speed_bps: int) -> int:
        key = class_name, speed_bps
        if key not in self._each:
            size_bytes, _ = stated_size(self._loaded, self._kind, class_name, speed_bps)
            lossless = self._loaded.intent.classes[class_name].lossless
            shipped = self._defaults.queue_profile(lossless=lossless)
            usual_bytes = shipped.reserved_bytes if shipped else 0
            self._each[key] = usual_bytes if size_bytes is None else size_bytes
        return self._each[key]


class QueueLimits:
    """Builds the queue profiles of one switch kind, one for all that are identical."""

    def __init__(self, loaded: LoadedIntent, kind: SwitchKind, model: BufferModel) -> None:
        self._loaded, self._kind, self._model = loaded, kind, model
        self._own: dict[str, BufferProfile] = {}
        trimming = loaded.intent.trimming
        self._trimmed = trimming.of if trimming is not None and kind.profile.format == SONIC else ()

    def of(self, class_name: str, speed_bps: int, shipped: BufferProfile | None) -> BufferProfile | None:
        """Return the queue profile of a class on ports of one speed: that of the HWSKU, with the declared values.

        A trimmed class has a profile of its own: orchagent refuses a trimming profile in the lists of ports and on
        priority groups (sonic-swss orchagent/bufferorch.cpp @e6b0c5b).

        Raises:
            InputError: the HWSKU ships no profile, or its pool has another kind of threshold.
        """
        limited = self._limited(class_name, speed_bps, shipped)
        if class_name not in self._trimmed:
            return limited
        origin = self._loaded.origin("trimming")
        if limited is None:
            raise self._refusal(origin, f"{self._kind.called} ships no profile of queues, which could trim")
        name = f"{limited.name.removesuffix(_SUFFIX)}{_TRIMS}"
        return self._own.setdefault(name, limited._replace(name=name, origin=origin, trims=True))

    def _limited(
        self, class_name: str, speed_bps: int, shipped: BufferProfile | None
    ) -> BufferProfile | None:
        policy, path = self._loaded.intent.classes[class_name].queue, ("classes", class_name, "queue")
        place = self._kind.place(speed_bps)
        stated, origin = ranked_values(self._loaded, path, policy, place, (_THRESHOLDS, _SIZE))
        if not stated:
            return shipped
        if shipped is None or shipped.pool is None:
            raise self._refusal(origin, f"{self._kind.called} ships no profile of queues")
        why = other_kind(self._kind, self._model, shipped.pool, stated)
        if why:
            raise self._refusal(origin, why)
        values = (f"{key}_{value}" for key, value in stated.items())
        name = "_".join((shipped.name.removesuffix(_SUFFIX), *values))
        return self._own.setdefault(name, _stated(shipped, stated)._replace(name=name, origin=origin))

    def _refusal(self, origin: Origin, message: str) -> InputError:
        dotted = ".".join(map(str, origin.path))
        return InputError([self._loaded.problem(origin, f"{dotted}: {message}")])


def _stated(shipped: BufferProfile, stated: Mapping[str, int]) -> BufferProfile:
    """Return a profile with the declared values in place of its own."""
    sized = shipped._replace(reserved_bytes=stated.get("size", shipped.reserved_bytes))
    if not any(key in stated for key in _THRESHOLDS):
        return sized
    return sized._replace(dynamic_th=stated.get("dynamic_th"), static_th_bytes=stated.get("static_th"))

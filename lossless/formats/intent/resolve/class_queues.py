"""What an intent states of the queues of its classes: how much each takes of its pool before it drops.

A row of BUFFER_QUEUE names any profile, in both buffer models, for each port and queue by itself: so every class can
have its own. Source: sonic-swss orchagent/bufferorch.cpp @e6b0c5b (processQueue).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.resolve.class_buffers import other_kind, ranked_values
from lossless.ground.basics.errors import InputError

if TYPE_CHECKING:
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.buffers import BufferModel
    from lossless.formats.intent.resolve.switch_kinds import SwitchKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.qos import BufferProfile

_RIVALS = (("dynamic_th", "static_th"),)
_SUFFIX = "_profile"


class QueueLimits:
    """Makes the profiles of queues of one kind of switch, sharing what is alike."""

    def __init__(self, loaded: LoadedIntent, kind: SwitchKind, model: BufferModel) -> None:
        self._loaded, self._kind, self._model = loaded, kind, model
        self._own: dict[str, BufferProfile] = {}

    def of(self, class_name: str, speed_bps: int, shipped: BufferProfile | None) -> BufferProfile | None:
        """Return the profile of the queues of a class at ports of one speed: the HWSKU's, with what is stated.

        Raises:
            InputError: the HWSKU has none, or its pool no such threshold.
        """
        policy, path = self._loaded.intent.classes[class_name].queue, ("classes", class_name, "queue")
        stated, origin = ranked_values(self._loaded, path, policy, self._kind.place(speed_bps), _RIVALS)
        if not stated:
            return shipped
        if shipped is None or shipped.pool is None:
            raise self._refusal(origin, f"{self._kind.called} ships no profile of queues")
        why = other_kind(self._kind, self._model, shipped.pool, stated)
        if why:
            raise self._refusal(origin, why)
        values = (f"{key}_{value}" for key, value in stated.items())
        name = "_".join((shipped.name.removesuffix(_SUFFIX), *values))
        limited = shipped._replace(
            name=name,
            dynamic_th=stated.get("dynamic_th"),
            static_th_bytes=stated.get("static_th"),
            origin=origin,
        )
        return self._own.setdefault(name, limited)

    def _refusal(self, origin: Origin, message: str) -> InputError:
        dotted = ".".join(map(str, origin.path))
        return InputError([self._loaded.problem(origin, f"{dotted}: {message}")])

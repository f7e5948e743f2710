"""Device names in the exceptions of an intent: every name must be that of a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import in_file_order
from lossless.formats.intent.ranks import CLASS_SECTIONS
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.nearest import suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lossless.formats.intent.load import LoadedIntent


def check_devices(loaded: LoadedIntent, switches: Collection[str]) -> None:
    """Refuse exceptions for devices that are not switches of the fabric.

    Raises:
        InputError: every such name, located in the intent.
    """
    problems = []
    for path, names in _stated(loaded):
        for name in sorted(set(names) - set(switches)):
            hint = suggestion(name, sorted(switches))
            message = f"{'.'.join(path)}: no switch is called {name}{hint}"
            problems.append(loaded.problem(loaded.origin(*path, name).key(), message))
    if problems:
        raise InputError(in_file_order(problems))


def _stated(loaded: LoadedIntent) -> Iterator[tuple[tuple[str, ...], Collection[str]]]:
    """Yield the mappings of an intent whose keys are device names, with their paths."""
    yield ("sonic", "devices"), loaded.intent.sonic.devices
    yield ("buffers", "by_device"), loaded.intent.buffers.by_device
    for name, cls in loaded.intent.classes.items():
        for section in CLASS_SECTIONS:
            policy = getattr(cls, section)
            yield ("classes", name, section, "by_device"), policy.by_device if policy else ()


def stated_by_name(loaded: LoadedIntent) -> frozenset[str]:
    """Return the devices with exceptions for buffers or curves under their own name."""
    return frozenset(name for path, names in _stated(loaded) if path[-1] == "by_device" for name in names)

"""Releases that an intent states for single devices: every name must be that of a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import in_file_order
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Collection

    from lossless.formats.intent.load import LoadedIntent


def check_devices(loaded: LoadedIntent, switches: Collection[str]) -> None:
    """Refuse releases of devices that are no switches of the fabric.

    Raises:
        InputError: every such name, located in the intent.
    """
    problems = []
    for name in loaded.intent.sonic.devices:
        if name not in switches:
            near = nearest(name, switches)
            message = f"sonic.devices: no switch is called {name}" + (
                f"; did you mean {near}?" if near else ""
            )
            problems.append(loaded.problem(loaded.origin("sonic", "devices", name).key(), message))
    if problems:
        raise InputError(in_file_order(problems))

"""The output of a render: files with their text, and how each is brought onto its device."""

from __future__ import annotations

from typing import Literal

from lossless.ground.basics.records import NamedTuple

Extra = Literal["qos", "patch", "rollback"]
EXTRAS: tuple[Extra, ...] = ("qos", "patch", "rollback")
"""Files that can be made beside a switch's complete file; each needs the file that the switch runs."""
TELEMETRY = "telemetry"
"""The extra that needs an intent alone, and the name of its folder."""


class Deployment(NamedTuple):
    """How a file is brought onto its device: its target, the commands to run there, and whether traffic is hit.

    ``hitless``: no port and no service goes down, and lossless traffic is not harmed; None if unknown.
    ``why`` is the reason for it. ``ports_stay_up`` is the first half alone, None if ``hitless`` covers it.
    """

    target: str
    apply: tuple[str, ...]
    hitless: bool | None
    why: str
    ports_stay_up: bool | None = None


class PlannedFile(NamedTuple):
    """One file of the tree, by its path below the output folder: ``<device>/<name>``.

    ``secret``: only its owner may read it, and its content is not shown.
    """

    path: str
    text: str
    executable: bool = False
    deployment: Deployment | None = None
    secret: bool = False


class UpdatePlan(NamedTuple):
    """The update that brings a running switch to the rendered configuration, and why no smaller one does.

    ``ports_down`` are the ports that a patch takes down meanwhile. ``why`` names the rows that need a reload.
    ``harms`` lists effects of a patch on lossless traffic.
    """

    device: str
    how: Literal["nothing", "patch", "reload"]
    ports_down: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()

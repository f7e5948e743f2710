"""What a render makes: files with their text, and how each is brought onto its device."""

from __future__ import annotations

from typing import Literal

from lossless.ground.basics.records import NamedTuple

Extra = Literal["qos", "patch", "rollback"]
EXTRAS: tuple[Extra, ...] = ("qos", "patch", "rollback")
"""What can be made beside a switch's complete file; each needs the file that the switch runs."""
TELEMETRY = "telemetry"
"""What can be made of an intent alone, and the folder that it goes to."""


class Deployment(NamedTuple):
    """How a file is brought onto its device: where it goes, what is run there, and whether traffic is hit.

    ``hitless``: no port and no service is taken down, and no lossless traffic harmed; None where that is not known.
    ``why`` is the reason for it. ``ports_stay_up`` is the first half alone, None where only ``hitless`` says it.
    """

    target: str
    apply: tuple[str, ...]
    hitless: bool | None
    why: str
    ports_stay_up: bool | None = None


class PlannedFile(NamedTuple):
    """One file of the tree, by its path below the output folder: ``<device>/<name>``.

    ``secret``: only its owner may read it, and what it holds is not shown.
    """

    path: str
    text: str
    executable: bool = False
    deployment: Deployment | None = None
    secret: bool = False


class UpdatePlan(NamedTuple):
    """What it takes to bring a running switch to what is rendered, and why no less.

    ``ports_down`` are the ports that a patch takes down meanwhile. ``why`` names the rows that need a reload.
    ``harms`` says what a patch does to lossless traffic.
    """

    device: str
    how: Literal["nothing", "patch", "reload"]
    ports_down: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()

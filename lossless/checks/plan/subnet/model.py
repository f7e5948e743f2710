"""Parts of a subnet's change: configurations, the files that each gives a host, and phases between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.infiniband.subnet import Subnet

PhaseKind = Literal["stop", "managers", "hosts", "jobs", "start"]


class FileOfHost(NamedTuple):
    """One file of a host: its name, its path (fixed, or where a job is given it), and its text."""

    name: str
    target: str
    text: str


class SubnetConfiguration(NamedTuple):
    """A configuration of the whole subnet, and the files that it gives each host."""

    title: str
    subnet: Subnet
    files: Mapping[str, Mapping[str, FileOfHost]]


class SubnetChange(NamedTuple):
    """A subnet in service and its target.

    ``both`` serves the jobs of either side; None if no configuration can. ``lanes`` are intermediate configurations
    with the lanes of both, first with the old SL2VL table and then with the new one; empty if they make no difference.
    """

    current: SubnetConfiguration
    target: SubnetConfiguration
    both: SubnetConfiguration | None
    lanes: tuple[SubnetConfiguration, ...] = ()


class Phase(NamedTuple):
    """A phase of the change: managers or hosts take another configuration, jobs restart, or all stop or start.

    ``old`` and ``new`` are its configurations before and after; ``in_use`` are the service levels that jobs send
    on meanwhile. ``only`` are the managers that have ``old`` while others have ``new`` already (and
    sharp_am.cfg, if SHARP has it): None if all have.
    """

    kind: PhaseKind
    old: SubnetConfiguration
    new: SubnetConfiguration
    in_use: frozenset[int] = frozenset()
    only: frozenset[str] | None = None

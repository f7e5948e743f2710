"""What a change of a subnet is made of: configurations, the files that each gives a host, and phases between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.infiniband.subnet import Subnet

PhaseKind = Literal["stop", "managers", "hosts", "jobs", "start"]


class FileOfHost(NamedTuple):
    """One file of a host: what it is called, where it goes (by itself, or where a job is given it), and its text."""

    name: str
    target: str
    text: str


class SubnetConfiguration(NamedTuple):
    """A configuration of the whole subnet, and the files that it gives each host."""

    title: str
    subnet: Subnet
    files: Mapping[str, Mapping[str, FileOfHost]]


class SubnetChange(NamedTuple):
    """A subnet in service, and what it is to become.

    ``both`` serves what either uses; None where nothing can. ``lanes`` are configurations on the way that have the
    lanes of both, first with the old SL2VL table and then with the new one; empty where that makes no difference.
    """

    current: SubnetConfiguration
    target: SubnetConfiguration
    both: SubnetConfiguration | None
    lanes: tuple[SubnetConfiguration, ...] = ()


class Phase(NamedTuple):
    """What happens in order: managers take another configuration, hosts do, jobs restart, all stop or start.

    ``old`` and ``new`` are the configurations that it leads between; ``in_use`` are the service levels that jobs send
    on meanwhile. ``only`` are the managers that have ``old``, where others have ``new`` already (and
    sharp_am.cfg, where SHARP has it): None where all have.
    """

    kind: PhaseKind
    old: SubnetConfiguration
    new: SubnetConfiguration
    in_use: frozenset[int] = frozenset()
    only: frozenset[str] | None = None

"""Settings of a run besides its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.checks.rules.registry import Codes
    from lossless.formats.inputs.progress import Progress
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.model import Switch


def every_rule(_file: str) -> Codes | None:
    """Choose all rules for every file."""
    return None


def no_fabric(_file: str) -> str:
    """Assign no file to a fabric."""
    return ""


def none_named(_file: str) -> tuple[int, ...]:
    """Name no DSCP that must be lossless in a file."""
    return ()


def all_carry(_file: str, _switch: Switch) -> frozenset[str]:
    """Declare no port as free of RDMA."""
    return frozenset()


class Settings(NamedTuple):
    """What a run depends on; ``rdma_dscps`` must be lossless on devices without an intent, in place of ``named_in``.

    ``intended`` are switches of intents by name, with which devices are compared; ``compared``: devices are
    compared with each other. ``chosen`` returns the rules to run on a file, ``fabric_of`` the fabric that it is
    said to be of, ``named_in`` the DSCPs that must be lossless in it, ``without_rdma`` the ports of a switch in it that
    are said to carry no RDMA. ``apart``: no file is checked by what another one states. ``progress`` is told how many
    files are done, of how many.
    """

    rdma_dscps: tuple[int, ...] = ()
    profile_dirs: tuple[str, ...] = ()
    intended: Mapping[str, Switch] = {}
    compared: bool = False
    chosen: Callable[[str], Codes | None] = every_rule
    fabric_of: Callable[[str], str] = no_fabric
    named_in: Callable[[str], tuple[int, ...]] = none_named
    without_rdma: Callable[[str, Switch], frozenset[str]] = all_carry
    apart: bool = False
    progress: Progress | None = None

    def intended_switch(self, name: str) -> Switch | None:
        """Return the switch that a device of a name is compared with, with and without its domain."""
        found = self.intended.get(name)
        if found is None and self.intended:
            from lossless.model.fabric.cabling import among

            found = self.intended.get(among(tuple(self.intended)).find(name) or "")
        return found

    def dscps_of(self, file: str) -> tuple[int, ...]:
        """Return the DSCPs that must be lossless on the devices of a file."""
        return self.rdma_dscps or self.named_in(file)

    def is_chosen(self, finding: Finding) -> bool:
        """Return whether the rule of a finding is chosen for the file that it is in."""
        codes = self.chosen(finding.origin.file)
        return codes is None or finding.code in codes

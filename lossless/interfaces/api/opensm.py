"""What a real opensm makes of an InfiniBand subnet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import declaration_of
from lossless.formats.inputs.subnet_manager import lone_subnet
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from os import PathLike

    from lossless.analysis.opensm.check import OpensmVerdict, SweepResult
    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.infiniband.subnet import Subnet


_DEPLOYED = (".conf", ".cfg")


class OpensmResult(NamedTuple):
    """What opensm reported on the files of one subnet, and the subnet as it was simulated."""

    subnet: Subnet
    verdict: OpensmVerdict

    def to_data(self) -> dict[str, Json]:
        """Return it as plain data."""
        verdict, credit_loops = self.verdict, self.verdict.credits
        left_out: list[Json] = list(verdict.left_out)
        loop: list[Json] = list(credit_loops.loop)
        complaints: list[Json] = list(verdict.complaints)
        return {
            "file": self.subnet.files[0] if self.subnet.files else self.subnet.origin.file,
            "subnet": self.subnet.name,
            "accepted": not verdict.complaints,
            "configuration": {
                "read": len(verdict.written),
                "changed": len(verdict.changed),
                "left_out": left_out,
            },
            "intended_engine": verdict.intended,
            "simulated": None if verdict.swept is None else self._simulated(verdict.swept),
            "credit_loops": {
                "state": credit_loops.state,
                "engine": credit_loops.engine,
                "why": credit_loops.why,
                "loop": loop,
            },
            "complaints": complaints,
        }

    def _simulated(self, swept: SweepResult) -> dict[str, Json]:
        switches, hcas = self.subnet.switches, self.subnet.hcas
        notes: list[Json] = list(swept.notes)
        return {
            "up": swept.sweep.up,
            "seconds": round(swept.seconds, 3),
            "engine": swept.sweep.engine,
            "switches": len(switches) if isinstance(switches, tuple) else 0,
            "hcas": len(hcas) if isinstance(hcas, tuple) else 0,
            "partitions": self._partitions(swept),
            "notes": notes,
        }

    def _partitions(self, swept: SweepResult) -> str:
        if any("retrying with default config" in line for line in swept.sweep.partitions):
            return "the file is in error: every port is a full member of 0x7fff"
        if self.subnet.partitions is None:
            return "no file: every port is a full member of 0x7fff"
        count = len(self.subnet.partitions) if isinstance(self.subnet.partitions, tuple) else 0
        return f"{count} from the file" + (", with warnings" if swept.sweep.partitions else "")


def check_with_opensm(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> OpensmResult:
    """Check a subnet with the opensm that is installed here.

    ``path`` is an intent: what render would write for it is read, and brought up on a simulated fabric; GUIDs that
    nobody states are derived, and keys that protect the subnet are left out. Or it is an opensm.conf: it is read with
    no fabric, as its files do not say how one is cabled.

    Raises:
        InputError: the intent or the file cannot be read.
        SubnetManagerError: opensm or ibsim is not installed, or the fabric cannot be simulated.
    """
    from lossless.analysis.opensm import check
    from lossless.analysis.opensm.tools import find_tools

    if str(path).endswith(_DEPLOYED):
        subnet, text = lone_subnet(str(path))
        files = {"opensm.conf": text}
    else:
        subnet, files = _intended(path, options)
    return OpensmResult(subnet, check.check_with_opensm(find_tools(), subnet, files))


def _intended(path: str | PathLike[str], options: Options) -> tuple[Subnet, dict[str, str]]:
    """Return the subnet that an intent declares, and what render writes for the first of its managers."""
    from lossless.formats.device_files.infiniband.files import files_of
    from lossless.model.fabric.infiniband.guids import with_derived_guids

    document = intent_at(path)
    errors: list[Problem] = []
    subnet = declaration_of(document, options.profile_dirs, errors).subnet
    if subnet is None and not errors:
        message = "opensm checks InfiniBand subnets; this intent has another transport"
        errors.append(Problem(document.file, None, None, message))
    if subnet is None or errors:
        raise InputError(errors)
    named = with_derived_guids(subnet)
    return named, files_of(named)

"""The result of opensm on the files of one subnet: the record that its report prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.opensm.check import OpensmVerdict, SweepResult
    from lossless.analysis.routing.infiniband.credit_loops import CreditLoopVerdict
    from lossless.model.fabric.infiniband.subnet import Subnet


class ConfigurationKeys(NamedTuple):
    """How many keys opensm was given, and read with another value; ``left_out`` are those that only NVIDIA's has."""

    read: int
    changed: int
    left_out: tuple[str, ...]


class SimulatedSubnet(NamedTuple):
    """The subnet in the simulation: whether it came up, after how long, and by which engine it is routed."""

    up: bool
    seconds: float
    engine: str | None
    switches: int
    hcas: int
    partitions: str
    notes: tuple[str, ...]


class OpensmResult(NamedTuple):
    """The result of opensm on one subnet; ``simulated`` is None if there is no fabric to simulate.

    It is ``accepted`` if there are no ``complaints``. ``intended_engine`` is the one that the configuration selects.
    """

    file: str
    subnet: str
    accepted: bool
    configuration: ConfigurationKeys
    intended_engine: str
    simulated: SimulatedSubnet | None
    credit_loops: CreditLoopVerdict
    complaints: tuple[str, ...]


def opensm_result(subnet: Subnet, verdict: OpensmVerdict) -> OpensmResult:
    """Return the result of a subnet as it was simulated."""
    return OpensmResult(
        file=subnet.files[0] if subnet.files else subnet.origin.file,
        subnet=subnet.name,
        accepted=not verdict.complaints,
        configuration=ConfigurationKeys(len(verdict.written), len(verdict.changed), verdict.left_out),
        intended_engine=verdict.intended,
        simulated=None if verdict.swept is None else _simulated(subnet, verdict.swept),
        credit_loops=verdict.credits,
        complaints=verdict.complaints,
    )


def _simulated(subnet: Subnet, swept: SweepResult) -> SimulatedSubnet:
    switches, hcas = subnet.switches, subnet.hcas
    return SimulatedSubnet(
        up=swept.sweep.up,
        seconds=round(swept.seconds, 3),
        engine=swept.sweep.engine,
        switches=len(switches) if isinstance(switches, tuple) else 0,
        hcas=len(hcas) if isinstance(hcas, tuple) else 0,
        partitions=_partitions(subnet, swept),
        notes=swept.notes,
    )


def _partitions(subnet: Subnet, swept: SweepResult) -> str:
    if any("retrying with default config" in line for line in swept.sweep.partitions):
        return "the file is in error: every port is a full member of 0x7fff"
    if subnet.partitions is None:
        return "no file: every port is a full member of 0x7fff"
    count = len(subnet.partitions) if isinstance(subnet.partitions, tuple) else 0
    return f"{count} from the file" + (", with warnings" if swept.sweep.partitions else "")

"""The GPUs of a fabric's hosts, and the failures that the fabric must tolerate, both declared by an intent."""

from __future__ import annotations

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.routing import FabricElement


class ScaleUp(NamedTuple):
    """The interconnect of the GPUs of a domain outside the fabric; ``rate_bps`` is the rate of one GPU, one way.

    ``most_gpus`` is the largest possible domain of this ``name``.
    """

    name: str
    domain_gpus: int
    rate_bps: int
    most_gpus: int
    origin: Origin


class Cluster(NamedTuple):
    """The GPUs of every host. None: not declared.

    ``rails`` is the number of rails that NICs are spread over, ``gpus`` the total number of GPUs, and
    ``bandwidth_bps`` the declared bandwidth of each on the fabric, one way.
    """

    gpus_per_host: int
    nics_per_host: int | None
    gpus: int | None
    rails: int | None
    bandwidth_bps: int | None
    scale_up: ScaleUp | None
    origin: Origin

    @property
    def domain_gpus(self) -> int:
        """Number of GPUs in one domain outside the fabric; 1 without such an interconnect."""
        return self.scale_up.domain_gpus if self.scale_up else 1


class Failures(NamedTuple):
    """Failures to tolerate: any ``links`` at once, or any ``switches``, besides elements that are ``out_of_service``.

    ``accepted`` is the oversubscription that such failures may cause, None where an intent declares none.
    """

    links: int
    switches: int
    accepted: float | None
    out_of_service: tuple[FabricElement, ...]
    origin: Origin

    def works(self, near: str, far: str) -> bool:
        """Return whether links between two devices are in service, and so are both devices."""
        return not any(set(cable.names) <= {near, far} for cable in self.out_of_service)

    @property
    def gone(self) -> tuple[str, ...]:
        """The elements out of service as text: ``spine2``, ``leaf1 - spine1``."""
        return tuple(" - ".join(cable.names) for cable in self.out_of_service)

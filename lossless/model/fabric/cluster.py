"""The GPUs behind the hosts of a fabric, and what failures it must bear: what an intent says of both."""

from __future__ import annotations

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.routing import FabricElement


class ScaleUp(NamedTuple):
    """What joins the GPUs of a domain without the fabric; ``rate_bps`` is what one GPU sends, one way.

    ``most_gpus`` is the largest domain there can be of this ``name``.
    """

    name: str
    domain_gpus: int
    rate_bps: int
    most_gpus: int
    origin: Origin


class Cluster(NamedTuple):
    """The GPUs of every host. None: the intent says nothing of it.

    ``rails``: how many rails NICs are spread over; ``gpus`` how many there are in all and
    ``bandwidth_bps`` what each has on the fabric, one way, as stated.
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
        """GPUs that reach each other without the fabric; 1 where nothing joins them."""
        return self.scale_up.domain_gpus if self.scale_up else 1


class Failures(NamedTuple):
    """What a fabric must bear: any ``links`` at once, or any ``switches``, besides what is ``out_of_service``.

    ``accepted`` is the oversubscription that such failures may lead to, None where an intent says nothing of it.
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
        """What is out of service, in words: ``spine2``, ``leaf1 - spine1``."""
        return tuple(" - ".join(cable.names) for cable in self.out_of_service)

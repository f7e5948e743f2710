"""A fabric that a cloud provider operates: its switches cannot be configured, only the environment of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import Variable
    from lossless.model.hardware.clouds import CloudNetwork, Transport


class ManagedFabric(NamedTuple):
    """The declaration of a fabric that a cloud provider operates.

    ``network`` is None where the cloud has several and the intent does not select one. ``variables`` are the
    environment of jobs, in the order of rendered files; ``stated`` are those of them that the intent declares.
    """

    transport: Transport
    machine: str | None
    network: CloudNetwork | None
    variables: tuple[Variable, ...]
    stated: tuple[Variable, ...]
    origin: Origin

"""A fabric that a cloud runs: whose switches nobody here configures, and what jobs on it are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import Variable
    from lossless.model.hardware.clouds import CloudNetwork, Transport


class ManagedFabric(NamedTuple):
    """What an intent says of a fabric that a cloud runs.

    ``network`` is None where the cloud has several and nothing says which. ``variables`` are what jobs are given, in
    the order in which files have them; ``stated`` are those of them that the intent names.
    """

    transport: Transport
    machine: str | None
    network: CloudNetwork | None
    variables: tuple[Variable, ...]
    stated: tuple[Variable, ...]
    origin: Origin

"""The inputs of the alerts of a fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.prometheus.promql import FabricSeries
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.formats.telemetry.prometheus.host_facts import HostFacts
    from lossless.formats.telemetry.prometheus.inventory import Inventory
    from lossless.formats.telemetry.prometheus.times import AlertTimes


class AlertContext(NamedTuple):
    """Inputs of alerts. ``pfc_only``: senders react only to pauses. ``polled``: groups with intended polling."""

    intended: Inventory
    every: AlertTimes
    hosts: HostFacts
    pfc_only: bool
    polled: tuple[str, ...]

    @property
    def of(self) -> FabricSeries:
        """The series of the fabric."""
        return FabricSeries(self.intended.fabric)

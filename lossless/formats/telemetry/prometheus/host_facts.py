"""Facts about the hosts of an intent for alerts on hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Fabric


class HostFacts(NamedTuple):
    """Drivers of the NICs, and their RDMA devices and interfaces where the intent names those of all hosts.

    ``dcqcn``: some hosts react to CNPs. ``mlx5_only``: all NICs are known to have that driver.
    """

    drivers: tuple[str, ...]
    rdma_devices: tuple[str, ...]
    interfaces: tuple[str, ...]
    dcqcn: bool
    mlx5_only: bool


def host_facts(fabric: Fabric) -> HostFacts:
    """Return the facts about a fabric's hosts that alerts use."""
    kinds = tuple({id(host.qos): host.qos for host in fabric.hosts}.values())
    return HostFacts(
        drivers=tuple(sorted({qos.driver for qos in kinds if isinstance(qos.driver, str)})),
        rdma_devices=_all_of(kinds, "rdma_devices"),
        interfaces=_all_of(kinds, "interfaces"),
        dcqcn=any(qos.dcqcn.enabled is True for qos in kinds),
        mlx5_only=all(qos.driver == "mlx5" for qos in kinds),
    )


def _all_of(kinds: tuple[HostQos, ...], field: str) -> tuple[str, ...]:
    """Return the names in a field of all kinds of hosts; none where a kind has none, since its names could be any."""
    names = [getattr(qos, field) for qos in kinds]
    return tuple(sorted({name for of_kind in names for name in of_kind})) if all(names) else ()

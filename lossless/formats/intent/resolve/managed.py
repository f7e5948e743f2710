"""Turns the intent of a cloud provider's fabric into the fabric model, and lists the cables that an intent declares.

A provider's fabric has no switches or hosts in the model, only its machine type, GPUs and jobs.
Cables have port names as far as the intent or its shape determines them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.resolve.asics import ends_of
from lossless.formats.intent.resolve.hosts import exactly, resolved_cluster
from lossless.model.fabric.cabling import CableEnd, PlannedCable
from lossless.model.fabric.hosts import ManagedFabric, Variable
from lossless.model.fabric.model import ClassSet, Fabric
from lossless.model.hardware.clouds import machine_of, network_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.topology.shapes import LinkBundle
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.managed import LoadedManagedIntent
    from lossless.formats.intent.resolve.asics import End
    from lossless.formats.intent.resolve.fabric import WiredFabric
    from lossless.model.hardware.clouds import CloudNetwork


def planned_cables(wired: WiredFabric, loaded: LoadedIntent) -> Iterator[PlannedCable]:
    """Yield every cable with at least one end at a declared switch, that end first.

    Links to outside devices are included. A host's port has a name only where the intent or its shape determines one.
    """
    topology = loaded.intent.topology
    stated = {*(topology.devices or ()), *topology.names.values()}
    for bundle, near, far in ends_of(wired.plan, wired.devices):
        a = _end(near) if bundle.a in wired.devices else CableEnd(bundle.a, bundle.a_port)
        b = _end(far) if bundle.b in wired.devices else CableEnd(bundle.b, bundle.b_port)
        if bundle.a in wired.devices:
            yield _cable(bundle, a, b, bundle.b in stated)
        elif bundle.b in wired.devices:
            yield _cable(bundle, b, a, bundle.a in stated)


def _end(at: End) -> CableEnd:
    """Return a cable end by device and front-panel port, without the ASIC."""
    return CableEnd(at[0].partition(":")[0], at[1])


def _cable(bundle: LinkBundle, a: CableEnd, b: CableEnd, named: bool) -> PlannedCable:
    return PlannedCable(
        a, b, bundle.speed_bps, bundle.cable_m, bundle.tier, bundle.origin, bundle.cable_origin, named
    )


def resolve_managed(loaded: LoadedManagedIntent) -> Fabric:
    """Return the fabric of an intent for a cloud provider's network."""
    intent = loaded.intent
    network = network_of(intent.transport, intent.machine)
    stated = tuple(_stated(loaded))
    return Fabric(
        name=intent.fabric,
        provenance="intent",
        classes=ClassSet("declared", ()),
        congestion=None,
        switches=(),
        hosts=(),
        links=(),
        networks=(),
        capacities=(),
        sources=(loaded.document.file,),
        cluster=resolved_cluster(intent.cluster, loaded.origin("cluster")),
        managed=ManagedFabric(
            transport=intent.transport,
            machine=machine_of(intent.transport, intent.machine),
            network=network,
            variables=(*_of_image(loaded, network, stated), *stated),
            stated=stated,
            origin=loaded.origin("transport"),
        ),
    )


def _stated(loaded: LoadedManagedIntent) -> Iterator[Variable]:
    hosts = loaded.intent.hosts
    names = exactly(hosts.nccl.socket_interfaces)
    if names is not None:
        yield Variable("NCCL_SOCKET_IFNAME", names, loaded.origin("hosts", "nccl", "socket_interfaces"))
    for name, value in sorted(hosts.environment.items()):
        yield Variable(name, value, loaded.origin("hosts", "environment", name))


def _of_image(
    loaded: LoadedManagedIntent, network: CloudNetwork | None, stated: tuple[Variable, ...]
) -> Iterator[Variable]:
    """Yield the variables in /etc/nccl.conf of the provider's image that the intent does not declare.

    A file that replaces that one must keep them.
    """
    named = {variable.name for variable in stated}
    for name, value in network.image if network else ():
        if name not in named:
            yield Variable(name, value, loaded.origin("machine"))

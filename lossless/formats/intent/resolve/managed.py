"""Turns the intent of a cloud provider's fabric into the fabric model: no switches, and the environment of its jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.resolve.jobs import exactly
from lossless.model.fabric.hosts import Variable
from lossless.model.fabric.managed import ManagedFabric
from lossless.model.fabric.model import ClassSet, Fabric
from lossless.model.hardware.clouds import network_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.managed.load import LoadedManagedIntent
    from lossless.model.hardware.clouds import CloudNetwork


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
        managed=ManagedFabric(
            transport=intent.transport,
            machine=intent.machine,
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
    """Yield the variables in /etc/nccl.conf of the provider's image, which a file that replaces it must keep."""
    named = {variable.name for variable in stated}
    for name, value in network.image if network else ():
        if name not in named:
            yield Variable(name, value, loaded.origin("machine"))

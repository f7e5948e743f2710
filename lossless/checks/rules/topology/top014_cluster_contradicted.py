"""The declared cluster of an intent must agree with its hosts and their links.

Severity: warning
Subject: intent, subnet, cloud

## What it does
Where an intent states a `cluster`, compares it with the hosts of the topology: the number of all GPUs with the sum over
the hosts; the bandwidth per GPU with the host links' bandwidth for each; the RDMA NICs of a host with its links, of
which each needs at least one and all equally many; the NVLink or UALink domain with the GPUs of a host, of which a
domain holds whole ones, or a host whole domains, with all GPUs together, and with the largest domain of that
generation. With several `rails`, hosts that share a leaf must reach the same leaves, and more than one where the fabric
has more. In an InfiniBand subnet its compute hosts are compared, and the ports of their HCAs. On a cloud it is what the
provider publishes of the `machine`: GPUs, NICs for them and their rate, generation and domain of NVLink. Facts that the
`cluster` does not state are not checked.

## Why it breaks a lossless fabric
Oversubscription, buffers and the time of a step are computed from the bandwidth per GPU. One NIC for two GPUs instead
of one for each halves it, and a cable in the leaf of another rail sends traffic of one hop through the spines, where it
meets the traffic of all others.

## Bad
```yaml intent base=leaf-spine
cluster:
  gpus_per_host: 8
  gpus: 256   # <- here
```

```yaml intent base=leaf-spine
cluster:
  gpus_per_host: 8
  bandwidth_per_gpu: 400G   # <- here
```

```yaml intent base=leaf-spine
cluster:
  gpus_per_host: 8
  nics_per_host: 8   # <- here
```

```yaml intent base=leaf-spine
cluster:
  gpus_per_host: 8
  nvlink:
    generation: 5
    domain: 36   # <- here
```

```yaml intent base=leaf-spine
cluster:
  gpus_per_host: 8
  rails: 2   # <- here
```

```yaml intent base=infiniband
cluster:
  gpus_per_host: 8
  gpus: 255   # <- here
```

```yaml intent base=none
lossless: v1
fabric: train
transport: efa
machine: p4d.24xlarge
cluster:
  gpus_per_host: 8
  bandwidth_per_gpu: 400G   # <- here
```

## Good
```yaml intent base=leaf-spine
cluster: {gpus_per_host: 8, gpus: 64, nics_per_host: 2, bandwidth_per_gpu: 100G, nvlink: {generation: 4, domain: 8}}
```

```yaml intent base=leaf-spine
cluster: {gpus_per_host: 4, nvlink: {generation: 5, domain: 32}}
```

```yaml intent base=none
lossless: v1
fabric: train
transport: efa   # lossless: ignore[MGD001] -- known
machine: p5.48xlarge
cluster: {gpus_per_host: 8, gpus: 256, bandwidth_per_gpu: 400G, nics_per_host: 32, nvlink: {generation: 4, domain: 8}}
```

## Fix
Correct whichever of the two is wrong: the `cluster`, or the topology or `machine`.

## Sources
- arithmetic: hosts times GPUs, links by NIC, hosts by domain
- docs.nvidia.com, Mission Control manual, nvlinkinfo (576 GPUs in one NVLink 5 domain)
- the providers' pages of machine types, named for each in lossless/model/hardware/clouds.py
- tomshardware.com, release of UALink 200G 1.0 (1,024 accelerators in one pod)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import Unknown
from lossless.ground.basics.units import format_capacity
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.model.fabric.cluster import Cluster, ScaleUp
    from lossless.model.fabric.hosts import ManagedFabric
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Link
    from lossless.model.hardware.clouds import CloudMachine

    LinksOfHosts = Mapping[str, Sequence[Link]]
    """The links of each host by its name, those without any included."""


def check(subject: View | Subnet) -> Results:
    """Yield a violation per statement of the intent's ``cluster`` that the hosts or their links contradict.

    On a cloud it is compared with the published figures of the machine type.
    """
    if isinstance(subject, View) and subject.fabric.managed is not None:
        if subject.fabric.cluster is not None:
            yield from _on_cloud(subject.fabric.cluster, subject.fabric.managed)
        return
    cluster, links_of = (
        (subject.fabric.cluster, _of_fabric(subject))
        if isinstance(subject, View)
        else (subject.cluster, _of_subnet(subject))
    )
    if cluster is None or not links_of:
        return
    yield from _total(cluster, len(links_of))
    yield from _bandwidth(cluster, links_of)
    yield from _nics(cluster, links_of)
    if cluster.scale_up is not None:
        yield from _domain(cluster, cluster.scale_up, len(links_of) * cluster.gpus_per_host)
    if cluster.rails is not None and cluster.rails > 1:
        yield from _rails(cluster, cluster.rails, links_of)


def _on_cloud(cluster: Cluster, managed: ManagedFabric) -> Results:
    machine = managed.machine
    if machine is None:
        yield MissingInput(
            "what GPUs and NICs the machines have depends on machine, which the intent does not state"
        )
        return
    if cluster.gpus_per_host != machine.gpus:
        problem = f"{machine.name} has {machine.gpus} GPUs, not {cluster.gpus_per_host}"
        yield _unlike(cluster, "gpus_per_host", problem, machine.gpus)
    elif cluster.gpus is not None and cluster.gpus % machine.gpus:
        problem = f"{cluster.gpus:,} GPUs are no whole number of machines with {machine.gpus} each"
        yield _unlike(cluster, "gpus", problem, machine.gpus)
    if cluster.bandwidth_bps is not None and cluster.bandwidth_bps * machine.gpus > machine.rate_bps:
        faster = f"another machine than {machine.name}"
        yield _slow(cluster, cluster.bandwidth_bps, (machine.rate_bps, machine.gpus), faster)
    if cluster.nics_per_host not in (None, machine.nics):
        problem = f"{machine.name} has {machine.nics} NICs for its GPUs, not {cluster.nics_per_host}"
        yield _unlike(cluster, "nics_per_host", problem, machine.nics)
    if cluster.scale_up is not None:
        yield from _joined(cluster, cluster.scale_up, machine)


def _joined(cluster: Cluster, scale_up: ScaleUp, machine: CloudMachine) -> Iterator[Violation]:
    name = None if machine.nvlink is None else f"NVLink {machine.nvlink}"
    if scale_up.name != name:
        problem = f"{machine.name} has {name or 'no NVLink'}, not {scale_up.name}"
        yield _unlike(cluster, "nvlink" if scale_up.name.startswith("NVLink") else "ualink", problem, name)
    elif scale_up.domain_gpus > machine.domain_gpus:
        problem = f"a domain of {machine.name} has {machine.domain_gpus} GPUs, not {scale_up.domain_gpus:,}"
        yield _unlike(cluster, "nvlink", problem, machine.domain_gpus)


def _unlike(cluster: Cluster, key: str, problem: str, has: int | str | None) -> Violation:
    """Return the violation of a key of ``cluster``; ``has`` is the value of the machine."""
    return Violation(
        origin=cluster.origin.at(key),
        message=problem,
        help=f"correct {key}, or machine",
        data={"has": has},
    )


def _of_fabric(view: View) -> LinksOfHosts:
    return {host.name: view.links_of.get(host.name, ()) for host in view.fabric.hosts}


def _of_subnet(subnet: Subnet) -> LinksOfHosts:
    from lossless.analysis.topology.subnet import COMPUTE, subnet_fabric

    if isinstance(subnet.hosts, Unknown):
        return {}
    links_of = View(subnet_fabric(subnet, COMPUTE)).links_of
    return {host.name: links_of.get(host.name, ()) for host in subnet.hosts if host.role in COMPUTE}


def _total(cluster: Cluster, hosts: int) -> Iterator[Violation]:
    gpus = hosts * cluster.gpus_per_host
    if cluster.gpus is not None and cluster.gpus != gpus:
        yield Violation(
            origin=cluster.origin.at("gpus"),
            message=f"{hosts:,} hosts with {cluster.gpus_per_host} GPUs each have {gpus:,}, not {cluster.gpus:,}",
            help="correct gpus, gpus_per_host or the number of hosts; what has no GPUs, as storage, can be outside",
            data={"gpus": gpus, "stated": cluster.gpus, "hosts": hosts},
        )


def _bandwidth(cluster: Cluster, links_of: LinksOfHosts) -> Iterator[Violation]:
    stated = cluster.bandwidth_bps
    if stated is None:
        return
    by_rate = grouped((sum(link.speed_bps for link in links), host) for host, links in links_of.items())
    for rate_bps, hosts in by_rate.items():
        if rate_bps < stated * cluster.gpus_per_host:
            wanted = f"links of {format_capacity(stated * cluster.gpus_per_host)} per host"
            yield _slow(cluster, stated, (rate_bps, cluster.gpus_per_host), wanted, hosts)


def _slow(
    cluster: Cluster, stated: int, host: tuple[int, int], wanted: str, hosts: Sequence[str] = ()
) -> Violation:
    """Return the violation of hosts whose rate, the first of ``host``, is too low for their GPUs, the second."""
    rate_bps, gpus = host
    each = rate_bps // gpus
    return Violation(
        origin=cluster.origin.at("bandwidth_per_gpu"),
        message=f"{format_capacity(rate_bps)} per host are {format_capacity(each)} for each of its "
        f"{gpus} GPUs, not {format_capacity(stated)}",
        help=f"{wanted}; or state what there is",
        elements=tuple(hosts),
        data={"per_gpu_bps": each, "stated_bps": stated},
    )


def _nics(cluster: Cluster, links_of: LinksOfHosts) -> Iterator[Violation]:
    stated = cluster.nics_per_host
    if stated is None:
        return
    by_links = grouped((len(links), host) for host, links in links_of.items())
    for links, hosts in by_links.items():
        if not links or links % stated:
            yield _nics_violation(cluster, stated, links, hosts)


def _nics_violation(cluster: Cluster, stated: int, links: int, hosts: Sequence[str]) -> Violation:
    short = links < stated
    none = f"{stated - links} of them {'has' if stated - links == 1 else 'have'} none"
    why = none if short else "they do not get equally many"
    return Violation(
        origin=cluster.origin.at("nics_per_host"),
        message=f"a host has {links} {'link' if links == 1 else 'links'} for {stated} NICs: {why}",
        note=f"{cluster.gpus_per_host} GPUs share the {links}" if links else "",
        help=f"{stated} links per host, or as many for each NIC; or correct nics_per_host",
        elements=tuple(hosts),
        data={"links": links, "nics": stated},
    )


def _domain(cluster: Cluster, scale_up: ScaleUp, gpus: int) -> Iterator[Violation]:
    domain, own = scale_up.domain_gpus, cluster.gpus_per_host
    message, filling = None, False
    if scale_up.most_gpus is not None and domain > scale_up.most_gpus:
        message = f"{scale_up.name} joins at most {scale_up.most_gpus:,} GPUs, not {domain:,}"
    elif domain % own and own % domain:
        message = f"a domain of {domain} GPUs is no whole number of hosts with {own} each"
    elif domain > gpus:
        message = f"a domain of {domain} GPUs is larger than all hosts together, which have {gpus:,}"
        filling = True  # a rack that is not full yet looks the same
    if message is not None:
        yield Violation(
            origin=scale_up.origin.at("domain"),
            message=message,
            help="correct domain or gpus_per_host",
            data={"domain": domain, "gpus_per_host": own, "gpus": gpus, "most": scale_up.most_gpus},
            severity="info" if filling else None,
        )


def _rails(cluster: Cluster, rails: int, links_of: LinksOfHosts) -> Iterator[Violation]:
    """Yield violations where hosts that share a leaf have different leaves, and for hosts with one leaf of several."""
    leaves_of = {
        host: frozenset(link.a.partition(":")[0] for link in links) for host, links in links_of.items()
    }
    first_at: dict[str, tuple[str, frozenset[str]]] = {}
    crossed: dict[tuple[str, str, str], list[str]] = {}
    for host, leaves in leaves_of.items():
        for leaf in sorted(leaves):
            first, expected = first_at.setdefault(leaf, (host, leaves))
            if expected != leaves:
                missing, instead = min(expected - leaves, default=""), min(leaves - expected, default="")
                crossed.setdefault((first, missing, instead), []).append(host)
                break
    for (first, missing, instead), hosts in crossed.items():
        yield _crossed(cluster, first, missing, instead, hosts)
    reported = {host for hosts in crossed.values() for host in hosts}
    single = tuple(host for host, leaves in leaves_of.items() if len(leaves) == 1 and host not in reported)
    if single and len(first_at) > 1:
        yield _one_leaf(cluster, rails, single, len(leaves_of))


def _crossed(cluster: Cluster, first: str, missing: str, instead: str, hosts: list[str]) -> Violation:
    differs = f"goes to {instead} instead of {missing}" if missing else f"goes to {instead} besides"
    if not instead:
        differs = f"does not reach {missing}"
    return Violation(
        origin=cluster.origin.at("rails"),
        message=f"{hosts[0]} shares a leaf with {first}, but {differs}",
        note="the NICs of one rail must be on one leaf",
        help="move the cable; leave rails out where none are meant",
        elements=tuple(hosts),
        data={"missing": missing, "instead": instead},
    )


def _one_leaf(cluster: Cluster, rails: int, hosts: tuple[str, ...], of: int) -> Violation:
    return Violation(
        origin=cluster.origin.at("rails"),
        message=f"{rails} rails are stated, and {'every host is' if len(hosts) == of else f'{hosts[0]} is'} "
        "on one leaf with all its NICs",
        note="a rail is a leaf, or several, that one NIC of every host is connected to",
        help="connect the NICs of a host to different leaves, or leave rails out",
        elements=hosts,
        data={"rails": rails},
    )

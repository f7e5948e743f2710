"""The topology file of ibsim: a subnet's nodes and cables as text.

The form is that of ibnetdiscover's output, with the additions that ibsim-utils 0.10 needs: every cable at both of its
ends, the GUID before each node, and width and speed in a comment that has the word ``lid`` too.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from lossless.analysis.routing.infiniband.channels import subnet_graph
from lossless.ground.basics.errors import SubnetManagerError
from lossless.ground.basics.known import Unknown
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.infiniband.guids import with_derived_guids

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.infiniband.subnet import Hca, Subnet, SubnetLink, SubnetSwitch

KNOWN_SPEEDS = frozenset({"SDR", "DDR", "QDR", "FDR", "FDR10", "EDR", "HDR", "NDR"})
"""The speeds that ibsim 0.10 can parse; any other is simulated as the fastest of these."""
_FASTEST = "NDR"


class IbsimFabric(NamedTuple):
    """The simulated fabric: the topology as text, and its size.

    ``nodes`` has ibsim's name of each switch and HCA. ``replaced`` are speeds that ibsim cannot parse, and that are
    simulated as NDR. ``subnet`` has a GUID everywhere, stated or derived.
    """

    text: str
    subnet: Subnet
    nodes: dict[str, str]
    ports: int
    replaced: tuple[str, ...]


class _End(NamedTuple):
    port: int
    far: str
    far_port: int
    width: str


def ibsim_fabric(subnet: Subnet) -> IbsimFabric:
    """Return the topology of a subnet for ibsim.

    Raises:
        SubnetManagerError: the cabling of the fabric is unknown or impossible.
    """
    graph = subnet_graph(subnet)
    if isinstance(graph, str):
        raise SubnetManagerError(f"nothing to simulate: {graph}")
    named = with_derived_guids(subnet)
    switches, hcas, links = named.switches, named.hcas, named.links
    assert not isinstance(switches, Unknown)
    assert not isinstance(hcas, Unknown)
    assert not isinstance(links, Unknown)
    nodes = {switch.name: f"S{number}" for number, switch in enumerate(switches, 1)}
    nodes |= {hca.name: f"H{number}" for number, hca in enumerate(hcas, 1)}
    replaced = {link.rate.generation for link in links} - KNOWN_SPEEDS
    ends = _ends(links)
    lines = [line for node in switches for line in _switch(node, nodes, ends[node.name])]
    lines += [line for node in hcas for line in _hca(node, nodes, ends[node.name])]
    ports = sum(switch.ports + 1 for switch in switches) + 2 * len(hcas)
    return IbsimFabric("\n".join(lines), named, nodes, ports, tuple(sorted(replaced)))


def _ends(links: Sequence[SubnetLink]) -> defaultdict[str, list[_End]]:
    ends_of: defaultdict[str, list[_End]] = defaultdict(list)
    for link in links:
        speed = link.rate.generation if link.rate.generation in KNOWN_SPEEDS else _FASTEST
        width = f"{link.rate.lanes}x{speed}"
        ends_of[link.a].append(_End(link.a_port or 0, link.b, link.b_port or 0, width))
        ends_of[link.b].append(_End(link.b_port or 0, link.a, link.a_port or 0, width))
    return ends_of


def _switch(switch: SubnetSwitch, nodes: dict[str, str], ends: list[_End]) -> Iterator[str]:
    yield f"switchguid=0x{switch.guid or 0:x}"
    yield f'Switch {switch.ports} "{nodes[switch.name]}"  # "{switch.name}" base port 0 lid 0 lmc 0'
    for end in sorted(ends):
        yield f'[{end.port}] "{nodes[end.far]}"[{end.far_port}]  # "{end.far}" lid 0 {end.width}'
    yield ""


def _hca(hca: Hca, nodes: dict[str, str], ends: list[_End]) -> Iterator[str]:
    # The first port of a simulated HCA has the GUID after that of its node.
    yield f"caguid=0x{(hca.guid or 1) - 1:x}"
    yield f'Ca 1 "{nodes[hca.name]}"  # "{hca.name}"'
    for end in sorted(ends):
        yield f'[{end.port}] "{nodes[end.far]}"[{end.far_port}]  # lid 0 lmc 0 "{end.far}" lid 0 {end.width}'
    yield ""

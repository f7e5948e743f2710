"""Facts about network adapters and interconnects of GPUs, and switches with several ASICs or other port names.

An interconnect has the size of a domain, and the rate of each GPU. Rates are one way, as everywhere here; vendors
print NVLink as both directions together.

The profile of a switch is converted to the port names of a system other than SONiC; all else stays unchanged. Each
ASIC of a switch has its own cages, buffers and configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.model import SONIC, Hwsku, PacketReorder, PortSpec, SwitchProfile, split

if TYPE_CHECKING:
    from lossless.model.hardware.model import AsicCages, Cage, PortNaming


MLX5_CABLE_LIMIT_M = 1000
"""mlx5 ignores a cable of this length or more (MLX5E_MAX_CABLE_LENGTH, Linux mlx5/core/en_dcbnl.c)."""


class Parameter(NamedTuple):
    """One tunable of a network adapter: a firmware default, its unit and its range.

    A bound is None where no checkable source states it. ``source`` is a key of the profile's ``sources``.
    """

    default: int
    unit: str
    minimum: int | None
    maximum: int | None
    source: str
    note: str


Algorithm = Literal["DCQCN", "ZTR-RTTCC"]
"""Congestion control by the name that its vendor uses; of these the packet-level model has DCQCN alone."""


class ShippedControl(NamedTuple):
    """The congestion control of an adapter as shipped.

    ``algorithm`` is None where no public source names it. ``defaults_of`` is the product that the DCQCN parameters of
    the profile were printed by, None where they are the adapter's own or unknown.
    """

    algorithm: Algorithm | None
    defaults_of: str | None
    source: str


class StallPrevention(NamedTuple):
    """The time after which an adapter with a stuck receiver stops pausing its switch, in milliseconds."""

    tunable: str
    default_ms: int
    auto_ms: int
    minimum_ms: int
    maximum_ms: int
    source: str


Tool = Literal["mlnx_qos", "dcb", "niccli"]
"""The program that sets trust, DSCP map and PFC of an adapter on a host."""
_TOOLS: Mapping[str, tuple[Tool, ...]] = {"mlx5": ("mlnx_qos", "dcb"), "bnxt_re": ("dcb", "niccli")}
"""Tools by driver, the default first; dcb is that of Broadcom's own script (bnxt_setupcc.sh 236.1.155.0)."""


class NicProfile(NamedTuple):
    """One network adapter product.

    ``driver`` is the kernel's RDMA driver. This program supports the settings of ``mlx5`` and ``bnxt_re``; for another
    one only those that Linux has for any NIC.

    ``rates_bps`` are the rates of one port; ``ports`` the most ports of one card, None where unknown.
    ``pci_id`` is ``vendor:device`` in hexadecimal. ``dcqcn`` maps a firmware setting without its port suffix
    (``RPG_AI_RATE``) to its default, which differs by version, and range. ``infiniband`` lists the rates of one port on
    InfiniBand, slowest first; empty without InfiniBand. ``reorder`` is None where no source states whether it accepts
    packets out of order. ``ultra_ethernet``: a public source states that it supports Ultra Ethernet's transport; False:
    no source does. ``shipped_control`` is None where no source states anything of its congestion control.
    """

    name: str
    product: str
    vendor: str
    driver: str
    rates_bps: tuple[int, ...]
    ports: int | None
    pci_id: str | None
    dcqcn: Mapping[str, Parameter]
    cnp_dscp: int | None
    cnp_priority: int | None
    stall_prevention: StallPrevention | None
    sources: Mapping[str, str]
    infiniband: tuple[str, ...] = ()
    reorder: PacketReorder | None = None
    ultra_ethernet: bool = False
    shipped_control: ShippedControl | None = None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that can set it, the default first; dcb sets any adapter."""
        return _TOOLS.get(self.driver, ("dcb",))


_GIGABYTE_BITS = 8 * 10**9


class Generation(NamedTuple):
    """One generation of NVLink: the rate of a GPU, one way, and the most GPUs of one domain, None where unknown."""

    rate_bps: int
    most_gpus: int | None


NVLINK = {
    1: Generation(80 * _GIGABYTE_BITS, None),
    2: Generation(150 * _GIGABYTE_BITS, None),
    3: Generation(300 * _GIGABYTE_BITS, None),
    4: Generation(450 * _GIGABYTE_BITS, 256),
    5: Generation(900 * _GIGABYTE_BITS, 576),
    6: Generation(1800 * _GIGABYTE_BITS, None),
}
"""NVLink by generation.

NVLink 1 to 3: 4 links of 20 GB/s one way on P100, 6 of 25 GB/s on V100, 12 of 25 GB/s on A100 (wikimili.com/en/NVLink,
which cites NVIDIA's white papers). NVLink 4: 450 GB/s one way on H100 (NVIDIA/nccl issue 1264). NVLink 5: 18 links of
100 GB/s, 1.8 TB/s in both directions, twice NVLink 4 (NVIDIA's NVLink page, as carried by
catalogone.com/data-center-and-cloud-computing-nvlink-nvswitch). NVLink 6: 3.6 TB/s in both directions per Rubin GPU,
260 TB/s of 72 (three descriptions of Vera Rubin NVL72, which agree).

Domains: 576 GPUs (docs.nvidia.com Mission Control manual, nvlinkinfo, which prints 900 GB/s one way as both directions
of one link), 256 with NVLink 4 (nvidia.com/de-de/technologies/hopper-architecture: up to 256 in a DGX GH200).
"""

UALINK_MOST_GPUS = 1024
"""Accelerators of one pod in UALink 200G 1.0, whose links of four lanes carry 800 Gb/s each way. How many of them an
accelerator has is the product's (convergedigest.com and tomshardware.com on the release of the specification)."""


@cache
def in_format(profile: SwitchProfile, name: str) -> SwitchProfile:
    """Return a switch profile whose cages and ports have the names of one of its ``formats``, or of SONiC."""
    if name == SONIC:
        return profile
    names = profile.formats[name]
    cages = partial(_cages, profile, names)
    hwskus = tuple(_hwsku(hwsku, cages) for hwsku in profile.hwskus)
    return profile.replaced(cages=cages, hwskus=hwskus, format=name)


def _cages(profile: SwitchProfile, names: PortNaming) -> tuple[Cage, ...]:
    return tuple(
        cage._replace(name=names.of(cage.index, len(cage.lanes)), names=names) for cage in profile.cages
    )


def _hwsku(hwsku: Hwsku, cages: partial[tuple[Cage, ...]]) -> Hwsku:
    return Hwsku(
        hwsku.name,
        ports=lambda: _renamed(hwsku.ports, cages()),
        headroom=lambda: hwsku.headroom,
        buffers=lambda: hwsku.buffers,
        source=hwsku.source,
        platforms=hwsku.platforms,
        headroom_source=hwsku.headroom_source,
    )


def _renamed(ports: tuple[PortSpec, ...], cages: tuple[Cage, ...]) -> tuple[PortSpec, ...]:
    by_index: dict[int, list[PortSpec]] = {}
    for port in ports:
        by_index.setdefault(port.index, []).append(port)
    return tuple(
        port for cage in cages if cage.index in by_index for port in _ports_of(cage, by_index[cage.index])
    )


def _ports_of(cage: Cage, ports: list[PortSpec]) -> tuple[PortSpec, ...]:
    lanes = sum(len(port.lanes) for port in ports)
    return split(cage, len(ports), lanes, ports[0].speed_bps, "")


class AsicPart(NamedTuple):
    """One ASIC of a switch (``asic0``), as a profile and a HWSKU of its own cages and ports alone."""

    name: str
    profile: SwitchProfile
    hwsku: Hwsku


def asic_parts(profile: SwitchProfile, hwsku: Hwsku) -> tuple[AsicPart, ...]:
    """Return the ASICs of a switch; empty for one with a single ASIC, which its profile describes."""
    return tuple(_part(profile, hwsku, asic) for asic in profile.asics)


def _part(profile: SwitchProfile, hwsku: Hwsku, asic: AsicCages) -> AsicPart:
    ports = tuple(port for port in hwsku.ports if port.index in asic.indexes)
    own = Hwsku(hwsku.name, ports, hwsku.headroom, hwsku.buffers, hwsku.source, hwsku.platforms)
    cages = tuple(cage for cage in profile.cages if cage.index in asic.indexes)
    part = profile.replaced(cages=cages, hwskus=(own,), default_hwsku=own.name, asics=())
    return AsicPart(asic.name, part, own)

"""Turns the intent of a subnet and hardware profiles into the model of the subnet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.topology.cabling_comparison import TIERS
from lossless.formats.intent.resolve.infiniband.guids import guids_of
from lossless.formats.intent.resolve.infiniband.names import HostNames
from lossless.formats.intent.resolve.infiniband.options import levels_of, options_of
from lossless.formats.intent.resolve.infiniband.ports import SubnetPortUse, demand, place
from lossless.formats.intent.resolve.infiniband.service import Services
from lossless.formats.intent.resolve.infiniband.wiring import layout_of
from lossless.ground.basics.errors import InputError, ProfileError
from lossless.model.fabric.infiniband.qos_options import qos_of
from lossless.model.fabric.infiniband.rates import RATES
from lossless.model.fabric.infiniband.subnet import (
    Hca,
    ManagerSetting,
    Secret,
    Subnet,
    SubnetHost,
    SubnetLink,
    SubnetShape,
    SubnetSwitch,
)
from lossless.model.hardware.infiniband import load_hca, load_infiniband_switch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from lossless.analysis.topology.cabling_comparison import HostSpot, SubnetLayout, SwitchSpot
    from lossless.formats.intent.infiniband.load import LoadedSubnet
    from lossless.formats.intent.resolve.infiniband.ports import SubnetPorts
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import HostRole, ShapeKind, SubnetPortDemand
    from lossless.model.hardware.infiniband import HcaProfile, InfinibandSwitchProfile


def resolve_subnet(loaded: LoadedSubnet, profile_dirs: Sequence[str | PathLike[str]] = ()) -> Subnet:
    """Return the subnet that an intent declares.

    An unsafe or impossible subnet is built nevertheless, for rules to report.

    Raises:
        InputError: a profile, switch, host or level that does not exist, located in the intent.
    """
    return _SubnetResolver(loaded, profile_dirs).subnet()


class _SubnetResolver:
    def __init__(self, loaded: LoadedSubnet, profile_dirs: Sequence[str | PathLike[str]]) -> None:
        self.loaded = loaded
        self.layout: SubnetLayout = layout_of(loaded)
        self.hardware = _Hardware(loaded, profile_dirs)

    def subnet(self) -> Subnet:
        loaded, intent = self.loaded, self.loaded.intent
        switches, links, demands = self._wired()
        hosts, hcas = self._hosts()
        guids = guids_of(loaded, {**switches, **hcas})
        switches = {name: switch._replace(guid=guids.get(name)) for name, switch in switches.items()}
        hcas = {name: hca._replace(guid=guids.get(name)) for name, hca in hcas.items()}
        services = Services(loaded, HostNames(hosts), hcas, switches)
        shape = self._shape()
        options = options_of(loaded)
        subnet = Subnet(
            name=intent.fabric,
            provenance="intent",
            flavour=intent.flavour,
            manager=intent.subnet_manager.manager,
            origin=loaded.origin("subnet_manager"),
            files=(loaded.document.file,),
            options=options,
            secrets=self._secrets(),
            subnet_prefix=intent.subnet_manager.prefix,
            shape=shape,
            switches=tuple(switches.values()),
            hosts=tuple(hosts.values()),
            hcas=tuple(hcas.values()),
            links=links,
            demand=demands,
            managers=services.managers(),
            routing=services.routing(shape.roots),
            qos=qos_of(options, levels_of(loaded), loaded.origin("qos")),
            partitions=services.partitions(),
            sharp=services.sharp(),
            job=services.job(),
            gv=self._gv(),
        )
        services.finish()
        return subnet

    def _wired(self) -> tuple[dict[str, SubnetSwitch], tuple[SubnetLink, ...], tuple[SubnetPortDemand, ...]]:
        """Return the switches, the links with port numbers, and the required ports of every switch."""
        uses: dict[str, list[SubnetPortUse]] = {spot.name: [] for spot in self.layout.switches}
        for wire in self.layout.wires:
            uses[wire.a].append(
                SubnetPortUse(wire.rate, wire.purpose, wire.origin, wire.a_port, wire.a_order)
            )
            if wire.rail is None:
                uses[wire.b].append(
                    SubnetPortUse(wire.rate, wire.purpose, wire.origin, wire.b_port, wire.b_order)
                )
        profiles = {spot.name: self.hardware.switch(spot) for spot in self.layout.switches}
        placed = {name: place(profiles[name][0], ends) for name, ends in uses.items()}
        self._check_named(uses, placed)
        switches = {
            spot.name: _switch(spot, *profiles[spot.name], placed[spot.name].highest)
            for spot in self.layout.switches
        }
        asked = tuple(port_demand for name, ends in uses.items() for port_demand in demand(name, ends))
        return switches, tuple(self._links(placed)), asked

    def _check_named(
        self, uses: Mapping[str, Sequence[SubnetPortUse]], placed: Mapping[str, SubnetPorts]
    ) -> None:
        problems = [
            self.loaded.problem(
                use.origin, f"{name} has ports 1 to {placed[name].highest}, and no {use.port}"
            )
            for name, ends in uses.items()
            for use in ends
            if use.port is not None and use.port > placed[name].highest
        ]
        if problems:
            raise InputError(problems)

    def _links(self, placed: Mapping[str, SubnetPorts]) -> list[SubnetLink]:
        numbers = {name: iter(ports.numbers) for name, ports in placed.items()}
        return [
            SubnetLink(
                wire.a,
                next(numbers[wire.a]),
                wire.b if wire.rail is None else _hca_name(wire.b, wire.rail),
                1 if wire.rail is not None else next(numbers[wire.b]),
                RATES[wire.rate],
                wire.rail is not None,
                wire.origin,
            )
            for wire in self.layout.wires
        ]

    def _hosts(self) -> tuple[dict[str, SubnetHost], dict[str, Hca]]:
        rails: dict[str, list[int]] = {spot.name: [] for spot in self.layout.hosts}
        for wire in self.layout.wires:
            if wire.rail is not None:
                rails[wire.b].append(wire.rail)
        hosts, hcas = {}, {}
        for spot in self.layout.hosts:
            own = {_hca_name(spot.name, rail): rail for rail in sorted(rails[spot.name])}
            hosts[spot.name] = SubnetHost(spot.name, self._role(spot), tuple(own), spot.origin)
            profile, origin = self.hardware.hca(spot)
            for name, rail in own.items():
                hcas[name] = Hca(name, spot.name, f"mlx5_{rail}", rail, profile, None, spot.origin, origin)
        return hosts, hcas

    def _role(self, spot: HostSpot) -> HostRole:
        choice = self.loaded.intent.topology.hosts.get(spot.name)
        return "compute" if choice is None else choice.role

    def _shape(self) -> SubnetShape:
        topology = self.loaded.intent.topology
        kind, key = _kind(topology)
        tiers = [(tier, spot.name) for spot in self.layout.switches if (tier := TIERS[spot.role]) is not None]
        top = max((tier for tier, _ in tiers), default=0)
        return SubnetShape(
            kind=kind,
            origin=self.loaded.origin("topology", key),
            sides=topology.torus.sides if topology.torus is not None else (),
            groups=topology.dragonfly_plus.groups if topology.dragonfly_plus is not None else 0,
            roots=tuple(name for tier, name in tiers if tier == top)
            if kind in ("fat-tree", "explicit")
            else (),
            oversubscription=topology.oversubscription,
        )

    def _secrets(self) -> tuple[Secret, ...]:
        return tuple(
            Secret(key, variable, self.loaded.origin("subnet_manager", "keys", key))
            for key, variable in self.loaded.intent.subnet_manager.keys.stated().items()
        )

    def _gv(self) -> tuple[ManagerSetting, ...]:
        return tuple(
            ManagerSetting(
                key, text, self.loaded.origin("subnet_manager", "ufm", section, key), section=section
            )
            for section, settings in self.loaded.intent.subnet_manager.ufm.items()
            for key, text in settings.items()
        )


def _kind(topology: object) -> tuple[ShapeKind, Literal["fat_tree", "dragonfly_plus", "torus", "switches"]]:
    if getattr(topology, "fat_tree", None) is not None:
        return "fat-tree", "fat_tree"
    if getattr(topology, "dragonfly_plus", None) is not None:
        return "dragonfly-plus", "dragonfly_plus"
    return ("torus", "torus") if getattr(topology, "torus", None) is not None else ("explicit", "switches")


def _hca_name(host: str, rail: int) -> str:
    return f"{host}:mlx5_{rail}"


def _switch(
    spot: SwitchSpot, profile: InfinibandSwitchProfile, hardware_origin: Origin, ports: int
) -> SubnetSwitch:
    return SubnetSwitch(
        name=spot.name,
        role=spot.role,
        tier=TIERS[spot.role],
        profile=profile,
        ports=ports,
        guid=None,
        origin=spot.origin,
        hardware_origin=hardware_origin,
        coordinates=spot.coordinates,
        group=spot.group,
    )


class _Hardware:
    """Looks up the products of switches and hosts, each once, and the origin of each choice."""

    def __init__(self, loaded: LoadedSubnet, folders: Sequence[str | PathLike[str]]) -> None:
        self._loaded, self._folders = loaded, folders
        self._switches: dict[str, InfinibandSwitchProfile] = {}
        self._hcas: dict[str, HcaProfile] = {}

    def switch(self, spot: SwitchSpot) -> tuple[InfinibandSwitchProfile, Origin]:
        """Return the product of a switch; raises InputError where none is declared, or its profile does not exist."""
        name, origin = self._switch_choice(spot)
        try:
            if name not in self._switches:
                self._switches[name] = load_infiniband_switch(name, self._folders)
        except ProfileError as error:
            raise InputError([self._loaded.problem(origin, str(error))]) from None
        return self._switches[name], origin

    def hca(self, spot: HostSpot) -> tuple[HcaProfile, Origin]:
        """Return the adapter of a host; raises InputError where its profile does not exist."""
        name, origin = self._loaded.intent.hardware.hca, self._loaded.origin("hardware", "hca")
        choice = self._loaded.intent.topology.hosts.get(spot.name)
        if choice is not None and choice.hca is not None:
            name, origin = choice.hca, self._loaded.origin("topology", "hosts", spot.name, "hca")
        try:
            if name not in self._hcas:
                self._hcas[name] = load_hca(name, self._folders)
        except ProfileError as error:
            raise InputError([self._loaded.problem(origin, str(error))]) from None
        return self._hcas[name], origin

    def _switch_choice(self, spot: SwitchSpot) -> tuple[str, Origin]:
        loaded = self._loaded
        listed = (loaded.intent.topology.switches or {}).get(spot.name)
        if listed is not None and listed.hardware is not None:
            return listed.hardware, loaded.origin("topology", "switches", spot.name, "hardware")
        product, key = loaded.intent.hardware.of_role(spot.role)
        if product is None:
            says = f"hardware.{spot.role} is missing, and hardware.switch that would stand for it"
            raise InputError([loaded.problem(loaded.origin("hardware", spot.role), says)])
        return product, loaded.origin("hardware", key)

"""Turns an intent and hardware profiles into the fabric model, with its GPUs, workloads and Kubernetes policy.

Names in an intent are checked: devices in exceptions must be switches, and workloads name classes, hosts and ports.
The policy has the settings of NVIDIA's NIC configuration operator, and the NICs of the intent that it can set.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.analysis.topology.shapes import cut_orders
from lossless.formats.intent.policy import CLASS_SECTIONS
from lossless.formats.intent.problems import in_file_order
from lossless.formats.intent.resolve.asics import (
    AsicSplitter,
    DeviceUnits,
    SwitchUnit,
    beyond_of,
    links_of,
    wires_of,
)
from lossless.formats.intent.resolve.class_queues import (
    bridging,
    failures,
    packet_order,
    require_room,
    routing,
    trimming,
)
from lossless.formats.intent.resolve.classes import class_set, find_hardware
from lossless.formats.intent.resolve.hosts import check_nics, congestion_control, host_qos, resolved_cluster
from lossless.formats.intent.resolve.layout import LayoutBuilder, SwitchLayout
from lossless.formats.intent.resolve.shapes import plan
from lossless.formats.intent.resolve.unused_ports import PortUse, SwitchKind
from lossless.ground.basics.errors import InputError, ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_capacity, format_rate, suggestion
from lossless.model.fabric.cluster import (
    ALGORITHMS,
    DeclaredWorkload,
    KubernetesPolicy,
    Workload,
)
from lossless.model.fabric.model import (
    Capacity,
    Fabric,
    Host,
    Network,
    Switch,
    Telemetry,
    Tier,
    Uplinks,
    tier_of_role,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.analysis.topology.recabling import DeclaredCable
    from lossless.analysis.topology.shapes import LinkBundle, PlanNode, WiringPlan
    from lossless.formats.intent.jobs import WorkloadIntent
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.errors import Problem
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Link, Role
    from lossless.model.hardware.devices import NicProfile


def resolve(loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]] = ()) -> Fabric:
    """Return the fabric that an intent declares.

    A fabric that is unsafe, or has too few ports for its links, is built nevertheless, for rules to report.

    Raises:
        InputError: a part of the intent that names an unknown object, contradicts another part, or is not supported by
            the hardware; located in the intent.
    """
    return resolve_wired(loaded, profile_dirs).fabric


class WiredFabric(NamedTuple):
    """A fabric, its wiring plan, and the ASICs of each of its switch devices by device name."""

    fabric: Fabric
    plan: WiringPlan
    devices: Mapping[str, DeviceUnits]

    def wires(self) -> Iterator[DeclaredCable]:
        """Yield every link as a cable between two devices, outside devices included."""
        return wires_of(self.plan, self.devices)


def resolve_wired(loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]] = ()) -> WiredFabric:
    """Return the fabric that an intent declares, with its wiring; see :func:`resolve`."""
    resolver = _FabricResolver(loaded, profile_dirs)
    return WiredFabric(resolver.fabric(), resolver.plan, resolver.devices)


class _FabricResolver:
    def __init__(self, loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]]) -> None:
        self.loaded = loaded
        self.plan: WiringPlan = plan(loaded)
        self.hardware = find_hardware(loaded, profile_dirs, self.plan.nodes)
        check_devices(loaded, self.hardware.switches)
        self._stated_by_name = stated_by_name(loaded)
        self._nics = (self.hardware.nic, *self.hardware.other_nics.values())
        check_nics(loaded, self._nics)
        self.classes = class_set(loaded)
        self._roles = {node.name: node.role for node in self.plan.nodes}
        self._tors = frozenset(node.name for node in self.plan.nodes if node.dual_tor)
        self.devices: dict[str, DeviceUnits] = {}
        self._failures = failures(loaded, self.plan)
        self._builder = LayoutBuilder(loaded)
        self._layouts: dict[SwitchKind, SwitchLayout] = {}
        self._splitter = AsicSplitter()
        self._host_qos: dict[tuple[str, int, int, int, int], HostQos] = {}
        self._nic_mtus: dict[str, int] = {}

    def fabric(self) -> Fabric:
        by_node: dict[str, list[LinkBundle]] = {}
        for bundle in self.plan.bundles:
            by_node.setdefault(bundle.a, []).append(bundle)
            by_node.setdefault(bundle.b, []).append(bundle)
        bundles = by_node
        inside = [node for node in self.plan.nodes if not node.outside]
        own = [node for node in inside if node.role != "host"]
        self.devices = {node.name: self._device(node, bundles.get(node.name, [])) for node in own}
        units = [(node, unit) for node in own for unit in self.devices[node.name].units]
        switches = tuple(self._switch(node, unit) for node, unit in units)
        identical = {
            id(unit.layout): (unit.kind, switch) for (_, unit), switch in zip(units, switches, strict=True)
        }
        require_room(self.loaded, identical.values())
        links = tuple(links_of(self.plan, self.devices))
        self._nic_mtus = self._mtus_of_nics(switches, links)
        fabric = Fabric(
            name=self.loaded.intent.fabric,
            provenance="intent",
            classes=self.classes,
            congestion=congestion_control(self.loaded, self.hardware.nic),
            switches=switches,
            hosts=tuple(self._host(n, bundles.get(n.name, [])) for n in inside if n.role == "host"),
            links=links,
            networks=tuple(self._networks()),
            capacities=tuple(self._capacities(bundles)),
            sources=(self.loaded.document.file,),
            telemetry=self._telemetry(),
            lossy_origin=None if self.loaded.intent.pfc else self.loaded.origin("pfc"),
            pfc_tiers=self.loaded.intent.pfc.tiers if self.loaded.intent.pfc else None,
            link_tiers=self.plan.link_tiers,
            cluster=resolved_cluster(self.loaded.intent.cluster, self.loaded.origin("cluster")),
            failures=self._failures,
            routing=routing(self.loaded, self.plan),
            bridging=bridging(self.loaded),
            packet_order=packet_order(self.loaded, self.plan),
            trimming=trimming(self.loaded),
            kubernetes=kubernetes_policy(self.loaded, self._nics, self._roles),
            beyond=tuple(beyond_of(self.plan, self.devices)),
            cut_orders=cut_orders({node.name: node.place for node in own})
            if self.loaded.intent.topology.shape_key == "torus"
            else (),
        )
        return fabric._replace(workloads=workloads(self.loaded, fabric))

    def _telemetry(self) -> Telemetry:
        declared, origin = self.loaded.intent.telemetry, self.loaded.origin("telemetry")
        if declared is None:
            return Telemetry(False, None, None, origin)
        interval_ms = None if declared.interval is None else declared.interval // 10**6
        return Telemetry(True, interval_ms, declared.alerts, origin)

    def _device(self, node: PlanNode, bundles: list[LinkBundle]) -> DeviceUnits:
        profile, hwsku, origin, cages = self.hardware.switches[node.name]
        lags: dict[tuple[str, str], str] = {}
        uses = tuple(use for bundle in bundles for use in self._uses(node, bundle, lags))
        named = node.name if node.name in self._stated_by_name else ""
        kind = SwitchKind(profile, hwsku, node.role, uses, origin, cages, named)
        try:
            kinds, unit_of = self._splitter.split(kind)
            units = tuple(
                SwitchUnit(f"{node.name}:{asic}" if asic else node.name, own, self._layout(own))
                for asic, own in kinds
            )
        except ProfileError as error:
            # Tables of a profile are parsed when first asked for, and a user's own may not fit.
            raise InputError([self.loaded.problem(origin, str(error))]) from None
        return DeviceUnits(units, unit_of)

    def _layout(self, kind: SwitchKind) -> SwitchLayout:
        if kind not in self._layouts:
            self._layouts[kind] = self._builder.build(kind)
        return self._layouts[kind]

    def _uses(self, node: PlanNode, bundle: LinkBundle, lags: dict[tuple[str, str], str]) -> list[PortUse]:
        """Return the port uses of a bundle on a switch, one for each link; LAGs of the switch are numbered from 1."""
        far, lag = bundle.b if bundle.a == node.name else bundle.a, None
        if bundle.lag is not None:
            lag = lags.setdefault((far, bundle.lag), f"PortChannel{len(lags) + 1}")
        use = PortUse(
            bundle.speed_bps,
            bundle.tier,
            bundle.cable_m,
            bundle.a_port if bundle.a == node.name else bundle.b_port,
            bundle.origin,
            bundle.cable_origin,
            # A tunnel goes up from a dual ToR and down to its peer, never from one leaf straight to another.
            remapped=bundle.tier == "uplinks" and (bundle.a in self._tors) != (bundle.b in self._tors),
            lag=lag,
        )
        kept = bundle.a_kept if bundle.a == node.name else bundle.b_kept
        return [use._replace(kept=kept), *([use] * (bundle.links - 1))] if kept else [use] * bundle.links

    def _switch(self, node: PlanNode, unit: SwitchUnit) -> Switch:
        name, kind, layout = unit
        return Switch(
            name=name,
            tier=tier_of_role(node.role),
            hwsku_name=kind.hwsku.name,
            profile=kind.profile,
            hwsku=kind.hwsku,
            classes=self.classes,
            ports=layout.ports,
            demand=layout.demand,
            qos=layout.qos,
            origin=node.origin,
            unused=layout.unused,
            idle=layout.idle,
            release=self.loaded.intent.sonic.release_of(node.name, node.role),
            format=kind.profile.format,
        )

    def _host(self, node: PlanNode, bundles: list[LinkBundle]) -> Host:
        rate_bps = max((bundle.speed_bps for bundle in bundles), default=0)
        cable_m = max((bundle.cable_m for bundle in bundles), default=0)
        own = self.hardware.other_nics.get(node.name)
        nic = own or self.hardware.nic
        mtu_bytes = self._nic_mtus.get(node.name, self.loaded.intent.hosts.mtu)
        links = sum(bundle.links for bundle in bundles)
        key = (nic.name, rate_bps, cable_m, mtu_bytes, links)
        if key not in self._host_qos:
            path = ("topology", "devices", node.name, "nic") if own else ("hardware", "nic")
            at = self.loaded.origin(*path)
            qos = host_qos(self.loaded, nic, at, rate_bps, cable_m)
            self._host_qos[key] = qos._replace(mtu_bytes=mtu_bytes, links=links)
        return Host(node.name, self._host_qos[key])

    def _mtus_of_nics(self, switches: Sequence[Switch], links: Sequence[Link]) -> dict[str, int]:
        """Return the MTU of each host at ports with an MTU of their own: the least of these and of the hosts' MTU.

        Raises:
            InputError: an exception is of a port that no link uses.
        """
        declared = self.loaded.intent.exceptions
        if not declared:
            return {}
        known = {
            f"{switch.device}:{port.name}"
            for switch in switches
            for port in switch.ports
            if port.admin_up is not False
        }
        # A port that the HWSKU lacks is reported by rules.
        known |= {end for ends in zip(*map(_named_ends, self.plan.bundles), strict=True) for end in ends}
        unknown = [end for end in declared if end not in known]
        if unknown:
            at, names = [(end, self.loaded.origin("exceptions", end).key()) for end in unknown], sorted(known)
            hints = ((end, origin, suggestion(end, names)) for end, origin in at)
            raise InputError(
                self.loaded.problem(origin, f"exceptions: no link uses a port {end!r}{hint}")
                for end, origin, hint in hints
            )
        mtus: dict[str, int] = {}
        for link in links:
            own = declared.get(f"{link.a.partition(':')[0]}:{link.a_port}") if link.to_host else None
            if own is not None and own.mtu is not None:
                mtus[link.b] = min(mtus.get(link.b, self.loaded.intent.hosts.mtu), own.mtu)
        return mtus

    def _networks(self) -> Iterator[Network]:
        for name, network in sorted(self.loaded.intent.networks.items()):
            yield Network(
                name=name,
                separate=network.on == "separate",
                prefixes=network.prefixes,
                class_name=network.traffic_class,
                origin=self.loaded.origin("networks", name),
                purpose=network.purpose,
                marking=network.marking,
            )

    def _capacities(self, bundles: dict[str, list[LinkBundle]]) -> Iterator[Capacity]:
        """Yield one capacity for leaves or spines with identical wiring; none for those without links down or up."""
        identical: dict[tuple[object, ...], list[PlanNode]] = {}
        for node in self.plan.nodes:
            if node.role in ("leaf", "spine") and not node.outside:
                numbers: dict[str, int] = {}  # which bundles lead to one switch decides what is lost with it
                wiring = tuple(
                    (
                        b.links,
                        b.speed_bps,
                        self._far(node, b),
                        b.origin,
                        numbers.setdefault(_beyond(node, b), len(numbers)),
                    )
                    for b in bundles.get(node.name, [])
                )
                identical.setdefault((node.role, wiring), []).append(node)
        for nodes in identical.values():
            own = bundles.get(nodes[0].name, [])
            # A link between two leaves carries no traffic up.
            down, up = self._below(nodes[0], own), self._above(nodes[0], own)
            if down and up:
                capacity = self._capacity(nodes, down, up, bundles)
                yield capacity._replace(leaf=_with_uplinks(self.devices[nodes[0].name]))

    def _far(self, node: PlanNode, bundle: LinkBundle) -> Role:
        """Return the role of the device at the other end of a bundle of links."""
        return self._roles[_beyond(node, bundle)]

    def _above(self, node: PlanNode, bundles: Sequence[LinkBundle]) -> list[LinkBundle]:
        """Return the bundles of a switch that go up; links to a switch without a tier go neither up nor down."""
        own = tier_of_role(node.role) or 0
        return [b for b in bundles if (tier_of_role(self._far(node, b)) or 0) > own]

    def _below(self, node: PlanNode, bundles: Sequence[LinkBundle]) -> list[LinkBundle]:
        """Return the bundles of a switch that go down, to hosts or to a lower tier."""
        own = tier_of_role(node.role) or 0
        far = [self._far(node, bundle) for bundle in bundles]
        return [
            b
            for b, role in zip(bundles, far, strict=True)
            if role == "host" or 0 < (tier_of_role(role) or 0) < own
        ]

    def _capacity(
        self,
        nodes: list[PlanNode],
        down: list[LinkBundle],
        up: list[LinkBundle],
        bundles: dict[str, list[LinkBundle]],
    ) -> Capacity:
        topology = self.loaded.intent.topology
        shape, first = topology.shape, nodes[0]
        down_bps, up_bps = _sum(down), _sum(up)
        below, above = (_spoken(first, side, self._far(first, side[0])) for side in (down, up))
        note = (
            f"{below} = {format_capacity(down_bps)} down, "
            f"{above} = {format_capacity(up_bps)} up, each counted one way"
        )
        ratios = (topology.oversubscription, shape.oversubscription if shape else {})
        accepted = max(ratio.get(first.role, 1.0) for ratio in ratios)
        names = tuple(node.name for node in nodes)
        uplinks = tuple(Uplinks(_beyond(first, b), b.links, b.speed_bps) for b in up)
        return Capacity(
            names[0],
            down_bps,
            up_bps,
            note,
            accepted,
            up[0].origin,
            names,
            tier_of_role(first.role) or Tier.LEAF,
            uplinks,
        )._replace(in_service=self._in_service(nodes, bundles))

    def _in_service(
        self, nodes: list[PlanNode], bundles: dict[str, list[LinkBundle]]
    ) -> tuple[tuple[Uplinks, ...], ...]:
        """Return the uplinks that identical switches keep with elements out of service, each distinct set once."""
        if not self._failures.out_of_service:
            return ()
        uplinks_left: dict[tuple[Uplinks, ...], None] = {}
        for node in nodes:
            up = self._above(node, bundles.get(node.name, []))
            if self._failures.works(node.name, node.name):
                left = (b for b in up if self._failures.works(b.a, b.b))
                uplinks_left[tuple(Uplinks(_beyond(node, b), b.links, b.speed_bps) for b in left)] = None
        return tuple(uplinks_left)


def _named_ends(bundle: LinkBundle) -> tuple[str, str]:
    return f"{bundle.a}:{bundle.a_port}", f"{bundle.b}:{bundle.b_port}"


def _beyond(node: PlanNode, bundle: LinkBundle) -> str:
    """Return the name of the device at the other end of a bundle of links."""
    return bundle.b if bundle.a == node.name else bundle.a


def _with_uplinks(device: DeviceUnits) -> str:
    """Return the name of the first ASIC of a device with links to switches, else of its first ASIC."""
    with_uplinks = (unit.name for unit in device.units if any(use.tier != "hosts" for use in unit.kind.uses))
    return next(with_uplinks, device.units[0].name)


def _sum(bundles: Sequence[LinkBundle]) -> int:
    return sum(bundle.links * bundle.speed_bps for bundle in bundles)


def _spoken(node: PlanNode, bundles: Sequence[LinkBundle], role: Role) -> str:
    """Return links as text, ``16 hosts x 2 x 400G``, joined by plus where they differ; ``role``: of the far ends."""
    many = "leaves" if role == "leaf" else f"{role}s"
    parallel: dict[tuple[str, int], int] = {}
    for bundle in bundles:
        key = (_beyond(node, bundle), bundle.speed_bps)
        parallel[key] = parallel.get(key, 0) + bundle.links
    groups: dict[tuple[int, int], int] = {}
    for (_, speed_bps), links in parallel.items():
        groups[links, speed_bps] = groups.get((links, speed_bps), 0) + 1
    return " + ".join(
        f"{n} {many if n > 1 else role} x {links} x {format_rate(speed_bps)}"
        for (links, speed_bps), n in groups.items()
    )


NVIDIA = "mlx5"
FOLDER = "kubernetes"
"""The folder of a rendered tree with the files that belong to no single host."""


def kubernetes_policy(
    loaded: LoadedIntent, nics: Collection[NicProfile], devices: Collection[str]
) -> KubernetesPolicy | None:
    """Return the settings of NVIDIA's NIC configuration operator, None where the intent has no ``hosts.kubernetes``.

    Raises:
        InputError: no NIC is by NVIDIA, an NVIDIA NIC has no PCI ID, a firmware setting is derived from another key,
            the ToS byte is derived and no lossless class has a DSCP, or a device has the name of the folder of the
            rendered files.
    """
    stated = loaded.intent.hosts.kubernetes
    if stated is None:
        return None
    problems = list(_problems(loaded, nics, devices))
    if problems:
        raise InputError(problems)
    size = stated.pci_performance
    return KubernetesPolicy(
        namespace=stated.namespace,
        num_vfs=stated.num_vfs,
        node_selector=tuple(sorted((stated.node_selector or {}).items())),
        pci_addresses=stated.pci_addresses or (),
        ports=stated.ports,
        pci_performance=size is not None,
        max_read_request=size if isinstance(size, int) else None,
        gpu_direct=stated.gpu_direct,
        firmware=tuple(sorted((stated.firmware or {}).items())),
        origin=loaded.origin("hosts", "kubernetes"),
    )


def _problems(
    loaded: LoadedIntent, nics: Collection[NicProfile], devices: Collection[str]
) -> Iterator[Problem]:
    at = loaded.origin("hosts", "kubernetes").key()
    nvidia = [nic for nic in nics if nic.driver == NVIDIA]
    if not nvidia:
        names = ", ".join(sorted({nic.name for nic in nics}))
        yield loaded.problem(at, f"hosts.kubernetes: the operator sets NICs by NVIDIA; {names} is none")
    for name in sorted({nic.name for nic in nvidia if nic.pci_id is None}):
        message = (
            f"hosts.kubernetes: the operator selects NICs by type, and the profile of {name} has no pci_id"
        )
        yield loaded.problem(at, message)
    yield from _decided_elsewhere(loaded, nvidia)
    lossless = any(cls.lossless and cls.dscps for cls in loaded.intent.classes.values())
    if loaded.intent.hosts.traffic_class == "derived" and not lossless:
        message = (
            "no lossless class names a DSCP, and the operator would write ToS 0; state hosts.traffic_class"
        )
        yield loaded.problem(at, f"hosts.kubernetes: {message}")
    if FOLDER in devices:
        message = f"hosts.kubernetes: its files go to the folder {FOLDER!r}, which is a device's name here"
        yield loaded.problem(at, message)


def _decided_elsewhere(loaded: LoadedIntent, nics: Collection[NicProfile]) -> Iterator[Problem]:
    """Yield a problem for each firmware setting that is a DCQCN parameter, derived from congestion_control."""
    stated = loaded.intent.hosts.kubernetes
    parameters = {name for nic in nics for name in nic.dcqcn}
    for name in (stated.firmware or {}) if stated else ():
        if re.sub(r"_P[0-9]$", "", name) in parameters:
            origin = loaded.origin("hosts", "kubernetes", "firmware", name).key()
            message = (
                f"hosts.kubernetes.firmware: {name} follows from congestion_control.dcqcn; state it there"
            )
            yield loaded.problem(origin, message)


def check_devices(loaded: LoadedIntent, switches: Collection[str]) -> None:
    """Refuse exceptions for devices that are not switches of the fabric.

    Raises:
        InputError: every such name, located in the intent.
    """
    problems = []
    for path, names in _stated(loaded):
        for name in sorted(set(names) - set(switches)):
            hint = suggestion(name, sorted(switches))
            message = f"{'.'.join(path)}: no switch is called {name}{hint}"
            problems.append(loaded.problem(loaded.origin(*path, name).key(), message))
    if problems:
        raise InputError(in_file_order(problems))


def _stated(loaded: LoadedIntent) -> Iterator[tuple[tuple[str, ...], Collection[str]]]:
    """Yield the mappings of an intent with settings by the name of a switch, with their paths."""
    yield ("sonic", "devices"), loaded.intent.sonic.devices
    yield ("buffers", "by_device"), loaded.intent.buffers.by_device
    for name, cls in loaded.intent.classes.items():
        for section in CLASS_SECTIONS:
            policy = getattr(cls, section)
            yield ("classes", name, section, "by_device"), policy.by_device if policy else ()


def stated_by_name(loaded: LoadedIntent) -> frozenset[str]:
    """Return the devices with exceptions for buffers, classes or ports under their own name."""
    named = (name for path, names in _stated(loaded) if path[-1] == "by_device" for name in names)
    return frozenset((*named, *(end.partition(":")[0] for end in loaded.intent.exceptions)))


def workloads(loaded: LoadedIntent, fabric: Fabric) -> tuple[DeclaredWorkload, ...]:
    """Return the workloads that an intent declares for a fabric.

    Raises:
        InputError: every lossless class, NIC, port and algorithm that does not exist, located.
    """
    declared = loaded.intent.workloads
    if not declared:
        return ()
    check = _DeclaredNames(loaded, fabric)
    problems = [problem for name, workload in declared.items() for problem in check.problems(name, workload)]
    if problems:
        raise InputError(problems)
    return tuple(_workload(loaded, name, workload) for name, workload in declared.items())


def _workload(loaded: LoadedIntent, name: str, stated: WorkloadIntent) -> DeclaredWorkload:
    return DeclaredWorkload(
        name=name,
        pattern=stated.pattern,
        collective=stated.collective,
        size_bytes=stated.size,
        nics=stated.nics,
        target=stated.target,
        class_name=stated.traffic_class,
        storage=(stated.storage or 0) / 100,
        failed=stated.link_down,
        slow_nic_bps=stated.slow_nic,
        dead_nic=stated.dead_nic,
        gpus=stated.gpus,
        algorithm=stated.algorithm,
        sources=stated.sources or Workload().sources,
        origin=loaded.origin("workloads", name),
    )


class _DeclaredNames:
    """The names of a fabric's classes, NICs and ports."""

    def __init__(self, loaded: LoadedIntent, fabric: Fabric) -> None:
        self._loaded = loaded
        self._lossless = [cls.name for cls in fabric.classes.lossless]
        self._ports = {f"{switch.name}:{port.name}" for switch in fabric.switches for port in switch.ports}
        to_hosts = [link for link in fabric.links if link.to_host]
        self._nics = {name for link in to_hosts for name in (link.b, f"{link.b}:{link.b_port}")}

    def problems(self, name: str, stated: WorkloadIntent) -> Iterator[Problem]:
        """Yield a problem for each unknown class, NIC port or switch port of a workload, and for a wrong algorithm."""
        if stated.traffic_class is not None and stated.traffic_class not in self._lossless:
            hint = suggestion(stated.traffic_class, self._lossless)
            yield self._problem(f"no lossless class is called {stated.traffic_class!r}{hint}", name, "class")
        if stated.target is not None and stated.target not in self._nics:
            hint = suggestion(stated.target, sorted(self._nics))
            yield self._problem(f"no NIC port is called {stated.target!r}{hint}", name, "target")
        for number, port in enumerate(stated.link_down):
            if port not in self._ports:
                hint = suggestion(port, sorted(self._ports))
                yield self._problem(f"no port is called {port!r}{hint}", name, "link_down", number)
        if stated.collective is not None and stated.algorithm is not None:
            known = ALGORITHMS[stated.collective]
            if stated.algorithm not in known:
                words = f"{stated.collective} has {', '.join(known)}, not {stated.algorithm}"
                yield self._problem(words, name, "algorithm")

    def _problem(self, message: str, *path: str | int) -> Problem:
        where = self._loaded.origin("workloads", *path)
        return self._loaded.problem(where, f"workloads.{'.'.join(map(str, path))}: {message}")

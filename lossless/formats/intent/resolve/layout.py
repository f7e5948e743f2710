"""Builds the ports of one switch kind: placed, cabled, and with their QoS. Identical switches share one layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.pools import PortLoad, SharedHeadroom, idle_load, plan_pools
from lossless.formats.intent.resolve.class_buffers import (
    GroupBuffers,
    LosslessBuffers,
    buffer_defaults,
    buffer_model,
    class_buffers,
    dynamic_buffers,
    dynamic_pools,
    stated_row,
)
from lossless.formats.intent.resolve.class_queues import QueueLimits, ReservedAtEgress, adapts, trim_settings
from lossless.formats.intent.resolve.classes import PortPlacement, schedulers, wred
from lossless.formats.intent.resolve.pool_sizes import require_held, stated_pools
from lossless.formats.intent.resolve.unused_ports import (
    PortPolicies,
    PortPolicy,
    PortUse,
    SwitchKind,
    demand,
    place,
    reclaimed,
    require_few_ports,
    zero_buffers,
)
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import Cable, Port, SwitchQos, WatchdogPoll
from lossless.model.fabric.qos import (
    PRIORITIES,
    BufferProfile,
    PortQos,
    PriorityGroup,
    Queue,
    Watchdog,
)
from lossless.model.hardware.buffers import (
    EGRESS_LOSSLESS_PROFILE,
    EGRESS_LOSSY_PROFILE,
    INGRESS_LOSSLESS_PROFILE,
    INGRESS_LOSSY_POOL,
    INGRESS_LOSSY_PROFILE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.policy import WatchdogException
    from lossless.formats.intent.resolve.pool_sizes import StatedPools
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import BufferModel, PortDemand, Role
    from lossless.model.fabric.qos import Pool, TunnelMaps
    from lossless.model.hardware.model import BufferDefaults, HeadroomRow, PortSpec

_TEMPLATES: dict[str, tuple[str, ...]] = {
    "leaf": ("t0", "t1", "lt2", "ft2"),
    "spine": ("t1", "t0", "ft2", "lt2"),
    "super-spine": ("t2", "ft2", "lt2", "t1", "t0"),
    "switch": ("t0", "t1", "lt2", "ft2"),
}
"""The buffer templates of a HWSKU that fit a role, best first.

SONiC calls a leaf t0, a spine t1, and a switch that joins pods t2. A device without a tier has hosts, as a leaf has.
"""
MONITORED = (
    "BUFFER_POOL_WATERMARK",
    "PFCWD",
    "PG_DROP",
    "PG_WATERMARK",
    "PORT",
    "QUEUE",
    "QUEUE_WATERMARK",
)
"""Counter groups that the watchdog and the detection of storms need (sonic-flex_counter.yang @086b03b)."""


class SwitchLayout(NamedTuple):
    """The ports of one switch kind, in the order of their uses, then reclaimed ports; the settings of the whole switch.

    ``unused`` are the ports without a link, ``idle`` those of them that may be up.
    """

    ports: tuple[Port, ...]
    demand: tuple[PortDemand, ...]
    qos: SwitchQos
    unused: tuple[PortSpec, ...]
    idle: tuple[PortSpec, ...]


class _PortInputs(NamedTuple):
    """The port, headroom row and class policy of each use of a switch; ``idle`` are unused ports that may be up."""

    placed: Sequence[PortSpec | None]
    rows: Sequence[HeadroomRow | None]
    policies: Sequence[PortPolicy]
    idle: Sequence[PortSpec]


class LayoutBuilder:
    """Builds the layout of each switch kind of one fabric."""

    def __init__(self, loaded: LoadedIntent) -> None:
        self.loaded = loaded
        self._intent = loaded.intent
        self._watchdog_policy = loaded.intent.pfc.watchdog if loaded.intent.pfc else None
        self._policies = PortPolicies(loaded)
        self._schedulers = schedulers(loaded)
        self.mtu_bytes = loaded.intent.mtu
        self.has_lossless = any(cls.lossless for cls in loaded.intent.classes.values())
        self.asymmetric = loaded.intent.pfc is not None and loaded.intent.pfc.asymmetric
        self.exceptions = loaded.intent.exceptions

    def build(self, kind: SwitchKind) -> SwitchLayout:
        """Return the layout of a kind of switch.

        Raises:
            InputError: the HWSKU ships no lossless buffers, the switch does not support the declared buffers, it has
                too many ports, a named port must stay down, no port is left to keep free, or SONiC has no profiles that
                reclaim the buffer of its unused ports.
        """
        require_few_ports(self.loaded, kind)
        model = buffer_model(self.loaded, kind)
        defaults = buffer_defaults(self.loaded, kind, _TEMPLATES[kind.role])
        placement = PortPlacement(kind.profile, kind.hwsku, kind.cages)
        placed = place(self.loaded, kind, placement)
        identical = {(use.speed_bps, use.cable_m): use for use in kind.uses}
        row_of = {link: self._row(kind, use, model) for link, use in identical.items()}
        rows = [row_of[use.speed_bps, use.cable_m] for use in kind.uses]
        policies = self._policies.of_switch(kind)
        unused, zero = tuple(placement.unused()), zero_buffers(self.loaded, kind)
        idle = tuple(spec for spec in unused if zero is None and spec.name not in kind.cages.down)
        pools = self._pools(kind, defaults, _PortInputs(placed, rows, policies, idle), model)
        shaper = _PortShaper(self, kind, defaults, {pool.name: pool for pool in pools}, model)
        ports = tuple(map(shaper.port, kind.uses, placed, rows, policies, range(1, len(placed) + 1)))
        qos = self._switch_qos(kind, pools, model, policies)
        if zero is not None:
            down = reclaimed(zero, unused, ports, qos, self.loaded.origin("buffers", "unused_ports"))
            ports, qos = (*ports, *down.ports), qos._replace(pools=(*qos.pools, *down.pools))
        return SwitchLayout(ports, demand(kind.uses), qos, unused, idle)

    def _row(self, kind: SwitchKind, use: PortUse, model: BufferModel) -> HeadroomRow | None:
        """Return the headroom row of a port with the declared headroom, None in the dynamic model or without a row."""
        row = None if model == "dynamic" else kind.hwsku.row_covering(use.speed_bps, use.cable_m)
        first = next((name for name, cls in self._intent.classes.items() if cls.lossless), None)
        if row is None or first is None:
            return row
        return stated_row(row, class_buffers(self.loaded, first, kind.place(use.speed_bps)).stated)

    def _pools(
        self,
        kind: SwitchKind,
        defaults: BufferDefaults,
        inputs: _PortInputs,
        model: BufferModel,
    ) -> tuple[Pool, ...]:
        stated = stated_pools(self.loaded, kind)
        require_held(self.loaded, kind, stated, defaults)
        if not defaults.pools:
            return ()
        if model == "dynamic":
            computed = dynamic_pools(kind.profile.asic, defaults, self.loaded.origin("buffers", "model"))
        else:
            computed = self._planned(kind, defaults, inputs, stated)
        return tuple(map(stated.in_place, computed))

    def _planned(
        self, kind: SwitchKind, defaults: BufferDefaults, inputs: _PortInputs, stated: StatedPools
    ) -> tuple[Pool, ...]:
        reserved = ReservedAtEgress(self.loaded, kind, defaults)
        ports = zip(kind.uses, inputs.placed, inputs.rows, inputs.policies, strict=True)
        used = (
            PortLoad(
                row,
                len(spec.lanes),
                *self._group_counts(policy),
                reserved.of_port(self._class_of_queue(policy).values(), use.speed_bps),
            )
            for use, spec, row, policy in ports
            if spec and row
        )
        loads = (*used, *map(idle_load, inputs.idle))
        shared = SharedHeadroom(stated.ratio, stated.shared_headroom_bytes)
        return plan_pools(kind.profile.asic, defaults, loads, shared, self.loaded.origin("topology"))

    def _class_of_queue(self, policy: PortPolicy) -> dict[int, str]:
        """Return the class of each queue that a port serves."""
        own = {cls.priority: name for name, cls in self._intent.classes.items()}
        return {**own, **policy.second}

    def _group_counts(self, policy: PortPolicy) -> tuple[int, int]:
        """Return how many lossless and lossy priority groups a port has."""
        classes, groups = self._intent.classes, policy.groups
        own = {groups[name] for name, cls in classes.items() if cls.lossless} if policy.pauses else set()
        lossless = own | policy.second.keys()
        return len(lossless), len({groups[name] for name in classes} - lossless)

    def _switch_qos(
        self, kind: SwitchKind, pools: tuple[Pool, ...], model: BufferModel, policies: Sequence[PortPolicy]
    ) -> SwitchQos:
        # Without a port to look after, a switch has no row for the watchdog either.
        watched = any(policy.watched for policy in policies)
        poll = self._poll(kind.role) if watched else None
        origin = self._watchdog_origin()
        return SwitchQos(
            buffer_model=model,
            pools=pools,
            poll=poll or WatchdogPoll(None, origin),
            counters=tuple((group, True) for group in MONITORED),
            global_dscp_map=self._policies.global_dscp_map(kind.role, beside_remapped=kind.remapped),
            database_version=None,
            headroom_oversubscription=stated_pools(self.loaded, kind).ratio,
            storage_backend=False,
            voq=False,
            origin=self.loaded.origin("topology"),
            dynamic=dynamic_buffers(self.loaded, kind) if model == "dynamic" else None,
            tunnel=self._tunnel(kind),
            trimming=trim_settings(self.loaded, kind),
        )

    def _tunnel(self, kind: SwitchKind) -> TunnelMaps | None:
        """Return the QoS maps of the tunnel between dual ToRs, None for switches that are no dual-ToR leaf."""
        if not kind.remapped or kind.role != "leaf":
            return None
        return self._policies.tunnel(self.loaded.origin("topology"))

    def port_qos(
        self, shaper: _PortShaper, policy: PortPolicy, speed_bps: int, lossless: Mapping[str, GroupBuffers]
    ) -> PortQos:
        """Return the QoS of ports of one speed and cable length; ``lossless`` has buffers of lossless classes."""
        shared = policy.maps
        with_map = shaper.kind.profile.asic.pfc_to_pg_map
        return PortQos(
            dscp_to_tc=shared.dscp_to_tc,
            tc_to_queue=shared.tc_to_queue,
            tc_to_pg=shared.tc_to_pg,
            pfc_to_queue=shared.pfc_to_queue,
            pfc_to_pg=shared.pfc_to_pg if with_map else None,
            trust_dot1p=False,
            pfc=shared.pfc,
            watchdog_mask=policy.watched,
            watchdog=self._watchdog(shaper.kind.role) if policy.watched else None,
            queues=self._queues(shaper, policy, speed_bps),
            groups=self._groups(shaper, policy, lossless),
            profile_lists=shaper.profile_lists,
            origin=shared.pfc.origin,
        )

    def _watchdog_origin(self) -> Origin:
        """Return the origin of the watchdog or of ``pfc``; without both, that of the first lossless class, if any."""
        origin = self.loaded.origin("pfc", "watchdog")
        lossless = (name for name, cls in self._intent.classes.items() if cls.lossless)
        return origin if origin.path else self.loaded.origin("classes", next(lossless, ""))

    def _watchdog(self, role: Role) -> Watchdog | None:
        """Return the watchdog of the switches of a role: that of all, with the settings that differ there."""
        policy = self._watchdog_policy
        if policy is None:
            return None
        restoration_ms = None if policy.restoration is None else policy.restoration // 10**6
        origin = self.loaded.origin("pfc", "watchdog")
        usual = Watchdog(policy.detection // 10**6, restoration_ms, policy.action, origin)
        own = policy.by_tier.get(role)
        if own is None:
            return usual
        return excepted(usual, own, self.loaded.origin("pfc", "watchdog", "by_tier", role))

    def _poll(self, role: Role) -> WatchdogPoll | None:
        """Return the watchdog's poll interval on the switches of a role, None without a watchdog."""
        policy = self._watchdog_policy
        if policy is None:
            return None
        own = policy.by_tier.get(role)
        if own is not None and own.poll is not None:
            return WatchdogPoll(own.poll, self.loaded.origin("pfc", "watchdog", "by_tier", role, "poll"))
        return WatchdogPoll(policy.poll // 10**6, self.loaded.origin("pfc", "watchdog").at("poll"))

    def with_exception(self, port: Port, end: str, role: Role) -> Port:
        """Return a port with the settings that are declared for it alone, under its name ``DEVICE:PORT``.

        ``role`` is that of its switch, whose watchdog has all that the exception leaves out.
        """
        own = self.exceptions[end]
        # A record of its own: ports that share one count as identical.
        qos = port.qos._replace() if port.qos is not None else None
        if qos is not None and "watchdog" in own.model_fields_set and qos.pfc.priorities:
            origin = self.loaded.origin("exceptions", end, "watchdog")
            watchdog = excepted(self._watchdog(role), own.watchdog, origin) if own.watchdog else None
            qos = qos._replace(watchdog=watchdog)
        return port._replace(
            mtu_bytes=own.mtu or port.mtu_bytes,
            asymmetric=port.asymmetric if own.asymmetric is None else own.asymmetric,
            qos=qos,
        )

    def _queues(self, shaper: _PortShaper, policy: PortPolicy, speed_bps: int) -> tuple[Queue | None, ...]:
        queues: list[Queue | None] = [None] * len(PRIORITIES)
        for number, name in self._class_of_queue(policy).items():
            profile, wred_origin = wred(self.loaded, name, shaper.kind.place(speed_bps))
            queues[number] = Queue(
                number=number,
                scheduler=self._schedulers[name],
                wred=profile,
                buffer=shaper.egress(name, speed_bps),
                origin=self.loaded.origin("classes", name),
                buffer_origin=self.loaded.origin("classes", name),
                wred_origin=wred_origin,
            )
        return tuple(queues)

    def _groups(
        self, shaper: _PortShaper, policy: PortPolicy, lossless: Mapping[str, GroupBuffers]
    ) -> tuple[PriorityGroup | None, ...]:
        groups: list[PriorityGroup | None] = [None] * len(PRIORITIES)
        # Lossless classes first: a lossy one that names the group of a lossless one shares its headroom.
        by_rank = sorted(
            self._intent.classes.items(), key=lambda item: (not item[1].lossless, item[1].priority)
        )
        for name, cls in by_rank:
            number, pauses = policy.groups[name], cls.lossless and policy.pauses
            own = lossless[name] if pauses else GroupBuffers(shaper.defaults_profile(INGRESS_LOSSY_PROFILE))
            groups[number] = groups[number] or self._group(number, name, own, pauses and shaper.computes)
        for number, name in policy.second.items():
            groups[number] = self._group(number, name, lossless[name], shaper.computes)
        return tuple(groups)

    def _group(self, number: int, name: str, own: GroupBuffers, computed: bool) -> PriorityGroup | None:
        """Return the priority group of a class, None where it has no buffers and the switch computes none."""
        computed = computed and own.profile is None
        if own.profile is None and not computed:
            return None
        origin = self.loaded.origin("classes", name)
        return PriorityGroup(number, own.profile, computed, origin, own.override)


def excepted(usual: Watchdog | None, own: WatchdogException, origin: Origin) -> Watchdog | None:
    """Return a watchdog with the settings of an exception; None where neither has a detection time."""
    detection_ms = own.detection or (usual.detection_ms if usual else None)
    if detection_ms is None:
        return None
    restoration_ms = own.restoration
    if "restoration" not in own.model_fields_set:
        restoration_ms = usual.restoration_ms if usual else None
    return Watchdog(detection_ms, restoration_ms, own.action or (usual.action if usual else "drop"), origin)


class _PortShaper:
    """Builds the ports of one switch kind; identical ports share their QoS, those with an exception have their own."""

    def __init__(
        self,
        builder: LayoutBuilder,
        kind: SwitchKind,
        defaults: BufferDefaults,
        pools: dict[str, Pool],
        model: BufferModel,
    ) -> None:
        self.kind = kind
        self.model = model
        self._builder = builder
        self._defaults = defaults
        self._pools = pools
        self._profiles: dict[str, BufferProfile] = {}
        self._lossless = LosslessBuffers(builder.loaded, kind, pools, model)
        self._limits = QueueLimits(builder.loaded, kind, model)
        self._qos: dict[tuple[object, ...], PortQos] = {}
        self.profile_lists = self._lists()

    @property
    def computes(self) -> bool:
        """Whether the switch computes the buffers of lossless groups itself, so that no row of SONiC describes them."""
        other_system = self.kind.profile.format != "sonic"
        return self.model == "dynamic" or not self._defaults.pools or other_system

    def port(
        self,
        use: PortUse,
        spec: PortSpec | None,
        row: HeadroomRow | None,
        policy: PortPolicy,
        number: int,
    ) -> Port:
        # The dynamic model computes for any length.
        configured_m = use.cable_m if self.model == "dynamic" else row.cable_m if row else None
        key = (use.speed_bps, configured_m, id(policy))
        if key not in self._qos:
            lossless = self._lossless.of(row, use.speed_bps, policy.groups)
            self._qos[key] = self._builder.port_qos(self, policy, use.speed_bps, lossless)
        port = Port(
            name=spec.name if spec else f"(no port {use.name or f'for link {number}'})",
            speed_bps=use.speed_bps,
            lanes=len(spec.lanes) if spec else None,
            mtu_bytes=self._builder.mtu_bytes,
            admin_up=True,
            leads_to="host" if use.to_host else "switch",
            cable=Cable(use.cable_m, configured_m, use.cable_origin),
            neighbor=None,
            qos=self._qos[key],
            placed=spec is not None,
            origin=use.origin,
            pfc_unwanted=not policy.pauses and self._builder.has_lossless,
            lag=use.lag,
            asymmetric=policy.pauses and self._builder.asymmetric,
            spec=spec,
            adaptive=adapts(self._builder.loaded, self.kind, use),
        )
        end = f"{self.kind.device}:{port.name}"
        if end not in self._builder.exceptions:
            return port
        return self._builder.with_exception(port, end, self.kind.role)

    def egress(self, class_name: str, speed_bps: int) -> BufferProfile | None:
        lossless = self._builder.loaded.intent.classes[class_name].lossless
        shipped = self._defaults.queue_profile(lossless=lossless)
        own = self.defaults_profile(shipped.name) if shipped else None
        return self._limits.of(class_name, speed_bps, own)

    def _lists(self) -> tuple[tuple[BufferProfile, ...], tuple[BufferProfile, ...]]:
        """Return the port-wide profile lists, which exist where the HWSKU ships an ingress_lossless_profile."""
        if self._defaults.profile(INGRESS_LOSSLESS_PROFILE) is None:
            return (), ()
        pools = [pool.name for pool in self._defaults.pools]
        ingress = [
            INGRESS_LOSSLESS_PROFILE,
            *([INGRESS_LOSSY_PROFILE] if INGRESS_LOSSY_POOL in pools else []),
        ]
        listed = (ingress, [EGRESS_LOSSLESS_PROFILE, EGRESS_LOSSY_PROFILE])
        first, second = (tuple(p for p in map(self.defaults_profile, names) if p) for names in listed)
        return first, second

    def defaults_profile(self, name: str) -> BufferProfile | None:
        """Return one of the HWSKU's own buffer profiles, bound to the pools of this switch; None where it has none."""
        default = self._defaults.profile(name)
        if default is None:
            return None
        if name not in self._profiles:
            self._profiles[name] = BufferProfile(
                name=name,
                pool=self._pools.get(default.pool),
                reserved_bytes=default.reserved_bytes,
                headroom_bytes=None,
                xon_bytes=None,
                xon_offset_bytes=None,
                dynamic_th=default.dynamic_th,
                static_th_bytes=default.static_th_bytes,
                origin=self.kind.hardware_origin,
            )
        return self._profiles[name]

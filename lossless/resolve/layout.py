"""The ports of one kind of switch: placed, cabled, and given their QoS. Switches alike share one layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import InputError
from lossless.fabric.model import Cable, Port, PortDemand, SwitchQos, WatchdogPoll
from lossless.fabric.qos import (
    PRIORITIES,
    BufferProfile,
    PortQos,
    PriorityGroup,
    Queue,
    Watchdog,
)
from lossless.hardware.capacity import LOSSLESS_INGRESS, backs_headroom
from lossless.records import NamedTuple
from lossless.resolve.classes import maps, priority_groups, schedulers, wred
from lossless.resolve.placement import Placement
from lossless.resolve.pools import PoolPlan, PortLoad, plan_pools
from lossless.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.fabric.qos import Pool
    from lossless.findings import Origin
    from lossless.hardware.model import BufferDefaults, HeadroomRow, Hwsku, PortSpec, SwitchProfile
    from lossless.intent.load import LoadedIntent
    from lossless.topology.shapes import Role

_TEMPLATES: dict[str, tuple[str, ...]] = {
    "leaf": ("t0", "t1", "lt2", "ft2"),
    "spine": ("t1", "t0", "ft2", "lt2"),
}
"""Which of a HWSKU's buffer templates fits a role, best first (SONiC calls a leaf t0, a spine t1)."""
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


class PortUse(NamedTuple):
    """One port a switch needs: its speed, what is at the other end, and the real cable."""

    speed_bps: int
    tier: str
    cable_m: int
    name: str | None
    origin: Origin
    cable_origin: Origin


class SwitchKind(NamedTuple):
    """What makes switches alike: product, HWSKU, role and the ports they need, in order."""

    profile: SwitchProfile
    hwsku: Hwsku
    role: Role
    uses: tuple[PortUse, ...]
    hardware_origin: Origin


class Layout(NamedTuple):
    """The ports of one kind of switch, in the order asked for, and what holds for the whole switch."""

    ports: tuple[Port, ...]
    demand: tuple[PortDemand, ...]
    qos: SwitchQos
    pool_plan: PoolPlan


class LayoutBuilder:
    """Builds the layout of each kind of switch of one fabric."""

    def __init__(self, loaded: LoadedIntent) -> None:
        self._loaded = loaded
        self._intent = loaded.intent
        self._watchdog_policy = loaded.intent.pfc.watchdog if loaded.intent.pfc else None
        self._maps = maps(loaded)
        self._schedulers = schedulers(loaded)
        self._group_of = priority_groups(loaded.intent.classes)
        self.mtu_bytes = loaded.intent.mtu

    def build(self, kind: SwitchKind) -> Layout:
        """Return the layout of a kind of switch.

        Raises:
            InputError: the HWSKU ships no lossless buffers at all, so nothing can be computed for it.
        """
        defaults = self._defaults(kind)
        placed = _place(kind)
        rows = [kind.hwsku.row_covering(use.speed_bps, use.cable_m) for use in kind.uses]
        plan = self._pools(kind, defaults, placed, rows)
        shaper = _PortShaper(self, kind, defaults, {pool.name: pool for pool in plan.pools})
        ports = tuple(map(shaper.port, kind.uses, placed, rows, range(1, len(placed) + 1)))
        return Layout(ports, _demand(kind.uses), self._switch_qos(plan), plan)

    def _defaults(self, kind: SwitchKind) -> BufferDefaults:
        for template in _TEMPLATES[kind.role]:
            found = kind.hwsku.buffer_defaults(template)
            if found is not None and backs_headroom(kind.hwsku, found):
                return found
        others = [h.name for h in kind.profile.hwskus if any(backs_headroom(h, d) for d in h.buffers)]
        message = (
            f"HWSKU {kind.hwsku.name} ships no buffers for lossless groups; "
            f"HWSKUs of {kind.profile.name} that do: {', '.join(others) or 'none'}"
        )
        raise InputError([self._loaded.problem(kind.hardware_origin, message)])

    def _pools(
        self,
        kind: SwitchKind,
        defaults: BufferDefaults,
        placed: Sequence[PortSpec | None],
        rows: Sequence[HeadroomRow | None],
    ) -> PoolPlan:
        classes, groups = self._intent.classes, self._group_of
        lossless = {groups[name] for name, cls in classes.items() if cls.lossless}
        lossy = {groups[name] for name in classes} - lossless
        egress = defaults.profile("egress_lossy_profile")
        loads = tuple(
            PortLoad(row, len(spec.lanes), len(lossless), len(lossy), egress.reserved_bytes if egress else 0)
            for spec, row in zip(placed, rows, strict=True)
            if spec and row
        )
        ratio = self._intent.buffers.headroom_oversubscription
        return plan_pools(kind.profile.asic, defaults, loads, ratio, self._loaded.origin("topology"))

    def _switch_qos(self, plan: PoolPlan) -> SwitchQos:
        policy = self._watchdog_policy
        origin = self._watchdog_origin()
        return SwitchQos(
            buffer_model="traditional",
            pools=plan.pools,
            poll=WatchdogPoll(
                policy.poll // 10**6 if policy else None, origin.at("poll") if policy else origin
            ),
            counters=tuple((group, True) for group in MONITORED),
            global_dscp_map=self._maps.dscp_to_tc,
            database_version=None,
            headroom_oversubscription=self._intent.buffers.headroom_oversubscription,
            storage_backend=False,
            voq=False,
            origin=self._loaded.origin("topology"),
        )

    def port_qos(self, shaper: _PortShaper, speed_bps: int, lossless: BufferProfile | None) -> PortQos:
        """Return the QoS of ports of one speed whose lossless groups have one profile."""
        shared = self._maps
        with_map = shaper.kind.profile.asic.pfc_to_pg_map
        return PortQos(
            dscp_to_tc=shared.dscp_to_tc,
            tc_to_queue=shared.tc_to_queue,
            tc_to_pg=shared.tc_to_pg,
            pfc_to_queue=shared.pfc_to_queue,
            pfc_to_pg=shared.pfc_to_pg if with_map else None,
            trust_dot1p=False,
            pfc=shared.pfc,
            watchdog_mask=shared.pfc if shared.pfc.priorities else None,
            watchdog=self._watchdog() if shared.pfc.priorities else None,
            queues=self._queues(shaper, speed_bps),
            groups=self._groups(shaper, lossless),
            profile_lists=shaper.profile_lists,
            origin=shared.pfc.origin,
        )

    def _watchdog_origin(self) -> Origin:
        """Return where the watchdog is declared; where nothing is said of it, the class that needs it."""
        origin = self._loaded.origin("pfc", "watchdog")
        lossless = (name for name, cls in self._intent.classes.items() if cls.lossless)
        return origin if origin.path else self._loaded.origin("classes", next(lossless, ""))

    def _watchdog(self) -> Watchdog | None:
        policy = self._watchdog_policy
        if policy is None:
            return None
        restoration_ms = None if policy.restoration is None else policy.restoration // 10**6
        origin = self._loaded.origin("pfc", "watchdog")
        return Watchdog(policy.detection // 10**6, restoration_ms, policy.action, origin)

    def _queues(self, shaper: _PortShaper, speed_bps: int) -> tuple[Queue | None, ...]:
        found: list[Queue | None] = [None] * len(PRIORITIES)
        for name, cls in self._intent.classes.items():
            found[cls.priority] = Queue(
                number=cls.priority,
                scheduler=self._schedulers[name],
                wred=wred(self._loaded, name, speed_bps),
                buffer=shaper.egress(cls.lossless),
                origin=self._loaded.origin("classes", name),
                buffer_origin=self._loaded.origin("classes", name),
            )
        return tuple(found)

    def _groups(
        self, shaper: _PortShaper, lossless: BufferProfile | None
    ) -> tuple[PriorityGroup | None, ...]:
        found: list[PriorityGroup | None] = [None] * len(PRIORITIES)
        # Lossless classes first: a lossy one that names the group of a lossless one shares its headroom.
        by_rank = sorted(
            self._intent.classes.items(), key=lambda item: (not item[1].lossless, item[1].priority)
        )
        for name, cls in by_rank:
            number = self._group_of[name]
            profile = lossless if cls.lossless else shaper.defaults_profile("ingress_lossy_profile")
            if found[number] is None and profile is not None:
                found[number] = PriorityGroup(
                    number, profile, generated=False, origin=self._loaded.origin("classes", name)
                )
        return tuple(found)


class _PortShaper:
    """Makes the ports of one kind of switch, sharing what is alike."""

    def __init__(
        self, builder: LayoutBuilder, kind: SwitchKind, defaults: BufferDefaults, pools: dict[str, Pool]
    ) -> None:
        self.kind = kind
        self._builder = builder
        self._defaults = defaults
        self._pools = pools
        self._profiles: dict[str, BufferProfile] = {}
        self._qos: dict[tuple[int, int | None], PortQos] = {}
        self.profile_lists = self._lists()

    def port(self, use: PortUse, spec: PortSpec | None, row: HeadroomRow | None, number: int) -> Port:
        configured_m = row.cable_m if row else None
        key = (use.speed_bps, configured_m)
        if key not in self._qos:
            self._qos[key] = self._builder.port_qos(self, use.speed_bps, self._lossless(row))
        return Port(
            name=spec.name if spec else f"(no port {use.name or f'for link {number}'})",
            speed_bps=use.speed_bps,
            lanes=len(spec.lanes) if spec else None,
            mtu_bytes=self._builder.mtu_bytes,
            admin_up=True,
            tier="host" if use.tier == "host" else "switch",
            cable=Cable(use.cable_m, configured_m, use.cable_origin),
            neighbor=None,
            qos=self._qos[key],
            placed=spec is not None,
            origin=use.origin,
        )

    def egress(self, lossless: bool) -> BufferProfile | None:
        names = ("egress_lossless_profile",) if lossless else ("q_lossy_profile", "egress_lossy_profile")
        return next((p for p in map(self.defaults_profile, names) if p), None)

    def _lists(self) -> tuple[tuple[BufferProfile, ...], tuple[BufferProfile, ...]]:
        """Port-wide profile lists exist where the HWSKU ships an ingress_lossless_profile for them."""
        if self._defaults.profile("ingress_lossless_profile") is None:
            return (), ()
        pools = [pool.name for pool in self._defaults.pools]
        ingress = [
            "ingress_lossless_profile",
            *(["ingress_lossy_profile"] if "ingress_lossy_pool" in pools else []),
        ]
        listed = (ingress, ["egress_lossless_profile", "egress_lossy_profile"])
        first, second = (tuple(p for p in map(self.defaults_profile, names) if p) for names in listed)
        return first, second

    def defaults_profile(self, name: str) -> BufferProfile | None:
        """Return one of the HWSKU's own profiles, on the pools of this switch."""
        found = self._defaults.profile(name)
        if found is None:
            return None
        if name not in self._profiles:
            self._profiles[name] = BufferProfile(
                name=name,
                pool=self._pools.get(found.pool),
                reserved_bytes=found.reserved_bytes,
                headroom_bytes=None,
                xon_bytes=None,
                xon_offset_bytes=None,
                dynamic_th=found.dynamic_th,
                static_th_bytes=found.static_th_bytes,
                origin=self.kind.hardware_origin,
            )
        return self._profiles[name]

    def _lossless(self, row: HeadroomRow | None) -> BufferProfile | None:
        if row is None:
            return None
        pool = self._pools[LOSSLESS_INGRESS]
        static = pool.mode == "static"
        return BufferProfile(
            name=f"pg_lossless_{row.speed_bps // 10**6}_{row.cable_m}m_profile",
            pool=pool,
            reserved_bytes=row.reserved_bytes,
            headroom_bytes=row.headroom_bytes,
            xon_bytes=row.xon_bytes,
            xon_offset_bytes=row.xon_offset_bytes,
            dynamic_th=None if static else row.threshold,
            static_th_bytes=row.threshold if static else None,
            origin=self.kind.hardware_origin,
        )


def _place(kind: SwitchKind) -> list[PortSpec | None]:
    placement = Placement(kind.profile, kind.hwsku)
    claimed = {i: placement.claim(use.name, use.speed_bps) for i, use in enumerate(kind.uses) if use.name}
    return [claimed[i] if i in claimed else placement.take(use.speed_bps) for i, use in enumerate(kind.uses)]


def _demand(uses: Sequence[PortUse]) -> tuple[PortDemand, ...]:
    found: dict[tuple[int, str], list[PortUse]] = {}
    for use in uses:
        found.setdefault((use.speed_bps, use.tier), []).append(use)
    return tuple(
        PortDemand(len(alike), speed_bps, f"{format_rate(speed_bps)} {tier} ports", alike[0].origin)
        for (speed_bps, tier), alike in found.items()
    )

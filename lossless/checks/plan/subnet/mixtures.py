"""Dangers while a manager sets switch after switch, and the order of a subnet's configurations without them.

Each switch has old or new tables then, and each port old or new ones. opensm sends P_Keys, then forwarding tables,
then SL2VL and arbitration tables, then operational VLs, for all ports (linux-rdma/opensm opensm/osm_state_mgr.c
do_sweep @fa74b98), and waits for no switch before the next. So each table of each port is old or new by itself. A
sender alone decides on the VL of a packet, so ends of a link need not agree.

A change has configurations, the files that each gives a host, and phases that lead from one to the next, with the
rollback from after each.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from lossless.analysis.routing.infiniband.credit_loops import OWN_LEVELS, mixed_verdict
from lossless.checks.rules.infiniband.subnet_queries import (
    FULL_MEMBER,
    base_of,
    folding,
    is_on,
    key_tables,
    number,
    operational_vls,
    value,
    vl_of,
)
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed
from lossless.model.fabric.infiniband.subnet import job_level, levels_in_use, options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.infiniband.subnet import Subnet


_BREAKS = {
    "subnet_prefix": "GIDs change, and every connection with them",
    "lmc": "LIDs change, and every connection with them",
    "lmc_esp0": "LIDs of switches change",
    "reassign_lids": "LIDs may change, and every connection with them",
    "force_link_speed": "links train again",
    "force_link_speed_ext": "links train again",
    "force_link_width": "links train again",
    "fdr10": "links train again",
    "allow_both_pkeys": "places in P_Key tables change, which queue pairs hold",
    "disable_multicast": "IPoIB loses its multicast groups",
}
"""Options whose change no running job survives, each with the reason, as that queue pairs hold GIDs and LIDs."""
_ROUTES = (
    "routing_engine",
    "port_prof_ignore_file",
    "hop_weights_file",
    "port_search_ordering_file",
    "dimn_ports_file",
    "port_profile_switch_nodes",
    "avoid_throttled_links",
    "connect_roots",
    "lid_matrix_dump_file",
    "lfts_file",
    "io_guid_file",
    "port_shifting",
    "scatter_ports",
    "max_reverse_hops",
    "ids_guid_file",
    "guid_routing_order_file",
    "guid_routing_order_no_scatter",
    "torus_config",
    "do_mesh_analysis",
    "quasi_ftree_indexing",
    "lash_start_vl",
    "nue_max_num_vls",
    "nue_include_switches",
    "use_ucast_cache",
)
_QOS_KINDS = ("ca", "sw0", "swe", "rtr")


def used_levels(subnet: Subnet) -> frozenset[int]:
    """Return the service levels that traffic may be on: those declared, of jobs, of the manager, and SL 0.

    Traffic without a path query uses SL 0, as do IPoIB and jobs that set no SL; SL 0 does not count if it is dropped.
    """
    of_jobs = job_level(subnet)
    levels = {number(subnet, "sm_sl"), *levels_in_use(subnet), *(() if of_jobs is None else (of_jobs,))}
    is_dropped = is_on(subnet, "qos") and vl_of(subnet, 0) is None
    return frozenset(levels - {0} if is_dropped else {*levels, 0})


def routes_differ(old: Subnet, new: Subnet) -> bool:
    """Return whether opensm may choose other routes with the new configuration."""
    if old.routing._replace(origin=new.routing.origin, roots_origin=new.routing.roots_origin) != new.routing:
        return True
    if any(_effective(old, key) != _effective(new, key) for key in _ROUTES if key in options()):
        return True
    return old.routing.engine in OWN_LEVELS and _lanes(old) != _lanes(new)


def mixture_dangers(
    old: Subnet, new: Subnet, in_use: frozenset[int], *, moved: bool = False
) -> tuple[str, ...]:
    """Return the dangers to traffic on the service levels in use while switches have the tables of either side.

    ``moved``: no remaining job uses resources that only the old side has.
    """
    kept = () if moved else (*_lost(old, new), *_sharp(old, new))
    dangers = (*_broken(old, new), *_unserved(old, new, in_use), *_routing(old, new), *kept)
    return tuple(dict.fromkeys(dangers))


def _broken(old: Subnet, new: Subnet) -> Iterator[str]:
    for key, why in _BREAKS.items():
        if _effective(old, key) != _effective(new, key):
            yield f"{key} changes: {why}"
    if not (is_on(old, "keep_pkey_indexes") and is_on(new, "keep_pkey_indexes")) and _moved(old, new):
        yield "places in P_Key tables change, which queue pairs hold: keep_pkey_indexes is not TRUE"
    elif _first_moves(old, new):
        yield "another P_Key takes place 0 of P_Key tables, and queue pairs hold places"


def _moved(old: Subnet, new: Subnet) -> bool:
    """Return whether a P_Key that an HCA keeps gets another place in its table."""
    after = key_tables(new)
    return any(
        base_of(key) in bases and bases.index(base_of(key)) != place
        for hca, keys in key_tables(old).items()
        for bases in ([base_of(key) for key in after[hca]],)
        for place, key in enumerate(keys)
    )


def _first_moves(old: Subnet, new: Subnet) -> bool:
    """Return whether another P_Key requests place 0 of a table, so that the key at this place is moved, kept or not."""
    after = key_tables(new)
    return any(base_of(keys[0]) != base_of(after[hca][0]) for hca, keys in key_tables(old).items())


def _unserved(old: Subnet, new: Subnet, in_use: frozenset[int]) -> Iterator[str]:
    """Yield the dangers to service levels in use: dropped, on a lane not operational or without weight, or unknown."""
    if _lanes(old) == _lanes(new):
        return
    if not is_on(old, "qos"):
        if is_on(new, "qos") or _effective(old, "max_op_vls") != _effective(new, "max_op_vls"):
            yield "what SL2VL and arbitration tables switches have while qos is FALSE is not known"
        return
    if any(
        subnet.option(f"qos_{kind}_{what}") for subnet in (old, new) for kind in _QOS_KINDS for what in _OWN
    ):
        yield "kinds of ports have QoS tables of their own, which are not compared here"
        return
    for sl in sorted(in_use):
        # opensm leaves tables as they are once qos is FALSE (opensm/osm_qos.c osm_qos_setup @fa74b98).
        after = vl_of(new, sl) if is_on(new, "qos") else vl_of(old, sl)
        yield from _of_level((old, vl_of(old, sl)), (new, after), sl)


_OWN = ("max_vls", "high_limit", "vlarb_high", "vlarb_low", "sl2vl")


def _of_level(old: tuple[Subnet, int | None], new: tuple[Subnet, int | None], sl: int) -> Iterator[str]:
    """Yield the dangers to a service level on a port with the SL2VL table of one side and other tables of the other."""
    if old[1] is None:
        return
    if new[1] is None:
        yield f"SL {sl} is in use, and new tables drop it (VL 15)"
        return
    for subnet, vl, name in ((old[0], new[1], "old"), (new[0], old[1], "new")):
        count = operational_vls(subnet)
        if count is not None and vl >= count:
            yield f"SL {sl} is in use, and its VL {vl} is not operational where ports have {name} ones ({count} VLs)"
        elif is_on(subnet, "qos") and not serves(subnet, vl):
            yield f"SL {sl} is in use, and its VL {vl} has no weight in {name} arbitration tables"


def unserved(subnet: Subnet, in_use: frozenset[int]) -> tuple[int, ...]:
    """Return the service levels in use that a configuration drops, or gives a lane without weight; () with QoS off."""
    if not is_on(subnet, "qos"):
        return ()
    lanes = {sl: vl_of(subnet, sl) for sl in sorted(in_use)}
    return tuple(sl for sl, vl in lanes.items() if vl is None or not serves(subnet, vl))


def serves(subnet: Subnet, vl: int) -> bool:
    """Return whether a VL has a weight in the arbitration tables; opensm's own serve all (high VL 0, low VL 1 on).

    False if the number of operational VLs is unknown.
    """
    high, low, count = subnet.qos.high, subnet.qos.low, operational_vls(subnet)
    if count is None:
        return False
    if low is None:
        return vl > 0 or high is None or any(entry.vl == 0 and entry.weight for entry in high)
    entries = (*low, *(high or ()))
    return any(entry.vl % folding(count) == vl for entry in entries if entry.weight) or (
        high is None and vl == 0
    )


def _routing(old: Subnet, new: Subnet) -> Iterator[str]:
    if not routes_differ(old, new):
        return
    if {old.routing.engine, new.routing.engine} & OWN_LEVELS:
        engine = next(s.routing.engine for s in (old, new) if s.routing.engine in OWN_LEVELS)
        yield f"{engine} keeps cycles apart by lanes, and switches with old and new lanes do not"
        return
    verdict = mixed_verdict(old, new)
    if verdict.state == "loop":
        yield f"{verdict.why}, so jobs could deadlock on the way: {'; '.join(verdict.loop)}"
    elif verdict.state == "unproven":
        yield f"whether old and new routes together can deadlock is not known: {verdict.why}"


def lost_keys(old: Subnet, new: Subnet) -> dict[int, tuple[str, ...]]:
    """Return the P_Keys that HCAs lose, membership bit included, each with the HCAs.

    A limited member that becomes a full one loses nothing: its key stays in its place (opensm/osm_pkey_mgr.c
    pkey_mgr_process_physical_port @fa74b98), but where a table holds both keys of a partition.
    """
    after = key_tables(new)
    both = is_on(old, "allow_both_pkeys") or is_on(new, "allow_both_pkeys")
    lost: dict[int, list[str]] = {}
    for hca, keys in key_tables(old).items():
        for key in keys:
            if not {key, key if both else key | FULL_MEMBER} & {*after[hca]}:
                lost.setdefault(key, []).append(hca)
    return {key: tuple(names) for key, names in sorted(lost.items())}


def _lost(old: Subnet, new: Subnet) -> Iterator[str]:
    for key, names in lost_keys(old, new).items():
        yield f"P_Key {key:#06x} goes from {listed(names, 3)}, and queue pairs that use it lose their connections"


def _sharp(old: Subnet, new: Subnet) -> Iterator[str]:
    """Yield a danger if SHARP ends or changes under jobs that use it."""
    before, after = _told(old), _told(new)
    if before is not None and before != after:
        yield "jobs that use SHARP lose their trees where its manager ends or starts again"


def _told(subnet: Subnet) -> tuple[object, ...] | None:
    sharp = subnet.sharp
    if sharp is None or not sharp.on:
        return None
    settings = tuple((setting.key, setting.text) for setting in sharp.settings)
    return sharp.am_node, settings, _effective(subnet, "sharp_enabled")


def _effective(subnet: Subnet, key: str) -> object:
    """Return the value of an option as opensm reads it, its text if the key is unknown; None if that is not set."""
    if key == "subnet_prefix":
        return subnet.subnet_prefix
    known = options().get(key)
    if known is None:
        return None if (setting := subnet.option(key)) is None else setting.text
    return value(subnet, key)


def _lanes(subnet: Subnet) -> tuple[object, ...]:
    """Return the values of the QoS options that decide on VLs, as opensm reads them."""
    keys: Iterable[str] = (
        "qos",
        "max_op_vls",
        *(f"qos_{what}" for what in _OWN),
        *(f"qos_{kind}_{what}" for kind in _QOS_KINDS for what in _OWN),
    )
    return tuple(_effective(subnet, key) for key in keys)


PhaseKind = Literal["stop", "managers", "hosts", "jobs", "start"]


class FileOfHost(NamedTuple):
    """One file of a host: its name, its path, or its name where that is not fixed, and its text."""

    name: str
    target: str
    text: str


class SubnetConfiguration(NamedTuple):
    """A configuration of the whole subnet, and the files that it gives each host."""

    title: str
    subnet: Subnet
    files: Mapping[str, Mapping[str, FileOfHost]]


class SubnetChange(NamedTuple):
    """A change of a subnet: the configuration in service and the target.

    ``both`` serves the jobs of either side; None if no configuration can. ``lanes`` are intermediate configurations
    that serve the lanes of both, first with the old lane of each level in use, then with the new one; empty if they
    make no difference or would break a rule.
    """

    current: SubnetConfiguration
    target: SubnetConfiguration
    both: SubnetConfiguration | None
    lanes: tuple[SubnetConfiguration, ...] = ()


class Phase(NamedTuple):
    """A phase of the change: managers or hosts take another configuration, jobs restart, or all stop or start.

    ``old`` and ``new`` are its configurations before and after; ``in_use`` are the service levels that jobs send
    on meanwhile. ``only`` are the managers that have ``old`` while others have ``new`` already (and
    sharp_am.cfg, if SHARP has it): None if all have.
    """

    kind: PhaseKind
    old: SubnetConfiguration
    new: SubnetConfiguration
    in_use: frozenset[int] = frozenset()
    only: frozenset[str] | None = None


JOB_FILES = ("nccl.conf", "job.env")
"""Files that jobs read, beside those of managers."""


class PhaseOrder(NamedTuple):
    """The phases of a safe order; ``why`` gives the dangers of every order with running jobs, empty if one is safe.

    ``evaluated`` is the number of configurations and mixtures of two that were evaluated.
    """

    phases: tuple[Phase, ...]
    why: tuple[str, ...]
    evaluated: int


def order_of(change: SubnetChange) -> PhaseOrder:
    """Return the phases of a change: the first order that is safe, and if none is, the one with all jobs stopped.

    Tried are: at once; over lanes of both sides; with jobs that restart while the subnet serves both sides.
    """
    old, new, both = change.current, change.target, change.both
    sent, wanted = used_levels(old.subnet), used_levels(new.subnet)
    evaluated, why = 0, []
    for by in ((), change.lanes) if change.lanes else ((),):
        dangers = [*_on_way((old, *by, new), sent), *_left_behind(old, new, sent - wanted)]
        evaluated += 2 * len(by) + 3
        if not dangers:
            return PhaseOrder(tuple(_going_on((old, *by, new), sent, wanted)), (), evaluated)
        why += dangers
    for after in ((), change.lanes[1:]) if change.lanes else ((),):
        if both is None:
            break
        dangers = [
            *_on_way((old, both), sent),
            *(f"SL {sl} has no lane on the way" for sl in unserved(both.subnet, sent | wanted)),
            *_on_way((both, *after, new), wanted, moved=True),
        ]
        evaluated += 2 * len(after) + 3
        if not dangers:
            return PhaseOrder(tuple(_by_both((old, both, *after, new), sent, wanted)), (), evaluated)
        why += dangers
    return PhaseOrder(tuple(_stopped(old, new)), tuple(dict.fromkeys(why)), evaluated)


def _left_behind(old: SubnetConfiguration, new: SubnetConfiguration, gone: frozenset[int]) -> Iterator[str]:
    """Yield a danger for each SL in ``gone`` that the target drops or puts on another VL, if QoS is on in both."""
    for sl in sorted(gone) if is_on(old.subnet, "qos") and is_on(new.subnet, "qos") else ():
        before, after = vl_of(old.subnet, sl), vl_of(new.subnet, sl)
        if before is not None and before != after:
            yield f"SL {sl} is in use, and the target has it on {'no VL' if after is None else f'VL {after}'}"


def _on_way(
    configurations: Sequence[SubnetConfiguration], in_use: frozenset[int], *, moved: bool = False
) -> list[str]:
    """Return the dangers between consecutive configurations, and in each but the first.

    ``moved``: no remaining job uses resources that only the first has.
    """
    pairs = pairwise(configurations)
    mixed = [danger for a, b in pairs for danger in mixture_dangers(a.subnet, b.subnet, in_use, moved=moved)]
    first = {*unserved(configurations[0].subnet, in_use)}
    alone = [
        f"SL {sl} is in use, and {each.title} has no lane for it that has a weight"
        for each in configurations[1:]
        for sl in unserved(each.subnet, in_use)
        if sl not in first
    ]
    return [*mixed, *alone]


def _going_on(
    configurations: Sequence[SubnetConfiguration], sent: frozenset[int], wanted: frozenset[int]
) -> Iterator[Phase]:
    for old, new in pairwise(configurations):
        yield from _managers(old, new, sent)
    yield from _hosts(configurations[0], configurations[-1], sent | wanted)


def _by_both(
    configurations: Sequence[SubnetConfiguration], sent: frozenset[int], wanted: frozenset[int]
) -> Iterator[Phase]:
    """Yield the phases of a change over the configuration that serves both sides, the second one."""
    old, both, *_, new = configurations
    yield from _managers(old, both, sent)
    yield from _hosts(old, new, sent | wanted)
    yield Phase("jobs", old, new, sent | wanted)
    for before, after in pairwise(configurations[1:]):
        yield from _managers(before, after, wanted)


def _stopped(old: SubnetConfiguration, new: SubnetConfiguration) -> Iterator[Phase]:
    none = frozenset[int]()
    yield Phase("stop", old, old, used_levels(old.subnet))
    yield from _managers(old, new, none)
    yield from _hosts(old, new, none)
    yield Phase("start", new, new, used_levels(new.subnet))


def _managers(old: SubnetConfiguration, new: SubnetConfiguration, in_use: frozenset[int]) -> Iterator[Phase]:
    if differing(old, new, of_jobs=False) or aggregation_host(old) != aggregation_host(new):
        yield Phase("managers", old, new, in_use)


def aggregation_host(configuration: SubnetConfiguration) -> str | None:
    """Return the host or switch on which SHARP's aggregation manager runs, None where SHARP is off."""
    sharp = configuration.subnet.sharp
    return str(sharp.am_node) if sharp is not None and sharp.on else None


def _hosts(old: SubnetConfiguration, new: SubnetConfiguration, in_use: frozenset[int]) -> Iterator[Phase]:
    if differing(old, new, of_jobs=True):
        yield Phase("hosts", old, new, in_use)


def differing(
    old: SubnetConfiguration, new: SubnetConfiguration, *, of_jobs: bool
) -> dict[str, tuple[str, ...]]:
    """Return the names of the files that differ, by host: those that jobs read, or all others."""
    different = {}
    for host in dict.fromkeys((*old.files, *new.files)):
        before, after = old.files.get(host, {}), new.files.get(host, {})
        names = tuple(
            name
            for name in dict.fromkeys((*after, *before))
            if (name in JOB_FILES) == of_jobs and before.get(name) != after.get(name)
        )
        if names:
            different[host] = names
    return different


def back_from(done: Sequence[Phase], sent: frozenset[int]) -> tuple[Phase, ...]:
    """Return the phases that undo those in ``done``, the last first, with restarts or stops of jobs as needed.

    If all jobs were stopped, they stop again if they have started, and start at the end.
    """
    kinds = {phase.kind for phase in done}
    undone = [
        phase._replace(old=phase.new, new=phase.old)
        for phase in reversed(done)
        if phase.kind in ("managers", "hosts")
    ]
    if "stop" in kinds:
        begun = [Phase("stop", done[-1].old, done[-1].new, done[-1].in_use)] if "start" in kinds else []
        return (*begun, *undone, Phase("start", done[0].old, done[0].old, sent))
    # Jobs that began since hosts changed may send what the old configuration does not serve.
    return tuple(
        each
        for phase in undone
        for each in ((phase, phase._replace(kind="jobs")) if phase.kind == "hosts" else (phase,))
    )

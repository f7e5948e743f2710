"""TrafficClassIntent classes to the fabric's class set and to the maps every port shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.classes import NoCurve, dscp_of_name, name_of_dscp
from lossless.formats.intent.contradictions import wred_name_at
from lossless.formats.intent.ranks import as_written, statements
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import ClassSet, NamedDscp, TrafficClass
from lossless.model.fabric.qos import DSCPS, PRIORITIES, Curve, IndexMap, PriorityMask, Scheduler, Wred

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.intent.classes import CurveIntent, TrafficClassIntent
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.ranks import ClassPlace
    from lossless.ground.basics.findings import Origin

MAP_NAME = "AZURE"
"""The name that SONiC's tools expect of QoS maps.

Source: sonic-buildimage files/build_templates/qos_config.j2 @086b03b.
"""
WRED_NAME = "AZURE_LOSSLESS"
"""The one WRED profile the config updater changes in place (rules of GCU, releases 202305 to 202411)."""


class Maps(NamedTuple):
    """The maps and masks that ports share. None: without PFC there is nothing to map."""

    dscp_to_tc: IndexMap
    tc_to_queue: IndexMap
    tc_to_pg: IndexMap
    pfc_to_queue: IndexMap | None
    pfc_to_pg: IndexMap | None
    pfc: PriorityMask


def class_set(loaded: LoadedIntent) -> ClassSet:
    """Return the declared classes by priority: the order of the document is of no consequence."""
    return ClassSet(
        "declared",
        tuple(
            TrafficClass(
                name=name,
                dscps=tuple(sorted(cls.dscps)),
                rest=cls.rest,
                priority=cls.priority,
                lossless=cls.lossless,
                origin=loaded.origin("classes", name),
                named_dscps=tuple(_named(loaded, name)),
            )
            for name, cls in sorted(loaded.intent.classes.items(), key=lambda item: item[1].priority)
        ),
    )


def _named(loaded: LoadedIntent, class_name: str) -> Iterator[NamedDscp]:
    """Yield the DSCPs that a class gives by name and number: the models keep the numbers alone."""
    origin = loaded.origin("classes", class_name, "dscp")
    written: object = loaded.document.data
    for key in ("classes", class_name, "dscp"):
        written = written.get(key) if isinstance(written, dict) else None
    entries = (
        [(origin.at(i), e) for i, e in enumerate(written)]
        if isinstance(written, list)
        else [(origin, written)]
    )
    for at, entry in entries:
        for name, dscp in entry.items() if isinstance(entry, dict) else ():
            yield NamedDscp(name, dscp_of_name(name) or 0, dscp, name_of_dscp(dscp), at.at(name))


def maps(loaded: LoadedIntent) -> Maps:
    """Return the maps that put every DSCP into its class: priority = TC = queue."""
    classes = loaded.intent.classes
    origin = loaded.origin("classes")
    owners = {dscp: name for name, cls in classes.items() for dscp in cls.dscps}
    rest = next(name for name, cls in classes.items() if cls.rest)
    dscp_owner = [owners.get(dscp, rest) for dscp in DSCPS]
    lossless = tuple(sorted(cls.priority for cls in classes.values() if cls.lossless))
    named = {cls.priority: name for name, cls in classes.items()}
    priorities = _entry_origins(loaded, named, "priority")
    groups = _entry_origins(loaded, named, "pg")
    identity = IndexMap(MAP_NAME, tuple(PRIORITIES), origin, priorities)
    by_class = priority_groups(classes)
    shared = by_class[None]
    tc_to_pg = tuple(by_class[named[tc]] if tc in named else shared for tc in PRIORITIES)
    return Maps(
        dscp_to_tc=IndexMap(
            MAP_NAME,
            tuple(classes[name].priority for name in dscp_owner),
            origin,
            tuple(loaded.origin("classes", name, "dscp") for name in dscp_owner),
        ),
        tc_to_queue=identity,
        tc_to_pg=IndexMap(MAP_NAME, tc_to_pg, origin, groups),
        pfc_to_queue=identity,
        pfc_to_pg=IndexMap(
            MAP_NAME, tuple(tc_to_pg[p] if p in lossless else None for p in PRIORITIES), origin, groups
        ),
        pfc=PriorityMask(lossless, origin),
    )


def _entry_origins(loaded: LoadedIntent, named: dict[int, str], key: str) -> tuple[Origin, ...]:
    """Return where the entry of each priority comes from: its class's ``pg`` if stated, else its priority."""
    return tuple(_entry_origin(loaded, named.get(p), key) for p in PRIORITIES)


def _entry_origin(loaded: LoadedIntent, name: str | None, key: str) -> Origin:
    if name is None:
        return loaded.origin("classes")
    stated = getattr(loaded.intent.classes[name], key) is not None
    return loaded.origin("classes", name, key if stated else "priority")


def priority_groups(classes: Mapping[str, TrafficClassIntent]) -> dict[str | None, int]:
    """Return the priority group of each class by name, and under None that of traffic of no class.

    Lossless classes get that of their priority. Lossy ones share group 0 (as stock SONiC has it), or the
    first that is no lossless priority's where 0 is: they would use up its headroom. ``pg`` overrides both.
    """
    own = {cls.priority for cls in classes.values() if cls.lossless}
    shared = min(set(PRIORITIES) - own, default=0)
    group_of: dict[str | None, int] = {None: shared}
    for name, cls in classes.items():
        default = cls.priority if cls.lossless else shared
        group_of[name] = default if cls.pg is None else cls.pg
    return group_of


def schedulers(loaded: LoadedIntent) -> dict[str, Scheduler]:
    """Return how each class is served. Those without a share divide what others leave, at least 1 each."""
    classes = loaded.intent.classes
    open_shares = [cls for cls in classes.values() if cls.bandwidth is None and cls.scheduling != "strict"]
    taken = sum(cls.bandwidth or 0 for cls in classes.values())
    share = max(1, (100 - taken) // len(open_shares)) if open_shares else 0
    by_class = {}
    for name, cls in classes.items():
        strict = cls.scheduling == "strict"
        by_class[name] = Scheduler(
            name=f"scheduler.{name}",
            kind="STRICT" if strict else "DWRR",
            weight=None if strict else cls.bandwidth or share,
            origin=loaded.origin("classes", name),
        )
    return by_class


def wred(loaded: LoadedIntent, class_name: str, place: ClassPlace) -> Wred | None:
    """Return the WRED profile of a class at a place, None where ECN is off.

    All colours get the class's curve, unless they have one of their own: RDMA packets are green unless something on the
    way recolours them.
    """
    policy = loaded.intent.classes[class_name].ecn
    stated = next(statements(policy, place), None) if policy else None
    if stated is None:
        return None
    ecn, path = stated
    green, yellow, red = (_curve(curve or ecn) for curve in (ecn, ecn.yellow, ecn.red))
    origin = loaded.origin(*as_written(loaded.document, ("classes", class_name, "ecn", *path)))
    own_speed = place.speed_bps if "by_speed" in path else None
    return Wred(_wred_name(loaded, class_name, place, own_speed), green, yellow, red, origin)


def _curve(ecn: CurveIntent) -> Curve:
    if isinstance(ecn, NoCurve):
        return Curve(enabled=False, marks=False, min_bytes=None, max_bytes=None, probability_percent=None)
    return Curve(
        enabled=True, marks=True, min_bytes=ecn.min, max_bytes=ecn.max, probability_percent=ecn.probability
    )


def _wred_name(loaded: LoadedIntent, class_name: str, place: ClassPlace, own_speed: int | None) -> str:
    """Return the name of a profile: the one of all, where no class has another curve on the same switch."""
    curves = {
        next(statements(policy, place._replace(speed_bps=speed_bps)), (None, ()))[0]
        for cls in loaded.intent.classes.values()
        if (policy := cls.ecn)
        for speed_bps in (0, *policy.speeds())
    }
    if len(curves - {None}) == 1:
        return WRED_NAME
    return class_name if own_speed is None else wred_name_at(class_name, own_speed)

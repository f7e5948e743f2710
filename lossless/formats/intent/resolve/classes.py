"""Turns the classes of an intent into the fabric's class set and into the maps that all ports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.classes import NoCurve
from lossless.formats.intent.contradictions import wred_name_at
from lossless.formats.intent.ranks import ClassPlace, as_written, statements
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.dscp_names import dscp_of_name, name_of_dscp
from lossless.model.fabric.model import ClassSet, NamedDscp, TrafficClass
from lossless.model.fabric.qos import DSCPS, PRIORITIES, Curve, IndexMap, PriorityMask, Scheduler, Wred

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.intent.classes import CurveIntent
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.findings import Origin

MAP_NAME = "AZURE"
"""The name of QoS maps that SONiC's tools require.

Source: sonic-buildimage files/build_templates/qos_config.j2 @086b03b.
"""
WRED_NAME = "AZURE_LOSSLESS"
"""The one WRED profile that the config updater changes in place (rules of GCU, releases 202305 to 202411)."""


class Maps(NamedTuple):
    """The maps and masks that ports share. The PFC maps are None where the fabric has no PFC."""

    dscp_to_tc: IndexMap
    tc_to_queue: IndexMap
    tc_to_pg: IndexMap
    pfc_to_queue: IndexMap | None
    pfc_to_pg: IndexMap | None
    pfc: PriorityMask


class PlacedGroups(NamedTuple):
    """The priority groups of classes at a place, by class, and the origin of each.

    ``shared`` is the group of traffic of no class, ``targets`` has the group of each TC.
    """

    shared: int
    numbers: Mapping[str, int]
    origins: Mapping[str, Origin]
    targets: tuple[int, ...]


def class_set(loaded: LoadedIntent) -> ClassSet:
    """Return the declared classes by priority; their order in the document has no meaning."""
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
    """Yield the DSCPs that a class declares by name and number; the models keep the numbers alone."""
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
    """Return the maps that classify every DSCP: priority = TC = queue, with the groups for all switches."""
    classes = loaded.intent.classes
    origin = loaded.origin("classes")
    owners = {dscp: name for name, cls in classes.items() for dscp in cls.dscps}
    rest = next(name for name, cls in classes.items() if cls.rest)
    dscp_owner = [owners.get(dscp, rest) for dscp in DSCPS]
    lossless = tuple(sorted(cls.priority for cls in classes.values() if cls.lossless))
    named = {cls.priority: name for name, cls in classes.items()}
    priorities = tuple(
        loaded.origin("classes", named[p], "priority") if p in named else origin for p in PRIORITIES
    )
    identity = IndexMap(MAP_NAME, tuple(PRIORITIES), origin, priorities)
    plain = Maps(
        dscp_to_tc=IndexMap(
            MAP_NAME,
            tuple(classes[name].priority for name in dscp_owner),
            origin,
            tuple(loaded.origin("classes", name, "dscp") for name in dscp_owner),
        ),
        tc_to_queue=identity,
        tc_to_pg=identity,
        pfc_to_queue=identity,
        pfc_to_pg=identity,
        pfc=PriorityMask(lossless, origin),
    )
    return in_groups(loaded, plain, class_groups(loaded, ClassPlace("", "", 0)), MAP_NAME)


def in_groups(loaded: LoadedIntent, plain: Maps, groups: PlacedGroups, name: str) -> Maps:
    """Return a copy of maps with the priority groups of a place, under another name."""
    named = {cls.priority: name for name, cls in loaded.intent.classes.items()}
    paused = tuple(group if p in plain.pfc.priorities else None for p, group in enumerate(groups.targets))
    origin = loaded.origin("classes")
    origins = tuple(groups.origins[named[p]] if p in named else origin for p in PRIORITIES)
    return plain._replace(
        tc_to_pg=IndexMap(name, groups.targets, origin, origins),
        pfc_to_pg=IndexMap(name, paused, origin, origins),
    )


def class_groups(loaded: LoadedIntent, place: ClassPlace) -> PlacedGroups:
    """Return the priority group of each class at a place.

    A lossless class has the group of its priority. Lossy classes share group 0, as in stock SONiC; where 0 is lossless
    they share the first group that no lossless priority has, because they would use up its headroom. ``pg`` overrides
    both.
    """
    classes = loaded.intent.classes
    own = {cls.priority for cls in classes.values() if cls.lossless}
    shared = min(set(PRIORITIES) - own, default=0)
    numbers, origins = {}, {}
    for name, cls in classes.items():
        stated = next(statements(cls.pg, place), None) if cls.pg else None
        if stated is None:
            numbers[name] = cls.priority if cls.lossless else shared
            origins[name] = loaded.origin("classes", name, "priority")
        else:
            numbers[name], below = stated
            path = as_written(loaded.document, ("classes", name, "pg", *below))
            number = (*path, "number")
            origins[name] = loaded.origin(*(number if loaded.document.exists(number) else path))
    by_tc = {cls.priority: numbers[name] for name, cls in classes.items()}
    return PlacedGroups(shared, numbers, origins, tuple(by_tc.get(tc, shared) for tc in PRIORITIES))


def schedulers(loaded: LoadedIntent) -> dict[str, Scheduler]:
    """Return the scheduler of each class. Classes without a share divide the rest equally, at least 1 percent each."""
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
            origin=loaded.origin("classes", name, "scheduling" if strict else "bandwidth"),
        )
    return by_class


def wred(loaded: LoadedIntent, class_name: str, place: ClassPlace) -> tuple[Wred | None, Origin]:
    """Return the WRED profile of a class at a place, None where ECN is off, and the origin of either.

    All colors have the class's curve unless they have their own: RDMA packets are green unless a device on the path
    recolors them.
    """
    policy = loaded.intent.classes[class_name].ecn
    stated = next(statements(policy, place), None) if policy else None
    ecn, path = stated or (None, ())
    origin = loaded.origin(*as_written(loaded.document, ("classes", class_name, "ecn", *path)))
    if ecn is None or isinstance(ecn, NoCurve):
        return None, origin
    green, yellow, red = (_curve(curve or ecn) for curve in (ecn, ecn.yellow, ecn.red))
    own_speed = place.speed_bps if "by_speed" in path else None
    return Wred(_wred_name(loaded, class_name, place, own_speed), green, yellow, red, origin), origin


def _curve(ecn: CurveIntent) -> Curve:
    if isinstance(ecn, NoCurve):
        return Curve(enabled=False, marks=False, min_bytes=None, max_bytes=None, probability_percent=None)
    return Curve(
        enabled=True, marks=True, min_bytes=ecn.min, max_bytes=ecn.max, probability_percent=ecn.probability
    )


def _wred_name(loaded: LoadedIntent, class_name: str, place: ClassPlace, own_speed: int | None) -> str:
    """Return the name of a WRED profile: the common one where a switch has one curve, else by class and speed."""
    curves = {
        next(statements(policy, place._replace(speed_bps=speed_bps)), (None, ()))[0]
        for cls in loaded.intent.classes.values()
        if (policy := cls.ecn)
        for speed_bps in (0, *policy.speeds())
    }
    if sum(curve is not None and not isinstance(curve, NoCurve) for curve in curves) == 1:
        return WRED_NAME
    return class_name if own_speed is None else wred_name_at(class_name, own_speed)

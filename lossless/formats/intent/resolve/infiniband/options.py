"""Keys of opensm.conf: those that an intent declares, and those derived from its other sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError
from lossless.model.fabric.infiniband.engine_lanes import SL_IS_LANE, TORUS_ENGINE, TORUS_PORTS, torus_lanes
from lossless.model.fabric.infiniband.rates import OPERATIONAL_VLS
from lossless.model.fabric.infiniband.subnet import ManagerSetting, ServiceLevel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.infiniband.load import LoadedSubnet
    from lossless.formats.intent.infiniband.service import SubnetQos
    from lossless.ground.basics.findings import Origin

SL_COUNT = 16
DROP = 15
"""The VL of the SL2VL table that drops packets of an SL (InfiniBand specification, 7.6.6)."""
_VLS_CODE = {count: code for code, count in OPERATIONAL_VLS.items()}


def options_of(loaded: LoadedSubnet) -> tuple[ManagerSetting, ...]:
    """Return the keys derived from the intent, then those that it declares itself.

    Raises:
        InputError: a declared key is also derived from another section.
    """
    derived = tuple(_derived(loaded))
    made = {setting.key: setting.origin for setting in derived}
    stated = []
    problems = []
    for key, text in loaded.intent.subnet_manager.options.items():
        origin = loaded.origin("subnet_manager", "options", key)
        if key in made:
            says = f"{key} is made of {'.'.join(map(str, made[key].path))}; state it in one place"
            problems.append(loaded.problem(origin.key(), says))
        stated.append(ManagerSetting(key, text, origin))
    if problems:
        raise InputError(problems)
    return (*derived, *stated)


def levels_of(loaded: LoadedSubnet) -> tuple[ServiceLevel, ...]:
    """Return the levels of service that an intent declares."""
    qos = loaded.intent.qos
    return tuple(
        ServiceLevel(name, level.sl, level.vl, loaded.origin("qos", "levels", name))
        for name, level in (qos.levels.items() if qos is not None else ())
    )


def _derived(loaded: LoadedSubnet) -> Iterator[ManagerSetting]:
    intent = loaded.intent
    routing = intent.subnet_manager.routing
    if routing is not None:
        engines = (*routing.engine, *(() if routing.fallback else ("no_fallback",)))
        yield ManagerSetting(
            "routing_engine", ",".join(engines), loaded.origin("subnet_manager", "routing", "engine"), True
        )
    if intent.qos is not None:
        yield from _qos(loaded, intent.qos)
    elif intent.is_off("qos"):
        yield ManagerSetting("qos", "FALSE", loaded.origin("qos"), True)
    if intent.flavour == "nvidia" and (intent.sharp is not None or intent.is_off("sharp")):
        # A word of three values in NVIDIA's opensm.conf: 0 leaves switches as they are, 1 turns SHARP off, 2 on.
        yield ManagerSetting("sharp_enabled", "2" if intent.sharp else "1", loaded.origin("sharp"), True)


def _qos(loaded: LoadedSubnet, qos: SubnetQos) -> Iterator[ManagerSetting]:
    at = loaded.origin("qos")
    yield ManagerSetting("qos", "TRUE", at, True)
    if qos.vls is not None:
        yield ManagerSetting("max_op_vls", str(_VLS_CODE[qos.vls]), loaded.origin("qos", "vls"), True)
        yield ManagerSetting("qos_max_vls", str(qos.vls), loaded.origin("qos", "vls"), True)
    if qos.high_limit is not None:
        yield ManagerSetting("qos_high_limit", str(qos.high_limit), loaded.origin("qos", "high_limit"), True)
    levels = loaded.origin("qos", "levels")
    for table in ("high", "low"):
        if _engine(loaded) == TORUS_ENGINE:
            yield from _torus_arbitration(qos, table, levels)
        else:
            yield from _arbitration(qos, table, levels, _layers(loaded, qos))
    yield ManagerSetting("qos_sl2vl", ",".join(map(str, _sl2vl(qos, _layers(loaded, qos)))), levels, True)


def _arbitration(qos: SubnetQos, table: str, origin: Origin, layers: int) -> Iterator[ManagerSetting]:
    """Yield an arbitration table where a level has a weight in it; without one opensm's default applies.

    A lane of the engine without a level has the largest of the weights.
    """
    weights = [(level.vl, getattr(level, table)) for level in qos.levels.values()]
    stated = [(vl, weight) for vl, weight in weights if weight is not None]
    named = {vl for vl, _ in weights}
    most = max((weight for _, weight in stated), default=0)
    unnamed = [(vl, most) for vl in range(layers) if vl not in named] if stated else []
    entries = [f"{vl}:{weight}" for vl, weight in (*stated, *unnamed)]
    if entries:
        yield ManagerSetting(f"qos_vlarb_{table}", ",".join(entries), origin, True)


def _engine(loaded: LoadedSubnet) -> str | None:
    routing = loaded.intent.subnet_manager.routing
    return routing.engine[0] if routing is not None and routing.engine else None


def _layers(loaded: LoadedSubnet, qos: SubnetQos) -> int:
    """Return how many lanes the engine divides its paths among, each the VL of the SL with its number; 0 for none."""
    return qos.vls or DROP if _engine(loaded) in SL_IS_LANE else 0


def _torus_arbitration(qos: SubnetQos, table: str, origin: Origin) -> Iterator[ManagerSetting]:
    """Yield the arbitration tables of both kinds of ports, to which torus-2QoS assigns lanes itself."""
    levels = [(level.sl, getattr(level, table)) for level in qos.levels.values()]
    stated = [(sl, weight) for sl, weight in levels if weight is not None]
    for kind in TORUS_PORTS:
        lanes = {sl: torus_lanes(kind, qos.vls or DROP, sl) for sl, _ in stated}
        entries = {
            vl: max(w for sl, w in stated if vl in lanes[sl]) for vl in sorted(set().union(*lanes.values()))
        }
        if entries:
            text = ",".join(f"{vl}:{weight}" for vl, weight in entries.items())
            yield ManagerSetting(f"qos_{kind}_vlarb_{table}", text, origin, True)


def _sl2vl(qos: SubnetQos, layers: int) -> list[int]:
    """Return the VL of every SL; SLs without a level use that of ``rest``, else that of SL 0, else they are dropped.

    Where the engine divides its paths among lanes, each path has the SL of its lane, and these SLs keep their own VL.
    """
    by_sl = {level.sl: level.vl for level in qos.levels.values()}
    rest = qos.levels[qos.rest].vl if qos.rest is not None else by_sl.get(0, DROP)
    return [by_sl.get(sl, sl if sl < layers else rest) for sl in range(SL_COUNT)]

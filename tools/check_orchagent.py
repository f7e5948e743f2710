"""Compares what this project says that SONiC programs with what its daemons programmed.

    python tools/check_orchagent.py FILE...

Each FILE has records: a configuration, the HWSKU's ``pg_profile_lookup.ini``, and what orchagent asked of the ASIC.
One JSON object is printed: how many records agree, each difference with its record, port and attribute, what is out of
scope with the reason, records whose daemons were cut off by a time limit, and files that hold
no list of records. The exit code is 1 where records differ.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.formats.sonic.effective.objects import COLORS  # noqa: E402
from lossless.formats.sonic.effective.programmed import (  # noqa: E402
    GROUPS,
    Platform,
    Programmed,
    ProgrammedPort,
    program,
)
from lossless.formats.sonic.read.tables import Tables  # noqa: E402
from lossless.model.hardware.buffers import HeadroomRow  # noqa: E402
from lossless.model.hardware.load import switch_for_hwsku  # noqa: E402

Record = Mapping[str, Any]
Attribute = tuple[str, str]
"""Where something is programmed (a port, or an object), and what of it."""
_PORT_MAPS = {
    "dscp_to_tc_map": "dscp_to_tc_map",
    "mpls_tc_to_tc_map": "mpls_exp_to_tc_map",
    "dot1p_to_tc_map": "dot1p_to_tc_map",
    "tc_to_queue_map": "tc_to_queue_map",
    "tc_to_dot1p_map": "tc_and_color_to_dot1p_map",
    "tc_to_dscp_map": "tc_and_color_to_dscp_map",
    "tc_to_pg_map": "tc_to_priority_group_map",
    "pfc_to_pg_map": "pfc_priority_to_priority_group_map",
    "pfc_to_queue_map": "pfc_priority_to_queue_map",
    "scheduler": "scheduler",
}
_MAP_KINDS = {
    "DSCP_TO_TC_MAP": "DSCP_TO_TC",
    "DOT1P_TO_TC_MAP": "DOT1P_TO_TC",
    "MPLS_TC_TO_TC_MAP": "MPLS_EXP_TO_TC",
    "TC_TO_QUEUE_MAP": "TC_TO_QUEUE",
    "TC_TO_PRIORITY_GROUP_MAP": "TC_TO_PRIORITY_GROUP",
    "MAP_PFC_PRIORITY_TO_QUEUE": "PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "PFC_PRIORITY_TO_PRIORITY_GROUP",
    "TC_TO_DSCP_MAP": "TC_AND_COLOR_TO_DSCP",
    "TC_TO_DOT1P_MAP": "TC_AND_COLOR_TO_DOT1P",
}
_RATES = {
    "cir": "min_bandwidth_rate",
    "cbs": "min_bandwidth_burst_rate",
    "pir": "max_bandwidth_rate",
    "pbs": "max_bandwidth_burst_rate",
}
_ACTIONS = {
    "drop": "SAI_BUFFER_PROFILE_PACKET_ADMISSION_FAIL_ACTION_DROP",
    "trim": "SAI_BUFFER_PROFILE_PACKET_ADMISSION_FAIL_ACTION_DROP_AND_TRIM",
}
_SYMMETRIC = "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_COMBINED"
"""The mode that a port has unless it is told another; ports that are created late are told it."""
_OWN = "oid:"
"""What objects are called that orchagent makes for itself: the empty pool and profile of BIG_RED_SWITCH."""
_COMPUTED = "sizes of the dynamic model, which scripts of the vendor compute"
_DOWN = "profiles without buffer that the dynamic model gives a port that is down"
_UNKNOWN_HWSKU = "no profile has the headroom rows of this HWSKU"


def platform_of(record: Record) -> Platform:
    """Return what the daemons of a record knew beside its configuration."""
    headroom: tuple[HeadroomRow, ...] | None = ()
    if record["lookup"]:
        found = switch_for_hwsku(record["lookup"].removesuffix(".ini"))
        headroom = found[1].headroom if found else None
    ports = record["result"].get("ports", {}).values()
    return Platform(record["platform"], lambda: headroom, max((port["n"][0] for port in ports), default=16))


def ours(state: Programmed, platform: Platform) -> dict[Attribute, Any]:
    """Return what this project says is programmed."""
    said: dict[Attribute, Any] = {}
    if state.ended:
        return {("switch", "fail"): True}
    said["switch", "all_ports_ready"] = not state.unready
    if state.global_map:
        said["switch", "qos_dscp_to_tc_map"] = state.global_map
    if state.recovery:
        action = "DROP" if state.recovery == "drop" else "FORWARD"
        said["switch", "pfc_dlr_packet_action"] = f"SAI_PACKET_ACTION_{action}"
    for table, maps in state.maps.items():
        for name, targets in maps.items():
            place = f"map {_MAP_KINDS[table]}/{name}"
            if "COLOR" in place or "MPLS" in place:
                said[place, "entries"] = len(targets)
            else:
                said.update(((place, str(index)), target) for index, target in targets.items())
    for name, port in state.ports.items():
        said[name, "n"] = [platform.queues, GROUPS]
        said.update(_port(name, port, "stormed" if state.paused_off else "operational"))
    said.update(_objects(state))
    return said


def _port(name: str, port: ProgrammedPort, watched: str) -> Iterator[tuple[Attribute, Any]]:
    yield (name, "ready"), port.ready
    yield (name, "admin"), str(port.settings.admin_up and port.ready).lower()
    yield (name, "speed"), str(port.settings.speed_mbps) if port.ready else None
    for field, bound in port.maps.items():
        yield (name, _PORT_MAPS[field]), bound
    if port.settings.asymmetric and port.ready:
        yield (name, "pfc_mode"), "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE"
    if port.settings.asymmetric and port.pfc:
        yield (name, "pfc_tx"), list(port.pfc)
        yield (name, "pfc_rx"), list(range(8))
    elif port.pfc:
        yield (name, "pfc"), list(port.pfc)
    yield (name, "pfcwd_mask"), list(port.watchdog_mask)
    for side, profiles in port.lists.items():
        yield (name, f"{side}_buffer_profile_list"), list(profiles)
    for number, group in port.groups.items():
        yield (name, f"pg {number}"), group
    for number, queue in port.queues.items():
        for kind in ("wred", "buffer", "scheduler"):
            if kind in queue:
                yield (name, f"queue {number} {kind}"), queue[kind]
    if port.watchdog:
        for number in port.watchdog_mask:
            place = f"queue {number} wd "
            yield (name, f"{place}detection_time"), str(port.watchdog.detection_ms * 1000)
            restoration = port.watchdog.restoration_ms * 1000
            yield (name, f"{place}restoration_time"), str(restoration) if restoration else ""
            yield (name, f"{place}action"), port.watchdog.action
            yield (name, f"{place}status"), watched


def _objects(state: Programmed) -> Iterator[tuple[Attribute, Any]]:
    for name, pool in state.pools.items():
        place = f"pool {name}"
        yield (place, "type"), pool.kind.upper()
        yield (place, "size"), str(pool.size_bytes)
        yield (place, "threshold_mode"), pool.mode and pool.mode.upper()
        yield (place, "xoff_size"), None if pool.xoff_bytes is None else str(pool.xoff_bytes)
    for name, profile in state.profiles.items():
        place = f"profile {name}"
        yield (place, "pool_id"), profile.pool
        yield (place, "threshold_mode"), "STATIC" if profile.dynamic_th is None else "DYNAMIC"
        yield (place, "packet_admission_fail_action"), profile.action and _ACTIONS[profile.action]
        for attribute, value in (
            ("reserved_buffer_size", profile.size_bytes),
            ("xon_th", profile.xon_bytes),
            ("xon_offset_th", profile.xon_offset_bytes),
            ("xoff_th", profile.xoff_bytes),
            ("shared_dynamic_th", profile.dynamic_th),
            ("shared_static_th", profile.static_th_bytes),
        ):
            yield (place, attribute), None if value is None else str(value)
    for name, wred in state.wreds.items():
        place = f"wred {name}"
        yield (place, "weight"), "0"
        yield (place, "ecn_mark_mode"), wred.ecn and f"SAI_ECN_MARK_MODE_{wred.ecn}"
        yield from (((place, attribute), str(value)) for attribute, value in wred.given.items())
        for color in COLORS:
            if (enabled := wred.enabled.get(f"{color}_enable")) is not None:
                yield (place, f"{color}_enable"), str(enabled).lower()
    for name, scheduler in state.schedulers.items():
        place = f"scheduler {name}"
        yield (place, "scheduling_type"), scheduler.kind
        yield (place, "scheduling_weight"), None if scheduler.weight is None else str(scheduler.weight)
        yield (place, "meter_type"), scheduler.meter and f"SAI_METER_TYPE_{scheduler.meter.upper()}"
        yield from (((place, _RATES[field]), str(value)) for field, value in scheduler.rates.items())


def theirs(result: Record) -> dict[Attribute, Any]:
    """Return what the daemons programmed."""
    if result.get("fail"):
        return {("switch", "fail"): True}
    seen: dict[Attribute, Any] = {("switch", "all_ports_ready"): result["all_ports_ready"]}
    seen.update((("switch", key), value) for key, value in (result.get("switch") or {}).items())
    for name, targets in result["maps"].items():
        place = "map " + name.removeprefix("QOS_MAP/")
        if "type" in targets:
            # Of maps from class and color the record has the number of entries alone.
            seen[place, "entries"] = targets["n"]
        else:
            seen.update(((place, index), target) for index, target in targets.items())
    for name, port in result["ports"].items():
        seen.update(_recorded_port(name, port))
    for kind, plural in (
        ("pool", "pools"),
        ("profile", "profiles"),
        ("wred", "wred"),
        ("scheduler", "schedulers"),
    ):
        for name, fields in result[plural].items():
            if not name.startswith(_OWN):
                seen.update(((f"{kind} {name}", attribute), value) for attribute, value in fields.items())
    return seen


def _recorded_port(name: str, port: Record) -> Iterator[tuple[Attribute, Any]]:
    for attribute, value in port.items():
        if attribute == "queues":
            for number, queue in value.items():
                for kind, bound in queue.items():
                    if kind != "wd" and not bound.startswith(_OWN):
                        yield (name, f"queue {number} {kind}"), bound
                for field, text in queue.get("wd", {}).items():
                    yield (name, f"queue {number} wd {field}"), text
        elif attribute == "pgs":
            yield from (((name, f"pg {number}"), group) for number, group in value.items())
        elif value != _SYMMETRIC and not (attribute == "pfc" and not value):
            yield (name, attribute), value


def _unknowable(
    record: Record, state: Programmed, platform: Platform, place: str, seen: object
) -> str | None:
    """Return why nobody can know an attribute by the configuration and the profiles, None where one could."""
    kind, _, name = place.partition(" ")
    profile = name if kind == "profile" else str(seen)
    port = state.ports.get(place)
    if record["buffer_model"] == "dynamic":
        if name in state.computed and kind in ("pool", "profile"):
            return _COMPUTED
        if (
            "_zero_" in profile
            or "_zero_" in name
            or (port and not port.settings.admin_up and "_zero_" in str(seen))
        ):
            return _DOWN
    if platform.headroom() is None and profile.startswith("pg_lossless_"):
        return _UNKNOWN_HWSKU if profile not in record["input"].get("BUFFER_PROFILE", {}) else None
    return None


def compare(record: Record) -> tuple[list[dict[str, Any]], Counter[str], int]:
    """Return the differences of a record, its attributes out of scope by reason, and how many are compared."""
    platform, other = platform_of(record), theirs(record["result"])
    state = program(Tables(record["name"], record["input"]), platform)
    mine, differences, out_of_scope, compared = ours(state, platform), [], Counter[str](), 0
    for place, attribute in sorted({*mine, *other}):
        said, seen = mine.get((place, attribute)), other.get((place, attribute))
        reason = None if said == seen else _unknowable(record, state, platform, place, seen)
        if reason:
            out_of_scope[reason] += 1
            continue
        compared += 1
        if said != seen:
            differences.append(
                {
                    "record": record["name"],
                    "port": place,
                    "attribute": attribute,
                    "ours": said,
                    "theirs": seen,
                }
            )
    return differences, out_of_scope, compared


def main() -> int:
    """Compare the records of all files that are named."""
    agree, differ = 0, []
    timeouts: list[str] = []
    without: list[str] = []
    out_of_scope, attributes, records = Counter[str](), 0, 0
    for name in sys.argv[1:]:
        read = json.loads(Path(name).read_text(encoding="utf-8"))
        if not isinstance(read, list):
            without.append(name)
            continue
        for record in read:
            records += 1
            if record["result"].get("timeout"):
                timeouts.append(record["name"])
                continue
            differences, outside, compared = compare(record)
            agree += not differences
            differ += differences
            out_of_scope += outside
            attributes += compared
    report = {
        "agree": agree,
        "differ": differ,
        "out_of_scope": [{"reason": why, "attributes": count} for why, count in out_of_scope.items()],
        "timeouts": timeouts,
        "no_records": without,
        "counts": {
            "records": records,
            "differ": records - agree - len(timeouts),
            "attributes": attributes,
            "out_of_scope": sum(out_of_scope.values()),
        },
    }
    print(json.dumps(report, indent=2))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

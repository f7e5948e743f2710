"""Small plans by hand: switches that run ``RUNNING``, and every kind of batch."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from lossless.api import load_fabrics
from lossless.checks.plan.plan import HostGroup, Plan, PlannedBatch, PlannedSwitches, PlanStep, Rows
from lossless.formats.sonic.capabilities.updater_sorting import TimeRange
from lossless.formats.sonic.changes.json_patch import Operation, applied
from lossless.ground.documents import load
from lossless.model.fabric.hosts import HostQos
from tests.paths import ROOT

Config = dict[str, dict[str, Any]]
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
RUNNING: Config = {
    "BUFFER_PG": {f"{port}|3": {"profile": "old"} for port in PORTS},
    "BUFFER_PORT_INGRESS_PROFILE_LIST": {port: {"profile_list": ["lossless", "lossy"]} for port in PORTS},
    "BUFFER_PROFILE": {
        "old": {"pool": "ingress", "size": "0", "xoff": "1000"},
        "lossless": {"pool": "ingress", "size": "0"},
    },
    "DEVICE_METADATA": {"localhost": {"hostname": "switch", "hwsku": "made/up"}},
    "DSCP_TO_TC_MAP": {"AZURE": {"24": "3", "48": "6"}},
    "NTP_SERVER": {"192.0.2.1": {}},
    "PFC_WD": {
        "GLOBAL": {"POLL_INTERVAL": "200"},
        **{port: {"action": "drop", "detection_time": "200", "restoration_time": "400"} for port in PORTS},
    },
    "PORT": {port: {"admin_status": "up", "speed": "400000"} for port in PORTS},
}
PATCH = (
    Operation("add", ("BUFFER_PROFILE", "new"), {"pool": "ingress", "size": "0", "xoff": "2000"}),
    *(Operation("replace", ("BUFFER_PG", f"{port}|3", "profile"), "new") for port in PORTS),
    Operation("add", ("DSCP_TO_TC_MAP", "AZURE", "26"), "3"),
)
"""Takes ports down in the updater: rows of ports change."""
SECOND_PATCH = (
    Operation("remove", ("DSCP_TO_TC_MAP", "AZURE", "24")),
    Operation("remove", ("BUFFER_PROFILE", "old")),
)
"""Changes a row that ``PATCH`` has changed."""
WRITE = (
    Operation("replace", ("PFC_WD", "Ethernet0", "action"), "forward"),
    Operation("remove", ("PFC_WD", "Ethernet0", "restoration_time")),
    Operation("remove", ("PFC_WD", "Ethernet4")),
    Operation("replace", ("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet0", "profile_list"), ["lossless"]),
    Operation("add", ("DSCP_TO_TC_MAP", "OTHER"), {"26": "3"}),
)
RELOAD = (
    Operation("replace", ("BUFFER_PROFILE", "old", "xoff"), "3000"),
    Operation("replace", ("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet4", "profile_list"), ["lossy"]),
    Operation("remove", ("PFC_WD", "Ethernet8")),
)
DRAIN_BY_HAND = "take the switches out of the scheduler"


def plan(*steps: PlanStep, rollback: tuple[tuple[PlanStep, ...], ...] | None = None) -> Plan:
    """Return a plan of some steps; without ``rollback``, none of them has one."""
    rollbacks = rollback if rollback is not None else tuple(() for _ in steps)
    return Plan("p1", "now", "then", (24,), (26,), steps, rollbacks, evaluated=0, represented="0")


def step(
    *switches: PlannedSwitches, number: int = 1, hosts: tuple[HostGroup, ...] = (), **fields: Any
) -> PlanStep:
    """Return a step that changes configurations."""
    made = PlanStep(number, "change", "A step", switches, hosts, (24, 26), TimeRange(0, 60), (), ())
    return made._replace(**fields)


def group(
    *batches: PlannedBatch, name: str = "leaves", devices: tuple[str, ...] = ("leaf1",)
) -> PlannedSwitches:
    """Return switches that carry jobs and may change at once."""
    return PlannedSwitches(name, devices, batches, drained=False, at_once=None)


def after(*changes: tuple[Operation, ...], config: Config = RUNNING) -> Config:
    """Return what a configuration is after some changes, as the database has it: without tables that are empty."""
    for change in changes:
        config = applied(config, [operation.as_json() for operation in change])
    return {table: rows for table, rows in config.items() if rows}


def batch(
    how: Any, operations: tuple[Operation, ...], config: Config = RUNNING, **fields: Any
) -> PlannedBatch:
    """Return a batch that a switch with a configuration begins."""
    changed = after(operations, config=config)
    places = list(dict.fromkeys((operation.path[0], operation.path[1]) for operation in operations))
    down = tuple(PORTS) if how != "write" else ()
    made = PlannedBatch(
        how, ("rows of ports",), operations, _rows(config, places), _rows(changed, places), down, moves=9
    )
    return made._replace(**fields)


def patches() -> PlannedSwitches:
    """Return switches that get two patches, of which the second changes rows of the first again."""
    return group(batch("patch", PATCH), batch("patch", SECOND_PATCH, after(PATCH), ports_down=()))


def _rows(config: Config, places: list[tuple[str, str]]) -> Rows:
    rows: Rows = {}
    for table, key in places:
        rows.setdefault(table, {})[key] = copy.deepcopy(config.get(table, {}).get(key))
    return rows


@cache
def host_qos() -> HostQos:
    """Return how the hosts of the example of 256 GPUs are set up, with one link each."""
    (fabric,) = load_fabrics([load(ROOT / "examples" / "roce-256" / "fabric.yaml")]).fabrics
    return fabric.hosts[0].qos._replace(links=1)

"""Small fabrics whose files in service are edited, so that one danger alone is in the way of a plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.checks.plan.assemble import PlanLimits, plan_of
from lossless.checks.plan.evaluation import Evaluator
from lossless.checks.plan.inputs import change_of
from lossless.checks.plan.kinds_of_switches import InService
from lossless.ground.documents import load
from lossless.model.hardware.load import hardware_finder
from tests.checks.plan.brute_force import Bench, Walk
from tests.checks.plan.drawn_changes import Data, bench_of, fabric_at, files_of, intent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lossless.checks.plan.batches import FabricChange
    from lossless.checks.plan.plan import Plan

    Edit = Callable[[str, dict[str, Any]], None]
    """What is edited in the configuration of a switch, by its name."""


class Crafted(NamedTuple):
    """A change of a fabric in service, and what a plan of it is carried out on."""

    change: FabricChange
    bench: Bench

    def plan(self) -> Plan:
        """Return the plan."""
        return plan_of(self.change, Evaluator(hardware_finder(())), PlanLimits(), ("current", "target"))


def carried_out(crafted: Crafted, whole_fabrics: int = 0) -> tuple[Plan, list[str]]:
    """Return the plan, and what is wrong with it where it is carried out."""
    plan = crafted.plan()
    walk = Walk(crafted.bench, whole_fabrics=whole_fabrics)
    walk.whole(plan)
    return plan, walk.faults


def crafted(
    folder: Path,
    before: Data,
    edit: Edit,
    after: Data | None = None,
    *,
    sent: tuple[int, ...] = (26,),
    hosts_known: bool = False,
) -> Crafted:
    """Return a fabric in service: the files of an intent, edited; ``hosts_known``: its hosts are as the target says."""
    current, target = folder / "current.yaml", folder / "target.yaml"
    current.write_text(json.dumps(intent(**before)))
    target.write_text(json.dumps(intent(**(before if after is None else after))))
    files = files_of(current, folder)
    for file in files.glob("*/config_db.json"):
        config = json.loads(file.read_text())
        edit(file.parent.name, config)
        file.write_text(json.dumps(config))
    fabric = fabric_at(target)
    documents = {file.parent.name: load(str(file)) for file in sorted(files.glob("*/config_db.json"))}
    hosts = {host.name: host.qos for host in fabric.hosts} if hosts_known else {}
    change = change_of(InService(documents, None, hosts, "files"), fabric, sent)
    bench = bench_of(current, target, folder, files)._replace(sent=change.sent)
    return Crafted(change, bench._replace(hosts=(hosts, hosts)) if hosts else bench)

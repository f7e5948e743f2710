"""Descriptions of manual work in a step, and of the interruptions that it causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.units import format_rate
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.plan.model import FabricChange, HostChange, HostKind, PlannedKind, Step
    from lossless.checks.plan.plan import PlannedBatch, PlannedSwitches

STILL_S = 600
"""How long counters of a DSCP must not grow before it is gone. A choice: longer than jobs pause for a checkpoint."""


def by_hand(change: FabricChange, step: Step, groups: Sequence[PlannedSwitches]) -> Iterator[str]:
    """Yield the manual work of a step."""
    if step.kind == "jobs":
        gone = listed([str(dscp) for dscp in sorted(step.in_use - change.wanted)])
        yield (
            f"restart every job that began before the last step: its queue pairs keep DSCP {gone}; go on when "
            f"the counters of DSCP {gone} have not grown for {STILL_S} s on any switch"
        )
    if step.kind == "cables":
        yield f"change the cables of {listed(_recabled(change), 8)}"
    if step.kind == "stop":
        yield "stop all jobs that use RDMA on this fabric: no order of steps keeps their traffic lossless"
    if step.kind == "start":
        yield "start the jobs again"
    for host in step.hosts:
        own = change.hosts[host.kind]
        if own.stages[host.stages[-1]].qos is None:
            yield f"{own.title}: {reached_by(own, host)}"
    for own_change, group in zip(step.switches, groups, strict=True):
        if group.drained:
            yield _drain(change, change.kinds[own_change.kind], group, whole=own_change.drained)
        if any(batch.session is not None for batch in group.batches):
            yield f"{group.name}: run the sessions of this step on each switch, as the files of its group say"
        yield from (_replacement(group, batch) for batch in group.batches if batch.how == "by hand")


def _drain(change: FabricChange, kind: PlannedKind, group: PlannedSwitches, *, whole: bool) -> str:
    """Return how traffic leaves switches, or ports of them, before they change."""
    down = {port for batch in group.batches for port in batch.ports_down}
    pace = f"{group.at_once} of {len(kind.devices)} switches at a time"
    if kind.host_ports & down or (whole and kind.host_ports):
        return f"{group.name}: {_drain_of_hosts(kind)} ({pace})"
    if not whole:
        return (
            f"{group.name}: the ports go down one after another; shut down the BGP session of each first, the "
            f"other {len(down) - 1} carry its traffic meanwhile ({pace})"
        )
    tier = sum(len(other.devices) for other in change.kinds if _tier(other) == _tier(kind))
    if tier < 2:
        only = kind.devices[0]
        return (
            f"{group.name}: {only} is the only one of its tier, no other carries its traffic: stop all jobs"
        )
    left = tier - (group.at_once or 1)
    if kind.system is not None:
        return f"{group.name}: take traffic off the switch first, and back on after; {left} of {tier} carry on ({pace})"
    return (
        f"{group.name}: take traffic off the switch first (TSA), and back on after (TSB); {left} of "
        f"{tier} carry on ({pace})"
    )


def _tier(kind: PlannedKind) -> str:
    """Return the tier of a kind of switches: its title without the number."""
    return kind.title.rstrip("0123456789 ")


def _replacement(group: PlannedSwitches, batch: PlannedBatch) -> str:
    """Return the manual work on replaced or upgraded switches, and the checks before traffic returns."""
    what = listed(batch.titles)
    if "VERSIONS" in batch.after:
        return f"{group.name}: {what}; install it, and see that its QoS rows are as before"
    return f"{group.name}: {what}; each comes up with what lossless render writes of the target"


def _recabled(change: FabricChange) -> list[str]:
    return [
        f"{kind.devices[0]}:{port}"
        for kind in change.kinds
        for port in sorted(kind.new_cables_m)
        if kind.cables_m.get(port) != kind.new_cables_m[port]
    ]


def reached_by(kind: HostKind, change: HostChange) -> str:
    """Return the settings that hosts of a kind receive in a step, in words."""
    return ", ".join(kind.stages[stage].title for stage in change.stages)


def _drain_of_hosts(kind: PlannedKind) -> str:
    """Return how jobs leave the hosts of a leaf: to the second ToR, where there is one that carries them."""
    scheduler = "have the job scheduler take jobs off the hosts behind it first"
    second = kind.second_tor
    if second is None:
        return f"its hosts are attached by single links, so the network cannot drain it: {scheduler}"
    down, up = format_rate(second.down_bps), format_rate(second.up_bps)
    if second.down_bps > second.up_bps:
        return f"the second ToR has {up} up for {down} of hosts, too little to carry all of them: {scheduler}"
    return (
        f"move its hosts to the second ToR first ({second.moved_by}), which has {up} up for {down} of hosts, and back "
        "after"
    )


def interrupts(groups: Sequence[PlannedSwitches]) -> Iterator[str]:
    """Yield the interruptions of switches and ports in a step."""
    for group in groups:
        for batch in group.batches:
            if batch.how == "by hand":
                yield f"{group.name}: each switch is out of service meanwhile; for how long is not known"
            elif batch.session is not None:
                yield f"{group.name}: {batch.session.why}"
            elif batch.how == "reload":
                down = len(batch.ports_down)
                yield f"{group.name}: config reload restarts the services, and all {down} ports go down"
            elif batch.ports_down:
                yield f"{group.name}: {len(batch.ports_down)} ports go down, one after another, on each switch"
            else:
                yield f"{group.name}: no port goes down; what the chip does to packets meanwhile is not known"

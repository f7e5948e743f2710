"""Stages of host settings during a change: hosts accept the new DSCPs first, and drop the old ones last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.plan.model import HostStage
from lossless.ground.basics.known import UNKNOWN, Unknown
from lossless.model.fabric.view import bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.model.fabric.hosts import HostQos

_ECN_BITS = 2
"""Bits of a ToS byte below the DSCP (RFC 3168, section 5)."""


def sent_by(hosts: Mapping[str, HostQos]) -> frozenset[int]:
    """Return the DSCPs that hosts put on RDMA packets, by their ToS byte and that of NCCL; none where none is known."""
    unique = {id(qos): qos for qos in hosts.values()}.values()
    tos = (value for qos in unique for value in (qos.traffic_class, qos.nccl_tc))
    return frozenset(value >> _ECN_BITS for value in tos if isinstance(value, int) and value)


def host_stages(
    old: HostQos | None, new: HostQos, sent: Mapping[int, int | None], wanted: frozenset[int]
) -> tuple[HostStage, ...]:
    """Return the settings of hosts, stage by stage; a single stage if nothing changes.

    ``sent`` maps the DSCPs that are sent now to their priorities, as far as switches configure them. Between the first
    stage and the last, hosts accept the DSCPs of both sides, first while they send the old ones, then while they send
    the new.
    """
    now = frozenset(sent)
    if now == wanted:
        stay = HostStage("as they are", old, sends=True)
        return (
            (stay,)
            if old is None or _same(old, new)
            else (stay, HostStage("set as the target says", new, sends=True))
        )
    before = old or _as_switches_have_it(new, sent)
    stages = [
        HostStage("as they are", old, sends=False),
        HostStage(
            f"take in DSCP {_spelled(wanted - now)} too", _accepting(before, new, now, wanted), sends=False
        ),
        HostStage(_sending(now, wanted), _accepting(new, before, wanted, now), sends=True),
        HostStage(f"take in DSCP {_spelled(now - wanted)} no longer", new, sends=True),
    ]
    return tuple(
        stage
        for stage, last in zip(stages, (None, *stages), strict=False)
        if last is None or stage.sends != last.sends or not _same(stage.qos, last.qos)
    )


def _as_switches_have_it(new: HostQos, sent: Mapping[int, int | None]) -> HostQos:
    """Return the assumed settings of unknown hosts, as their switches need them; packet marking is not changed."""
    known = {dscp: priority for dscp, priority in sent.items() if priority is not None}
    old = new._replace(traffic_class=None, nccl_tc=None, cma_tos=None)
    if isinstance(new.dscp_to_priority, Unknown):
        return old
    both = {dscp: 0 if priority in known.values() else priority for dscp, priority in new.dscp_to_priority}
    return old._replace(
        dscp_to_priority=tuple(sorted({**both, **known}.items())),
        pfc_priorities=tuple(sorted({*known.values()})),
    )


def host_stages_elsewhere(sent: frozenset[int], wanted: frozenset[int]) -> tuple[HostStage, ...]:
    """Return the stages of senders without an intent: people change their DSCPs when a step of the plan requests it."""
    return HostStage("as they are", None, sends=False), HostStage(_sending(sent, wanted), None, sends=True)


def _same(one: HostQos | None, other: HostQos | None) -> bool:
    """Return whether two host settings are equal; unknown settings (None) never are."""
    return one is not None and other is not None and bool(bare(one) == bare(other))


def _sending(sent: frozenset[int], wanted: frozenset[int]) -> str:
    new, old = wanted - sent, sent - wanted
    said = [f"send DSCP {_spelled(new)}" if new else "", f"no longer DSCP {_spelled(old)}" if old else ""]
    return ", ".join(filter(None, said))


def _accepting(base: HostQos, other: HostQos, own: frozenset[int], others: frozenset[int]) -> HostQos:
    """Return hosts as they are, taking in DSCPs of the other side too."""
    if isinstance(base.dscp_to_priority, Unknown) or isinstance(other.dscp_to_priority, Unknown):
        return base._replace(dscp_to_priority=UNKNOWN)
    theirs = {dscp: priority for dscp, priority in other.dscp_to_priority if dscp in others - own}
    merged = {**dict(base.dscp_to_priority), **theirs}
    return base._replace(
        dscp_to_priority=tuple(sorted(merged.items())), pfc_priorities=_paused(base, other, theirs.values())
    )


def _paused(base: HostQos, other: HostQos, taken_in: Iterable[int]) -> tuple[int, ...] | Unknown:
    """Return the priorities with PFC of hosts that take in priorities of the other side too."""
    if isinstance(base.pfc_priorities, Unknown) or isinstance(other.pfc_priorities, Unknown):
        return UNKNOWN
    return tuple(sorted({*base.pfc_priorities, *(p for p in taken_in if p in other.pfc_priorities)}))


def _spelled(dscps: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(dscps))) or "none"

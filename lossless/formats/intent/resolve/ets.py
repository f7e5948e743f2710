"""Bandwidth shares of a NIC: the traffic classes of the NIC, and the percentage of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.hosts import Ets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.intent.classes import TrafficClassIntent
    from lossless.formats.intent.load import LoadedIntent
    from lossless.model.fabric.hosts import Tsa
    from lossless.model.hardware.nic import NicProfile, Tool

_TCS = 8
_WHOLE = 100
_BNXT_ROCE_PERCENT = 50
"""The default share of RoCE in Broadcom's own script (bnxt_setupcc.sh 236.1.155.0)."""
Groups = tuple[tuple["TrafficClassIntent", ...], ...]


def shares(loaded: LoadedIntent, nic: NicProfile, tool: Tool, cnp_dscp: int | None) -> Ets | None:
    """Return the TCs of a NIC, None where none need to be set.

    mlx5 pauses by priority and needs none, so ``mlnx_qos`` leaves them unchanged. bnxt_re has fixed TCs: 1 for RoCE, 2
    for CNPs, 0 for the rest. Elsewhere every class has its own TC, the class ``rest`` first, where the declared shares
    sum to 100%.
    """
    classes = list(loaded.intent.classes.values())
    if tool == "mlnx_qos":
        return None
    if nic.driver == "bnxt_re":
        return _by_role(classes, cnp_dscp)
    ordered = sorted(classes, key=lambda cls: (not cls.rest, not cls.lossless, cls.priority))
    percent = _stated(ordered)
    strict = tuple(cls.scheduling == "strict" for cls in ordered)
    return None if percent is None else _ets(tuple((cls,) for cls in ordered), percent, strict)


def _by_role(classes: Sequence[TrafficClassIntent], cnp_dscp: int | None) -> Ets:
    roce = tuple(cls for cls in classes if cls.lossless)
    cnps = tuple(cls for cls in classes if not cls.lossless and cnp_dscp in cls.dscps)
    rest = tuple(cls for cls in classes if cls not in roce and cls not in cnps)
    given = _stated(classes)
    percent = _BNXT_ROCE_PERCENT
    if given is not None and roce:
        percent = sum(share for cls, share in zip(classes, given, strict=True) if cls in roce)
    return _ets((rest, roce, cnps), (_WHOLE - percent, percent, 0), (False, False, True))


def _stated(classes: Sequence[TrafficClassIntent]) -> tuple[int, ...] | None:
    """Return the percentage of each class, None where the declared shares do not sum to 100%."""
    percent = tuple(cls.bandwidth or 0 for cls in classes)
    unsaid = any(cls.bandwidth is None and cls.scheduling != "strict" for cls in classes)
    return None if unsaid or sum(percent) != _WHOLE else percent


def _ets(groups: Groups, percent: Sequence[int], strict: Sequence[bool]) -> Ets:
    """Return the TCs of groups of classes, numbered from 0; priorities of no class are in TC 0 with the rest."""
    by_priority = {cls.priority: tc for tc, group in enumerate(groups) for cls in group}
    unused = _TCS - len(groups)
    tsa: list[Tsa] = ["strict" if alone else "ets" for alone in (*strict, *(True,) * unused)]
    return Ets(
        priority_to_tc=tuple(by_priority.get(priority, 0) for priority in range(_TCS)),
        tsa=tuple(tsa),
        bandwidth_percent=(*percent, *((0,) * unused)),
    )

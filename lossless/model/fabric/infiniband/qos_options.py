"""Interprets the QoS options of opensm, which are texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.options import TRUE, c_number
from lossless.model.fabric.infiniband.subnet import ManagerSetting, Qos, ServiceLevel, Weight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Subnet


def number(text: str | None) -> int | None:
    """Return a number in C's notation, ``0x12``, ``022`` or ``18``; None where the whole text is not one."""
    return None if text is None else c_number(text.strip())


def is_true(text: str) -> bool:
    """Return whether opensm reads a text as true: only ``TRUE`` is; all other text is false, without a message."""
    return text == TRUE


def qos_of(options: Iterable[ManagerSetting], levels: tuple[ServiceLevel, ...], origin: Origin) -> Qos:
    """Return the QoS settings in the options of an opensm.conf; of a repeated key the last value applies."""
    texts = {option.key: option.text for option in options}
    return Qos(
        on=is_true(texts.get("qos", "FALSE")),
        levels=levels,
        max_op_vls=number(texts.get("max_op_vls")),
        max_vls=number(texts.get("qos_max_vls")),
        high_limit=number(texts.get("qos_high_limit")),
        high=weights_of(texts.get("qos_vlarb_high")),
        low=weights_of(texts.get("qos_vlarb_low")),
        sl2vl=_vls(texts.get("qos_sl2vl")),
        origin=origin,
    )


def weights_of(text: str | None) -> tuple[Weight, ...] | None:
    """Return the entries of an arbitration table, ``0:64,1:32``; None without a table, or with an invalid entry."""
    if text is None:
        return None
    pairs = [tuple(map(number, entry.split(":"))) for entry in text.split(",")]
    weights = [Weight(p[0], p[1]) for p in pairs if len(p) == 2 and p[0] is not None and p[1] is not None]
    return tuple(weights) if len(weights) == len(pairs) else None


def _vls(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    numbers = [number(entry) for entry in text.split(",")]
    vls = [vl for vl in numbers if vl is not None]
    return tuple(vls) if len(vls) == len(numbers) else None


def levels_in_use(subnet: Subnet) -> dict[int, list[tuple[str, Origin]]]:
    """Return the service levels that a subnet declares or gives a partition, each with its users."""
    parts = () if isinstance(subnet.partitions, Unknown) else subnet.partitions or ()
    used = [(level.sl, (f"level {level.name}", level.origin)) for level in subnet.qos.levels]
    used += [(part.sl, (f"partition {part.name}", part.origin)) for part in parts if part.sl is not None]
    return {sl: users for sl, users in grouped(used).items() if 0 <= sl <= 15}


def job_level(subnet: Subnet) -> int | None:
    """Return the service level on which NCCL sends in the declared jobs, None where there are none.

    NCCL uses NCCL_IB_SL, by default 0 (NVIDIA/nccl src/transport/net_ib.cc @02aedae).
    """
    if subnet.job is None:
        return None
    stated = [setting.text for setting in subnet.job.environment if setting.key == "NCCL_IB_SL"]
    levels = [level.sl for level in subnet.qos.levels if level.name == subnet.job.level]
    told = number(stated[-1]) if stated else next(iter(levels), 0)
    return told if told is not None and 0 <= told <= 15 else None

"""Trimming settings that the files of a fabric leave out, and fixed behavior of chips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.capabilities.releases import releases
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.sonic.capabilities.releases import FixedTrim
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.fabric.routing import Trimming


def trimming_notes(fabric: Fabric) -> Iterator[str]:
    """Yield the notes on trimming beside the files; empty if the fabric does not trim packets."""
    if fabric.trimming is not None:
        yield from _without(fabric, fabric.trimming)
        yield from _untested(fabric)
        yield from _fixed(fabric, fabric.trimming)


def _without(fabric: Fabric, trimming: Trimming) -> Iterator[str]:
    names = [switch.name for switch in fabric.switches if not switch.runs_sonic]
    if names:
        classes = ", ".join(trimming.classes)
        yield f"{joined(names, 4)}: no file sets trimming of {classes}, which is rendered for SONiC alone: queues drop"


def _untested(fabric: Fabric) -> Iterator[str]:
    facts = releases().trimming
    by_release = grouped(
        (switch.release, switch.name) for switch in fabric.switches if switch.release in facts.untested
    )
    for release, names in by_release.items():
        yield (
            f"{joined(names, 4)}: SONiC {release} has the tables of trimming, and its own tests skip trimming there "
            f"({facts.untested_source}): try it on one switch first"
        )


def _fixed(fabric: Fabric, trimming: Trimming) -> Iterator[str]:
    """Yield the fixed behavior of a chip that differs from the declared one."""
    by_chip = {fixed.asic: fixed for fixed in releases().trimming.fixed}
    whys = (
        (why, switch.name)
        for switch in fabric.switches
        if switch.runs_sonic and switch.profile and (fixed := by_chip.get(switch.profile.asic.name))
        for why in _instead(switch, fixed, trimming)
    )
    for why, names in grouped(whys).items():
        yield f"{joined(names, 4)}: {why}"


def _instead(switch: Switch, fixed: FixedTrim, trimming: Trimming) -> Iterator[str]:
    if trimming.size_bytes != fixed.size_bytes:
        yield (
            f"{fixed.asic} trims packets to {fixed.size_bytes} B and no other size ({fixed.source}); trimming.size is "
            f"{trimming.size_bytes} B"
        )
    queue, declared = fixed.queues.get(str(switch.hwsku_name), fixed.queue), switch.qos.trimming
    if declared is not None and declared.queue != queue:
        yield (
            f"{fixed.asic} sends trimmed packets by queue {queue}, which no queue_index changes ({fixed.source}): set "
            f"sai_pkt_trim_queue_index in config.bcm of {switch.hwsku_name} to {declared.queue}, the queue of class "
            f"{trimming.into}"
        )

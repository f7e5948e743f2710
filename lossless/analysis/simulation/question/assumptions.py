"""The assumptions of a simulation, in words: facts that the fabric does not declare, and limits of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import buffer_parts
from lossless.analysis.simulation.question.load_balancing import taken_for_granted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.engine.network import SimSwitch
    from lossless.analysis.simulation.question.nodes import SimTopology
    from lossless.analysis.simulation.question.request import Question
    from lossless.model.fabric.model import Switch as FabricSwitch
    from lossless.model.fabric.routing import Routing


def assumptions(
    built: SimTopology,
    question: Question,
    nics: tuple[int, ...],
    switches: dict[int, SimSwitch],
    *,
    pauses: bool,
) -> Iterator[str]:
    """Yield the assumptions about a fabric, one sentence each; ``pauses``: its class is lossless."""
    if built.left_out:
        many = f"{built.left_out} links are" if built.left_out > 1 else "1 link is"
        yield f"{many} left out: a switch has no port there, or no QoS, speed or cable length on it"
    if (planes := len(built.by_plane(nics))) > 1:
        yield f"{planes} planes that no link joins: each NIC port sends within its own"
    if pauses:
        yield "every peer takes as long to obey PFC as IEEE 802.3 allows at its rate"
    if len(nics) < len(built.nics):
        where = "" if question.moves else ", spread over all switches"
        yield f"{len(nics)} of {len(built.nics)} NIC ports take part{where}"
    yield from taken_for_granted(question)
    if any(switch.cell_bytes == 1 for switch in switches.values()):
        yield "a frame takes no more memory than its bytes: the cell size of a chip is unknown"
    if any(buffer_parts(switch) > 1 for switch in built.switch_of.values()):
        yield "a chip divides its buffer: ports that traffic comes in by share as few parts as they can, the worst case"
    if not all(switch.runs_sonic for switch in built.switch_of.values()):
        yield "a switch of another system than SONiC has the headroom and pools that SONiC gives the same product"
    watched = any(switch.watchdog is not None for switch in switches.values())
    if watched and any(map(_is_of_another_vendor, built.switch_of.values())):
        yield "a watchdog of a chip that is neither NVIDIA's nor known to be Broadcom's is checked as Broadcom's"
    if question.slow_nic_bps:
        yield "the slow NIC pauses its switch at 512 KiB in its receive buffer, and resumes it at 256 KiB"


def assumed_of_routes(routing: Routing | None) -> Iterator[str]:
    """Yield a sentence about the paths that the model leaves out, if there are any."""
    if routing is not None and routing.extra_hops:
        yield f"packets take shortest paths: the model has none of the paths with up to {routing.extra_hops} extra hops"


def _is_of_another_vendor(switch: FabricSwitch) -> bool:
    """Return whether a chip's vendor is unknown or other than the two whose watchdogs the model has."""
    return switch.profile is None or switch.profile.asic.formula == "barefoot"

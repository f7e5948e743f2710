"""Load balancing in the model's terms: what switches choose among, and what they go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import SimLoads, SimSpread
from lossless.ground.basics.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.simulation.question.nodes import SimTopology
    from lossless.analysis.simulation.question.request import Question
    from lossless.model.fabric.model import CongestionControl
    from lossless.model.fabric.routing import LoadBalancing, PacketOrder

RANDOM_VALUES = 1 << 14
"""Entropy values of a flow that is sprayed: so many that its packets take links at random."""
_SPREADS: Mapping[LoadBalancing, SimSpread | None] = {
    "ecmp": None,
    "flowlet": SimSpread("flowlets"),
    "adaptive": SimSpread("adaptive"),
    "spray": SimSpread("hash", entropies=RANDOM_VALUES),
}
LEVELS_US = (1, 2, 4)
SAMPLE_NS = 100
"""What a switch takes for a more loaded port, and how often it looks. No public source has this of a chip: uet-htsim
@40ccb05 has 5, 10 and 20 % of a queue, 0.8 to 6.6 us in the scenarios that the model is compared with."""
FLOWLET_US = 256
"""The gap after which a flowlet may move: the default of SONiC's design (SONiC doc/ARS/Local_ARS_HLD.md @98de38f)."""


def as_declared(
    question: Question, declared: PacketOrder | None, congestion: CongestionControl | None = None
) -> Question:
    """Return a question with the load balancing of the fabric where it asks for none of its own.

    Senders of Ultra Ethernet give each packet an entropy value: where switches hash, their flows are sprayed, and they
    take packets in any order.

    Raises:
        ScenarioError: it says what NICs take out of order, and nothing comes out of order.
    """
    choice = question.load_balancing or (declared.choice if declared is not None else "ecmp")
    if congestion is not None and congestion.transport == "uec":
        choice = "spray" if choice == "ecmp" else choice
        return question._replace(load_balancing=choice, ahead_frames=0)
    if choice == "ecmp" and question.ahead_frames is not None:
        raise ScenarioError(
            "--reorder: under ecmp a flow keeps one path, and its packets their order; see --load-balancing"
        )
    ahead = question.ahead_frames
    if ahead is None and choice != "ecmp" and declared is not None and isinstance(declared.ahead_frames, int):
        ahead = declared.ahead_frames
    return question._replace(load_balancing=choice, ahead_frames=ahead)


def spread_of(question: Question) -> SimSpread | None:
    """Return how switches choose the links of a question's flows, None where each flow keeps one path."""
    return _SPREADS[question.load_balancing or "ecmp"]


def loads_at(question: Question, topology: SimTopology, node: int) -> SimLoads | None:
    """Return what adaptive routing of a switch goes by, by the rate of its fastest port; None where it does not."""
    if question.load_balancing not in ("adaptive", "flowlet"):
        return None
    rate_bps = max(topology.wires[at].rate_bps for at in topology.wires_of[node])
    low, middle, high = (round(rate_bps / 8e6 * level_us) for level_us in LEVELS_US)
    return SimLoads((low, middle, high), SAMPLE_NS, FLOWLET_US)


def said_of(question: Question) -> str:
    """Return load balancing in words, nothing where each flow keeps its path."""
    if spread_of(question) is None:
        return ""
    ahead = question.ahead_frames
    order = "in order" if ahead is None else f"up to {ahead:,} frames ahead" if ahead else "in any order"
    return f"load balancing {question.load_balancing} to NICs that take packets {order}"


def taken_for_granted(question: Question) -> Iterator[str]:
    """Yield what is assumed of load balancing, one sentence each."""
    if spread_of(question) is None:
        return
    if question.ahead_frames is None:
        yield "NICs take packets in order, and go back where one is missing (--reorder says otherwise)"
    if question.load_balancing in ("adaptive", "flowlet"):
        levels = ", ".join(map(str, LEVELS_US))
        yield f"a switch sees its own queues alone: below {levels} us of its fastest port, every {SAMPLE_NS} ns"
    if question.load_balancing == "flowlet":
        yield f"a flow may take another path after a gap of {FLOWLET_US} us"

"""Questions to the packet-level model, as records that need neither NumPy nor numba; load balancing in its terms.

In the terms of the model a switch has candidate links for a packet, and a criterion to choose one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import SimLoads, SimSpread
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined
from lossless.model.fabric.cluster import MOST_LOADED, PATTERN
from lossless.model.fabric.model import known_tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.simulation.engine.network import Choice
    from lossless.analysis.simulation.question.nodes import SimTopology
    from lossless.model.fabric.cabling import PacketOrder
    from lossless.model.fabric.cluster import Pattern, RailTraffic
    from lossless.model.fabric.model import CongestionControl, Switch
    from lossless.model.hardware.devices import NicProfile
    from lossless.model.hardware.model import LoadBalancing


SEEDS = 12
MOST_EVENTS = 2_000_000_000
"""The default limit of simulated events over all seeds: about a minute on two cores."""
REPORT_EVENTS = 800_000_000
"""The events that a report is cut to by default: below a minute of processor time.

Those of a permutation are estimated before it runs; a run has about two fifths of them. Runs of 512 NICs took 70 to
120 ns of processor time for each event that happened, on a machine that others used too."""

TUNE_SEEDS = 8
"""The default number of seeds of a search for thresholds; as many other seeds check its result."""
EVALUATIONS = 1000
"""The default of the most settings to try."""


class NamedTransfer(NamedTuple):
    """A transfer from one NIC port to another, both by name."""

    source: str
    target: str
    size_bytes: int


class Question(NamedTuple):
    """A question to the packet-level model: the traffic on a fabric, and the faults.

    ``size_bytes`` is the size of the message of a NIC in one step, ``nics`` how many take part at most (None: as
    many as the topology has, up to the number that ``model.fabric.cluster`` sets), ``target`` the NIC port that is
    the destination of an incast and that is dead or slow, by name. ``storage`` is the part of a NIC's traffic that is
    storage in addition, in the class ``storage_class`` (None: that of the storage network, else that of all other
    DSCPs). ``failed`` are ports whose links are down, as ``switch:port``. ``nic`` is assumed where the fabric names
    none.

    ``load_balancing`` is how switches choose among equal paths (None: as the intent declares, else by ECMP),
    ``by_tier`` has exceptions for some roles, and ``ahead_frames`` is how many frames NICs take ahead of the one that
    is due (0: any number; None: as the intent declares, else none).

    ``traffic`` is where NIC ports send to in a fabric with rails: ``rail``, within their own, as collectives do that
    hand data on inside hosts first, or ``any``, all over the fabric.

    ``whole_leaves``: without ``nics``, all NIC ports take part, or all of as many leaves as have ``most_loaded`` NIC
    ports together.

    ``moves``, if any, are transfers that replace the pattern, all of them from the beginning; ``called`` is their
    description, and ``size_bytes`` then the most that one NIC sends.
    """

    pattern: Pattern = "incast"
    size_bytes: int = PATTERN.size_bytes
    nics: int | None = None
    target: str | None = None
    traffic_class: str | None = None
    storage: float = 0.0
    storage_class: str | None = None
    failed: tuple[str, ...] = ()
    dead_nic: bool = False
    slow_nic_bps: int | None = None
    nic: NicProfile | None = None
    load_balancing: LoadBalancing | None = None
    by_tier: tuple[tuple[str, LoadBalancing], ...] = ()
    ahead_frames: int | None = None
    moves: tuple[NamedTransfer, ...] = ()
    called: str = ""
    whole_leaves: bool = False
    most_loaded: int = MOST_LOADED
    traffic: RailTraffic = "rail"


class NamedQuestion(NamedTuple):
    """A question by the name of its workload, and the part of the workload that it covers.

    Where the workload cannot be simulated, the question is None, and ``not_run`` has the reason. A collective can
    have a question for its own traffic, and one for its worst fan-in.
    """

    name: str
    question: Question | None
    part: float = 1.0
    not_run: str | None = None


class Limits(NamedTuple):
    """The limits of a study: the number of seeds, of events over all seeds, and of threads (None: one a core).

    ``budget`` is the number of events to which a report is cut: seeds of the requested traffic are left out, and
    leaves, seeds and bytes of a permutation. It counts events, estimated or run, not time, so results are the same on
    every machine. None: all are run.
    """

    seeds: int = SEEDS
    events: int = MOST_EVENTS
    threads: int | None = None
    budget: int | None = REPORT_EVENTS


class SimulationRequest(NamedTuple):
    """A question, its limits, and the callbacks that report progress.

    ``compiling`` is called before the model is compiled, ``progress`` with how many seeds, or settings of a sweep, are
    done of how many. ``record``: the first seed is recorded for pictures. ``pfc_load``: the load on PFC is requested
    too.
    """

    question: Question = Question()
    limits: Limits = Limits()
    compiling: Callable[[], None] | None = None
    progress: Callable[[int, int], None] | None = None
    record: bool = False
    pfc_load: bool = True


class TuneAsk(NamedTuple):
    """A tuning request: the class, the workloads, the parameters to search, and limits.

    ``class_name`` None is the first lossless class; without ``workloads`` by name, all workloads of the intent count.
    ``dcqcn``: DCQCN parameters are searched too; ``step``: Kmin may equal Kmax. ``evaluations`` is the most
    settings to try, ``limits`` those of each. ``traffic`` ``any`` lets all workloads cross the rails of a fabric.
    """

    class_name: str | None = None
    workloads: tuple[str, ...] = ()
    dcqcn: bool = False
    evaluations: int = EVALUATIONS
    limits: Limits = Limits(seeds=TUNE_SEEDS)
    step: bool = False
    traffic: RailTraffic = "rail"


class TuneProgress(NamedTuple):
    """Callbacks that report the progress of a tuning.

    ``measured`` is called with None when one setting is begun, and with the maximum number of settings to come when it
    has been tried, both times with the number of workers. ``done`` is called with the number of settings that are done
    and of all.
    """

    measured: Callable[[int | None, int], None] = lambda _, __: None
    done: Callable[[int, int], None] = lambda _, __: None


INTERPRETED = "NUMBA_DISABLE_JIT is set: the packet-level model is run compiled or not at all"
FOREIGN_SETTINGS = (
    ".numba_config.yaml in this folder would set how the packet-level model is compiled: run from another folder, and "
    "state your own settings as variables of the environment (NUMBA_*)"
)


RANDOM_VALUES = 1 << 14
"""The number of entropy values of a flow that is sprayed: so many that its packets take links at random."""
_CHOICES: Mapping[LoadBalancing, Choice] = {
    "ecmp": "flow hash",
    "flowlet": "flowlets",
    "dlb": "flowlets",
    "adaptive": "adaptive",
    "spray": "hash",
}
LEVELS_US = (1, 2, 4)
SAMPLE_NS = 100
"""How often a switch samples the loads of its ports, and the levels from which a port counts as more loaded. No public
source has these for a chip: uet-htsim @40ccb05 has 5, 10 and 20 % of a queue, 0.8 to 6.6 us in the scenarios that the
model is compared with."""
FLOWLET_US = 256
"""The gap after which a flowlet may move: the default of SONiC's design (SONiC doc/ARS/Local_ARS_HLD.md @98de38f)."""


def as_declared(
    question: Question, declared: PacketOrder | None, congestion: CongestionControl | None = None
) -> Question:
    """Return a question with the load balancing of the fabric, if the question has none of its own.

    Senders of Ultra Ethernet give each packet an entropy value: where switches hash, their flows are sprayed, and they
    take packets in any order.

    Raises:
        ScenarioError: the question sets how many frames NICs take out of order, although all frames stay in order.
    """
    question = _with_choices(question, declared)
    if congestion is not None and congestion.transport == "uec":
        return question._replace(
            load_balancing=_sprayed(question.load_balancing or "ecmp"),
            by_tier=tuple((role, _sprayed(choice)) for role, choice in question.by_tier),
            ahead_frames=0,
        )
    one_path = not chooses(question)
    if one_path and question.ahead_frames is not None:
        raise ScenarioError(
            "--reorder: under ecmp a flow keeps one path, and its packets their order; see --load-balancing"
        )
    ahead = question.ahead_frames
    if ahead is None and not one_path and declared is not None and isinstance(declared.ahead_frames, int):
        ahead = declared.ahead_frames
    return question._replace(ahead_frames=ahead)


def _with_choices(question: Question, declared: PacketOrder | None) -> Question:
    if question.load_balancing or declared is None:
        return question._replace(load_balancing=question.load_balancing or "ecmp")
    return question._replace(load_balancing=declared.choice, by_tier=declared.by_tier)


def _sprayed(choice: LoadBalancing) -> LoadBalancing:
    return "spray" if choice == "ecmp" else choice


def choices_of(question: Question) -> set[LoadBalancing]:
    """Return the load balancing methods of a question: those of its tiers, and that of all other switches.

    The latter counts even where every switch is of a tier with a method of its own.
    """
    return {question.load_balancing or "ecmp", *(choice for _, choice in question.by_tier)}


def chooses(question: Question) -> bool:
    """Return whether some switches choose a link for each packet or flowlet, so that flows do not keep one path."""
    return choices_of(question) != {"ecmp"}


def takes_any_order(question: Question) -> bool:
    """Return whether NICs take packets that overtake others; packets of one path have gaps only after a loss."""
    return not chooses(question) or question.ahead_frames is not None


def spread_of(question: Question) -> SimSpread | None:
    """Return how switches choose the links of a question's flows, None where each flow keeps one path.

    Where tiers have different methods, each switch applies its own (:func:`choice_at`).
    """
    choices = choices_of(question)
    if not chooses(question):
        return None
    kind = _CHOICES[next(iter(choices))] if len(choices) == 1 else "hash"
    return SimSpread(kind, entropies=RANDOM_VALUES if "spray" in choices else 1)


def choice_at(question: Question, switch: Switch) -> Choice | None:
    """Return how a switch chooses links where tiers have choices of their own, else None."""
    of_tiers = question.by_tier and chooses(question)
    return _CHOICES[_choice(question, switch)] if of_tiers else None


def _choice(question: Question, switch: Switch) -> LoadBalancing:
    tier = known_tier(switch.tier)
    return dict(question.by_tier).get(tier.word if tier else "switch", question.load_balancing or "ecmp")


def spreads_at(question: Question, switch: Switch) -> bool:
    """Return whether a switch spreads the packets of each flow: by packet, not by flow or by flowlets.

    A flow that always has packets to send makes no gap for a flowlet, and keeps the link of its first packet.
    """
    return _CHOICES[_choice(question, switch)] in ("adaptive", "hash")


def loads_at(question: Question, topology: SimTopology, node: int) -> SimLoads | None:
    """Return the levels of load of a switch, by the rate of its fastest port; None unless it chooses by load."""
    if _CHOICES[_choice(question, topology.switch_of[node])] not in ("adaptive", "flowlets"):
        return None
    rate_bps = max(topology.wires[at].rate_bps for at in topology.wires_of[node])
    low, middle, high = (round(rate_bps / 8e6 * level_us) for level_us in LEVELS_US)
    return SimLoads((low, middle, high), SAMPLE_NS, FLOWLET_US)


def spread_ideally(question: Question) -> Question:
    """Return a question whose packets are spread over all equal paths, to NICs that take them in any order."""
    return question._replace(load_balancing="spray", by_tier=(), ahead_frames=0)


def said_of(question: Question) -> str:
    """Return the load balancing of a question in words, empty if each flow keeps its path."""
    if not chooses(question):
        return ""
    ahead = question.ahead_frames
    order = "in order" if ahead is None else f"up to {ahead:,} frames ahead" if ahead else "in any order"
    by_tier = [f"{choice} at {role} switches" for role, choice in question.by_tier]
    return f"load balancing {joined(by_tier) or question.load_balancing} to NICs that take packets {order}"


def taken_for_granted(question: Question) -> Iterator[str]:
    """Yield the assumptions about load balancing, one sentence each; none if each flow keeps its path."""
    if not chooses(question):
        return
    kinds = {_CHOICES[choice] for choice in choices_of(question)}
    if question.ahead_frames is None:
        yield "NICs take packets in order, and go back where one is missing (--reorder says otherwise)"
    if kinds & {"adaptive", "flowlets"}:
        levels = ", ".join(map(str, LEVELS_US))
        yield f"a switch sees its own queues alone: below {levels} us of its fastest port, every {SAMPLE_NS} ns"
    if "dlb" in choices_of(question):
        yield "DLB is in its flowlet mode (load_balancing: adaptive is its mode per packet)"
    if "flowlets" in kinds:
        yield f"a flow may take another path after a gap of {FLOWLET_US} us"

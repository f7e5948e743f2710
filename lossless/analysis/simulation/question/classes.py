"""The classes that are simulated: the requested one, and those that share switches with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import nothing_lossless
from lossless.analysis.simulation.question.lossy import carrier_class, lossy_classes, refuse_pauses
from lossless.analysis.simulation.question.ports import SimClass
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.wording import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.question.request import Question
    from lossless.model.fabric.model import ClassSet
    from lossless.model.fabric.view import View


def classes_of(view: View, question: Question) -> tuple[SimClass, ...] | MissingInput:
    """Return the classes that are simulated, the requested one first, or the reason why there is none.

    Raises:
        ScenarioError: no class has the requested name, or the question needs another class.
    """
    known = list(simulated_classes(view))
    if not known:
        return MissingInput(_nothing_to_ask(view))
    wanted = question.traffic_class
    chosen = [
        sim_class
        for sim_class in known
        if wanted is None or wanted in (sim_class.name, str(sim_class.priority))
    ]
    if not chosen:
        hint = suggestion(str(wanted), [sim_class.name for sim_class in known])
        raise ScenarioError(f"--class: no lossless class is called {wanted!r}{hint}")
    if not chosen[0].lossless:
        refuse_pauses(question)
        return tuple(filter(None, (chosen[0], carrier_class(view.fabric, chosen[0]))))
    return (
        (chosen[0], _storage_class(view, chosen[0], question.storage_class))
        if question.storage
        else (chosen[0],)
    )


def _nothing_to_ask(view: View) -> str:
    fabric = view.fabric
    if fabric.declared and not fabric.classes.lossless:
        return "no class is lossless, and nothing says which lossy class is that of RDMA; state hosts.traffic_class"
    return nothing_lossless(fabric)


def simulated_classes(view: View) -> Iterator[SimClass]:
    """Yield the classes that a question can name: the lossless ones, and lossy ones if no class is lossless."""
    known = list(lossless_classes(view))
    yield from known or lossy_classes(view)


def lossless_classes(view: View) -> Iterator[SimClass]:
    """Yield the lossless classes: those an intent declares, else the priorities that have PFC on most ports."""
    if view.fabric.declared:
        for traffic_class in view.fabric.classes.lossless:
            if traffic_class.priority is not None:
                yield SimClass(traffic_class.name, traffic_class.priority, lossless=True)
        return
    counts: dict[int, int] = {}
    for ports in view.lossless_sets:
        for priority in ports.qos.pfc.priorities:
            counts[priority] = counts.get(priority, 0) + ports.places
    for priority in sorted(counts, key=lambda priority: (-counts[priority], priority)):
        yield SimClass(f"priority {priority}", priority, lossless=True)


def _storage_class(view: View, job: SimClass, wanted: str | None) -> SimClass:
    """Return the class that storage rides: the one that is wanted, else that of the storage network."""
    name = wanted or _class_of_storage(view)
    declared = view.fabric.classes.named(name)
    if wanted is not None and (declared is None or declared.priority is None):
        hint = suggestion(wanted, [cls.name for cls in view.fabric.classes.classes])
        raise ScenarioError(f"--storage-class: no class is called {wanted!r}{hint}")
    priority = _priority(view.fabric.classes, name)
    if priority == job.priority:
        raise ScenarioError(f"storage rides class {job.name} itself; make its transfers larger instead")
    return SimClass(name or "default", priority, lossless=declared is not None and declared.lossless)


def _class_of_storage(view: View) -> str | None:
    """Return the class of the storage network, None where none is stated."""
    network = next((declared for declared in view.fabric.networks if declared.carries_storage), None)
    if network is not None and network.separate:
        raise ScenarioError(
            f"networks.{network.name} is separate: there is no storage on this fabric to mix in"
        )
    return network.class_name if network else None


def _priority(classes: ClassSet, name: str | None) -> int:
    """Return the priority of a class; without a name that of the class of all other DSCPs, else 0."""
    fitting = (
        candidate for candidate in classes.classes if (candidate.name == name if name else candidate.rest)
    )
    return next((candidate.priority for candidate in fitting if candidate.priority is not None), 0)


def other_classes(view: View, question: Question) -> tuple[str, ...]:
    """Return the classes that a question leaves out without saying so, as ``traffic_class`` takes them."""
    if question.traffic_class is not None or question.storage:
        return ()
    declared = view.fabric.declared
    _, *others = [one.name if declared else str(one.priority) for one in simulated_classes(view)] or [""]
    return tuple(others)

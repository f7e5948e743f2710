"""Fabrics to put questions to, declared or deployed: the sound bases with a patch laid over them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.question.request import Limits, Question, SimulationRequest
from lossless.analysis.simulation.question.scenario import scenario
from lossless.analysis.simulation.study.answer import answer
from lossless.api import load_fabrics
from lossless.ground.basics.findings import MissingInput
from lossless.ground.documents import load
from lossless.model.fabric.view import View
from tests.checks.rules.checking import patched
from tests.paths import ROOT

if TYPE_CHECKING:
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.ground.documents.text import Document

Patch = dict[str, Any]
EXAMPLE = ROOT / "examples" / "roce-256" / "fabric.yaml"
HOST_PORTS = tuple(f"Ethernet{number}" for number in range(0, 32, 4))
UPLINKS = tuple(f"Ethernet{number}" for number in range(32, 64, 8))
PORTS = (*HOST_PORTS, *UPLINKS)
"""Ports of the deployed leaf: eight of 400G over 5 m, four of 800G over 40 m."""
HOST_PROFILE, UPLINK_PROFILE = "pg_lossless_400000_5m_profile", "pg_lossless_800000_40m_profile"
XON = {HOST_PROFILE: 19_456, UPLINK_PROFILE: 38_912}
PFC_ONLY: Patch = {"classes": {"rdma": {"ecn": "off"}}, "congestion_control": "pfc-only"}
"""Of an intent: nothing marks and nothing slows senders down but pauses."""


def seen_as(*documents: Document) -> View:
    """Return the one fabric of documents that must all be readable."""
    found = load_fabrics(documents)
    assert (len(found.fabrics), found.errors) == (1, ())
    return View(found.fabrics[0])


def declared(patch: Patch | None = None) -> View:
    """Return the sound intent: two leaves of four hosts with 2 x 400G each, two spines, 2 x 800G uplinks."""
    return seen_as(patched("leaf-spine.yaml", patch or {}))


def deployed(patch: Patch | None = None, file: str = "leaf1.json") -> View:
    """Return one deployed leaf, rendered from that intent; nothing is known of who is at its ports."""
    return seen_as(patched("rendered-leaf.json", patch or {}, file))


def example() -> View:
    """Return the example that the guides show: 32 hosts with 2 x 400G at two leaves under two spines."""
    return seen_as(load(EXAMPLE))


def of_every_port(row: Patch | None, ports: tuple[str, ...] = PORTS) -> Patch:
    """Return the same row for every port."""
    return dict.fromkeys(ports, row)


def put(view: View, **question: Any) -> Scenario:
    """Return a question that can be put to a fabric."""
    found = scenario(view, Question(**question))
    assert not isinstance(found, MissingInput), found.reason
    return found


def missing(view: View, **question: Any) -> str:
    """Return why a question cannot be answered."""
    found = scenario(view, Question(**question))
    assert isinstance(found, MissingInput)
    return found.reason


def checked(view: View, seeds: int = 2, **question: Any) -> RunVerdict:
    """Return the one verdict from runs."""
    found = answer(view, SimulationRequest(Question(**question), Limits(seeds)))
    assert found.not_run is None
    (verdict,) = found.runs
    return verdict


def ring_of_leaves(patch: Patch | None = None) -> View:
    """Return five leaves in a ring, a host at each, in such an order that each host's next is two leaves on.

    A ring among the hosts then sends every flow two sides the same way round, by its only shortest path: each
    buffer waits for the next, all around.
    """
    hosts, ring = (1, 3, 5, 2, 4), range(1, 6)
    each = {"links": "1 x 400G", "cable": "3m"}
    links = [{"a": f"l{n}", "b": f"h{n}", **each} for n in hosts]
    links += [{"a": f"l{n}", "b": f"l{n % 5 + 1}", **each, "links": "1 x 100G"} for n in ring]
    devices = {f"l{n}": {"role": "leaf"} for n in ring} | {f"h{n}": {"role": "host"} for n in hosts}
    shape = {"topology": {"leaf_spine": None, "devices": devices, "links": links}}
    return declared({**PFC_ONLY, **shape, **(patch or {})})


DEADLOCKED: dict[str, Any] = {"pattern": "ring", "size_bytes": 512 << 20}
"""What fills the buffers of such a ring."""


def headroom(xoff: int, profile: str = HOST_PROFILE) -> Patch:
    """Return a profile with so much headroom, all of which ``size`` holds."""
    return {"BUFFER_PROFILE": {profile: {"xoff": str(xoff), "size": str(xoff + XON[profile])}}}


def advised(verdict: RunVerdict, pattern: str) -> int:
    """Return the number that the one piece of advice which matches gives."""
    (found,) = (match for change in verdict.changes if (match := re.search(pattern, change)))
    return int(found[1].replace(",", ""))

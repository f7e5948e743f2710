"""Laws of traces: the same of an intent and of what it renders, the same back, the same in any order."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from lossless.checks.trace.running import trace
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.errors import LosslessError
from lossless.model.fabric.view import View, bare
from lossless.model.hardware.load import switch_for_hwsku
from tests.output.render.test_render_laws import rendered
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from lossless.checks.trace.model import Trace, TraceStages
    from lossless.model.fabric.model import Fabric

Data = dict[str, Any]
pytestmark = pytest.mark.laws


def ends(fabric: Fabric, choice: st.DataObject) -> tuple[str, str]:
    """Draw two hosts of a fabric."""
    names = [host.name for host in fabric.hosts]
    assume(len(names) > 1)
    found = choice.draw(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True))
    return found[0], found[1]


def followed(fabric: Fabric, source: str, target: str, dscp: int) -> Trace:
    try:
        return trace(View(fabric), source, target, dscp)
    except LosslessError as error:
        assume("no link leads" not in str(error))
        raise


def deployed(fabric: Fabric) -> Fabric:
    """Return the fabric as it is read back from the files that it is rendered to."""
    files = [Tables(f"{switch.name}.json", rendered(fabric, switch)) for switch in fabric.switches]
    return read_fabric(files, switch_for_hwsku)


def way(found: Trace) -> list[tuple[Any, ...]]:
    """Return what a trace says of switches, without where it was written."""
    return [(hop.switch, hop.ingress.port, hop.egress.port, bare(hop.stages)) for hop in found.hops]


@given(intents(renderable=True), st.data())
def test_an_intent_and_what_is_rendered_from_it_treat_a_packet_the_same(
    data: Data, choice: st.DataObject
) -> None:
    fabric = fabric_of(data)
    source, target = ends(fabric, choice)
    dscp = choice.draw(st.integers(0, 63))
    declared = followed(fabric, source, target, dscp)
    read = followed(deployed(fabric), source, target, dscp)
    assert way(read) == way(declared)
    assert read.choice.equal == declared.choice.equal
    # Between dual ToRs more priorities pause than the intent names, and a device does not say which are only tunnels'.
    # Where nothing on the way pauses, only the intent says that the class is meant to be lossless.
    tunnels = any(switch.qos.tunnel for switch in fabric.switches)
    paused = any(side.on for hop in declared.hops for side in hop.stages.pfc)
    assert read.lossless == declared.lossless or tunnels or (declared.lossless and not paused)
    assert (read.source, read.target) == (declared.source, declared.target)


def treatment(stages: TraceStages) -> tuple[int | None, ...]:
    return (
        stages.classification.lookup.target,
        stages.priority_group.lookup.target,
        stages.queue.lookup.target,
        stages.ecn.kmin_bytes,
    )


@given(intents(), st.data())
def test_the_return_path_has_the_same_classes(data: Data, choice: st.DataObject) -> None:
    fabric = fabric_of(data)
    source, target = ends(fabric, choice)
    # What marks tunnels of dual ToRs has a class of its own between leaves and spines, and none towards hosts.
    tunnels = {2, 6} if any(switch.qos.tunnel for switch in fabric.switches) else set()
    dscp = choice.draw(st.sampled_from([dscp for dscp in range(64) if dscp not in tunnels]))
    there, back = followed(fabric, source, target, dscp), followed(fabric, target, source, dscp)
    assert len(there.hops) == len(back.hops)
    assert there.choice.equal == back.choice.equal
    assert [treatment(hop.stages)[:3] for hop in there.hops] == [
        treatment(hop.stages)[:3] for hop in reversed(back.hops)
    ]


@given(intents(), st.data())
def test_the_order_of_links_and_switches_does_not_matter(data: Data, choice: st.DataObject) -> None:
    fabric = fabric_of(data)
    source, target = ends(fabric, choice)
    found = followed(fabric, source, target, 26)
    shuffle = random.Random(choice.draw(st.integers(0, 99)))
    links, switches = [*fabric.links], [*fabric.switches]
    shuffle.shuffle(links)
    shuffle.shuffle(switches)
    other = fabric._replace(links=tuple(links), switches=tuple(switches))
    assert followed(other, source, target, 26) == found


@given(intents(), st.data())
def test_hops_follow_each_other_by_a_link(data: Data, choice: st.DataObject) -> None:
    fabric = fabric_of(data)
    source, target = ends(fabric, choice)
    found = followed(fabric, source, target, 26)
    for before, after in zip(found.hops, found.hops[1:], strict=False):
        assert before.egress.peer == f"{after.switch}:{after.ingress.port}"
        assert after.ingress.peer == f"{before.switch}:{before.egress.port}"
    assert (found.hops[0].ingress.peer, found.hops[-1].egress.peer) == (found.source, found.target)
    assert len({hop.switch for hop in found.hops}) == len(found.hops)


def lossless_dscps(fabric: Fabric) -> list[int]:
    """Return the DSCPs of lossless classes, but for those in TC 0: that is where DSCPs without an entry go."""
    return [
        dscp for cls in fabric.classes.classes if cls.lossless and cls.priority for dscp in sorted(cls.dscps)
    ]


@settings(max_examples=20)
@given(intents(renderable=True), st.data())
def test_one_leaf_that_does_not_map_a_lossless_dscp_breaks_the_path_to_it_and_from_it(
    data: Data, choice: st.DataObject
) -> None:
    """Half a migration: other switches keep the class lossless; DSCPs without an entry go to TC 0, which is lossy."""
    fabric = fabric_of(data)
    assume(not any(cls.lossless and cls.priority == 0 for cls in fabric.classes.classes))
    assume(lossless_dscps(fabric) and all(switch.qos.tunnel is None for switch in fabric.switches))
    source, target = ends(fabric, choice)
    dscp = choice.draw(st.sampled_from(lossless_dscps(fabric)))
    whole = followed(fabric, source, target, dscp)
    assume(len(whole.hops) > 1)
    tables = {switch.name: rendered(fabric, switch) for switch in fabric.switches}
    last = whole.hops[-1].switch
    for entries in tables[last]["DSCP_TO_TC_MAP"].values():
        entries.pop(str(dscp), None)
    files = [Tables(f"{name}.json", rows) for name, rows in tables.items()]
    half = followed(read_fabric(files, switch_for_hwsku), source, target, dscp)
    assert [bool(hop.losses) for hop in half.hops[:-1]] == [bool(hop.losses) for hop in whole.hops[:-1]]
    assert half.hops[-1].losses
    assert half.broken


@given(intents(), st.data())
def test_a_fabric_with_pfc_on_all_tiers_keeps_a_packet_of_a_lossless_class(
    data: Data, choice: st.DataObject
) -> None:
    fabric = fabric_of(data)
    assume(lossless_dscps(fabric) and "tiers" not in data.get("pfc", {}))
    source, target = ends(fabric, choice)
    found = followed(fabric, source, target, choice.draw(st.sampled_from(lossless_dscps(fabric))))
    assert not any(hop.losses for hop in found.hops)

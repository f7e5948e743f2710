"""Two classes on one fabric: what the second sees beside the first, and that its drops count where it is lossless."""

from __future__ import annotations

import pytest

from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.request import Limits, Question
from lossless.analysis.simulation.question.scenario import Scenario, scenario
from lossless.analysis.simulation.study.grid import TrialSetting
from lossless.analysis.simulation.study.study import study
from lossless.analysis.simulation.study.trial import Bench
from lossless.analysis.simulation.study.verdict import RunVerdict, run_verdict
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View

TWO = """\
lossless: v1
fabric: two
transport: rocev2
preset: azure
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}
topology:
  leaf_spine:
    leaves: 2
    spines: 1
    hosts_per_leaf: 4
    host_links: 1 x 400G
    uplinks: 4 x 800G
    cables: {host: 3m, uplink: 30m}
"""
BESIDE = Question(size_bytes=2 << 20, storage=0.6, storage_class="lossless-4")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


def posed(question: Question) -> Scenario:
    asked = scenario(View(resolve(load_intent(load_text(TWO, "fabric.yaml")))), question)
    assert isinstance(asked, Scenario), asked
    return asked


def with_short_headroom(asked: Scenario, number: int) -> Scenario:
    """Return the scenario with 1 KiB of headroom, and next to no share, for one of its classes."""
    ends = {}
    for key, end in asked.ends.items():
        groups = [*end.groups]
        if groups[number].headroom_bytes is not None:
            groups[number] = groups[number]._replace(headroom_bytes=1024, alpha=2.0**-8)
        ends[key] = end._replace(groups=tuple(groups))
    return asked._replace(ends=ends)


def shown(asked: Scenario) -> RunVerdict:
    return run_verdict(study(asked, Limits(seeds=2)))


def test_storage_in_a_lossless_class_has_its_own_pfc_and_headroom() -> None:
    asked = posed(BESIDE)
    assert [(one.name, one.lossless) for one in asked.classes] == [("lossless-3", True), ("lossless-4", True)]
    assert all(len({group.headroom_bytes for group in end.groups}) == 1 for end in asked.ends.values())
    verdict = shown(asked)
    assert verdict.verdict == "safe"
    assert verdict.beside is not None
    assert (verdict.beside.name, verdict.beside.lossless, verdict.beside.dropping_seeds) == (
        "lossless-4",
        True,
        0,
    )


def test_drops_of_the_second_lossless_class_make_the_fabric_unsafe() -> None:
    asked = with_short_headroom(posed(BESIDE), 1)
    verdict = shown(asked)
    assert verdict.verdict == "unsafe"
    assert verdict.reasons[0] == "lossless frames of class lossless-4 are dropped in 2 of 2 seeds"
    assert not verdict.drops.seeds
    assert Bench(instantiate(asked, 1), 1).trial(TrialSetting(), 3e6).drops > 0


def second_group(asked: Scenario, **given: object) -> Scenario:
    """Return the scenario with something else for the groups of the second class that pause."""
    ends = {
        key: end._replace(groups=(end.groups[0], end.groups[1]._replace(**given)))  # type: ignore[arg-type]
        if end.groups[1].headroom_bytes is not None
        else end
        for key, end in asked.ends.items()
    }
    return asked._replace(ends=ends)


def test_next_to_no_headroom_of_the_second_class_is_on_the_edge() -> None:
    """Of 1 MB as much as was used is kept, and 2,000 B more: less than a frame."""
    pausing = second_group(posed(BESIDE), alpha=2.0**-8, headroom_bytes=1_000_000)
    left = [seed.beside.margin_bytes for seed in study(pausing, Limits(seeds=2)).seeds if seed.beside]
    used = 1_000_000 - min(each for each in left if each is not None)
    verdict = shown(second_group(pausing, headroom_bytes=used + 2000))
    assert verdict.verdict == "on the edge"
    assert verdict.reasons[0] == "2,000 B of headroom of class lossless-4 were left"


def test_a_queue_of_the_second_class_that_refuses_counts_in_a_sweep_too() -> None:
    asked = posed(BESIDE)
    ends = {
        key: end._replace(queues=(end.queues[0], end.queues[1]._replace(limit_bytes=20_000)))
        for key, end in asked.ends.items()
    }
    refusing = asked._replace(ends=ends)
    assert Bench(instantiate(refusing, 1), 1).trial(TrialSetting(), 3e6).drops > 0
    assert shown(refusing).verdict == "unsafe"


def test_drops_of_a_lossy_class_are_its_own_business() -> None:
    verdict = shown(posed(BESIDE._replace(storage_class="bulk", storage=0.8, size_bytes=8 << 20)))
    assert verdict.beside is not None
    assert not verdict.beside.lossless
    assert not any("class bulk" in reason for reason in verdict.reasons)


def test_a_class_that_is_not_there_is_refused() -> None:
    with pytest.raises(ScenarioError, match="--storage-class: no class is called 'bulc'; did you mean bulk"):
        posed(BESIDE._replace(storage_class="bulc"))


def test_a_chassis_with_virtual_output_queues_is_not_simulated() -> None:
    fabric = resolve(load_intent(load_text(TWO, "fabric.yaml")))
    voq = tuple(switch._replace(qos=switch.qos._replace(voq=True)) for switch in fabric.switches)
    refused = scenario(View(fabric._replace(switches=voq)), Question())
    assert isinstance(refused, MissingInput)
    assert refused.reason == "leaf1 has virtual output queues: what its cards grant each other is not modeled"


def test_traffic_between_the_asics_of_one_device_is_not_simulated() -> None:
    """What joins them is in no file: without the spine, hosts of one cannot reach those of the other."""
    fabric = resolve(load_intent(load_text(TWO, "fabric.yaml")))
    name_of = {"leaf1": "leaf1:asic0", "leaf2": "leaf1:asic1"}
    switches = tuple(one._replace(name=name_of[one.name]) for one in fabric.switches if one.name in name_of)
    links = tuple(link._replace(a=name_of[link.a]) for link in fabric.links if link.to_host)
    refused = scenario(View(fabric._replace(switches=switches, links=links)), Question())
    assert isinstance(refused, MissingInput)
    assert refused.reason.endswith("to host1:port1: what joins the ASICs of leaf1 is not known")

"""A trial of thresholds by kind of port, and of DCQCN, is the run of a fabric that is configured so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.nodes import with_parameters
from lossless.analysis.simulation.question.request import Limits, Question
from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
from lossless.analysis.simulation.study.trial import Bench
from lossless.analysis.simulation.tune.kpis import Attempt, TuneTask, case_of, kpis, try_all
from lossless.analysis.simulation.tune.space import setting_now, thresholds_now
from lossless.analysis.simulation.tune.tune import raised_headroom
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import declared, put
from tests.analysis.simulation.test_sweep import group_with, queue_with, scene

if TYPE_CHECKING:
    from lossless.analysis.simulation.question.scenario import Scenario

ACROSS = Question(size_bytes=1 << 20, pattern="permutation")
"""Traffic that uses the ports of leaves and spines."""


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


def configured(found: Scenario, setting: TrialSetting) -> Scenario:
    """Return the scenario of a fabric whose ports and senders are configured so."""
    of_kind = dict(setting.by_kind)
    ends = dict(found.ends)
    for wire in found.topology.wires:
        for node, port in ((wire.a, wire.a_port), (wire.b, wire.b_port)):
            switch = found.topology.switch_of.get(node)
            if switch is None or port is None:
                continue
            own = of_kind.get(PortKind(switch.tier.word, wire.rate_bps), ThresholdSetting())  # type: ignore[union-attr]
            key = id(switch.ports), id(port.qos)
            end = found.ends[key]
            ends[key] = end._replace(
                queues=(queue_with(end.queues[0], own), *end.queues[1:]),
                groups=(group_with(end.groups[0], own), *end.groups[1:]),
            )
    dcqcn = {
        nic: None if own is None else with_parameters(own, dict(setting.dcqcn))
        for nic, own in found.dcqcn_of.items()
    }
    return found._replace(ends=ends, dcqcn_of=dcqcn)


@pytest.mark.parametrize("dcqcn", [(), (("rpg_ai_rate", 200), ("rpg_time_reset", 50), ("dce_tcp_g", 960))])
def test_a_trial_by_kind_is_the_run_of_a_fabric_that_is_configured_so(
    dcqcn: tuple[tuple[str, int], ...],
) -> None:
    found = scene(ACROSS)
    kinds = list(thresholds_now([case_of("w", found, (1,))]))
    assert {kind.role for kind in kinds} == {"leaf", "spine"}
    by_kind = tuple(
        (kind, ThresholdSetting(at - 3, 20_000 * (at + 1), 60_000 * (at + 1), 10 * (at + 1), 300_000))
        for at, kind in enumerate(kinds)
    )
    setting = TrialSetting(by_kind=by_kind, dcqcn=dcqcn)
    for seed in (1, 2):
        tried = Bench(instantiate(found, seed), seed).trial(setting, 2e6)
        run = Bench(instantiate(configured(found, setting), seed), seed).trial(TrialSetting(), 2e6)
        plain = Bench(instantiate(found, seed), seed).trial(TrialSetting(), 2e6)
        assert tried == run
        assert tried != plain


def test_ports_of_a_kind_that_differ_keep_their_own_thresholds_in_the_run_of_today() -> None:
    """With those of the first port at all others a fabric would be measured that nobody has."""
    changed = {
        "ecn": {"by_device": {"leaf2": {"min": "20 kB", "max": "60 kB", "probability": "90%"}}},
        "buffer": {"by_device": {"leaf2": {"dynamic_th": -4}}},
    }
    fabric = declared({"classes": {"rdma": changed}})
    found = put(fabric, size_bytes=1 << 20, target="host5:port1")
    now = thresholds_now([case_of("w", found, (1,))])
    leaf, spine = now[PortKind("leaf", 400e9)], now[PortKind("spine", 800e9)]
    assert leaf.differs == ("dynamic_th", "pmax_percent", "kmin_bytes", "kmax_bytes")
    assert leaf.thresholds[:4] == (None, None, None, None)
    assert leaf.least_dynamic_th == -4
    assert (spine.differs, spine.least_dynamic_th) == ((), spine.thresholds.dynamic_th)
    first = setting_now(thresholds_now([case_of("w", put(declared()), (1,))]))
    plain, today, other = (
        Bench(instantiate(found, 1), 1).trial(setting, 2e6)
        for setting in (TrialSetting(), setting_now(now), first)
    )
    assert today == plain
    assert other != plain


def test_an_unsafe_setting_is_tried_on_no_workload_after_it_unless_asked() -> None:
    """Headroom of 1 KiB drops at once in an incast, which stands first."""
    incast = case_of("incast", scene(), (1, 2))
    task = TuneTask("t", ((incast, case_of("permutation", scene(ACROSS), (1, 2))),))
    (kind, now), *_ = thresholds_now(task.variants[0]).items()
    short = TrialSetting(ThresholdSetting(dynamic_th=-8, headroom_bytes=1024))
    stopped, whole, fine = try_all(task, [Attempt(short), Attempt(short, whole=True), Attempt()])
    assert [len(each) for each in (stopped, whole, fine)] == [1, 2, 2]
    assert kpis(task.variants[0], stopped).verdict == "unsafe"
    assert kpis(task.variants[0], stopped).workloads[0].drops > 0
    assert kpis(task.variants[0], fine).verdict == "safe"
    assert now.thresholds.headroom_bytes
    assert kind.rate_bps


def test_the_jct_ratio_is_time_over_time_at_line_rate() -> None:
    """Without congestion it is 1 and a little more: gaps between frames, and the way of the last frame."""
    alone = scene(Question(size_bytes=4 << 20, nics=2))
    case = case_of("alone", alone, (1,))
    found = kpis((case,), try_all(TuneTask("alone", ((case,),)), [Attempt()])[0])
    assert 1.0 <= found.jct_ratio < 1.02
    assert found.pause_share == found.pfc_before_ecn == 0


def with_headroom(view: View, port_name: str, factor: float) -> View:
    """Return a fabric in which one port of leaf1 has another headroom than its neighbors."""
    leaf, *others = view.fabric.switches
    ports = []
    for port in leaf.ports:
        if port.name == port_name:
            assert port.qos is not None
            groups = list(port.qos.groups)
            group = groups[3]
            assert group is not None
            assert group.buffer is not None
            headroom_bytes = int(group.buffer.xoff_bytes * factor)
            own = group.buffer._replace(name="own", headroom_bytes=headroom_bytes)
            groups[3] = group._replace(buffer=own)
            port = port._replace(qos=port.qos._replace(groups=tuple(groups)))
        ports.append(port)
    return View(view.fabric._replace(switches=(leaf._replace(ports=tuple(ports)), *others)))


@pytest.mark.parametrize("port_name", ["Ethernet0", "Ethernet8"])
def test_headroom_of_a_kind_is_raised_where_any_port_of_it_has_too_little(port_name: str) -> None:
    """The first port of a kind, or another."""
    view = with_headroom(declared(), port_name, 0.1)
    raised = raised_headroom(view, [put(view, size_bytes=64 << 10)], Limits(seeds=1))
    assert set(raised) == {PortKind("leaf", 400 * 10**9)}
    (least,) = raised.values()
    assert least > 0.1 * 231_424


@pytest.mark.parametrize("factor", [1, 2])
def test_headroom_is_not_raised_where_each_port_has_enough(factor: float) -> None:
    """A port with more than its neighbors makes them none that have too little."""
    view = with_headroom(declared(), "Ethernet0", factor)
    assert raised_headroom(view, [put(view, size_bytes=64 << 10)], Limits(seeds=1)) == {}

"""Advice from the results of runs: the threshold to change and its direction; the amount of headroom is measured.

For a lossy class the advice reduces the cost of loss: by a threshold, trimming, ECN, or the configuration of NICs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import holds_half_of_its_pool
from lossless.analysis.buffers.headroom.port import is_nvidia
from lossless.analysis.simulation.engine.network import UNBOUNDED
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.lossy import most_bytes
from lossless.analysis.simulation.question.ports import need_of, profile_of, queue_buffer
from lossless.analysis.simulation.question.request import spread_of
from lossless.analysis.simulation.study.grid import ThresholdSetting
from lossless.analysis.simulation.study.study import UNLIMITED_SHARE, follow, study, times_of
from lossless.analysis.simulation.study.trial import LossyTask, network_with
from lossless.analysis.simulation.study.verdict import harm, losses
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.units import format_bytes, format_rate, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import GroupUse, NamedLinkEnd
    from lossless.analysis.simulation.study.study import Study
    from lossless.ground.basics.findings import Path
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.fabric.view import View


_ENOUGH_BYTES = 1 << 40
"""A headroom that no run can fill."""


def advice(view: View, results: Study, limits: Limits) -> tuple[str, ...]:
    """Return the changes that the results of runs call for, the most urgent first."""
    if results.scenario.is_lossy:
        return tuple(lossy_advice(view, results))
    return tuple(dict.fromkeys((*_safer(view, results, limits), *_quieter(view, results))))


def _safer(view: View, results: Study, limits: Limits) -> Iterator[str]:
    seeds = results.seeds
    short = [
        seed.tightest
        for seed in seeds
        if seed.tightest and seed.tightest.margin_bytes < results.scenario.frame_bytes
    ]
    pools = [seed.headroom_pool_margin_bytes for seed in seeds if seed.headroom_pool_margin_bytes is not None]
    if pools and min(pools) < results.scenario.frame_bytes:
        yield from _pool(view, results, short)
    elif short or any(seed.drops for seed in seeds):
        yield from _headroom(view, results, limits)
    if any(seed.refused for seed in seeds):
        yield from _egress(view, results)
    yield from _watchdog(results)
    if any(seed.cycle for seed in seeds):
        yield "change the routing, not thresholds: no buffer size removes a cyclic buffer dependency"


def _watchdog(results: Study) -> Iterator[str]:
    question = results.scenario.question
    if question.dead_nic:
        if not results.scenario.ends_storms:
            yield "set the PFC watchdog to drop or forward on every port: nothing else ends the storm of a dead NIC"
    elif any(seed.outcome.storms for seed in results.seeds):
        if question.slow_nic_bps is not None:
            yield "find out why the NIC is slow: no threshold fixes it, and the watchdog is right to trigger"
        else:
            yield "raise detection_time of the PFC watchdog, or remove the congestion: no NIC is at fault here"


def _pool(view: View, results: Study, short: list[GroupUse]) -> Iterator[str]:
    place = short[0].place if short else results.seeds[0].hottest
    profile = _profile(view, results.scenario, place)
    pool = profile.pool.name if profile is not None and profile.pool is not None else "the pool"
    stated = "; in the intent: lower buffers.headroom_oversubscription" if view.fabric.declared else ""
    yield f"raise xoff of {pool}: the shared headroom ran short, not the headroom of one group{stated}"


def _headroom(view: View, results: Study, limits: Limits) -> Iterator[str]:
    """Yield the headrooms to raise, or to configure at all; their use is measured in runs with unlimited headroom."""
    frame = results.scenario.frame_bytes
    short = [use for seed in results.seeds for use in seed.uses if use.drops or use.margin_bytes < frame]
    short.sort(key=lambda use: (-use.drops, use.margin_bytes))
    profiles = [(use, _profile(view, results.scenario, use.place)) for use in short]
    kinds = {profile.name: (use, profile) for use, profile in reversed(profiles) if profile is not None}
    if any(profile.lossless for _, profile in kinds.values()):
        free = without_limits(results, limits)
    for use, profile in reversed(kinds.values()):
        if not profile.lossless:
            yield _headroom_at_all(_port(view, use.place), profile)
            continue
        used = _used_by(view, free, profile)
        if used + frame > profile.xoff_bytes:
            yield _raised(view, use.place, profile, used, results.scenario)


def _headroom_at_all(port: Port | None, profile: BufferProfile) -> str:
    if port is not None and port.pfc_unwanted:
        return "name the links that drop in pfc.tiers (PFC017): nothing pauses what arrives on them"
    return f"set xoff in {profile.name}, or give groups of the class another profile: it has no headroom"


def _raised(view: View, place: NamedLinkEnd, profile: BufferProfile, used: int, scenario: Scenario) -> str:
    """Return the advice to raise a headroom to the bytes that were used and a frame, at least to the closed form."""
    port, size = _port(view, place), "; size must hold it too" if _held_by_size(view, place, profile) else ""
    need = need_of(view.switch_by_name[place.switch], port) if port is not None else None
    least = used + scenario.frame_bytes
    why = f": {format_bytes(used)} were used with unlimited headroom, plus one frame"
    if need is not None and need.headroom_bytes > least:
        least, why = need.headroom_bytes, f", what the link needs ({need.method})"
    stated = _stated_headroom(view, port, profile, least, scenario.classes[0].name)
    before = f"raise xoff of {profile.name} from {format_bytes(profile.xoff_bytes)}"
    return f"{before} to at least {format_bytes(least)}{why}{size}{stated}"


def _stated_headroom(
    view: View, port: Port | None, profile: BufferProfile, least_bytes: int, name: str
) -> str:
    """Return the line of an intent that sets a headroom, where it is set or else by speed.

    Empty without an intent or a known speed.
    """
    if not view.fabric.declared or port is None or not port.speed_bps:
        return ""
    keys = ("classes", name, "buffer", "by_speed", format_rate(port.speed_bps), "xoff")
    return f"; in the intent: {_stated(profile, keys)}: {size_text(least_bytes)}"


def _stated(profile: BufferProfile, keys: Path) -> str:
    """Return the path of a profile's value in an intent: where it is stated, else the path ``keys``."""
    return _dotted(profile.origin.path if profile.origin.path[-1:] == keys[-1:] else keys)


def _ecn_key(path: Path, name: str) -> str:
    """Return the path of an ECN curve in an intent: where it is stated, else that of the exception to a preset."""
    return _dotted(path if path[:1] == ("classes",) else ("classes", name, "ecn"))


def _dotted(keys: Path) -> str:
    return ".".join(map(str, keys))


def _used_by(view: View, free: Study, profile: BufferProfile) -> int:
    """Return the most headroom in bytes that a priority group with a buffer profile used."""
    uses = [use for seed in free.seeds for use in seed.uses]
    own = [use.used_bytes for use in uses if _profile(view, free.scenario, use.place) == profile]
    return max(own, default=0)


def _held_by_size(view: View, place: NamedLinkEnd, profile: BufferProfile) -> bool:
    """Return whether headroom exists only as far as the profile's size holds it: NVIDIA without shared headroom."""
    shared = profile.pool is not None and profile.pool.shared_headroom_bytes
    return is_nvidia(view.switch_by_name[place.switch]) and not shared


def without_limits(results: Study, limits: Limits) -> Study:
    """Return the study with unlimited headroom; a budget leaves out the seeds with most headroom left."""
    by_room = sorted(
        results.seeds, key=lambda seed: seed.tightest.margin_bytes if seed.tightest else _ENOUGH_BYTES
    )
    seeds = [seed.seed for seed in by_room]
    return study(unbounded(results.scenario), limits, seeds=seeds, share=UNLIMITED_SHARE)


def unbounded(scenario: Scenario) -> Scenario:
    """Return a scenario in which no headroom, headroom pool or chip runs out."""
    ends = {
        key: end._replace(
            groups=tuple(
                group if group.headroom_bytes is None else group._replace(headroom_bytes=_ENOUGH_BYTES)
                for group in end.groups
            )
        )
        for key, end in scenario.ends.items()
    }
    switches = {
        key: switch._replace(buffer_bytes=UNBOUNDED, headroom_pool_bytes=None)
        for key, switch in scenario.switches.items()
    }
    return scenario._replace(ends=ends, switches=switches)


def _egress(view: View, results: Study) -> Iterator[str]:
    place = next((place for seed in results.seeds for place in seed.refusing), None)
    port = _port(view, place)
    queue = (
        port.qos.queues[port.qos.queue_of(results.scenario.classes[0].priority)]
        if port and port.qos
        else None
    )
    if queue is not None and queue.wred is not None and queue.wred.drops:
        yield f"turn ECN on in {queue.wred.name}: its WRED drops lossless frames instead of marking them"
    elif queue is not None and queue.buffer is not None and not holds_half_of_its_pool(queue.buffer):
        yield f"raise the threshold of {queue.buffer.name}: its queue refuses frames that PFC should hold back"


def _quieter(view: View, results: Study) -> Iterator[str]:
    """Yield changes that avoid PFC where DCQCN could slow senders down in time."""
    fired = [seed for seed in results.seeds if seed.outcome.first_pause_ns is not None]
    if (
        len(fired) * 2 < len(results.seeds)
        or results.scenario.question.dead_nic
        or results.scenario.dcqcn is None
    ):
        return
    late = [seed for seed in fired if seed.outcome.first_mark_ns is None or seed.first_pfc_before_mark]
    place = fired[0].hottest
    port, profile = _port(view, place), _profile(view, results.scenario, place)
    number = port.qos.queue_of(results.scenario.classes[0].priority) if port and port.qos else None
    queue = port.qos.queues[number] if port and port.qos and number is not None else None
    wred = queue.wred if queue is not None else None
    # An exception by speed, tier or device overrides what the class states for all.
    ecn = (
        _ecn_key(wred.origin.path, results.scenario.classes[0].name) if wred and view.fabric.declared else ""
    )
    if wred is None:
        yield "turn ECN on for the class: nothing slows senders down before PFC does"
    elif late:
        stated = ecn and f"; in the intent: {ecn}.min"
        seeds = f"{len(late)} of {len(results.seeds)} seeds"
        yield f"lower Kmin of {wred.name}: PFC comes before the first mark in {seeds}{stated}"
    elif (
        # An incast of many NICs pauses them in any fabric, whatever the thresholds: nothing to change.
        results.scenario.question.pattern != "incast"
        and profile is not None
        and profile.dynamic_th is not None
    ):
        now = f"{profile.name} (now {profile.dynamic_th})"
        keys = ("classes", results.scenario.classes[0].name, "buffer", "dynamic_th")
        stated = ecn and f"; in the intent: {_stated(profile, keys)}, {ecn}.max"
        yield f"to pause less, raise dynamic_th of {now} or lower Kmax of {wred.name}{stated}"


def _port(view: View, place: NamedLinkEnd | None) -> Port | None:
    return None if place is None or place.port is None else view.port(place.switch, place.port)


def _profile(view: View, scenario: Scenario, place: NamedLinkEnd | None) -> BufferProfile | None:
    port = _port(view, place)
    if place is None or port is None:
        return None
    profile = profile_of(view.switch_by_name[place.switch], port, scenario.classes[0])
    return None if isinstance(profile, MissingInput) else profile


_MOST_DYNAMIC_TH = 1
"""The largest exponent of alpha that queues are tried with: one queue may then hold two thirds of its pool."""


def lossy_advice(view: View, results: Study) -> Iterator[str]:
    """Yield the changes to make for a lossy class, the most urgent first; none if loss is harmless."""
    if not any(harm(losses(results))):
        return
    yield from _order(results)
    if not any(each.lost for each in losses(results)):
        return
    yield from _senders(view, results.scenario)
    yield from _marks(results.scenario)
    # Trimming helps more than any threshold, a class without loss only with all else that PFC takes.
    parts = [_queues(view, results), _repetition(view, results)]
    for part in reversed(parts) if results.scenario.senders is not None else parts:
        yield from part


def _order(results: Study) -> Iterator[str]:
    """Yield the change after which packets that arrive out of order are not sent again."""
    question = results.scenario.question
    if spread_of(question) is None or question.ahead_frames == 0:
        return
    if not any(each.resent for each in losses(results)):
        return
    frames = question.ahead_frames
    now = "in order" if frames is None else f"up to {frames:,} frames ahead"
    yield (
        "let NICs take packets out of order and state it (hosts.reorder), or set topology.routing.load_balancing to"
        f" ecmp: under {question.load_balancing}, NICs that take packets {now} ask again for those that come late"
    )


def _senders(view: View, scenario: Scenario) -> Iterator[str]:
    congestion = view.fabric.congestion
    if congestion is not None and congestion.kind == "pfc-only":
        yield "set congestion_control to dcqcn: nothing pauses the class, and pfc-only slows no sender down"
    elif scenario.senders is None and scenario.dcqcn is None:
        yield "turn DCQCN on in the NICs for the class: no sender slows down"


def _marks(scenario: Scenario) -> Iterator[str]:
    """Yield the change that makes ECN slow senders down before packets are lost."""
    key = f"classes.{scenario.classes[0].name}.ecn"
    if not scenario.marks:
        yield f"give the class an ECN curve ({key}): senders learn of congestion by loss alone"
        return
    late = [
        (most_bytes(queue), queue.wred.kmin_bytes)
        for queue in (end.queues[0] for end in scenario.ends.values())
        if queue.wred is not None and most_bytes(queue) <= queue.wred.kmin_bytes
    ]
    if late:
        held_bytes, kmin_bytes = min(late)
        yield (
            f"lower Kmin ({key}.min, now {format_bytes(round(kmin_bytes))}) below {format_bytes(held_bytes)}, the most"
            " that a queue of the class may hold: it is full before it marks"
        )


def _queues(view: View, results: Study) -> Iterator[str]:
    """Yield the change of the threshold of the queue that refused packets, or was deepest."""
    name, profile = results.scenario.classes[0].name, _refusing(view, results)
    if profile is None:
        return
    key = f"classes.{name}.queue"
    if profile.dynamic_th is not None:
        enough = _enough(results, profile.dynamic_th)
        if enough is not None:
            yield (
                f"raise dynamic_th of {profile.name} to {enough} ({key}.dynamic_th, now {profile.dynamic_th}): loss is"
                " then harmless in the worst seed, and lossless sweep --vary queue_dynamic_th tries more"
            )
    elif profile.static_th_bytes:
        yield (
            f"raise static_th of {profile.name} ({key}.static_th, now"
            f" {format_bytes(profile.static_th_bytes)}), or state dynamic_th in its place"
        )


def _enough(results: Study, now: int) -> int | None:
    """Return the least exponent of alpha above a queue's own with which loss is harmless in the worst seed, else None.

    A little more may be worse than nothing: senders of Ultra Ethernet wait for as long as full queues take.
    """
    scenario = results.scenario
    seed = max(
        results.seeds, key=lambda seed: (seed.loss.unfinished, seed.loss.cost) if seed.loss else (0, 0)
    ).seed
    instance = instantiate(scenario, seed)
    times = times_of(scenario, instance.network)
    task = LossyTask((), times, tuple(scenario.ends.values()), scenario.senders)
    for exponent in range(now + 1, _MOST_DYNAMIC_TH + 1):
        network = network_with(instance.network, ThresholdSetting(queue_dynamic_th=exponent), task)
        loss = follow(instance._replace(network=network), seed, times).loss
        if loss is not None and not any(harm([loss])):
            return exponent
    return None


def _refusing(view: View, results: Study) -> BufferProfile | None:
    """Return the buffer profile of the first queue that refused packets, else of a deepest queue, else None."""
    seeds = results.seeds
    places = [*(place for seed in seeds for place in seed.refusing), *(seed.hottest for seed in seeds)]
    for place in places:
        port = view.port(place.switch, place.port) if place is not None and place.port is not None else None
        buffer = queue_buffer(port, results.scenario.classes[0]) if port is not None else None
        if buffer is not None:
            return buffer
    return None


def _repetition(view: View, results: Study) -> Iterator[str]:
    """Yield the change that reduces the cost of a single loss."""
    scenario = results.scenario
    name = scenario.classes[0].name
    if scenario.selective:
        yield "make the class lossless: lost packets are sent alone again already"
    elif scenario.senders is None:
        yield (
            "make the class lossless, or have NICs send lost packets alone again where they can, and state it"
            " (hosts.retransmission: selective): a loss costs a go-back"
        )
    elif not scenario.trims:
        yield (
            f"trim instead of dropping (trimming of {name}, SONiC 202505 and later): a receiver then asks at once, and"
            " no timer has to run out"
        )
    elif any(each.dropped for each in losses(results)):
        into = view.fabric.trimming.into if view.fabric.trimming is not None else ""
        yield f"raise classes.{into}.bandwidth, or the queues of class {into}: trimmed packets are dropped there"
    else:
        yield "send less at once into one NIC: packets are trimmed again before a queue has emptied"

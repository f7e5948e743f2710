"""Limits of queues that an intent states for a class: which counts, what they are rendered to, what is refused."""

from __future__ import annotations

import pytest

from lossless.formats.sonic.from_model.tables import tables
from tests.formats.intent.intent_texts import SHAPE, said_of, spoilt
from tests.formats.intent.resolve.test_resolve_class_buffers import RDMA, resolved

DEFAULT = "default: {dscp: rest, priority: 0, "


def stated(queue: str, head: str = RDMA) -> str:
    return spoilt(SHAPE, (head, f"{head}queue: {queue}, "))


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_a_device_counts_before_its_tier_its_tier_before_the_speed_the_speed_before_the_fabric(
    model: str,
) -> None:
    queue = (
        "{dynamic_th: 1, by_speed: {400G: {dynamic_th: 2}}, by_tier: {spine: {dynamic_th: 3}}, "
        "by_device: {spine2: {dynamic_th: 4}}}"
    )
    fabric = resolved(f"{stated(queue)}buffers: {{model: {model}}}\n")
    found = {
        (switch.name, (port.speed_bps or 0) // 10**9): buffer.dynamic_th
        for switch in fabric.switches
        for port in switch.ports
        if port.qos and (own := port.qos.queues[3]) and (buffer := own.buffer)
    }
    leaves = {(leaf, speed): 2 if speed == 400 else 1 for leaf in ("leaf1", "leaf2") for speed in (400, 800)}
    assert found == {**leaves, ("spine1", 800): 3, ("spine2", 800): 4}


def test_it_is_a_profile_of_its_own_beside_those_of_the_hwsku() -> None:
    rows = tables(resolved(stated("{dynamic_th: 1}")).switches[0])
    shipped = rows["BUFFER_PROFILE"]["egress_lossless_profile"]
    assert rows["BUFFER_PROFILE"]["egress_lossless_dynamic_th_1"] == {**shipped, "dynamic_th": "1"}
    profiles = {row["profile"] for key, row in rows["BUFFER_QUEUE"].items() if key.endswith("|3")}
    assert profiles == {"egress_lossless_dynamic_th_1"}


def test_a_lossy_class_has_limits_too() -> None:
    rows = tables(resolved(stated("{dynamic_th: -2}", DEFAULT)).switches[0])
    (name,) = {row["profile"] for key, row in rows["BUFFER_QUEUE"].items() if key.endswith("|0")}
    assert rows["BUFFER_PROFILE"][name]["dynamic_th"] == "-2"
    assert rows["BUFFER_PROFILE"][name]["pool"] == "egress_lossy_pool"


def test_a_threshold_of_another_kind_than_the_pool_has_is_refused() -> None:
    (message,) = said_of(stated("{static_th: 1 MiB}"))
    assert message == (
        "5:84: classes.rdma.queue.static_th: does not fit nvidia-sn5600, whose egress_lossless_pool is dynamic; "
        "state dynamic_th"
    )

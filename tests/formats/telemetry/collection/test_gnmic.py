"""gnmic's configuration: paths by release, and answers of real switches under the names of the exporter."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from lossless.formats.telemetry.collection import gnmic_files, subscribed
from lossless.formats.telemetry.metrics import BY_NAME
from lossless.model.fabric.view import View
from tests.formats.telemetry.subjects import example, rails

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

CAPTURES = "captures/state/sonic-gnmi"


class Event:
    """What gnmic gives a processor, as its documentation of ``event-starlark`` has it."""

    def __init__(self, name: str, timestamp: int = 0, tags: Mapping[str, str] | None = None) -> None:
        self.name, self.timestamp, self.tags = name, timestamp, dict(tags or {})
        self.values: dict[str, Any] = {}


def processed(path: str, answer: Any, **tags: str) -> dict[tuple[str, ...], float]:
    """Return what the processor makes of an answer: values by metric and labels. Starlark is a subset of Python."""
    names: dict[str, Any] = {"Event": Event}
    script = gnmic_files(example("roce-256"), 10)["collection/gnmic/sonic_names.star"]
    exec(script, names)
    event = Event("ports", 1, {"source": "leaf1:50051", **tags})
    event.values = dict(_flat(f"/{path}", answer))
    made = names["apply"](event)
    return {
        (metric, *(f"{name}={value}" for name, value in sorted(item.tags.items()))): value
        for item in made
        for metric, value in item.values.items()
    }


def _flat(path: str, answer: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(answer, dict):
        yield path, answer
        return
    for name, value in answer.items():
        yield from _flat(f"{path}/{name}", value)


def captured(reference: Path, name: str) -> Any:
    """Return an answer of sonic-gnmi's own tests."""
    return json.loads((reference / CAPTURES / name).read_text(encoding="utf-8"))


def test_ports_and_pauses_have_the_names_of_the_exporter(reference: Path) -> None:
    answer = captured(reference, "COUNTERS_Ethernet68.json")
    found = processed("COUNTERS/Ethernet*", {"Ethernet68": answer})
    of = ("interface=Ethernet68", "priority=7", "switch=leaf1")
    frames = float(answer["SAI_PORT_STAT_PFC_7_RX_PKTS"])
    assert found["lossless_sonic_pfc_received_frames_total", *of] == frames
    received = ("SAI_PORT_STAT_IF_IN_UCAST_PKTS", "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS")
    packets = sum(float(answer[field]) for field in received)
    assert (
        found["lossless_sonic_interface_received_packets_total", "interface=Ethernet68", "switch=leaf1"]
        == packets
    )


def test_the_watchdog_of_a_queue_is_read_in_seconds(reference: Path) -> None:
    answer = captured(reference, "COUNTERS_Ethernet68_Pfcwd.json")
    answer["Ethernet68:4"]["PFC_WD_STATUS"] = "stormed"
    found = processed("COUNTERS/Ethernet*/Pfcwd", answer)
    queue = ("interface=Ethernet68", "queue=3", "switch=leaf1")
    assert found["lossless_sonic_pfc_watchdog_detection_seconds", *queue] == 0.2
    assert found["lossless_sonic_pfc_watchdog_storm", *queue] == 0
    assert found["lossless_sonic_pfc_watchdog_storm", "interface=Ethernet68", "queue=4", "switch=leaf1"] == 1


def test_watermarks_are_those_of_their_window_alone(reference: Path) -> None:
    answer = captured(reference, "PERIODIC_WATERMARKS_Ethernet16_PriorityGroups.json")
    found = processed("PERIODIC_WATERMARKS/Ethernet*/PriorityGroups", answer)
    assert {key[0] for key in found} == {
        "lossless_sonic_priority_group_shared_watermark_bytes",
        "lossless_sonic_priority_group_headroom_watermark_bytes",
    }
    assert all("window=periodic" in key for key in found)


def test_of_two_fields_that_hold_one_counter_the_one_of_the_chip_counts() -> None:
    estimated = {"EST_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US": "7000000"}
    counted = {"SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US": "9000000"}
    for answer, seconds in ((estimated, 7), (counted, 9), (estimated | counted, 9), (counted | estimated, 9)):
        found = processed("COUNTERS/Ethernet*", {"Ethernet0": answer})
        assert list(found.values()) == [seconds]


def test_tier_and_rail_of_the_target_stay_and_what_is_no_number_is_left_out() -> None:
    answer = {
        "Ethernet0": {
            "SAI_PORT_STAT_PFC_3_TX_PKTS": "5",
            "SAI_PORT_STAT_PFC_4_TX_PKTS": "N/A",
            "NEW_FIELD": "1",
        }
    }
    ((key, value),) = processed("COUNTERS/Ethernet*", answer, tier="leaf", rail="0").items()
    assert value == 5
    assert {"tier=leaf", "rail=0", "priority=3"} < {*key}


def test_names_and_labels_are_those_of_the_catalogue(reference: Path) -> None:
    answers = [
        processed("COUNTERS/Ethernet*/Queues", captured(reference, "COUNTERS_Ethernet68_Queues.json")),
        processed("COUNTERS/Ethernet*", {"Ethernet68": captured(reference, "COUNTERS_Ethernet68.json")}),
    ]
    for metric, *labels in (key for found in answers for key in found):
        assert {label.partition("=")[0] for label in labels} == {*BY_NAME[metric].labels}


@pytest.mark.parametrize(
    ("release", "watermarks"),
    [
        ("202305", False),
        ("202405", False),
        ("202411", True),
        ("202505", False),
        ("202511", True),
        (None, False),
    ],
)
def test_watermarks_are_asked_for_where_the_release_serves_them(
    release: str | None, watermarks: bool
) -> None:
    leaf = example("thor-64").switches[0]._replace(release=release, profile=None)
    found = subscribed(leaf)
    assert ("PERIODIC_WATERMARKS/Ethernet*/PriorityGroups" in dict(found.paths).values()) == watermarks
    assert bool(found.left_out) != watermarks


def test_ports_that_a_switch_stops_sampling_are_left_out_and_named() -> None:
    leaf = example("roce-256").switches[0]
    assert leaf.profile is not None
    assert leaf.profile.name.startswith("nvidia-")
    assert "ports" in dict(subscribed(leaf._replace(release="202405")).paths)
    broken = subscribed(leaf._replace(release="202411"))
    assert "ports" not in dict(broken.paths)
    assert any("22201" in reason for reason in broken.left_out)


def test_the_configuration_has_every_device_with_its_labels() -> None:
    fabric = rails(1)
    text = gnmic_files(fabric, 10)["collection/gnmic/gnmic.yml"]
    read = YAML(typ="safe").load(text)
    assert set(read["targets"]) == View(fabric).units.keys()
    assert read["targets"]["leaf2"]["event-tags"] == {"fabric": "rails", "tier": "leaf", "rail": "1"}
    assert read["subscriptions"]["ports"]["sample-interval"] == "10s"
    used = {name for target in read["targets"].values() for name in target["subscriptions"]}
    assert used == read["subscriptions"].keys()


def test_a_network_without_switches_has_nothing_to_subscribe_to() -> None:
    assert gnmic_files(example("efa-train"), 10) == {}

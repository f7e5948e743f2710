"""Thresholds and headroom that devices have and their HWSKU does not give come back as an intent states them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from tests.formats.importing.imports import intent
from tests.formats.importing.test_importing_laws import deployed

Data = dict[str, Any]


def fabric(buffer: Data | None, model: str, switch: str = "nvidia-sn5600") -> Data:
    rdma = {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "50%", "ecn": "off"}
    shape = {
        **dict.fromkeys(("leaves", "spines"), 2),
        "hosts_per_leaf": 4,
        "host_links": "2 x 400G",
        "uplinks": "2 x 800G" if "nvidia" in switch else "2 x 400G",
        "cables": {"host": "3m", "uplink": "30m"},
    }
    return {
        "lossless": "v1",
        "fabric": "stated",
        "transport": "rocev2",
        "congestion_control": "pfc-only",
        "classes": {
            "rdma": rdma if buffer is None else {**rdma, "buffer": buffer},
            "cnp": {"dscp": 48, "priority": 6, "scheduling": "strict"},
            "default": {"dscp": "rest", "priority": 0, "bandwidth": "50%"},
        },
        "pfc": {"watchdog": {"poll": "200ms", "detection": "400ms", "restoration": "400ms"}},
        "hardware": {"leaf": switch, "spine": switch, "nic": "connectx-7"},
        "topology": {"leaf_spine": shape},
        "buffers": {"model": model},
    }


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
@pytest.mark.parametrize(
    "buffer",
    [
        None,
        {"dynamic_th": 1},
        {"by_speed": {"400G": {"dynamic_th": -2}}},
        {"by_tier": {"leaf": {"dynamic_th": 2}, "spine": {"dynamic_th": 1}}},
        {"by_tier": {"leaf": {"by_speed": {"800G": {"dynamic_th": 3}}}}},
        {"dynamic_th": 1, "xoff": "400 KiB", "xon": "20 KiB"},
    ],
)
def test_what_is_stated_comes_back(buffer: Data | None, model: str) -> None:
    found = import_documents(deployed(fabric(buffer, model)))
    assert [(d.device, d.kind, d.cell) for d in found.differences] == []
    assert intent(found)["classes"]["rdma"].get("buffer") == buffer


def test_what_one_of_many_switches_has_is_stated_under_its_name_and_noted() -> None:
    data = fabric({"by_device": {"leaf2": {"dynamic_th": 4}}}, "traditional")
    data["topology"]["leaf_spine"]["leaves"] = 3
    found = import_documents(deployed(data))
    assert intent(found)["classes"]["rdma"]["buffer"] == {"by_device": {"leaf2": {"dynamic_th": 4}}}
    assert "# thresholds and headroom: of leaf2 under its own name, unlike most of its role\n" in found.text
    assert found.differences == ()


def test_where_one_of_many_has_what_its_hwsku_gives_the_others_are_named() -> None:
    """No key of a device takes back what its tier states."""
    data = fabric({"by_device": {name: {"dynamic_th": 4} for name in ("leaf1", "leaf3")}}, "traditional")
    data["topology"]["leaf_spine"]["leaves"] = 3
    found = import_documents(deployed(data))
    assert list(intent(found)["classes"]["rdma"]["buffer"]["by_device"]) == ["leaf1", "leaf3"]
    assert found.differences == ()


CURVE = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
FASTER = {"min": "1600 KiB", "max": "6400 KiB", "probability": "20%"}


def of_class(name: str, **stated: Any) -> Data:
    """Return a fabric of three leaves whose class has more keys; it marks."""
    data = fabric(None, "traditional")
    data["topology"]["leaf_spine"]["leaves"] = 3
    data["congestion_control"] = "dcqcn"
    data["classes"]["rdma"]["ecn"] = CURVE
    data["classes"][name] |= stated
    return data


@pytest.mark.parametrize(
    "ecn",
    [
        {"by_tier": {"leaf": CURVE, "spine": "off"}},
        {"by_tier": {"leaf": "off", "spine": CURVE}},
        {**CURVE, "by_speed": {"800G": "off"}},
        {**CURVE, "by_speed": {"400G": "off"}},
        {**CURVE, "by_device": {"leaf2": "off"}},
        {**CURVE, "by_device": {"leaf2": {"by_speed": {"400G": "off"}}}},
        {"by_device": {"leaf2": CURVE}},
        {"by_device": {"leaf2": {"by_speed": {"400G": CURVE}}}},
        {"by_tier": {"leaf": FASTER, "spine": CURVE}, "by_device": {"leaf2": "off"}},
        {
            "by_tier": {"leaf": CURVE, "spine": "off"},
            "by_device": {"leaf2": {"by_speed": {"400G": "off", "800G": FASTER}}},
        },
    ],
)
def test_where_a_class_marks_nothing_comes_back_as_it_was_stated(ecn: Data) -> None:
    found = import_documents(deployed(of_class("rdma", ecn=ecn)))
    assert [(d.device, d.kind, d.cell) for d in found.differences] == []
    assert intent(found)["classes"]["rdma"]["ecn"] == ecn


@pytest.mark.parametrize(
    ("name", "model"),
    [("cnp", "traditional"), ("cnp", "dynamic"), ("rdma", "traditional"), ("rdma", "dynamic")],
)
@pytest.mark.parametrize(
    "pg",
    [
        5,
        {"by_tier": {"spine": 5}},
        {"by_tier": {"leaf": 4, "spine": 5}},
        {"by_speed": {"800G": 5}},
        {"by_tier": {"leaf": {"by_speed": {"800G": 5}}}},
        {"by_tier": {"leaf": {"number": 4, "by_speed": {"800G": 5}}}},
        {"number": 5, "by_device": {"leaf2": 4}},
        {"by_device": {"leaf2": {"by_speed": {"400G": 5}}}},
    ],
)
def test_priority_groups_come_back_as_they_were_stated(name: str, model: str, pg: object) -> None:
    """The lossless group that a switch itself makes of each priority with PFC is made of the rendered rows too."""
    found = import_documents(deployed({**of_class(name, pg=pg), "buffers": {"model": model}}))
    assert found.differences == ()
    assert intent(found)["classes"][name]["pg"] == pg


def test_a_device_with_the_usual_group_says_so_where_its_tier_has_another() -> None:
    usual = {"by_tier": {"leaf": 5}, "by_device": {"leaf2": 0}}
    found = import_documents(deployed(of_class("cnp", pg=usual)))
    assert found.differences == ()
    assert intent(found)["classes"]["cnp"]["pg"] == usual
    assert "  # priority groups: of leaf2 under its own name, unlike most of its role\n" in found.text


def test_a_default_that_the_dynamic_model_is_told_is_stated() -> None:
    files = [json.loads(file.text) for file in deployed(fabric(None, "dynamic"))]
    for data in files:
        data["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"]["default_dynamic_th"] = "2"
    found = import_documents([load_text(json.dumps(d), f"sw{n}/config_db.json") for n, d in enumerate(files)])
    assert intent(found)["classes"]["rdma"]["buffer"] == {"dynamic_th": 2}


@pytest.mark.parametrize(
    ("buffers", "switch"),
    [
        ({"pool_sizes": {"ingress_lossless_pool": {"size": "30 MiB"}}}, "nvidia-sn5600"),
        (
            {"by_device": {"leaf2": {"pool_sizes": {"egress_lossy_pool": {"size": "30 MiB"}}}}},
            "nvidia-sn5600",
        ),
        (
            {
                "model": "dynamic",
                "lossless_mtu": 1024,
                "small_packets": "100%",
                "by_tier": {
                    "leaf": {"headroom_oversubscription": 2},
                    "spine": {
                        "pool_sizes": {"ingress_lossless_pool": {"percentage": "30%", "xoff": "4 MiB"}}
                    },
                },
            },
            "nvidia-sn5600",
        ),
        (
            {
                "by_tier": {
                    "leaf": {"pool_sizes": {"ingress_lossless_pool": {"size": "9 MiB", "xoff": "1 MiB"}}}
                }
            },
            "arista-7060x6-64pe-b",
        ),
    ],
)
def test_pools_and_shared_headroom_come_back_as_they_were_stated(buffers: Data, switch: str) -> None:
    found = import_documents(deployed({**fabric(None, "traditional", switch), "buffers": buffers}))
    assert [(d.device, d.kind, d.cell) for d in found.differences] == []
    assert intent(found)["buffers"] == buffers


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
@pytest.mark.parametrize(
    "queue",
    [
        {"dynamic_th": 1},
        {"by_speed": {"400G": {"dynamic_th": 2}}},
        {"dynamic_th": 1, "by_device": {"leaf2": {"dynamic_th": 3}}},
        {"size": "64 KiB"},
        {"dynamic_th": 1, "size": "64 KiB", "by_speed": {"400G": {"dynamic_th": 2, "size": "9217 B"}}},
        {"by_tier": {"leaf": {"dynamic_th": 1}, "spine": {"size": "64 KiB"}}},
        {"size": "64 KiB", "by_device": {"leaf2": {"size": "4 KiB"}}},
        {
            "by_device": {
                "leaf1": {"dynamic_th": 1},
                "leaf2": {"size": "4 KiB"},
                "leaf3": {"dynamic_th": 1},
            }
        },
    ],
)
def test_limits_of_queues_come_back_as_they_were_stated(queue: Data, model: str) -> None:
    data = fabric(None, model)
    data["classes"]["rdma"]["queue"] = queue
    default = {"by_tier": {"spine": {"dynamic_th": 2}, "leaf": {"size": "20 kB"}}}
    data["classes"]["default"]["queue"] = default
    data["topology"]["leaf_spine"]["leaves"] = 3
    found = import_documents(deployed(data))
    assert [(d.device, d.kind, d.cell) for d in found.differences] == []
    assert intent(found)["classes"]["rdma"]["queue"] == queue
    assert intent(found)["classes"]["default"]["queue"] == default

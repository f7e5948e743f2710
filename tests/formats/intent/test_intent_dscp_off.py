"""A class that no DSCP leads to: ``dscp: off``."""

from __future__ import annotations

import pytest

from lossless.formats.intent.document import json_schema
from tests.strategies import Data, fabric_of, loaded_of

CLASSES: Data = {
    "rdma": {"dscp": 26, "priority": 3, "lossless": True, "ecn": "off"},
    "own": {"dscp": "off", "priority": 7, "scheduling": "strict"},
    "default": {"dscp": "rest", "priority": 0},
}


def intent(**classes: Data) -> Data:
    switch = {"profile": "nvidia-sn5600", "hwsku": "ACS-SN5600"}
    return {
        "lossless": "v1",
        "fabric": "f",
        "transport": "rocev2",
        "classes": {**CLASSES, **classes},
        "pfc": {"watchdog": "off"},
        "congestion_control": "pfc-only",
        "hardware": {"leaf": switch, "nic": "connectx-7"},
        "topology": {
            "devices": {"leaf1": {"role": "leaf"}, "gpu1": {"role": "host"}},
            "links": [{"a": "leaf1", "b": "gpu1", "links": "1 x 400G", "cable": "3m"}],
        },
    }


@pytest.mark.parametrize("off", ["off", False])
def test_it_has_a_queue_and_no_dscp(off: object) -> None:
    data = intent(own={**CLASSES["own"], "dscp": off})
    assert loaded_of(data).intent.classes["own"].dscps == ()
    assert not loaded_of(data).intent.classes["own"].rest
    (switch,) = fabric_of(data).switches
    qos = switch.ports[0].qos
    assert qos is not None
    assert qos.dscp_to_tc is not None
    assert qos.queues[7] is not None
    assert 7 not in qos.dscp_to_tc.targets


def test_editors_know_the_word() -> None:
    classes = json_schema()["properties"]["classes"]
    accepted = next(iter(classes["patternProperties"].values()))["properties"]["dscp"]["anyOf"]
    assert {"enum": ["rest", "off", False]} in accepted

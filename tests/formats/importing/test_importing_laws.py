"""Laws of importing: what was rendered is imported as what renders the same, in whatever order files come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.api import lint_documents
from lossless.formats.device_files.switches import switch_file
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from tests.strategies import fabric_of, intents, with_class_buffers
from tools.example_base import base_of

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document
    from lossless.interfaces.api.import_ import ImportResult

Data = dict[str, Any]
pytestmark = pytest.mark.laws


def deployed(data: Data) -> list[Document]:
    """Return the files of all switches of an intent, as they are rendered onto their own."""
    fabric = fabric_of(data)
    files = []
    for switch in fabric.switches:
        file = f"{switch.name}/config_db.json"
        base = load_text(json.dumps(base_of(fabric, switch)), file)
        files.append(load_text(switch_file(switch, base).text, file))
    return files


TOO_LONG = ("BUF001", "NIC014")
"""Rules that may refuse an imported intent alone: its cables are as long as switches are told, which is a row's length.

Rows of 1500 m and 2000 m that vendors ship do not all hold such a cable, and real ones are shorter.
"""


def wrongly_refused(found: ImportResult, data: Data) -> list[str]:
    """Return why an imported intent is refused, where it is not for the length of cables or as the one it is from."""
    reasons = [str(problem.message) for problem in found.refused]
    return [] if has_errors(data) else [reason for reason in reasons if not reason.startswith(TOO_LONG)]


def has_errors(data: Data) -> bool:
    """Return whether an intent is one that render refuses itself."""
    report = lint_documents([load_text(json.dumps(data), "fabric.yaml")])
    return any(finding.severity == "error" for finding in report.findings)


@settings(max_examples=30)
@given(intents(renderable=True))
def test_what_was_rendered_is_imported_as_what_renders_the_same(data: Data) -> None:
    found = import_documents(deployed(data))
    assert wrongly_refused(found, data) == []
    assert [(d.device, d.kind, d.cell) for d in found.differences] == []
    assert found.figures.fields == found.figures.fields_same > 0


@settings(max_examples=30)
@given(intents(renderable=True).flatmap(with_class_buffers))
def test_what_is_stated_by_rank_and_by_colour_is_imported_as_what_renders_the_same(data: Data) -> None:
    found = import_documents(deployed(data))
    assert wrongly_refused(found, data) == []
    assert [(d.device, d.kind, d.cell) for d in found.differences] == []


@settings(max_examples=12)
@given(intents(renderable=True), st.randoms())
def test_no_order_of_files_or_keys_changes_the_intent(data: Data, random: Any) -> None:
    files = deployed(data)
    first = import_documents(files)
    shuffled = [load_text(json.dumps(_shuffled(file.data, random)), file.file) for file in files]
    random.shuffle(shuffled)
    again = import_documents(shuffled)
    assert again.text == first.text
    assert (again.differences, again.cells) == (first.differences, first.cells)


def _shuffled(value: Any, random: Any) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    return {key: _shuffled(value[key], random) for key in keys}


@settings(max_examples=12)
@given(intents(renderable=True))
def test_importing_twice_gives_the_same_text(data: Data) -> None:
    found = import_documents(deployed(data))
    assert import_documents(deployed(data)).text == found.text
    assert lint_documents([load_text(found.text, "fabric.yaml")]).errors == ()


def test_curves_of_a_speed_that_only_links_without_pfc_have_come_back() -> None:
    curve = {"min": "100 KiB", "max": "500 KiB", "probability": "80%"}
    faster = {"min": "800 KiB", "max": "1500 KiB", "probability": "90%"}
    rdma = {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "50%"}
    data: Data = {
        "lossless": "v1",
        "fabric": "tiers",
        "transport": "rocev2",
        "classes": {
            "rdma": {**rdma, "ecn": {**curve, "by_speed": {"800G": faster}}},
            "cnp": {"dscp": 48, "priority": 6, "scheduling": "strict"},
            "default": {"dscp": "rest", "priority": 0, "bandwidth": "50%"},
        },
        "pfc": {
            "watchdog": {"poll": "200ms", "detection": "400ms", "restoration": "400ms"},
            "tiers": ["hosts"],
        },
        "congestion_control": "dcqcn",
        "hardware": {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": "connectx-7"},
        "topology": {
            "leaf_spine": {
                "leaves": 2,
                "spines": 2,
                "hosts_per_leaf": 4,
                "host_links": "2 x 400G",
                "uplinks": "2 x 800G",
                "cables": {"host": "3m", "uplink": "30m"},
            }
        },
    }
    found = import_documents(deployed(data))
    assert [(d.device, d.kind, d.cell) for d in found.differences] == []


def test_watchdog_times_of_a_tier_come_back_as_those_of_the_tier() -> None:
    """Most ports of a tier decide; the one port that differs is an exception."""
    data: Data = {
        "lossless": "v1",
        "fabric": "tiers",
        "transport": "rocev2",
        "preset": "nvidia",
        "pfc": {
            "watchdog": {
                "poll": "200ms",
                "detection": "400ms",
                "restoration": "400ms",
                "by_tier": {"spine": {"poll": "300ms", "detection": "900ms", "action": "forward"}},
            }
        },
        "exceptions": {"leaf2:Ethernet0": {"watchdog": {"detection": "600ms"}}},
        "hardware": {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": "connectx-7"},
        "topology": {
            "leaf_spine": {
                "leaves": 2,
                "spines": 2,
                "hosts_per_leaf": 4,
                "host_links": "2 x 400G",
                "uplinks": "2 x 800G",
                "cables": {"host": "3m", "uplink": "30m"},
            }
        },
    }
    found = import_documents(deployed(data))
    back = load_text(found.text, "fabric.yaml").data
    assert back["pfc"]["watchdog"] == {
        "poll": "200ms",
        "detection": "400ms",
        "restoration": "400ms",
        "action": "drop",
        "by_tier": {"spine": {"poll": "300ms", "detection": "900ms", "action": "forward"}},
    }
    assert back["exceptions"] == data["exceptions"]
    assert found.differences == ()

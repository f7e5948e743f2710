"""What queues reserve counts in the rules as SONiC counts it: nothing drifts, and what fills a chip is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.api import lint_documents
from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document
from tests.checks.rules.checking import drawn, only
from tests.formats.intent.intent_texts import SHAPE, spoilt
from tools.example_base import base_of

RDMA, DEFAULT = "  rdma: {dscp: 26, ", "  default: {dscp: rest, "
PROFILE = "egress_lossless_size_65536"


def intent(model: str) -> Document:
    """Return an intent that reserves buffer for the queues of a lossless and of a lossy class."""
    queues = (
        (RDMA, f"{RDMA}queue: {{size: 64 KiB}}, "),
        (DEFAULT, f"{DEFAULT}queue: {{dynamic_th: 1, size: 20 kB}}, "),
    )
    return load_text(f"{spoilt(SHAPE, *queues)}buffers: {{model: {model}}}\n", "fabric.yaml")


def rendered(model: str, **profile: str) -> Document:
    """Return a leaf as it is rendered, with another profile for the queues of the lossless class."""
    fabric = resolve(load_intent(intent(model)))
    base = json.dumps(base_of(fabric, fabric.switches[0]))
    tables: dict[str, Any] = json.loads(switch_file(fabric.switches[0], load_text(base, "base.json")).text)
    tables["BUFFER_PROFILE"][PROFILE].update(profile)
    return load_text(json.dumps(tables), "leaf1/config_db.json")


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_what_is_rendered_draws_nothing_and_has_not_drifted(model: str) -> None:
    report = lint_documents([intent(model), rendered(model)])
    assert report.errors == ()
    assert [f.code for f in report.findings if f.severity != "info"] == []


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_a_size_that_the_intent_does_not_state_has_drifted(model: str) -> None:
    found = only("CFG004", intent(model), rendered(model, size="4096"))
    assert found.data == {"object": f"BUFFER_PROFILE|{PROFILE}"}


def test_queues_that_leave_a_computing_switch_nothing_are_to_blame_and_not_headroom() -> None:
    """12 queues reserve more than the chip; the groups of the same switch take a twentieth of it."""
    full = rendered("dynamic", size="20000000")
    found = only("BUF008", full)
    assert found.data["profile"] == PROFILE
    assert drawn("BUF007", full) == []


def test_headroom_that_fills_the_chip_beside_small_queues_is_still_reported() -> None:
    """12 groups and 12 queues: without the queues the chip were as full."""
    document = rendered("dynamic")
    tables = json.loads(json.dumps(document.data))
    for length in tables["CABLE_LENGTH"].values():
        length.update(dict.fromkeys(length, "40000m"))
    long = load_text(json.dumps(tables), "leaf1/config_db.json")
    assert [finding.severity for finding in drawn("BUF007", long)] == ["error"]

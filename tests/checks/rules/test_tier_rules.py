"""PFC on some tiers only, at super-spines, and asymmetric: what rules say of it, and what they leave alone."""

from __future__ import annotations

import json
from typing import Any

from lossless.api import Report, lint_documents
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.output.render.switches import switch_file
from tests.checks.rules.linted import drawn, intent, only
from tools.example_base import base_of

Data = dict[str, Any]
PODS: Data = {
    "hardware": {"super-spine": "nvidia-sn5600"},
    "topology": {
        "leaf_spine": None,
        "three_tier": {
            "pods": 2,
            "leaves_per_pod": 2,
            "spines_per_pod": 2,
            "super_spines": 2,
            "hosts_per_leaf": 4,
            "host_links": "2 x 400G",
            "uplinks": "2 x 800G",
            "spine_uplinks": "2 x 800G",
            "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "300m"},
        },
    },
}


def pfc(**stated: Any) -> Data:
    return {**PODS, "pfc": stated}


class TestSuperSpines:
    """PFC008."""

    def test_nobody_decided(self) -> None:
        found = only(intent(PODS), "PFC008")
        assert (found.severity, found.places) == ("warning", 2)
        assert found.elements == ("superspine1", "superspine2")
        assert found.origin.path == ("topology", "three_tier", "spine_uplinks")
        assert found.message == (
            "super-spines pause priority 3, over cables of up to 300 m, and pfc.tiers does not say that they should"
        )

    def test_somebody_decided_either_way(self) -> None:
        for tiers in (["hosts", "uplinks"], ["hosts", "uplinks", "spine_uplinks"]):
            assert drawn(intent(pfc(tiers=tiers)), "PFC008") == []

    def test_without_lossless_classes_there_is_nothing_to_decide(self) -> None:
        lossy = {**PODS, "pfc": "off", "classes": {"rdma": {"lossless": False, "ecn": None}}}
        assert drawn(intent(lossy), "PFC008") == []

    def test_spines_of_two_tiers_are_not_judged(self) -> None:
        assert drawn(intent({}), "PFC008") == []


class TestHostsWithoutPfc:
    """PFC003."""

    def test_nics_that_pause_where_the_links_to_hosts_have_no_pfc(self) -> None:
        data = {**pfc(tiers=["uplinks"]), "hosts": {"pfc": [3]}}
        found = only(intent(data), "PFC003")
        assert (found.severity, found.data) == ("warning", {"nic": [3], "switch": []})

    def test_nics_that_pause_where_only_uplinks_do_not(self) -> None:
        assert drawn(intent(pfc(tiers=["hosts"])), "PFC003") == []

    def test_second_priorities_of_dual_tors_are_no_concern_of_nics(self) -> None:
        assert drawn(intent({"topology": {"leaf_spine": {"dual_tor": True}}}), "PFC003") == []


TEXT = """\
lossless: v1
fabric: f
transport: rocev2
preset: nvidia
pfc: {asymmetric: on}
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}
topology:
  leaf_spine:
    leaves: 1
    spines: 1
    hosts_per_leaf: 2
    host_links: 1 x 400G
    uplinks: 1 x 800G
    cables: {host: 3m, uplink: 30m}
"""


def beside_its_intent(text: str, *asymmetric: str) -> Report:
    """Return what is said of a rendered leaf and its intent, with more ports made asymmetric by hand."""
    document = load_text(text, "fabric.yaml")
    fabric = resolve(load_intent(document))
    base = load_text(json.dumps(base_of(fabric, fabric.switches[0])), "base.json")
    tables = json.loads(switch_file(fabric.switches[0], base).text)
    for port in asymmetric:
        tables["PORT"][port]["pfc_asym"] = "on"
    return lint_documents([document, load_text(json.dumps(tables), "leaf1/config_db.json")])


class TestAsymmetric:
    """PFC011."""

    def test_what_the_intent_states_is_decided(self) -> None:
        assert drawn(beside_its_intent(TEXT), "PFC011") == []

    def test_what_it_does_not_state_is_reported(self) -> None:
        found = only(
            beside_its_intent(TEXT.replace("asymmetric: on", "asymmetric: off"), "Ethernet0"), "PFC011"
        )
        assert found.origin.path == ("PORT", "Ethernet0", "pfc_asym")

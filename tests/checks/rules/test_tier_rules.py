"""PFC on some tiers only, at super-spines, and asymmetric: what rules say of it, and what they leave alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.api import Report, lint_documents
from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from tests.checks.rules.fabrics import fabric, listed
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


class TestTiersWithoutPfc:
    """PFC017."""

    @pytest.mark.parametrize(
        ("tiers", "without", "switches"),
        [
            (["hosts", "uplinks"], ["spine_uplinks"], 6),
            (["hosts"], ["uplinks", "spine_uplinks"], 10),
            (["uplinks", "spine_uplinks"], ["hosts"], 4),
        ],
    )
    def test_switches_that_take_in_traffic_without_pausing_it_can_drop_it(
        self, tiers: list[str], without: list[str], switches: int
    ) -> None:
        found = only(intent(pfc(tiers=tiers)), "PFC017")
        assert (found.severity, found.places, found.origin.path) == ("warning", switches, ("pfc", "tiers"))
        assert found.data["without_pfc"] == without

    @pytest.mark.parametrize("stated", [{}, {"tiers": ["hosts", "uplinks", "spine_uplinks"]}])
    def test_with_pfc_on_all_links_none_can(self, stated: Data) -> None:
        assert drawn(intent(pfc(**stated)), "PFC017") == []

    @pytest.mark.parametrize(("second", "lossy"), [("1 x 800G", False), ("1 x 400G", True)])
    def test_a_switch_of_two_links_drops_only_towards_the_slower(self, second: str, lossy: bool) -> None:
        """Nothing else leaves by either link, and nothing pauses them."""
        hosts = [f"leaf{n} gpu{n}{m} 1 x 400G 3m" for n in (1, 2) for m in (1, 2)]
        links = ["leaf1 spine1 1 x 800G 30m", f"leaf2 spine1 {second} 30m", *hosts]
        data = listed(links, pfc={"tiers": ["hosts"]})
        (found,) = drawn(lint_documents([load_text(json.dumps(data), "fabric.yaml")]), "PFC017")
        assert ("spine1" in found.elements) is lossy

    def test_where_pfc_would_close_a_cycle_it_is_not_proposed(self) -> None:
        torus = {"sides": [4, 4], "links": "2 x 400G", "hosts_per_switch": 4, "host_links": "1 x 400G",
                 "cables": {"host": "3m", "link": "10m"}}  # fmt: skip
        data = fabric({"torus": torus, "routing": {"policy": "shortest-path"}}, pfc={"tiers": ["hosts"]})
        report = lint_documents([load_text(json.dumps(data), "fabric.yaml")])
        found = only(report, "PFC017")
        assert found.fix == ()

    def test_a_class_that_is_not_lossless_can_do_without(self) -> None:
        lossy = {**PODS, "pfc": "off", "classes": {"rdma": {"lossless": False, "ecn": None}}}
        assert drawn(intent(lossy), "PFC017") == []


class TestSuperSpines:
    """PFC008."""

    def test_nobody_decided(self) -> None:
        found = only(intent(PODS), "PFC008")
        assert (found.severity, found.places) == ("warning", 2)
        assert found.elements == ("superspine1", "superspine2")
        assert found.origin.path == ("topology", "three_tier", "spine_uplinks")
        assert found.data == {"longest_cable_m": 300}

    def test_its_advice_is_to_state_all_links_as_without_the_top_packets_can_be_lost(self) -> None:
        (edit,) = only(intent(PODS), "PFC008").fix
        assert (edit.origin.path, edit.value) == (("pfc", "tiers"), ["hosts", "uplinks", "spine_uplinks"])

    def test_somebody_decided_either_way(self) -> None:
        for tiers in (["hosts", "uplinks"], ["hosts", "uplinks", "spine_uplinks"]):
            assert drawn(intent(pfc(tiers=tiers)), "PFC008") == []

    def test_without_lossless_classes_there_is_nothing_to_decide(self) -> None:
        lossy = {**PODS, "pfc": "off", "classes": {"rdma": {"lossless": False, "ecn": None}}}
        assert drawn(intent(lossy), "PFC008") == []

    def test_spines_of_two_tiers_are_not_checked(self) -> None:
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

"""Whether the fabric can be cabled: enough ports, and ports of the speeds asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import lint
from lossless.model.hardware.load import load_switch
from lossless.model.hardware.model import cages_needed, fabric_cages, ports_per_cage, service_ports
from tests.checks.rules.linted import device, drawn, intent, only, unchecked
from tests.checks.rules.snippets import merge
from tests.paths import ROOT

G = 10**9
PUBLISHED = ROOT / "examples" / "roce-256-as-published" / "fabric.yaml"


def shape(**keys: object) -> dict[str, Any]:
    return {"topology": {"leaf_spine": keys}}


def explicit(*links: dict[str, str], **hardware: object) -> dict[str, Any]:
    """One leaf, one spine and two hosts, wired by name."""
    names = {"leaf1": "leaf", "spine1": "spine", "host1": "host", "host2": "host"}
    devices = {name: {"role": role} for name, role in names.items()}
    return {
        "topology": {"leaf_spine": None, "devices": devices, "links": list(links), "oversubscription": 8},
        "hardware": hardware,
    }


def link(a: str, b: str, links: str) -> dict[str, str]:
    return {"a": a, "b": b, "links": links, "cable": "3m"}


class TestOversubscription:
    def test_stating_what_the_help_says_is_accepted(self) -> None:
        uneven = {"hosts_per_leaf": 10, "host_links": "1 x 400G", "spines": 3, "uplinks": "1 x 400G"}
        found = only(intent(shape(**uneven)), "TOP001")
        assert found.data["ratio"] == 3.333
        assert drawn(intent(shape(**uneven, oversubscription=3.34)), "TOP001") == []


class TestPublishedReference:
    """The 256-GPU reference: 32 x 400G down and 2 x 800G up on a 32-port 400G switch."""

    def test_it_needs_four_more_ports(self) -> None:
        found = only(lint([PUBLISHED]), "TOP002")
        assert found.origin.path == ("topology", "leaf_spine", "uplinks")
        assert (found.severity, found.elements, found.places) == ("error", ("leaf1", "leaf2"), 2)
        assert found.data == {"needed": 36, "available": 32, "missing": 4}

    def test_it_asks_for_a_speed_that_does_not_exist(self) -> None:
        found = only(lint([PUBLISHED]), "TOP003")
        assert found.data == {
            "speed_bps": 800000000000,
            "fastest_bps": 400000000000,
            "profile": "nvidia-sn4700",
        }
        assert found.origin.path == ("topology", "leaf_spine", "uplinks")
        assert found.elements == ("leaf1", "leaf2", "spine1", "spine2")
        assert found.places == 4


class TestBudget:
    """TOP002."""

    @pytest.mark.parametrize(("uplinks", "count"), [(30, 0), (31, 1)])
    def test_the_last_port_counts(self, uplinks: int, count: int) -> None:
        assert len(drawn(intent(shape(uplinks=f"{uplinks} x 800G")), "TOP002")) == count

    def test_split_ports_serve_several_hosts(self) -> None:
        found = only(intent(shape(uplinks="31 x 800G")), "TOP002")
        assert found.data == {"needed": 66, "available": 64, "missing": 2}
        assert [related.origin.path[-1] for related in found.related] == ["host_links"]

    def test_hosts_and_uplinks_of_one_speed_share_a_split_port(self) -> None:
        # 3 + 125 ports of 400G fill 64 cages; each rounded up by itself they would need 65.
        links = [link("leaf1", "host1", "3 x 400G"), link("leaf1", "spine1", "125 x 400G")]
        assert drawn(intent(explicit(*links)), "TOP002") == []

    def test_hosts_alone_can_be_too_many(self) -> None:
        found = only(intent(shape(hosts_per_leaf=65, uplinks="1 x 800G", oversubscription=99)), "TOP002")
        assert found.origin.path == ("topology", "leaf_spine", "host_links")
        assert found.data["missing"] == 3

    def test_spine_that_is_too_small(self) -> None:
        found = only(intent(shape(leaves=33, spines=1, hosts_per_leaf=2)), "TOP002")
        assert found.elements == ("spine1",)
        assert found.data == {"needed": 66, "available": 64, "missing": 2}

    def test_named_port_that_does_not_exist(self) -> None:
        links = [link("leaf1:Ethernet3", "host1", "1 x 400G"), link("leaf1", "spine1", "1 x 800G")]
        found = only(intent(explicit(*links)), "TOP002")
        assert found.data == {"unplaced": 1, "placed": 0, "speed_bps": 400000000000, "hwsku": "ACS-SN5600"}
        assert found.origin.path == ("topology", "links", 0, "links")

    def test_named_port_whose_cage_is_taken_whole(self) -> None:
        links = [link("leaf1:Ethernet0", "spine1", "1 x 800G"), link("leaf1:Ethernet4", "host1", "1 x 400G")]
        found = only(intent(explicit(*links)), "TOP002")
        assert found.origin.path == ("topology", "links", 1, "links")
        assert found.data == {"unplaced": 1, "placed": 0, "speed_bps": 400 * G, "hwsku": "ACS-SN5600"}

    def test_hwsku_whose_table_gives_fewer_ports_than_its_cages_could(self) -> None:
        # Its 64 cages are 40G each; split they could be 128, but not under this HWSKU.
        leaf = {"leaf": {"profile": "arista-7260cx3", "hwsku": "Arista-7260CX3-Q64"}}
        wide = shape(hosts_per_leaf=64, host_links="1 x 40G", uplinks="1 x 40G", oversubscription=99)
        found = only(intent({"hardware": leaf, **wide}), "TOP002")
        assert found.data == {
            "unplaced": 2,
            "placed": 64,
            "speed_bps": 40000000000,
            "hwsku": "Arista-7260CX3-Q64",
        }
        assert (found.elements, found.places) == (("leaf1", "leaf2"), 2)

    def test_deployed_switch_has_no_demand(self) -> None:
        assert drawn(device({}), "TOP002") == []
        assert drawn(device({}), "TOP003") == []


class TestSpeeds:
    """TOP003."""

    def test_adapter_without_the_rate(self) -> None:
        found = only(intent({"hardware": {"nic": "connectx-6-dx"}}), "TOP003")
        assert found.data == {"rate_bps": 400000000000, "fastest_bps": 200000000000, "nic": "connectx-6-dx"}
        assert found.origin.path == ("topology", "leaf_spine", "host_links")
        assert found.elements == tuple(f"host{n}" for n in range(1, 9))
        assert found.places == 8

    def test_adapter_is_blamed_on_each_line_that_asks_too_much(self) -> None:
        links = [
            link("leaf1", "host1", "1 x 400G"),
            link("leaf1", "host2", "1 x 200G"),
            link("leaf1", "spine1", "1 x 800G"),
        ]
        found = only(intent(explicit(*links, nic="connectx-6-dx")), "TOP003")
        assert found.origin.path == ("topology", "links", 0, "links")
        assert found.elements == ("host1",)

    def test_a_split_speed_exists(self) -> None:
        assert drawn(intent(shape(host_links="2 x 200G")), "TOP003") == []

    def test_speed_between_those_that_exist(self) -> None:
        found = drawn(intent({"hardware": {"spine": "dell-z9664f"}, **shape(uplinks="32 x 50G")}), "TOP003")
        assert [f.data["speed_bps"] for f in found] == [50 * G]

    def test_impossible_speed_is_not_reported_as_a_port_that_cannot_be_placed(self) -> None:
        report = intent({"hardware": {"spine": "nvidia-sn4700"}})
        assert len(drawn(report, "TOP003")) == 1
        assert drawn(report, "TOP002") == []


class TestCapacity:
    """The arithmetic behind both."""

    def test_service_ports_are_no_fabric_ports(self) -> None:
        profile = load_switch("nvidia-sn5600")
        assert (len(profile.cages), len(fabric_cages(profile))) == (65, 64)
        assert service_ports(profile, 25 * G) == 1
        assert cages_needed(profile, 1, 25 * G) == 0
        assert cages_needed(profile, 2, 25 * G) == 1

    @given(
        name=st.sampled_from(["nvidia-sn4700", "nvidia-sn5600", "dell-z9664f", "accton-as9516"]),
        ports=st.integers(0, 600),
        speed_bps=st.sampled_from([100 * G, 200 * G, 400 * G, 800 * G, 1600 * G]),
    )
    def test_more_ports_never_fill_fewer_cages(self, name: str, ports: int, speed_bps: int) -> None:
        profile = load_switch(name)
        needed = cages_needed(profile, ports, speed_bps)
        assert needed <= cages_needed(profile, ports + 1, speed_bps)
        assert needed * max(1, ports_per_cage(profile, speed_bps)) >= ports


class TestModesThatNobodyWroteDown:
    """Of some switches only the modes of one port table are known."""

    SPLIT = shape(host_links="2 x 50G", uplinks="2 x 400G", hosts_per_leaf=4)

    def test_a_lower_speed_is_not_checked(self) -> None:
        asked = intent(
            merge(
                self.SPLIT,
                {"hardware": {"leaf": "dell-z9332f", "spine": "dell-z9332f", "nic": "connectx-6-dx"}},
            )
        )
        assert drawn(asked, "TOP003") == drawn(asked, "TOP002") == []
        assert unchecked(asked, "TOP003") == {
            "whether a port of dell-z9332f takes 50G: only 10G, 100G, 400G are known of it": 2
        }

    def test_a_higher_one_is(self) -> None:
        asked = intent(
            merge(
                merge(self.SPLIT, {"hardware": {"leaf": "dell-z9332f", "spine": "dell-z9332f"}}),
                shape(uplinks="1 x 800G"),
            )
        )
        assert [hit.data["speed_bps"] for hit in drawn(asked, "TOP003")] == [800 * 10**9]

    def test_of_a_switch_whose_modes_are_all_known_every_speed_is(self) -> None:
        asked = intent(
            merge(shape(host_links="2 x 20G", uplinks="2 x 400G"), {"hardware": {"leaf": "nvidia-sn4700"}})
        )
        assert ("nvidia-sn4700", 20 * G) in {
            (hit.data.get("profile"), hit.data.get("speed_bps")) for hit in drawn(asked, "TOP003")
        }

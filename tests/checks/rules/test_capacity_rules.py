"""Whether what an intent says of failures and of GPUs agrees with its links."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.topology.bisection import fabric_capacity, left_without_links, left_without_switches
from lossless.api import Report, lint_documents, load_fabrics
from lossless.ground.basics.findings import Origin
from lossless.ground.documents import load
from lossless.model.fabric.model import Capacity, Tier, Uplinks
from lossless.output.report.topology.text import capacity_text
from tests.checks.rules import infiniband
from tests.checks.rules.linted import drawn, intent, intent_view, only
from tests.checks.rules.snippets import merge
from tests.paths import ROOT

G = 10**9
PUBLISHED = ROOT / "examples" / "roce-256-as-published" / "fabric.yaml"
EIGHT = {"gpus_per_host": 8}


def cluster(**keys: Any) -> dict[str, Any]:
    return {"cluster": EIGHT | keys}


def listed(*links: str) -> dict[str, Any]:
    """Return two leaves, a spine and two hosts, with 400G links from host to leaf as named: ``host1 leaf2``."""
    names = {"leaf1": "leaf", "leaf2": "leaf", "spine1": "spine", "host1": "host", "host2": "host"}
    wires = [
        {"a": leaf, "b": host, "links": "1 x 400G", "cable": "3m"} for host, leaf in map(str.split, links)
    ]
    wires += [{"a": leaf, "b": "spine1", "links": "2 x 800G", "cable": "30m"} for leaf in ("leaf1", "leaf2")]
    devices = {name: {"role": role} for name, role in names.items()}
    return {"topology": {"leaf_spine": None, "devices": devices, "links": wires}}


class TestFailures:
    """TOP009."""

    def test_of_links_and_switches_those_count_that_leave_less(self) -> None:
        asked = {"failures": {"links": 1, "switches": 1, "oversubscription": 1.1}, "topology": {"leaf_spine": {
            "uplinks": "2 x 800G"}}}  # fmt: skip
        (found,) = drawn(intent(asked), "TOP009")
        assert found.data == {"left_bps": 1600 * G, "down_bps": 3200 * G, "accepted": 1.1}
        assert found.origin.path == ("failures", "oversubscription")
        assert (found.severity, found.elements) == ("warning", ("leaf1", "leaf2"))
        (found,) = drawn(intent(merge(asked, {"failures": {"switches": 0}})), "TOP009")
        assert found.data["left_bps"] == 2400 * G

    def test_what_is_out_of_service_counts_where_nothing_else_fails(self) -> None:
        asked = {"failures": {"links": 0, "switches": 0, "oversubscription": 1, "out_of_service": ["spine1"]},
                 "topology": {"leaf_spine": {"uplinks": "2 x 800G"}}}  # fmt: skip
        (found,) = drawn(intent(asked), "TOP009")
        assert found.data == {"left_bps": 1600 * G, "down_bps": 3200 * G, "accepted": 1.0}
        assert drawn(intent(merge(asked, {"failures": {"out_of_service": []}})), "TOP009") == []

    def test_the_fastest_links_are_lost_first(self) -> None:
        found = Capacity("leaf1", 0, 0, "", 1.0, Origin("f"), ("leaf1",), Tier.LEAF, (
            Uplinks("spine1", 2, 400 * G), Uplinks("spine2", 1, 800 * G), Uplinks("spine1", 1, 200 * G)))  # fmt: skip
        assert [left_without_links(found, lost) // G for lost in range(6)] == [1800, 1000, 600, 200, 0, 0]
        assert [left_without_switches(found, lost) // G for lost in range(4)] == [1800, 800, 0, 0]

    @given(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.integers(1, 4), st.sampled_from([100, 400, 800])), min_size=1
        ),
        st.integers(0, 12),
    )
    def test_more_failures_never_leave_more_and_a_switch_takes_no_less_than_one_of_its_links(
        self, uplinks: list[tuple[str, int, int]], lost: int
    ) -> None:
        found = Capacity(
            "leaf1",
            0,
            0,
            "",
            1.0,
            Origin("f"),
            ("leaf1",),
            Tier.LEAF,
            tuple(Uplinks(a, n, g * G) for a, n, g in uplinks),
        )
        assert left_without_links(found, lost + 1) <= left_without_links(found, lost)
        assert left_without_switches(found, lost + 1) <= left_without_switches(found, lost)
        assert left_without_switches(found, 1) <= left_without_links(found, 1)

    @given(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.sampled_from([100, 400, 800])),
            min_size=1,
            max_size=3,
        ),
        st.integers(0, 4),
    )
    def test_the_worst_of_all_failures_is_what_is_left(
        self, uplinks: list[tuple[str, int, int]], lost: int
    ) -> None:
        """Every set of so many links, and of so many switches, is tried by hand."""
        bundles = tuple(Uplinks(a, n, g * G) for a, n, g in uplinks)
        found = Capacity("leaf1", 0, 0, "", 1.0, Origin("f"), ("leaf1",), Tier.LEAF, bundles)
        links = [(a, g * G) for a, n, g in uplinks for _ in range(n)]
        above = sorted({a for a, _ in links})
        assert left_without_links(found, lost) == min(
            sum(bps for at, (_, bps) in enumerate(links) if at not in gone)
            for gone in combinations(range(len(links)), min(lost, len(links)))
        )
        assert left_without_switches(found, lost) == min(
            sum(bps for a, bps in links if a not in gone)
            for gone in combinations(above, min(lost, len(above)))
        )

    def test_a_leaf_that_loses_all_is_said_to(self) -> None:
        found = only(intent({"failures": {"links": 0, "switches": 2, "oversubscription": 4}}), "TOP009")
        assert found.data == {"left_bps": 0, "down_bps": 3200 * G, "accepted": 4.0}

    def test_what_the_help_says_is_accepted(self) -> None:
        asked = {"links": 1, "switches": 0, "oversubscription": 1.2}
        assert only(intent({"failures": asked}), "TOP009").data["left_bps"] == 2400 * G
        assert drawn(intent({"failures": {**asked, "oversubscription": 1.34}}), "TOP009") == []

    @pytest.mark.parametrize("stated", [{}, {"failures": {"links": 3, "switches": 2}}])
    def test_any_ratio_will_do_where_none_is_stated(self, stated: dict[str, Any]) -> None:
        assert drawn(intent({"topology": {"leaf_spine": {"uplinks": "1 x 400G"}}, **stated}), "TOP009") == []

    def test_what_is_out_of_service_is_lost_already(self) -> None:
        uplinks = {"leaf_spine": {"uplinks": "1 x 800G", "spines": 4}}
        asked = {"links": 1, "switches": 0, "oversubscription": 1.4, "out_of_service": [["leaf1", "spine3"]]}
        found = only(intent({"topology": uplinks, "failures": asked}), "TOP009")
        assert found.data == {"left_bps": 1600 * G, "down_bps": 3200 * G, "accepted": 1.4}
        assert (
            drawn(intent({"topology": uplinks, "failures": {**asked, "out_of_service": []}}), "TOP009") == []
        )

    def test_a_leaf_that_is_itself_out_of_service_needs_nothing(self) -> None:
        gone = {"oversubscription": 2, "out_of_service": ["leaf1"]}
        assert drawn(intent({"failures": gone}), "TOP009") == []

    def test_the_summary_says_what_is_out_of_service(self) -> None:
        found = fabric_capacity(intent_view({"failures": {"out_of_service": ["spine2"]}}).fabric)
        (tier,) = found.tiers
        assert (tier.after.links.up_bps, *tier.after.switches) == (800 * G, 0, None)
        said = capacity_text(found)
        assert said.endswith("failures come on top of what is out of service: spine2")


def of_subnet(keys: dict[str, Any]) -> Report:
    """Return what lint says of a subnet of 8 compute hosts with one link each, and one of storage."""
    return lint_documents([infiniband.intent(cluster=keys)])


class TestCluster:
    """TOP014."""

    @pytest.mark.parametrize(
        ("keys", "numbers"),
        [
            ({"gpus": 256}, {"gpus": 64, "stated": 256, "hosts": 8}),
            ({"nics_per_host": 8}, {"links": 2, "nics": 8}),
            ({"bandwidth_per_gpu": "400G"}, {"per_gpu_bps": 100 * G, "stated_bps": 400 * G}),
            ({"nvlink": {"generation": 5, "domain": 36}}, {"domain": 36, "gpus_per_host": 8, "most": 576}),
            ({"nvlink": {"generation": 4, "domain": 512}}, {"domain": 512, "most": 256}),
            ({"ualink": {"rate": "3.2T", "domain": 2048}}, {"domain": 2048, "most": 1024}),
            ({"rails": 2}, {"rails": 2}),
        ],
    )
    def test_each_contradiction_is_reported_at_its_place(
        self, keys: dict[str, Any], numbers: dict[str, Any]
    ) -> None:
        found = only(intent(cluster(**keys)), "TOP014")
        assert found.data.items() >= numbers.items()
        assert found.origin.path[:2] == ("cluster", *keys)

    @pytest.mark.parametrize(
        "keys",
        [
            {
                "gpus": 64,
                "nics_per_host": 2,
                "bandwidth_per_gpu": "100G",
                "nvlink": {"generation": 4, "domain": 8},
            },
            {"nics_per_host": 1},
            {"gpus_per_host": 9, "nvlink": {"generation": 5, "domain": 72}},
            {"nvlink": {"generation": 4, "domain": 4}},
            {"rails": 1},
        ],
    )
    def test_what_agrees_is_well(self, keys: dict[str, Any]) -> None:
        assert drawn(intent(cluster(**keys)), "TOP014") == []

    def test_nics_with_unequal_links_are_told(self) -> None:
        found = only(intent(cluster(nics_per_host=2) | listed("host1 leaf1", "host1 leaf1", "host1 leaf2",
                                                              "host2 leaf1", "host2 leaf2")), "TOP014")  # fmt: skip
        assert (found.data, found.elements) == ({"links": 3, "nics": 2}, ("host1",))

    def test_rails_are_leaves_that_hosts_share(self) -> None:
        rails = ("host1 leaf1", "host1 leaf2", "host2 leaf1", "host2 leaf2")
        assert drawn(intent(cluster(rails=2) | listed(*rails)), "TOP014") == []
        crossed = only(intent(cluster(rails=2) | listed(*rails[:3], "host2 leaf1")), "TOP014")
        assert crossed.data == {"missing": "leaf2", "instead": ""}

    @pytest.mark.parametrize(
        ("keys", "numbers"),
        [
            ({"gpus": 72}, {"gpus": 64, "stated": 72, "hosts": 8}),
            ({"nics_per_host": 2}, {"links": 1, "nics": 2}),
            ({"bandwidth_per_gpu": "400G"}, {"per_gpu_bps": 50 * G, "stated_bps": 400 * G}),
            ({"nvlink": {"generation": 4, "domain": 12}}, {"domain": 12, "gpus_per_host": 8}),
            ({"rails": 2}, {"rails": 2}),
        ],
    )
    def test_the_compute_hosts_of_a_subnet_are_compared_with_its_cluster(
        self, keys: dict[str, Any], numbers: dict[str, Any]
    ) -> None:
        found = only(of_subnet({"gpus_per_host": 8, **keys}), "TOP014")
        assert found.data.items() >= numbers.items()
        assert found.origin.path[:2] == ("cluster", *keys)

    def test_a_subnet_that_agrees_with_its_cluster_is_well(self) -> None:
        keys: dict[str, Any] = {
            "gpus_per_host": 8,
            "gpus": 64,
            "nics_per_host": 1,
            "bandwidth_per_gpu": "50G",
        }
        keys["nvlink"] = {"generation": 4, "domain": 8}
        assert drawn(of_subnet(keys), "TOP014") == []


class TestCarried:
    def test_the_published_design_has_eight_to_one_and_a_hundredth_of_what_its_gpus_expect(self) -> None:
        (fabric,) = load_fabrics([load(PUBLISHED)]).fabrics
        found = fabric_capacity(fabric)
        (tier,) = found.tiers
        assert (tier.down_bps / tier.up_bps, tier.down_bps, tier.up_bps) == (8, 12_800 * G, 1600 * G)
        assert tier.after.links.up_bps == tier.after.switches.up_bps == 800 * G
        assert found.bisection is not None
        assert found.per_gpu is not None
        assert found.bisection.one_way_bps == 1600 * G
        assert (found.per_gpu.gpus, found.per_gpu.host_bps, found.per_gpu.leaf_bps) == (
            256,
            100 * G,
            12.5 * G,
        )
        assert "1.6 Tb/s in one direction, 12.5 % of what the hosts of one half send" in capacity_text(found)

    def test_as_many_fail_as_the_intent_asks_about_and_else_one(self) -> None:
        asked = {"failures": {"links": 3}}
        (one,), (three,) = (fabric_capacity(intent_view(patch).fabric).tiers for patch in ({}, asked))
        assert (one.after.links.up_bps, three.after.links.up_bps) == (2400 * G, 800 * G)
        assert one.after.switches.up_bps == three.after.switches.up_bps == 1600 * G

    def test_beyond_its_leaf_a_gpu_has_its_share_of_what_its_own_leaf_has(self) -> None:
        """The slowest host is not below the leaf that is short: 200G whole at one, a third of 800G at the other."""
        wires = [
            *(
                {"a": "leaf1", "b": host, "links": "2 x 400G", "cable": "3m"}
                for host in ("host1", "host2", "host3")
            ),
            {"a": "leaf2", "b": "host4", "links": "1 x 200G", "cable": "3m"},
            *({"a": leaf, "b": "spine1", "links": "1 x 800G", "cable": "30m"} for leaf in ("leaf1", "leaf2")),
        ]
        names = {"leaf1": "leaf", "leaf2": "leaf", "spine1": "spine"} | {
            f"host{n}": "host" for n in range(1, 5)
        }
        devices = {name: {"role": role} for name, role in names.items()}
        patch = {
            "cluster": {"gpus_per_host": 1},
            "topology": {"leaf_spine": None, "devices": devices, "links": wires},
        }
        found = fabric_capacity(intent_view(patch).fabric).per_gpu
        assert found is not None
        assert (found.host_bps, found.leaf_bps) == (200 * G, 200 * G)

    def test_one_switch_is_told_nothing_of_tiers(self) -> None:
        devices = {"leaf1": {"role": "leaf"}} | {f"host{n}": {"role": "host"} for n in (1, 2)}
        wires = [{"a": "leaf1", "b": f"host{n}", "links": "1 x 400G", "cable": "3m"} for n in (1, 2)]
        view = intent_view({"topology": {"leaf_spine": None, "devices": devices, "links": wires}})
        assert capacity_text(fabric_capacity(view.fabric)) == ""

    def test_inside_a_domain_a_gpu_has_what_nvlink_gives_one_way(self) -> None:
        view = intent_view({"cluster": {"gpus_per_host": 4, "nvlink": {"generation": 5, "domain": 72}}})
        found = fabric_capacity(view.fabric).per_gpu
        assert found is not None
        assert (found.domain_gpus, found.inside_bps, found.host_bps) == (72, 7200 * G, 200 * G)

"""Packet trimming of SONiC: what is rendered for it, where it is refused, and that it reads back as it was declared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.api import lint_documents
from lossless.formats.device_files.switches import contents, system_notes
from lossless.formats.intent.document import RELEASES, WITH_TRIMMING
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.formats.intent.resolve.layout import MONITORED
from lossless.formats.sonic.capabilities.releases import releases
from lossless.formats.sonic.capabilities.updater_verdict import update
from lossless.formats.sonic.changes.json_patch import differences
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.formats.sonic.validate.conformity import validate
from lossless.ground.basics.errors import InputError, RenderError
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from lossless.model.hardware.load import switch_for_hwsku
from tests.switch_view import switch_view
from tools.example_base import base_of

EXAMPLE = (Path(__file__).parents[3] / "examples/ultra-ethernet-128/fabric.yaml").read_text()
SAID = "sonic: {release: 202511}"
HWSKU = "Arista-7060X6-64PE-B-O128"


def fabric(old: str = SAID, new: str = SAID) -> Fabric:
    assert old in EXAMPLE
    return resolve(load_intent(load_text(EXAMPLE.replace(old, new), "fabric.yaml")))


def complete(found: Fabric, number: int = 0, release: str | None = None) -> dict[str, Any]:
    """Return the whole configuration of a switch on a base, of a release if one is given."""
    switch = found.switches[number]
    data = base_of(found, switch)
    if release is not None:
        data["VERSIONS"] = {"DATABASE": {"VERSION": f"version_{release}_01"}}
    return contents(switch, load_text(json.dumps(data), "base.json"))[1]


class TestWhatIsRendered:
    @pytest.mark.parametrize("release", WITH_TRIMMING)
    def test_trimmed_packets_go_on_with_the_dscp_and_by_the_queue_of_their_class(self, release: str) -> None:
        found = fabric("202511", release)
        for number in (0, len(found.switches) - 1):
            tables = contents(found.switches[number], None)[1]
            assert tables["SWITCH_TRIMMING"] == {
                "GLOBAL": {"size": "206", "dscp_value": "10", "queue_index": "5"}
            }
            assert tables["DSCP_TO_TC_MAP"]["AZURE"]["10"] == tables["TC_TO_QUEUE_MAP"]["AZURE"]["5"] == "5"
            assert tables["SCHEDULER"]["scheduler.trimmed"] == {"type": "DWRR", "weight": "25"}

    @pytest.mark.parametrize("product", ["arista-7060x6-64pe-b", "nvidia-sn5600"])
    def test_a_profile_that_trims_is_that_of_the_trimmed_queues_and_of_nothing_else(
        self, product: str
    ) -> None:
        tables = contents(fabric("arista-7060x6-64pe-b", product).switches[0], None)[1]
        profiles = tables["BUFFER_PROFILE"]
        trims = {name for name, row in profiles.items() if row.get("packet_discard_action") == "trim"}
        (name,) = trims
        plain = next(key for key in profiles if f"{name.removesuffix('_trim')}_profile" == key)
        assert profiles[name] == {**profiles[plain], "packet_discard_action": "trim"}
        users = {
            key.rpartition("|")[2] for key, row in tables["BUFFER_QUEUE"].items() if row["profile"] == name
        }
        assert users == {"3"}
        assert trims.isdisjoint(row["profile"] for row in tables["BUFFER_PG"].values())
        lists = [tables.get(f"BUFFER_PORT_{side}_PROFILE_LIST", {}) for side in ("INGRESS", "EGRESS")]
        assert trims.isdisjoint(
            name for rows in lists for row in rows.values() for name in row["profile_list"].split(",")
        )

    def test_a_stated_threshold_goes_with_it(self) -> None:
        found = fabric("bandwidth: 60%,", "bandwidth: 60%, queue: {dynamic_th: -6},")
        profiles = contents(found.switches[0], None)[1]["BUFFER_PROFILE"]
        assert profiles["egress_lossy_dynamic_th_-6_trim"]["dynamic_th"] == "-6"

    def test_without_trimming_nothing_of_it_is_rendered(self) -> None:
        line = next(line for line in EXAMPLE.splitlines() if line.startswith("trimming:"))
        text = json.dumps(contents(fabric(line, "").switches[0], None)[1])
        assert "SWITCH_TRIMMING" not in text
        assert "packet_discard_action" not in text

    @pytest.mark.parametrize("release", [name for name in WITH_TRIMMING if name != "master"])
    def test_the_models_of_the_release_accept_it_and_the_rules_are_silent(self, release: str) -> None:
        found = fabric("202511", release)
        own = {number: complete(found, number) for number in (0, len(found.switches) - 1)}
        for data in own.values():
            assert validate(data).problems == ()
        files = [load_text(json.dumps(data), f"{n}/config_db.json") for n, data in own.items()]
        report = lint_documents(files)
        assert [(f.code, f.message) for f in report.findings] == []


class TestReleasesWithoutIt:
    def test_intents_and_the_table_of_releases_agree(self) -> None:
        (lack,) = (lack for lack in releases().lacks if lack.table == "SWITCH_TRIMMING")
        assert (*lack.releases, *WITH_TRIMMING) == RELEASES

    @pytest.mark.parametrize(
        ("stated", "where"),
        [
            ("sonic: {release: 202411}", "fabric.yaml:29:18: sonic.release: SONiC 202411"),
            ("sonic: {release: {leaf: 202405}}", "fabric.yaml:29:25: sonic.release.leaf: SONiC 202405"),
            ("sonic: {release: 202511, devices: {leaf2: 202311}}", "sonic.devices.leaf2: SONiC 202311"),
        ],
    )
    def test_one_that_is_stated_contradicts_trimming_where_it_is_stated(
        self, stated: str, where: str
    ) -> None:
        with pytest.raises(InputError) as caught:
            fabric(SAID, stated)
        assert where in str(caught.value)
        assert "has no packet trimming, which trimming asks for; 202505 is the first that has" in str(
            caught.value
        )
        assert len(caught.value.problems) == 1

    def test_without_a_release_nothing_is_rendered_that_may_be_skipped_in_silence(self) -> None:
        with pytest.raises(RenderError) as caught:
            contents(fabric(SAID, "").switches[0], None)
        assert str(caught.value) == (
            "leaf1: SONiC 202411, which counts where sonic.release and a base say none, has no model of "
            "SWITCH_TRIMMING, which trimming asks for (sonic-buildimage pull request 22248 (2025-05)); 202505 is the "
            "first that has one: state sonic.release"
        )

    def test_the_release_of_a_base_counts(self) -> None:
        found = fabric(SAID, "")
        assert "SWITCH_TRIMMING" in complete(found, release="202505")
        with pytest.raises(
            RenderError, match="SONiC 202411, which leaf1 runs, has no model of SWITCH_TRIMMING"
        ):
            complete(found, release="202411")


class TestThereAndBack:
    def test_what_is_rendered_reads_back_as_it_was_declared(self) -> None:
        found = fabric()
        for number, declared in enumerate(found.switches[:1]):
            (read,) = read_fabric([Tables("c.json", complete(found, number))], switch_for_hwsku).switches
            groups = frozenset(MONITORED)
            assert switch_view(read, groups) == switch_view(declared, groups)

    def test_words_in_the_place_of_numbers_are_kept(self) -> None:
        row = {"dscp_value": "FROM-TC", "tc_value": "5", "queue_index": "dynamic"}
        (read,) = read_fabric(
            [Tables("c.json", {"SWITCH_TRIMMING": {"GLOBAL": row}})], switch_for_hwsku
        ).switches
        assert read.qos.trimming is not None
        assert read.qos.trimming[:4] == (None, "from-tc", 5, "dynamic")

    def test_a_changed_size_is_one_difference(self) -> None:
        found = fabric()
        running = complete(found)
        running["SWITCH_TRIMMING"] = {"GLOBAL": {**running["SWITCH_TRIMMING"]["GLOBAL"], "size": "256"}}
        tables = Tables("leaf1.json", running)
        (read,) = read_fabric([tables], switch_for_hwsku).switches
        (row,) = differences(tables, contents(found.switches[0], None)[0], read)
        assert (row.table, row.key, row.kind) == ("SWITCH_TRIMMING", "GLOBAL", "changed")
        assert [tuple(field) for field in row.fields] == [("size", "256", "206")]


class TestTheUpdater:
    def test_a_size_may_change_and_nothing_is_taken_away(self) -> None:
        running = {"SWITCH_TRIMMING": {"GLOBAL": {"size": "206", "dscp_value": "10"}}, "PORT": {}}
        larger = {"SWITCH_TRIMMING": {"GLOBAL": {"size": "256", "dscp_value": "10"}}, "PORT": {}}
        assert update(running, larger, "202511", HWSKU).refusals == ()
        for target in ({"SWITCH_TRIMMING": {"GLOBAL": {"size": "206"}}}, {}):
            (refusal,) = update(running, target, "202511", HWSKU).refusals
            assert refusal.why == "orchagent does not take it away from a switch that runs"


class TestNotes:
    def said(self, old: str = SAID, new: str = SAID) -> str:
        return "\n".join(system_notes(fabric(old, new)))

    def test_a_chip_with_a_queue_of_its_own_is_named_with_what_to_set(self) -> None:
        assert (
            "Tomahawk 5 sends trimmed packets by queue 9, which no queue_index changes (sonic-mgmt tests/"
            "packet_trimming/packet_trimming_config.py @b4ba9de): set sai_pkt_trim_queue_index in config.bcm of "
            f"{HWSKU} to 5"
        ) in self.said()
        assert "trims packets to" not in self.said()
        assert "queue" not in self.said("arista-7060x6-64pe-b", "nvidia-sn5600")

    def test_a_chip_with_one_size_says_that_it_has_no_other(self) -> None:
        assert "Tomahawk 5 trims packets to 206 B and no other size" in self.said(
            "size: 206 B", "size: 256 B"
        )

    def test_a_release_on_which_upstream_skips_its_tests_is_named(self) -> None:
        assert "SONiC 202505 has the tables of trimming, and its own tests skip" in self.said(
            "202511", "202505"
        )
        assert "its own tests" not in self.said()

    def test_load_balancing_is_left_out_with_the_reason(self) -> None:
        assert "no file sets load balancing spray: SONiC has no table for spraying; configure" in self.said()
        adaptive = self.said("load_balancing: spray", "load_balancing: adaptive")
        assert "load balancing adaptive: no SONiC up to 202605 has adaptive routing (ARS)" in adaptive

"""What is known of releases, where it comes from, and what a switch's release refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.document import RELEASES
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.formats.sonic.capabilities.releases import release_of, releases
from lossless.formats.sonic.from_model import OWNED, SHARED
from lossless.formats.sonic.validate.schema import schema
from lossless.ground.basics.errors import RenderError
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from tests.formats.intent.intent_texts import SHAPE, said_of
from tools.example_base import base_of


def fabric(extra: str = "", text: str = SHAPE) -> Fabric:
    return resolve(load_intent(load_text(f"{text}{extra}\n", "fabric.yaml")))


def base(found: Fabric, version: str | None) -> dict[str, Any]:
    data = base_of(found, found.switches[0])
    data["VERSIONS"] = {"DATABASE": {"VERSION": version}} if version else {}
    return data


def render(found: Fabric, data: dict[str, Any]) -> None:
    switch_file(found.switches[0], load_text(json.dumps(data), "base/leaf1/config_db.json"))


class TestTheTable:
    def test_all_who_name_releases_name_the_same(self) -> None:
        assert releases().names == RELEASES == schema().releases
        assert releases().default in RELEASES

    def test_every_table_that_is_rendered_is_in_it(self) -> None:
        assert set(releases().tables) == {*OWNED, *SHARED}

    def test_every_entry_says_since_when_and_who_says_so(self) -> None:
        for name, known in releases().tables.items():
            assert known.fields, name
            assert re.fullmatch(r"20\d\d-\d\d", known.since), name
            assert re.search(r"pull request|@[0-9a-f]{7}", known.source), name
        assert all(re.search(r"pull request|issue", lack.source) for lack in releases().lacks)

    def test_what_is_younger_than_a_release_is_listed_as_lacking_there(self) -> None:
        lacking = {lack.table: lack.releases for lack in releases().lacks}
        oldest = f"{RELEASES[0][:4]}-{RELEASES[0][4:]}"
        younger = {name for name, known in releases().tables.items() if known.since > oldest}
        assert younger == set(lacking)
        for names in lacking.values():
            assert set(names) < set(RELEASES)


class TestTheReleaseOfASwitch:
    def test_an_intent_says_it_for_all_for_a_role_or_for_a_device(self) -> None:
        found = fabric("sonic: {release: {leaf: 202405}, devices: {leaf2: master}}")
        assert {switch.name: switch.release for switch in found.switches} == {
            "leaf1": "202405",
            "leaf2": "master",
            "spine1": None,
            "spine2": None,
        }
        assert {switch.release for switch in fabric("sonic: {release: 202311}").switches} == {"202311"}

    def test_what_an_intent_leaves_out_the_base_says(self) -> None:
        (leaf, *_) = fabric().switches
        assert release_of(leaf, {"VERSIONS": {"DATABASE": {"VERSION": "version_202305_01"}}}) == "202305"
        unknown: list[dict[str, object] | None] = [{}, {"VERSIONS": []}, None]
        for data in (*unknown, {"VERSIONS": {"DATABASE": {"VERSION": "version_4_0_3"}}}):
            assert release_of(leaf, data) == releases().default

    def test_a_base_of_another_release_is_refused(self) -> None:
        found = fabric("sonic: {release: 202311}")
        render(found, base(found, "version_202311_01"))
        render(found, base(found, None))
        with pytest.raises(RenderError) as caught:
            render(found, base(found, "version_202405_01"))
        assert str(caught.value) == (
            "base/leaf1/config_db.json: is of SONiC 202405 (VERSIONS|DATABASE); sonic.release makes leaf1 202311"
        )

    def test_a_device_that_does_not_exist_is_an_error(self) -> None:
        assert said_of(f"{SHAPE}sonic: {{devices: {{leef1: 202405}}}}\n") == [
            "23:19: sonic.devices: no switch is called leef1; did you mean leaf1? (others: leaf2, spine1, spine2)"
        ]


class TestWhatAReleaseLacks:
    TORS = SHAPE.replace("    host_links:", "    dual_tor: on\n    host_links:")

    def test_a_table_without_a_model_is_refused_with_the_key_that_asks_for_it(self) -> None:
        with pytest.raises(RenderError) as caught:
            switch_file(fabric("sonic: {release: 202311}", self.TORS).switches[0], None)
        assert str(caught.value).startswith(
            "leaf1: SONiC 202311, which leaf1 runs, has no model of TC_TO_DSCP_MAP, which dual_tor asks for (sonic-"
        )

    @pytest.mark.parametrize("release", ["202405", "202411", "master"])
    def test_releases_that_have_it_get_it(self, release: str) -> None:
        file = switch_file(fabric(f"sonic: {{release: {release}}}", self.TORS).switches[0], None)
        assert "TC_TO_DSCP_MAP" in json.loads(file.text)

    def test_the_release_of_a_base_counts_too(self) -> None:
        found = fabric("", self.TORS)
        with pytest.raises(RenderError, match="SONiC 202305, which leaf1 runs"):
            render(found, base(found, "version_202305_01"))

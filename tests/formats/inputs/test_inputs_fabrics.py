"""Documents of every kind to what they stand for: fabrics, subnets, devices and hosts, with what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lossless.formats.hosts.read.facts import read_facts
from lossless.formats.inputs.collect import Inputs, device_in, merged
from lossless.formats.inputs.devices import DeviceReader
from lossless.formats.inputs.fabrics import documents_at, fabrics_of, intent_at
from lossless.formats.inputs.intents import (
    declarations_of,
    declares_subnet,
    intent_of_switches,
    require_own_switches,
)
from lossless.formats.inputs.subnet_manager import lone_subnet, without_secrets
from lossless.formats.inputs.switches import hosts_of
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents import load_text
from tests.checks.rules.snippets import BASES
from tests.formats.sonic.shapes import dump
from tests.paths import ROOT

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

FACTS = "# lossless host facts 1\n# host host1\n==> ethtool eth0\ndriver: mlx5_core\n==> end\n"


def base(name: str, file: str | None = None) -> Document:
    """Return a sound file of the rules' tests."""
    return load_text((BASES / name).read_text(), file or name)


INTENT, LEAF, SUBNET = base("leaf-spine.yaml"), base("leaf.json"), base("infiniband.yaml")
CLOUD = load_text((ROOT / "examples" / "efa-train" / "fabric.yaml").read_text(), "cloud.yaml")


@pytest.fixture
def broken_profiles(tmp_path: Path) -> Path:
    """A folder of hardware profiles of which none can be read."""
    device: dict[str, Any] = LEAF.data["DEVICE_METADATA"]["localhost"]
    for kind in ("switches", "nics"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "mine.toml").write_text(f'"{device["hwsku"]}" is no TOML')
    return tmp_path


def test_intents_declare_fabrics_or_subnets_and_devices_declare_nothing() -> None:
    told: list[tuple[int, int]] = []
    broken = load_text("lossless: v1\ncolour: blue\n", "broken.yaml")
    documents = [INTENT, LEAF, SUBNET, broken, CLOUD]
    declared = declarations_of(documents, (), lambda done, of: told.append((done, of)))
    assert [fabric.sources[0] for fabric in declared.fabrics] == ["leaf-spine.yaml", "cloud.yaml"]
    assert [subnet.origin.file for subnet in declared.subnets] == ["infiniband.yaml"]
    assert {error.file for error in declared.errors} == {"broken.yaml"}
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert [declares_subnet(document) for document in documents] == [False, False, True, False, False]


def test_all_devices_are_one_fabric_beside_those_of_intents() -> None:
    spine = base("wired-spine.json")
    fabrics, errors = fabrics_of([base("wired-leaf.json"), INTENT, spine], rdma_dscps=(26,))
    assert errors == ()
    intent, deployed = fabrics
    assert (intent.declared, deployed.declared) == (True, False)
    assert deployed.sources == ("wired-leaf.json", "wired-spine.json")
    assert len(deployed.links) == 1
    assert {cls.dscps for switch in deployed.switches for cls in switch.classes.lossless} == {(26,)}


def test_a_subnet_is_no_fabric_and_a_cloud_runs_its_own_switches() -> None:
    fabrics, errors = fabrics_of([SUBNET])
    assert fabrics == ()
    assert [(error.file, error.line) for error in errors] == [("infiniband.yaml", 3)]
    with pytest.raises(InputError, match=r"cloud\.yaml: transport: efa: its switches are run by the cloud"):
        require_own_switches(fabrics_of([CLOUD, INTENT]).fabrics)
    require_own_switches(fabrics_of([INTENT]).fabrics)
    for document in (SUBNET, CLOUD):
        with pytest.raises(InputError, match="transport: "):
            intent_of_switches(document)
    assert intent_of_switches(INTENT).intent.fabric == fabrics_of([INTENT]).fabrics[0].name


def test_a_profile_that_cannot_be_read_is_an_error_of_the_file_that_needs_it(broken_profiles: Path) -> None:
    device = DeviceReader((broken_profiles,)).read(LEAF)
    assert device.fabric is None
    assert [problem.file for problem in device.problems] == ["leaf.json"]
    fabrics, errors = fabrics_of([LEAF], (broken_profiles,))
    assert (fabrics, errors) == ((), device.problems)
    hosts = hosts_of([read_facts(FACTS, "facts/host1.facts")], (broken_profiles,))
    assert [problem.file for problem in hosts.problems] == ["facts/host1.facts"]
    assert [host.host for host in hosts.hosts] == ["host1"]


def test_problems_of_facts_come_with_the_hosts() -> None:
    short = read_facts(FACTS.removesuffix("==> end\n"), "host1.facts")
    assert hosts_of([short], ()).problems == short.problems != ()


def test_a_repeated_key_and_a_table_that_is_none_are_kept_with_the_device() -> None:
    text = (BASES / "leaf.json").read_text().rstrip().removesuffix("}") + ', "PFC_WD": [], "PORT": {}}'
    device = DeviceReader(()).read(load_text(text, "leaf.json"))
    assert device.fabric is not None
    assert [key.origin.path for key in device.fabric.repeated_keys] == [("PFC_WD",), ("PORT",)]
    assert [problem.file for problem in device.problems] == ["leaf.json"]


def test_a_path_stands_for_one_intent(tmp_path: Path) -> None:
    (tmp_path / "leaf.json").write_text((BASES / "leaf.json").read_text())
    with pytest.raises(InputError, match="expected one intent, found 0"):
        intent_at(tmp_path)
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text((BASES / "leaf-spine.yaml").read_text())
    with pytest.raises(InputError, match="expected one intent, found 2"):
        intent_at(tmp_path)
    assert len(documents_at(tmp_path)[0]) == 3
    (tmp_path / "a.yaml").rename(tmp_path / "fabric.yaml")
    assert intent_at(tmp_path).file == str(tmp_path / "fabric.yaml")


def test_one_device_is_found_in_whatever_form() -> None:
    assert device_in(LEAF) is LEAF
    assert device_in(load_text(json.dumps(dump(LEAF.data)), "dump.json")).data == LEAF.data
    with pytest.raises(InputError, match="holds no configuration of a device"):
        device_in(load_text('{"a": 1}', "other.json"))
    both = json.dumps({"localhost": LEAF.data, "asic0": LEAF.data})
    with pytest.raises(InputError, match="holds the configurations of 2 devices or ASICs"):
        device_in(load_text(both, "both.json"))


def test_inputs_are_merged_in_their_order() -> None:
    problem = Problem("a", 1, 1, "wrong")
    facts = read_facts(FACTS, "host1.facts")
    parts = [Inputs((INTENT,), (problem,)), Inputs(), Inputs((LEAF,), (), (facts,))]
    assert merged(parts) == Inputs((INTENT, LEAF), (problem,), (facts,))


def test_an_opensm_conf_stands_for_its_subnet_and_its_keys_are_not_shown(tmp_path: Path) -> None:
    conf = tmp_path / "opensm.conf"
    conf.write_text("sm_priority 14\nm_key 0x00c0ffee00c0ffee\n")
    subnet, text = lone_subnet(str(conf))
    assert (subnet.files, text) == ((str(conf),), conf.read_text())
    assert without_secrets(str(conf), text) == "sm_priority 14\nm_key ****\n"
    assert without_secrets("fabric.yaml", text) == text
    conf.write_text("\ufeffsm_priority 14\n", encoding="utf-8")
    with pytest.raises(InputError, match="byte-order mark"):
        lone_subnet(str(conf))

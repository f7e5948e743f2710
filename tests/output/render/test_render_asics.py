"""A switch with several ASICs: each has cages, buffers and a configuration of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.api import Options, lint_documents, render
from lossless.formats.inputs.collect import devices_in
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.formats.intent.resolve.layout import MONITORED
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.errors import ProfileError, RenderError
from lossless.ground.basics.files import data_dir
from lossless.ground.documents import load, load_text
from lossless.model.fabric.model import Fabric, Switch
from lossless.model.hardware.load import load_switch, switch_for_hwsku
from tests.switch_view import switch_view
from tools.example_base import base_of

Data = dict[str, Any]
INTENT = """\
lossless: v1
fabric: f
transport: rocev2
preset: nvidia
hardware: {leaf: two-asics, spine: nvidia-sn5600, nic: connectx-7}
topology:
  leaf_spine:
    leaves: 2
    spines: 1
    hosts_per_leaf: 72
    host_links: 1 x 400G
    uplinks: 4 x 800G
    cables: {host: 3m, uplink: 30m}
    oversubscription: 9
    lag: on
"""


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a made product: the cages of an SN5600 shared out between two chips."""
    return written(tmp_path_factory.mktemp("profiles"), {"asic0": (1, 32), "asic1": (33, 65)})


def written(folder: Path, asics: dict[str, tuple[int, int]]) -> Path:
    text = (Path(data_dir("profiles")) / "switches" / "nvidia-sn5600.toml").read_text()
    for name, (first, last) in asics.items():
        text += f'\n[[asics]]\nname = "{name}"\nfirst_cage = {first}\nlast_cage = {last}\n'
    (folder / "switches").mkdir()
    (folder / "switches" / "two-asics.toml").write_text(text)
    return folder


def fabric(profiles: Path, text: str = INTENT) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")), [profiles])


def by_name(found: Fabric) -> dict[str, Switch]:
    return {switch.name: switch for switch in found.switches}


def index(switch: Switch) -> set[int]:
    return {port.spec.index for port in switch.ports if port.spec}


def test_each_asic_is_a_switch_with_its_own_ports(profiles: Path) -> None:
    found = by_name(fabric(profiles))
    assert [*found] == ["leaf1:asic0", "leaf1:asic1", "leaf2:asic0", "leaf2:asic1", "spine1"]
    first, second = found["leaf1:asic0"], found["leaf1:asic1"]
    assert index(first) <= set(range(1, 33))
    assert index(second) <= set(range(33, 66))
    assert (len(first.ports), len(second.ports)) == (64, 8 + 4)
    assert all(port.placed for switch in found.values() for port in switch.ports)


def test_buffers_are_those_of_one_chip_and_its_ports(profiles: Path) -> None:
    found = by_name(fabric(profiles))
    sizes = {
        name: next(
            pool.size_bytes or 0 for pool in found[name].qos.pools if pool.name == "ingress_lossless_pool"
        )
        for name in ("leaf1:asic0", "leaf1:asic1")
    }
    # The first chip keeps headroom for 64 ports, the second for 12.
    assert sizes["leaf1:asic0"] < sizes["leaf1:asic1"]


def test_links_end_at_the_asic_that_has_the_port(profiles: Path) -> None:
    found = fabric(profiles)
    ports = {name: {port.name for port in switch.ports} for name, switch in by_name(found).items()}
    for link in found.links:
        assert link.a_port in ports[link.a]
        assert link.to_host or link.b_port in ports[link.b]
    assert len(found.links) == 2 * (72 + 4)


def test_members_of_a_lag_are_at_one_asic(profiles: Path) -> None:
    small = INTENT.replace("hosts_per_leaf: 72", "hosts_per_leaf: 58")
    found = by_name(fabric(profiles, small))
    # Three ports of 800G are left on the first chip, and the LAG has four.
    members = [[port.placed for port in found[f"leaf1:asic{n}"].ports if port.lag] for n in (0, 1)]
    assert members == [[True, True, True, False], []]


def test_a_named_port_chooses_its_asic(profiles: Path) -> None:
    text = INTENT[: INTENT.index("  leaf_spine:")] + (
        "  devices: {l: {role: leaf}, s: {role: spine}, h: {role: host}}\n"
        "  links:\n"
        "    - {a: 'l:Ethernet504', b: h, links: 1 x 400G, cable: 3m}\n"
        "    - {a: l, b: s, links: 1 x 800G, cable: 30m}\n"
    )
    links = [(link.a, link.a_port) for link in fabric(profiles, text).links]
    assert links == [("l:asic1", "Ethernet504"), ("l:asic0", "Ethernet0")]


def bases(found: Fabric, folder: Path) -> Path:
    for switch in found.switches:
        own = folder / switch.device
        own.mkdir(parents=True, exist_ok=True)
        number = switch.asic.removeprefix("asic")
        (own / f"config_db{number}.json").write_text(json.dumps(base_of(found, switch)))
        if switch.asic:
            host = {"DEVICE_METADATA": {"localhost": {"hostname": switch.device}}}
            (own / "config_db.json").write_text(json.dumps(host))
    return folder


def test_each_asic_has_a_file_and_is_read_back_as_declared(profiles: Path, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(INTENT)
    found = fabric(profiles)
    folder = bases(found, tmp_path / "base")
    options = Options(profile_dirs=(str(profiles),))
    result = render(tmp_path / "fabric.yaml", tmp_path / "out", base_dir=folder, options=options)
    files = {file for file in result.files if file.startswith(("leaf", "spine"))}
    assert files == {
        "leaf1/config_db0.json",
        "leaf1/config_db1.json",
        "leaf2/config_db0.json",
        "leaf2/config_db1.json",
        "spine1/config_db.json",
    }
    (tmp_path / "out" / "leaf1" / "config_db.json").write_text("{}")
    for name in ("leaf1:asic0", "leaf1:asic1"):
        file = tmp_path / "out" / "leaf1" / f"config_db{name[-1]}.json"
        (device,) = devices_in(load(file)).documents
        (read,) = read_fabric([Tables.of(device)], switch_for_hwsku).switches
        declared, counters = by_name(found)[name], frozenset(MONITORED)
        assert switch_view(read, counters) == switch_view(declared, counters)


def test_a_file_of_another_asic_is_no_base(profiles: Path, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(INTENT)
    folder = bases(fabric(profiles), tmp_path / "base")
    (folder / "leaf1" / "config_db1.json").write_text((folder / "leaf1" / "config_db0.json").read_text())
    options = Options(profile_dirs=(str(profiles),))
    with pytest.raises(RenderError, match="is the file of asic0, not of asic1"):
        render(tmp_path / "fabric.yaml", tmp_path / "out", base_dir=folder, options=options)
    assert not list((tmp_path / "out").rglob("*.json"))


def test_without_a_base_each_asic_has_a_fragment_with_a_command_for_its_namespace(
    profiles: Path, tmp_path: Path
) -> None:
    (tmp_path / "fabric.yaml").write_text(INTENT)
    options = Options(profile_dirs=(str(profiles),))
    result = render(tmp_path / "fabric.yaml", tmp_path / "out", options=options)
    assert {"leaf1/qos0.json", "leaf1/qos1.json", "spine1/qos.json"} <= set(result.files)
    assert (
        "sonic-cfggen -n asic1 -j /etc/sonic/lossless-qos1.json"
        in (tmp_path / "out" / "manifest.json").read_text()
    )


def test_patches_are_refused_for_now(profiles: Path, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(INTENT)
    folder = bases(fabric(profiles), tmp_path / "base")
    options = Options(profile_dirs=(str(profiles),))
    with pytest.raises(RenderError, match="leaf1:asic0: patch are made for switches with one ASIC"):
        render(tmp_path / "fabric.yaml", tmp_path / "out", base_dir=folder, options=options, extras=["patch"])


def test_a_backplane_is_not_rendered_over(profiles: Path, tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(INTENT)
    folder = bases(fabric(profiles), tmp_path / "base")
    file = folder / "leaf1" / "config_db0.json"
    base = json.loads(file.read_text())
    base["PORT"]["Ethernet-BP0"] = {"role": "Int", "speed": "400000", "lanes": "900", "admin_status": "up"}
    file.write_text(json.dumps(base))
    options = Options(profile_dirs=(str(profiles),))
    with pytest.raises(RenderError, match="PORT has Ethernet-BP0: an intent has no backplane"):
        render(tmp_path / "fabric.yaml", tmp_path / "out", base_dir=folder, options=options)


def test_rules_check_such_a_fabric(profiles: Path) -> None:
    report = lint_documents([load_text(INTENT, "fabric.yaml")], Options(profile_dirs=(str(profiles),)))
    assert report.errors == ()
    assert {finding.severity for finding in report.findings} <= {"info", "warning"}


@pytest.mark.parametrize(
    ("asics", "said"),
    [
        (
            {"asic0": (1, 32), "asic1": (32, 65)},
            "asics: cage 32 is of asic0 and asic1; expected each cage to be of one",
        ),
        (
            {"asic0": (1, 32), "asic1": (33, 64)},
            "asics: cage 65 is of no ASIC; expected each cage to be of one",
        ),
        ({"asic0": (1, 32), "asic2": (33, 65)}, "asics.2.name: is 'asic2'; expected 'asic1'"),
    ],
)
def test_asics_that_do_not_share_out_the_cages_are_refused(
    tmp_path: Path, asics: dict[str, tuple[int, int]], said: str
) -> None:
    with pytest.raises(ProfileError) as caught:
        load_switch("two-asics", [written(tmp_path, asics)])
    assert str(caught.value).endswith(said)

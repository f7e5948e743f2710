"""Hosts beside their intent and their switches, through the command: right and right is silent, else it is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.hosts.read import printed
from tests.interfaces.cli.conftest import Cli, cli
from tests.interfaces.cli.inputs import BASES, INTENT

__all__ = ["cli"]
FILE = "hosts/host1/snapshot.facts"
WIRED = (BASES / "wired-leaf.json").read_text()
SERVER = printed.MLNX_QOS.replace("prio:3 dscp:31,30,29,28,27,26,25,24,", "prio:3 dscp:26,")
CHANGES = {
    "mtu": ("eth0/mtu = 9000", "eth0/mtu = 4000"),
    "speed": ("==> mlnx_qos", "==> files\n/sys/class/net/eth0/speed = 200000\n==> mlnx_qos"),
    "ToS byte": ("traffic_class = 106", "traffic_class = 40"),
    "DCBX": ("DCBX mode: OS controlled", "DCBX mode: Firmware controlled"),
    "trust": ("Priority trust state: dscp", "Priority trust state: pcp"),
    "map of RDMA": ("prio:3 dscp:26,", "prio:4 dscp:26,"),
    "map of CNPs": ("prio:6 dscp:48,", "prio:5 dscp:48,"),
    "PFC on another priority": ("enabled     0   0   0   1   0", "enabled     0   0   0   0   1"),
    "PFC on one more": ("enabled     0   0   0   1   0", "enabled     0   0   0   1   1"),
    "cable": ("Cable len: 3", "Cable len: 7"),
    "global pause": ("RX:\t\toff", "RX:\t\ton"),
    "stall prevention": ("pfc-prevention-tout: 100", "pfc-prevention-tout: 8000"),
    "reaction point": ("roce_rp/enable/3 = 1", "roce_rp/enable/3 = 0"),
    "notification point": ("roce_np/enable/3 = 1", "roce_np/enable/3 = 0"),
    "CNP DSCP": ("cnp_dscp = 48", "cnp_dscp = 26"),
    "CNP priority": ("cnp_802p_prio = 6", "cnp_802p_prio = 3"),
    "NCCL's ToS byte": ("NCCL_IB_TC=106", "NCCL_IB_TC=26"),
    "NCCL's timeout": ("NCCL_IB_TIMEOUT=20", "NCCL_IB_TIMEOUT=5"),
    "NCCL's retries": ("NCCL_IB_RETRY_CNT=7", "NCCL_IB_RETRY_CNT=0"),
}
PARAMETERS = (
    *("clamp_tgt_rate", "clamp_tgt_rate_after_time_inc", "dce_tcp_g", "dce_tcp_rtt", "initial_alpha_value"),
    *("min_time_between_cnps", "rate_reduce_monitor_period", "rate_to_set_on_first_cnp", "rpg_ai_rate"),
    *("rpg_byte_reset", "rpg_gd", "rpg_hai_rate", "rpg_max_rate", "rpg_min_dec_fac", "rpg_min_rate"),
    *("rpg_threshold", "rpg_time_reset"),
)


def linted(cli: Cli, *paths: str) -> dict[str, Any]:
    """Return what a run says of paths, all of the folder without any."""
    outcome = cli("lint", "--format", "json", *paths)
    said: dict[str, Any] = json.loads(outcome.out)
    return said


def put(path: str, text: str) -> None:
    """Write a file below the working folder."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def changed(text: str, old: str, new: str) -> str:
    """Return a text with something replaced that occurs there once."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def of_host(said: dict[str, Any]) -> list[tuple[str, str]]:
    """Return code and severity of the findings that point into the host's file."""
    return [(f["code"], f["severity"]) for f in said["findings"] if f["file"] == FILE]


def test_a_host_that_is_as_intended_is_silent(cli: Cli, sound_snapshot: str) -> None:
    put("fabric.yaml", INTENT)
    put(FILE, sound_snapshot)
    said = linted(cli)
    assert (said["findings"], said["errors"]) == ([], [])
    assert said["summary"]["files"] == 2


@pytest.mark.parametrize("what", CHANGES)
def test_a_setting_changed_on_the_host_alone_is_found_at_its_place(
    cli: Cli, sound_snapshot: str, what: str
) -> None:
    old, new = CHANGES[what]
    put("fabric.yaml", INTENT)
    text = changed(sound_snapshot, old, new)
    put(FILE, text)
    said = linted(cli)
    found = [f for f in said["findings"] if f["file"] == FILE]
    assert found, said
    assert said["errors"] == []
    line = text[: text.index(new)].count("\n") + 1
    assert any(abs(f["line"] - line) <= 4 for f in found), (line, [f["line"] for f in found])


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_parameter_of_dcqcn_changed_on_the_host_alone_is_found(
    cli: Cli, sound_snapshot: str, parameter: str
) -> None:
    put("fabric.yaml", INTENT)
    at = sound_snapshot.index(f"/{parameter} = ")
    end = sound_snapshot.index("\n", at)
    value = int(sound_snapshot[at:end].partition(" = ")[2])
    put(FILE, f"{sound_snapshot[:at]}/{parameter} = {value + 1}{sound_snapshot[end:]}")
    said = linted(cli)
    line = sound_snapshot[:at].count("\n") + 1
    assert [f["line"] for f in said["findings"] if f["file"] == FILE] == [line]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rdma: {dscp: 26, priority: 3", "rdma: {dscp: 26, priority: 4"),
        ("rdma: {dscp: 26, priority: 3", "rdma: {dscp: 24, priority: 3"),
        ("cnp: {dscp: 48, priority: 6", "cnp: {dscp: 46, priority: 6"),
        ("cnp: {dscp: 48, priority: 6", "cnp: {dscp: 48, priority: 5"),
        ("dcqcn: {cnp_interval: 4us}", "dcqcn: {cnp_interval: 50us}"),
        ("cables: {host: 3m", "cables: {host: 5m"),
        ("host_links: 2 x 400G", "host_links: 2 x 200G"),
        ("hardware:", "hosts: {mtu: 8000}\nhardware:"),
        ("hardware:", "hosts: {pfc_prevention: 200ms}\nhardware:"),
    ],
)
def test_a_fabric_changed_without_its_hosts_is_found_on_the_host(
    cli: Cli, sound_snapshot: str, old: str, new: str
) -> None:
    put("fabric.yaml", changed(INTENT, old, new))
    put(
        FILE,
        sound_snapshot.replace(
            "==> mlnx_qos", "==> files\n/sys/class/net/eth0/speed = 400000\n==> mlnx_qos", 1
        ),
    )
    assert of_host(linted(cli))


def test_a_host_that_no_intent_names_is_checked_by_the_classes_of_the_only_one(
    cli: Cli, sound_snapshot: str
) -> None:
    put("fabric.yaml", INTENT)
    put(FILE, sound_snapshot.replace("# host host1", "# host stranger").replace("tclass=106", "tclass=0"))
    put(FILE, changed(Path(FILE).read_text(), "traffic_class = 106", "traffic_class = 40"))
    assert ("HST009", "warning") not in of_host(linted(cli))
    assert of_host(linted(cli))


class TestBesideItsSwitch:
    """Host and switch without an intent, joined by the switch's DEVICE_NEIGHBOR: server1 is attached to Ethernet0."""

    def test_right_and_right_is_silent(self, cli: Cli) -> None:
        put("leaf1/config_db.json", WIRED)
        put("hosts/server1/mlnx_qos.eth2.txt", SERVER)
        said = linted(cli)
        assert (said["findings"], said["errors"]) == ([], [])

    @pytest.mark.parametrize(
        ("old", "new", "code"),
        [
            ("enabled     0   0   0   1   0", "enabled     0   0   0   0   0", "PFC003"),
            ("enabled     0   0   0   1   0", "enabled     0   0   0   1   1", "PFC003"),
        ],
    )
    def test_a_host_that_differs_from_its_switch(self, cli: Cli, old: str, new: str, code: str) -> None:
        put("leaf1/config_db.json", WIRED)
        put("hosts/server1/mlnx_qos.eth2.txt", changed(SERVER, old, new))
        said = linted(cli)
        assert code in [finding["code"] for finding in said["findings"]]
        (found,) = (finding for finding in said["findings"] if finding["code"] == code)
        assert found["elements"] == ["leaf1:Ethernet0 - server1:eth2"]

    def test_a_map_that_differs_from_its_switch(self, cli: Cli) -> None:
        put("leaf1/config_db.json", WIRED)
        both = SERVER.replace("enabled     0   0   0   1   0", "enabled     0   0   0   1   1")
        put("hosts/server1/mlnx_qos.eth2.txt", changed(both, "prio:3 dscp:26,", "prio:4 dscp:26,"))
        assert "PFC003" in [finding["code"] for finding in linted(cli)["findings"]]

    @pytest.mark.parametrize("mask", ["", "4", "3,4"])
    def test_a_switch_that_differs_from_its_host(self, cli: Cli, mask: str) -> None:
        data = json.loads(WIRED)
        for row in data["PORT_QOS_MAP"].values():
            if "pfc_enable" in row:
                row |= {"pfc_enable": mask, "pfcwd_sw_enable": mask}
        put("leaf1/config_db.json", json.dumps(data, indent=2))
        put("hosts/server1/mlnx_qos.eth2.txt", SERVER)
        assert "PFC003" in [finding["code"] for finding in linted(cli)["findings"]]

    def test_a_host_without_a_word_of_pfc_is_not_checked(self, cli: Cli) -> None:
        put("leaf1/config_db.json", WIRED)
        put("hosts/server1/pause.txt", printed.ETHTOOL_PAUSE.replace("\ton\n", "\toff\n"))
        said = linted(cli)
        assert said["findings"] == []
        assert "PFC003" in [gap["code"] for gap in said.get("not_checked", [{"code": "PFC003"}])]

    def test_lldp_of_the_host_joins_them_where_the_switch_says_nothing(self, cli: Cli) -> None:
        data = json.loads(WIRED)
        del data["DEVICE_NEIGHBOR"]["Ethernet0"]
        put("leaf1/config_db.json", json.dumps(data, indent=2))
        wrong = changed(SERVER, "enabled     0   0   0   1   0", "enabled     0   0   0   0   0")
        put("hosts/server1/mlnx_qos.eth2.txt", wrong)
        assert "PFC003" not in [finding["code"] for finding in linted(cli)["findings"]]
        put("hosts/server1/lldp.txt", printed.LLDP)
        assert "PFC003" in [finding["code"] for finding in linted(cli)["findings"]]


class TestFiles:
    def test_a_named_file_that_is_none_is_refused_and_one_that_is_met_is_skipped(self, cli: Cli) -> None:
        put("fabric.yaml", INTENT)
        put("notes.txt", "nothing of interest\n")
        assert cli("lint").code == 0
        outcome = cli("lint", "notes.txt")
        assert outcome.code == 2
        assert "notes.txt: unknown kind of file" in outcome.err
        assert "or facts of a host" in outcome.err

    def test_a_snapshot_that_was_cut_short_is_an_error_and_the_rest_is_checked(
        self, cli: Cli, sound_snapshot: str
    ) -> None:
        put("fabric.yaml", INTENT)
        cut = sound_snapshot.replace("mtu = 9000", "mtu = 4000").partition("==> ethtool -a")[0]
        put(FILE, cut)
        said = linted(cli)
        assert [error["message"] for error in said["errors"]] == [
            "the snapshot ends before its last line, '==> end': it was cut short"
        ]
        assert of_host(said)

    def test_what_was_rendered_is_not_taken_for_what_is(self, cli: Cli) -> None:
        put("fabric.yaml", INTENT)
        assert cli("render", "fabric.yaml", "-o", "out").code == 0
        assert linted(cli, "fabric.yaml", "out/host1")["summary"]["files"] == 1

    def test_many_switches_are_checked_in_processes_and_hosts_beside_them(self, cli: Cli) -> None:
        for number in range(33):
            data = json.loads(WIRED)
            data["DEVICE_METADATA"]["localhost"]["hostname"] = f"leaf{number}"
            data["DEVICE_NEIGHBOR"] = {"Ethernet0": {"name": f"server{number}", "port": "eth0"}}
            put(f"leaf{number}/config_db.json", json.dumps(data))
        wrong = changed(SERVER, "enabled     0   0   0   1   0", "enabled     0   0   0   0   0")
        put("hosts/server7/mlnx_qos.eth2.txt", wrong)
        put("hosts/server8/pfc.json", printed.DCB_PFC.replace("true", "false"))
        said = linted(cli)
        found = {element for f in said["findings"] if f["code"] == "PFC003" for element in f["elements"]}
        assert found == {"leaf7:Ethernet0 - server7:eth2"}
        assert said["summary"]["files"] == 35


def test_fixing_leaves_hosts_as_they_are_and_still_checks_them(cli: Cli, sound_snapshot: str) -> None:
    put("fabric.yaml", INTENT)
    wrong = changed(sound_snapshot, "Priority trust state: dscp", "Priority trust state: pcp")
    put(FILE, wrong)
    outcome = cli("lint", "--fix", "--unsafe-fixes")
    assert outcome.code == 1
    assert f"{FILE}:" in outcome.out
    assert Path(FILE).read_text() == wrong


@pytest.mark.parametrize("form", ["json", "sarif", "github", "gitlab", "junit"])
def test_every_form_of_report_places_a_finding_in_a_snapshot(
    cli: Cli, sound_snapshot: str, form: str
) -> None:
    put("fabric.yaml", INTENT)
    put(FILE, changed(sound_snapshot, "Priority trust state: dscp", "Priority trust state: pcp"))
    outcome = cli("lint", "--format", form)
    line = sound_snapshot[: sound_snapshot.index("Priority trust state")].count("\n") + 1
    assert FILE in outcome.out
    assert str(line) in outcome.out


def test_many_hosts_with_one_cause_are_one_finding(cli: Cli, sound_snapshot: str) -> None:
    put("fabric.yaml", INTENT)
    wrong = changed(sound_snapshot, "enabled     0   0   0   1   0", "enabled     0   0   0   0   0")
    for number in range(1, 9):
        put(f"hosts/host{number}/snapshot.facts", wrong.replace("# host host1", f"# host host{number}"))
    (found,) = linted(cli)["findings"]
    assert (found["code"], found["count"]) == ("PFC003", 8)


def _two_nics(snapshot: str, second: str) -> str:
    """Return a snapshot with another port beside eth0, whose PFC is off."""
    wiring = (
        "==> files\n/sys/class/net/eth9/device = 0000:99:00.0\n/sys/class/net/eth9/device/vendor = 0x15b3\n"
        f"/sys/class/net/eth9/device/device = {second}\n/sys/class/net/eth9/device/infiniband = mlx5_9\n"
    )
    off = printed.MLNX_QOS.replace("enabled     0   0   0   1   0", "enabled     0   0   0   0   0")
    return snapshot.replace("==> not read", f"{wiring}==> mlnx_qos -i eth9\n{off}==> not read")


class TestPortsThatAreNotOnTheFabric:
    def test_a_nic_of_another_kind_beside_the_intended_one_is_not_checked(
        self, cli: Cli, sound_snapshot: str
    ) -> None:
        put("fabric.yaml", INTENT)
        put(FILE, _two_nics(sound_snapshot, "0x101d"))
        said = linted(cli)
        assert (said["findings"], said["errors"]) == ([], [])

    def test_a_nic_of_the_same_kind_is(self, cli: Cli, sound_snapshot: str) -> None:
        put("fabric.yaml", INTENT)
        put(FILE, _two_nics(sound_snapshot, "0x1021"))
        found = linted(cli)["findings"]
        assert "PFC003" in [finding["code"] for finding in found]
        assert {element for finding in found for element in finding["elements"]} == {"host1:eth9"}

    def test_unless_it_hears_of_a_switch_of_another_fabric(self, cli: Cli, sound_snapshot: str) -> None:
        put("fabric.yaml", INTENT)
        heard = "==> lldpctl -f keyvalue\nlldp.{0}.chassis.name={1}\nlldp.{0}.port.ifname=Ethernet0\n"
        lldp = heard.format("eth0", "leaf1") + heard.format("eth9", "storage1")
        both = _two_nics(sound_snapshot, "0x1021").replace("==> not read", f"{lldp}==> not read")
        put(FILE, both)
        assert linted(cli)["findings"] == []

    def test_or_the_intent_names_its_interfaces(self, cli: Cli, sound_snapshot: str) -> None:
        put("fabric.yaml", INTENT.replace("hardware:", "hosts: {interfaces: [eth0]}\nhardware:"))
        put(FILE, _two_nics(sound_snapshot, "0x1021"))
        assert linted(cli)["findings"] == []

    def test_a_host_with_nothing_but_another_nic_is_checked_by_it(
        self, cli: Cli, sound_snapshot: str
    ) -> None:
        put("fabric.yaml", INTENT)
        other = sound_snapshot.replace("eth0/device/device = 0x1021", "eth0/device/device = 0x101d")
        put(FILE, other.replace("enabled     0   0   0   1   0", "enabled     0   0   0   0   0"))
        assert "PFC003" in [finding["code"] for finding in linted(cli)["findings"]]


def test_a_host_is_known_by_its_short_name_too(cli: Cli, sound_snapshot: str) -> None:
    put("fabric.yaml", INTENT)
    full = sound_snapshot.replace("# host host1", "# host host1.example.net")
    put(FILE, changed(full, "Cable len: 3", "Cable len: 7"))
    (found,) = linted(cli)["findings"]
    assert (found["code"], found["elements"]) == ("HST009", ["host1"])

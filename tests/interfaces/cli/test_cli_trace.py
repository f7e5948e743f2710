"""``lossless trace``: what a person sees, and exit codes that scripts can trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with, leaf_with

HOSTS = ("--from", "host1", "--to", "host5")
PORTS = ("--from", "Ethernet0", "--to", "Ethernet8")
OF_LEAF = ("--from", "leaf1:Ethernet0", "--to", "leaf1:Ethernet8")


def test_a_sound_intent_is_unbroken(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("trace", ".", *HOSTS, "--dscp", "26")
    assert outcome.out.startswith("DSCP 26 from host1:port1 to host5:port1: class rdma, lossless\n")
    assert outcome.out.splitlines()[1] == "unbroken: no error on this path concerns this DSCP"
    assert (outcome.code, outcome.err) == (0, "")


def test_headroom_that_a_switch_computes_is_known(cli: Cli) -> None:
    Path("fabric.yaml").write_text(f"{INTENT}buffers: {{model: dynamic}}\n")
    outcome = cli("trace", ".", *HOSTS, "--dscp", "26", "-v")
    assert "headroom  227,328 B, needed 227,328 B (mellanox formula)" in outcome.out
    assert outcome.out.splitlines()[1] == "unbroken: no error on this path concerns this DSCP"


def test_a_broken_switch_is_1_for_what_it_breaks_and_0_for_the_rest(cli: Cli) -> None:
    Path("config_db.json").write_text(leaf_with("PFC_WD", "Ethernet8", action=None))
    outcome = cli("trace", "config_db.json", *PORTS, "--dscp", "26")
    assert "\n    X WD001 watchdog-missing: " in outcome.out
    assert outcome.out.splitlines()[1] == "broken: leaf1 (WD001)"
    assert (outcome.code, outcome.err) == (1, "")
    assert cli("trace", "config_db.json", *OF_LEAF, "--dscp", "0").code == 0
    assert (
        cli("trace", "config_db.json", "--from", "Ethernet8", "--to", "Ethernet0", "--dscp", "26").code == 0
    )


def test_a_dscp_that_must_be_lossless_can_be_named(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    assert cli("trace", "config_db.json", *PORTS, "--dscp", "30").code == 0
    outcome = cli("trace", "config_db.json", *PORTS, "--dscp", "30", "--rdma-dscp", "30")
    assert "\n    X CLS001 rdma-dscp-not-lossless: " in outcome.out
    assert outcome.code == 1


def test_json_is_the_trace_as_plain_data(cli: Cli) -> None:
    Path("config_db.json").write_text(leaf_with("PFC_WD", "Ethernet8", action=None))
    outcome = cli("trace", "config_db.json", *PORTS, "--dscp", "26", "--format", "json")
    report = json.loads(outcome.out)
    assert report["version"] == 1
    assert report["summary"] == {"error": 1, "warning": 0, "info": 0, "elsewhere": 0}
    ((mark,),) = (hop["marks"] for hop in report["hops"])
    assert (mark["stage"], mark["finding"]["code"], mark["finding"]["file"]) == (
        "watchdog",
        "WD001",
        "config_db.json",
    )
    assert isinstance(mark["finding"]["line"], int)
    assert (outcome.code, outcome.err) == (1, "")


def test_a_rendered_fragment_is_traced_as_one_switch(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    assert cli("render", "fabric.yaml", "-o", "out").code == 0
    outcome = cli("trace", "out/leaf1/qos.json", *PORTS, "--dscp", "26")
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--from", "host9", "--to", "host5", "--dscp", "26"),
            "no host or switch 'host9'; did you mean host8?",
        ),
        (
            ("--from", "leaf1", "--to", "host5", "--dscp", "26"),
            "leaf1 is a switch; name one of its ports, like",
        ),
        (
            ("--from", "leaf1:Ethernet1", "--to", "host5", "--dscp", "26"),
            "leaf1 has no port 'Ethernet1'; did",
        ),
        ((*HOSTS, "--dscp", "64"), "64 is not a DSCP; expected a number from 0 to 63"),
        ((*HOSTS, "--dscp", "26", "--via", "spine7"), "no switch 'spine7'; did you mean spine2?"),
        (
            ("--from", "host1:port1", "--to", "host1:port1", "--dscp", "26"),
            "a packet needs two ends: both name",
        ),
    ],
)
def test_what_cannot_be_followed_is_said_in_one_line(
    arguments: tuple[str, ...], message: str, cli: Cli
) -> None:
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("trace", "fabric.yaml", *arguments)
    assert outcome.err.startswith(f"lossless: {message}")
    assert len(outcome.err.splitlines()) == 1
    assert (outcome.code, outcome.out) == (2, "")


def test_what_cannot_be_read_is_not_followed(cli: Cli) -> None:
    Path("empty").mkdir()
    assert cli("trace", "gone.json", *PORTS, "--dscp", "26") == (2, "", "gone.json: no such file\n")
    outcome = cli("trace", "empty", *PORTS, "--dscp", "26")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("empty: nothing here to trace")
    Path("fabric.yaml").write_text(intent_with("lossless: v1", "lossless: v1\nunknown: 1"))
    assert cli("trace", "fabric.yaml", *HOSTS, "--dscp", "26").code == 2


def test_a_packet_stays_in_one_fabric(cli: Cli) -> None:
    Path("all").mkdir()
    Path("all/fabric.one.yaml").write_text(INTENT)
    Path("all/fabric.two.yaml").write_text(INTENT)
    outcome = cli("trace", "all", *HOSTS, "--dscp", "26")
    assert outcome.err == (
        "all: 2 fabrics here: base (all/fabric.one.yaml), base (all/fabric.two.yaml); "
        "a packet stays in one: name its file or folder\n"
    )
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize("missing", ["--from", "--to", "--dscp"])
def test_both_ends_and_the_dscp_must_be_named(missing: str, cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    options = {"--from": "host1", "--to": "host5", "--dscp": "26"}
    del options[missing]
    outcome = cli("trace", "fabric.yaml", *(part for pair in options.items() for part in pair))
    assert f"Missing option '{missing}'" in outcome.err
    assert (outcome.code, outcome.out) == (2, "")


def test_an_intent_beside_configurations_is_followed_and_that_is_said(wide: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    assert wide("trace", ".", *HOSTS, "--dscp", "26").err == ""
    Path("configs").mkdir()
    Path("configs/leaf1.json").write_text(LEAF)
    assert wide("trace", ".", *HOSTS, "--dscp", "26").err == (
        "follows the intent fabric.yaml, not the deployed configurations beside it (./configs/leaf1.json); "
        "name their folder to follow them\n"
    )
    assert wide("trace", "fabric.yaml", *HOSTS, "--dscp", "26").err == ""
    assert wide("trace", "configs", *OF_LEAF, "--dscp", "26").err == ""


def test_a_hop_with_a_lossy_group_breaks_a_path_of_lossless_traffic(cli: Cli) -> None:
    """The lossless class of this switch has DSCP 26; the far switch does not map it."""
    Path("configs").mkdir()
    near, far = json.loads(LEAF), json.loads(LEAF)
    near["DEVICE_NEIGHBOR"] = {"Ethernet8": {"name": "leaf2", "port": "Ethernet8"}}
    far["DEVICE_METADATA"]["localhost"]["hostname"] = "leaf2"
    del far["DSCP_TO_TC_MAP"]["AZURE"]["26"]
    Path("configs/leaf1.json").write_text(json.dumps(near))
    Path("configs/leaf2.json").write_text(json.dumps(far))
    outcome = cli("trace", "configs", "--from", "leaf1:Ethernet0", "--to", "leaf2:Ethernet0", "--dscp", "26")
    assert (
        "  headroom  none: there is no lossless group" in outcome.out or "the group is lossy" in outcome.out
    )
    assert "\n    X PG 0 is lossy\n" in outcome.out
    assert "\nbroken: leaf2 (PFC004, PG 0 is lossy, " in outcome.out
    assert outcome.code == 1


class TestCaptures:
    """``--captures``: counters beside the configuration, and what is wrong with the captures themselves."""

    @pytest.fixture
    def stormed(self, cli: Cli) -> Path:  # noqa: ARG002
        """Return a capture of leaf1 whose egress queue is in a storm, beside its configuration."""
        Path("config_db.json").write_text(LEAF)
        file = Path("captures/leaf1/queues.json")
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"Ethernet8:3": {"PFC_WD_STATUS": "stormed"}}, indent=1))
        return file

    def test_findings_about_them_break_the_chain(self, cli: Cli, stormed: Path) -> None:
        outcome = cli("trace", "config_db.json", *PORTS, "--dscp", "26", "--captures", "captures")
        assert outcome.code == 1
        assert f"{stormed}:3:" in outcome.out
        assert "watchdog stormed" in outcome.out

    def test_no_captures_there_is_said_and_the_packet_is_followed(self, cli: Cli, stormed: Path) -> None:
        Path("empty").mkdir()
        outcome = cli("trace", "config_db.json", *PORTS, "--dscp", "26", "--captures", "empty")
        assert outcome.code == 2
        assert "empty: no capture of running state here, and so nothing to show" in outcome.err
        assert "no captures of leaf1" in outcome.out
        assert stormed.exists()

    @pytest.mark.parametrize("text", ["", "Dear Bob\n", "{", '{"COUNTERS": [[[', "\x00\x1b[31m\n", "[]"])
    def test_what_is_no_capture_is_refused_where_it_is_named(
        self, cli: Cli, stormed: Path, text: str
    ) -> None:
        Path("letter.txt").write_text(text)
        options = ("--captures", "letter.txt", "--captures", str(stormed))
        outcome = cli("trace", "config_db.json", *PORTS, "--dscp", "26", *options)
        assert outcome.code == 2
        assert "letter.txt" in outcome.err
        assert "STM001" in outcome.out

    def test_values_from_captures_move_no_cursor(self, cli: Cli, stormed: Path) -> None:
        stormed.write_text(json.dumps({"Ethernet8:3": {"PFC_WD_STATUS": "\x1b[2Jfine\n::error::x"}}))
        outcome = cli("trace", "config_db.json", *PORTS, "--dscp", "26", "--captures", "captures")
        assert "\x1b" not in outcome.out
        assert "\n::error" not in outcome.out

    def test_since_needs_captures_of_now(self, cli: Cli, stormed: Path) -> None:
        options = ("--dscp", "26", "--since", str(stormed))
        assert cli("trace", "config_db.json", *PORTS, *options).code == 2

"""InfiniBand on the command line: what applies to a subnet is done, what does not is said in a sentence."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from lossless.formats.inputs.intents import BY_MODEL
from lossless.formats.intent.load import TRANSPORTS
from tests.conftest import ROOT
from tests.formats.intent.intent_texts import spoilt
from tests.formats.intent.subnet_texts import TREE as PARSED
from tests.interfaces.cli.conftest import Cli

TREE = PARSED.replace("partition: storage, environment: {NCCL_IB_PKEY: 1}", "environment: {NCCL_IB_PKEY: 0}")
"""Jobs run in the default partition: not all hosts are members of the other."""

EXAMPLE = ROOT / "examples" / "infiniband-256-ndr"
NO_FABRIC = (
    "fabric.yaml:3:12: transport: infiniband: this is for fabrics with PFC; an InfiniBand subnet, which has credits "
    "instead, can be linted, rendered, planned, checked by opensm, and asked for its topology and for workloads\n"
)
GUIDS = "".join(
    f"{name} {0x0002C90300000100 + number:#018x}\n"
    for number, name in enumerate(
        (
            "spine2",
            *(
                f"{host}:mlx5_{rail}"
                for host in ("store1", *(f"host{n}" for n in range(1, 5)))
                for rail in (0, 1)
            ),
        )
    )
)


@pytest.fixture
def site(cli: Cli, tmp_path: Path) -> Cli:
    """Run in a folder with the intent of a fat tree and the GUIDs that its files need."""
    text = spoilt(TREE, ("guids: {", "guid_file: guids.txt\nguids: {"))
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "guids.txt").write_text(GUIDS, encoding="utf-8")
    return cli


def test_an_intent_may_give_a_guid_of_its_file_to_another_device(site: Cli, tmp_path: Path) -> None:
    """The file has the GUIDs of two HCAs the wrong way round."""
    (one, first), (other, second) = (line.split() for line in GUIDS.splitlines()[1:3])
    intent = tmp_path / "fabric.yaml"
    text = intent.read_text(encoding="utf-8")
    intent.write_text(
        text.replace("guids: {", f'guids: {{"{one}": {second}, "{other}": {first}, '), encoding="utf-8"
    )
    assert "is already the GUID" not in site("lint", "fabric.yaml").err
    intent.write_text(text.replace("guids: {", f'guids: {{"{one}": {second}, '), encoding="utf-8")
    assert f"is already the GUID of {other}" in site("lint", "fabric.yaml").err


def test_every_transport_has_a_model_and_a_way_to_resolve_it() -> None:
    assert {*TRANSPORTS.values()} == BY_MODEL.keys()


@pytest.mark.parametrize(
    "command",
    [
        ("headroom", "fabric.yaml"),
        ("trace", "fabric.yaml", "--from", "host1", "--to", "host2", "--dscp", "26"),
        ("sweep", "fabric.yaml", "--vary", "kmin=100KiB,200KiB"),
    ],
    ids=lambda command: command[0],
)
def test_what_asks_for_pauses_and_buffers_says_that_a_subnet_has_none(
    command: tuple[str, ...], site: Cli
) -> None:
    assert site(*command) == (2, "", NO_FABRIC)


def test_simulate_has_the_load_of_a_subnet_and_checks_nothing(cli: Cli) -> None:
    outcome = cli("simulate", str(EXAMPLE), "-q")
    assert outcome.code == 2
    assert outcome.out.startswith("verdict: not checked\nload: carried, by calculation\n")
    assert "packet-level model: not run\n  an InfiniBand subnet has credits" in outcome.out


def test_the_topology_of_a_subnet_is_counted_and_drawn(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("topology", str(EXAMPLE), "--svg", "subnet.svg", "--format", "json")
    data = json.loads(outcome.out)
    assert outcome.code == 0
    assert [(group["role"], group["switches"]) for group in data["switches"]] == [
        ("leaf", 2), ("leaf", 2), ("spine", 2),
    ]  # fmt: skip
    assert {(link["tier"], link["links"], link["speed_bps"], link["cable_m"]) for link in data["links"]} == {
        ("hosts", 70, 400 * 10**9, None),
        ("uplinks", 80, 400 * 10**9, None),
    }
    # 34 HCAs of jobs and storage below each leaf, 20 links above it.
    assert [(tier["down_bps"], tier["up_bps"]) for tier in data["capacity"]["tiers"]] == [
        (34 * 2 * 10**11, 20 * 4 * 10**11)
    ]
    text = (tmp_path / "subnet.svg").read_text(encoding="utf-8")
    assert "leaf1" in text
    assert " m</" not in text
    assert cli("topology", str(EXAMPLE)).out.count("not stated") == 2


def test_a_workload_on_a_subnet_takes_the_hosts_that_compute(cli: Cli) -> None:
    data = json.loads(cli("workload", str(EXAMPLE), "--format", "json").out)
    assert (data["gpus"], data["gpus_per_host"], data["limit"]) == (256, 8, "host links")
    # NVLink joins the 8 GPUs of a host: each sends 2 x 31/32 of an eighth of 1 GiB over 100 Gb/s.
    assert data["time_ns"] == pytest.approx(2 * 31 / 32 * 2**30 / 8 * 8 / 100, rel=1e-3)
    assert cli("workload", str(EXAMPLE), "--simulate").code == 2


@pytest.mark.parametrize(
    ("sharp", "lacking"),
    [("sharp: off", "sharp is off"), ("", "no aggregation manager"), ("sharp: {manager: sm1}", None)],
)
def test_an_estimate_with_sharp_says_where_the_subnet_has_none(
    cli: Cli, sharp: str, lacking: str | None
) -> None:
    text = (
        (EXAMPLE / "fabric.yaml").read_text(encoding="utf-8").replace("flavour: upstream", "flavour: nvidia")
    )
    Path("guids.txt").write_text((EXAMPLE / "guids.txt").read_text(encoding="utf-8"), encoding="utf-8")
    Path("fabric.yaml").write_text(f"{text}{sharp}\n", encoding="utf-8")
    assumed = json.loads(cli("workload", ".", "--algorithm", "sharp", "--format", "json").out)["assumed"]
    assert ("those of this fabric do not" in assumed[0]) is (lacking is not None)
    assert lacking is None or lacking in assumed[0]
    ring = json.loads(cli("workload", ".", "--algorithm", "ring", "--format", "json").out)["assumed"]
    assert "those of this fabric do not" not in ring[0]


def test_a_switch_of_sonic_is_not_compared_with_a_subnet(site: Cli, tmp_path: Path) -> None:
    (tmp_path / "config_db.json").write_text('{"PORT": {}}', encoding="utf-8")
    assert site("diff", "config_db.json", "fabric.yaml") == (2, "", NO_FABRIC)


def test_a_base_is_refused_in_a_sentence(site: Cli, tmp_path: Path) -> None:
    said = "lossless: a base is the file of a SONiC switch; an InfiniBand subnet has none\n"
    assert site("render", "fabric.yaml", "-o", "out", "--base", ".") == (2, "", said)
    assert not (tmp_path / "out").exists()


def test_a_key_that_the_environment_does_not_hold_is_said_where_it_is_named(
    site: Cli, tmp_path: Path
) -> None:
    outcome = site("render", "fabric.yaml", "-o", "out")
    said = "m_key is to be taken from the environment variable FABRIC_M_KEY, which is not set"
    assert (outcome.code, outcome.err) == (2, f"fabric.yaml:19:17: {said}\n")
    assert not (tmp_path / "out").exists()


def test_managers_and_hosts_get_their_files_and_keys_are_for_their_owner_alone(
    site: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRIC_M_KEY", "0x1122334455667788")
    outcome = site("render", "fabric.yaml", "-o", "out")
    assert outcome.code == 0
    assert "qos.json" not in outcome.err
    conf = tmp_path / "out" / "sm1" / "opensm.conf"
    assert stat.S_IMODE(conf.stat().st_mode) == 0o600
    assert "m_key 0x1122334455667788" in conf.read_text().splitlines()
    files = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]
    modes = {entry["path"]: entry["mode"] for entry in files}
    assert modes["sm1/opensm.conf"] == "0600"
    assert modes["sm1/partitions.conf"] == "0644"
    assert "1122334455667788" not in (tmp_path / "out" / "manifest.json").read_text()
    assert site("render", "fabric.yaml", "-o", "out", "--check").code == 0


def test_render_with_check_writes_nothing(site: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABRIC_M_KEY", "0x1122334455667788")
    outcome = site("render", "fabric.yaml", "-o", "out", "--check")
    assert outcome.code == 1
    assert "sm1/opensm.conf: missing" in outcome.out.splitlines()
    assert not (tmp_path / "out").exists()


def test_traffic_that_is_not_simulated_is_counted_as_not_checked(site: Cli) -> None:
    def not_checked(*options: str) -> int:
        counted: int = json.loads(site("lint", "fabric.yaml", "--format", "json", *options).out)["summary"][
            "not_checked"
        ]
        return counted

    assert not_checked("--simulate") == not_checked() + 1


def test_a_misspelt_transport_draws_the_nearest(cli: Cli, tmp_path: Path) -> None:
    text = spoilt(TREE, ("transport: infiniband", "transport: infinband"))
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    said = "transport: 'infinband' is not one of rocev2, uec, infiniband, efa, gcp or azure; did you mean infiniband?"
    outcome = cli("lint", "fabric.yaml")
    assert (outcome.code, outcome.err.splitlines()[0]) == (2, f"fabric.yaml:3:12: {said}")


def test_the_schema_tells_transports_apart(cli: Cli) -> None:
    from jsonschema import Draft7Validator

    from lossless.ground.documents import load, load_text

    schema = json.loads(cli("schema").out)
    validator = Draft7Validator(schema)
    assert validator.is_valid(load(EXAMPLE / "fabric.yaml").data)
    mixed = spoilt(TREE, ("transport: infiniband", "transport: rocev2"))
    assert not validator.is_valid(load_text(mixed, "fabric.yaml").data)

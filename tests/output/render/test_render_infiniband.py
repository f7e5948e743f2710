"""What an InfiniBand intent is rendered to: files whole, keys for their owners alone, nothing invented."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from lossless import api
from lossless.formats.device_files.infiniband import deployment_of
from lossless.ground.basics.errors import InputError
from tests.paths import EXAMPLES
from tests.subnets import fat_tree

if TYPE_CHECKING:
    from pathlib import Path

KEY = "0x00c0ffee00c0ffee"
INTENT = """\
lossless: v1
fabric: small
transport: infiniband
flavour: upstream
hardware: {leaf: nvidia-qm9790, spine: nvidia-qm9790, hca: connectx-7}
topology:
  fat_tree:
    leaves: 2
    spines: 1
    hosts_per_leaf: 1
    host_links: 1 x NDR
    uplinks: 2 x NDR
  hosts:
    sm1: {at: leaf1, links: 1 x NDR, role: management}
    sm2: {at: leaf2, links: 1 x NDR, role: management}
guids:
  leaf1: 0x10
  leaf2: 0x11
  spine1: 0x20
  host1:mlx5_0: 0x101
  host2:mlx5_0: 0x102
  sm1:mlx5_0: 0x201
  sm2:mlx5_0: 0x202
subnet_manager:
  manager: opensm
  hosts:
    - {on: sm1, priority: 14}
    - {on: sm2, priority: 13, standby: true}
  routing: {engine: ftree, fallback: off, roots: top, compute_nodes: true}
  options: {sweep_interval: 15}
  keys: {m_key: FABRIC_M_KEY}
qos:
  vls: 2
  levels:
    compute: {sl: 0, vl: 0, high: 192, low: 64}
    storage: {sl: 1, vl: 1, high: 64, low: 64}
partitions:
  Default: {pkey: 0x7fff, ipoib: true, rate: NDR, mtu: 4096, members: {full: "@management", limited: ALL}}
  jobs: {pkey: 0x8001, level: compute, members: {full: "@compute"}}
jobs:
  level: compute
  environment: {NCCL_IB_TIMEOUT: 22, SHARP_COLL_LOG_LEVEL: 3}
"""


@pytest.fixture
def intent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABRIC_M_KEY", KEY)
    (tmp_path / "fabric.yaml").write_text(INTENT, encoding="utf-8")
    return tmp_path / "fabric.yaml"


def rendered(intent: Path, *changes: tuple[str, str]) -> dict[str, str]:
    """Return the text of every file of an intent, some words of it replaced."""
    text = intent.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    intent.write_text(text, encoding="utf-8")
    out = intent.parent / "out"
    result = api.render(intent, out)
    assert [finding.message for finding in result.report.findings if finding.severity == "error"] == []
    return {name: (out / name).read_text(encoding="utf-8") for name in result.files}


def test_opensm_gets_what_is_stated_and_what_follows_from_it(intent: Path) -> None:
    files = rendered(intent)
    assert sorted(files) == snapshot(
        [
            "host1/job.env",
            "host1/nccl.conf",
            "host2/job.env",
            "host2/nccl.conf",
            "manifest.json",
            "sm1/cn_guid.conf",
            "sm1/opensm.conf",
            "sm1/partitions.conf",
            "sm1/qos-policy.conf",
            "sm1/root_guid.conf",
            "sm2/cn_guid.conf",
            "sm2/opensm.conf",
            "sm2/partitions.conf",
            "sm2/qos-policy.conf",
            "sm2/root_guid.conf",
        ]
    )
    assert files["sm1/opensm.conf"] == snapshot("""\
# opensm.conf of subnet small, rendered by lossless from its intent.
# Booleans are true only as the exact word TRUE; every key that is not here keeps opensm's own default.
routing_engine ftree,no_fallback
qos TRUE
max_op_vls 2
qos_max_vls 2
qos_vlarb_high 0:192,1:64
qos_vlarb_low 0:64,1:64
qos_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0
sweep_interval 15
sm_priority 14
guid 0x0000000000000201
partition_config_file /etc/opensm/partitions.conf
qos_policy_file /etc/opensm/qos-policy.conf
root_guid_file /etc/opensm/root_guid.conf
cn_guid_file /etc/opensm/cn_guid.conf
m_key 0x00c0ffee00c0ffee
""")
    assert files["sm1/partitions.conf"] == snapshot("""\
# partitions.conf of subnet small, rendered by lossless from its intent.
# One mistake here, and opensm makes every port a full member of the default partition.

Default=0x7fff, ipoib, rate=21, mtu=5 :
    ALL=limited,
    0x0000000000000201=full, # sm1:mlx5_0
    0x0000000000000202=full ; # sm2:mlx5_0

jobs=0x8001, sl=0 :
    0x0000000000000101=full, # host1:mlx5_0
    0x0000000000000102=full ; # host2:mlx5_0
""")
    assert files["sm1/qos-policy.conf"] == snapshot("""\
# qos-policy.conf of subnet small, rendered by lossless from its intent.
# Rules are tried in their order; whoever matches none gets the level DEFAULT.

qos-levels
    qos-level
        name: DEFAULT
        sl: 0
    end-qos-level
    qos-level
        name: compute
        sl: 0
    end-qos-level
    qos-level
        name: storage
        sl: 1
    end-qos-level
end-qos-levels

qos-match-rules
    qos-match-rule
        use: partition jobs
        pkey: 0x0001
        qos-level-name: compute
    end-qos-match-rule
end-qos-match-rules
""")
    assert files["sm1/root_guid.conf"] + files["sm1/cn_guid.conf"] == snapshot("""\
# GUIDs of the switches of the top tier of subnet small, rendered by lossless from its intent: one a line.
0x0000000000000020 # spine1
# GUIDs of the ports of compute nodes of subnet small, rendered by lossless from its intent: one a line.
0x0000000000000101 # host1:mlx5_0
0x0000000000000102 # host2:mlx5_0
""")


def test_two_managers_differ_in_their_priority_and_port_alone(intent: Path) -> None:
    files = rendered(intent)
    one, other = (set(files[f"{host}/opensm.conf"].splitlines()) for host in ("sm1", "sm2"))
    assert sorted(one - other) == ["guid 0x0000000000000201", "sm_priority 14"]
    assert sorted(other - one) == ["guid 0x0000000000000202", "sm_priority 13"]
    assert files["sm1/partitions.conf"] == files["sm2/partitions.conf"]


def test_what_nccl_reads_by_itself_stands_apart_from_what_a_job_is_given(intent: Path) -> None:
    files = rendered(intent)
    assert files["host1/nccl.conf"].splitlines()[1:] == ["NCCL_IB_SL=0", "NCCL_IB_TIMEOUT=22"]
    assert files["host1/job.env"].splitlines()[2:] == ["SHARP_COLL_LOG_LEVEL=3"]
    # NCCL takes whatever has an equals sign, comments included.
    assert all("=" not in line for line in files["host1/nccl.conf"].splitlines() if line.startswith("#"))


def test_a_file_with_keys_is_for_its_owner_alone_and_the_manifest_has_no_checksum_of_it(intent: Path) -> None:
    rendered(intent)
    out = intent.parent / "out"
    modes = {path.name: path.stat().st_mode & 0o777 for path in (out / "sm1").iterdir()}
    assert modes["opensm.conf"] == 0o600
    assert modes["partitions.conf"] & 0o077 != 0
    listed = {entry["path"]: entry for entry in json.loads((out / "manifest.json").read_text())["files"]}
    assert listed["sm1/opensm.conf"]["mode"] == "0600"
    assert listed["sm1/opensm.conf"]["sha256"] is None
    assert listed["sm1/partitions.conf"]["sha256"] is not None


def test_a_key_is_in_its_file_and_nowhere_else(intent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = rendered(intent)
    holding = [name for name, text in files.items() if "c0ffee" in text]
    assert holding == ["sm1/opensm.conf", "sm2/opensm.conf"]
    assert "c0ffee" not in "".join(capsys.readouterr())


def test_a_difference_shows_no_key_neither_the_old_nor_the_new(
    intent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered(intent)
    monkeypatch.setenv("FABRIC_M_KEY", "0xdeadbeef")
    keys = api.render(intent, intent.parent / "out", diff=True)
    assert keys.differences == (
        "# sm1/opensm.conf: its keys or its mode differ",
        "# sm2/opensm.conf: its keys or its mode differ",
    )
    intent.write_text(INTENT.replace("sweep_interval: 15", "sweep_interval: 20"), encoding="utf-8")
    shown = "\n".join(api.render(intent, intent.parent / "out", diff=True).differences)
    assert "+sweep_interval 20" in shown
    assert "c0ffee" not in shown
    assert "deadbeef" not in shown
    intent.write_text(INTENT.replace("    - {on: sm2, priority: 13, standby: true}\n", ""), encoding="utf-8")
    gone = "\n".join(api.render(intent, intent.parent / "out", diff=True).differences)
    assert "-m_key ****" in gone
    assert "c0ffee" not in gone


def test_a_file_that_others_may_read_is_not_as_it_should_be(intent: Path) -> None:
    rendered(intent)
    (intent.parent / "out/sm1/opensm.conf").chmod(0o644)
    assert api.render(intent, intent.parent / "out", check=True).changed == ("sm1/opensm.conf",)
    api.render(intent, intent.parent / "out")
    assert (intent.parent / "out/sm1/opensm.conf").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "m_key is to be taken from the environment variable FABRIC_M_KEY, which is not set"),
        ("c0ffee", "the environment variable FABRIC_M_KEY holds no m_key: expected 0x and up to 16 digits"),
        (
            "0x1" + "0" * 16,
            "the environment variable FABRIC_M_KEY holds no m_key: expected 0x and up to 16 digits",
        ),
        ("0", "the environment variable FABRIC_M_KEY holds no m_key: expected 0x and up to 16 digits"),
    ],
)
def test_a_key_that_is_missing_or_none_is_a_located_error_and_nothing_is_written(
    intent: Path, monkeypatch: pytest.MonkeyPatch, value: str, says: str
) -> None:
    monkeypatch.setenv("FABRIC_M_KEY", value)
    with pytest.raises(InputError) as caught:
        api.render(intent, intent.parent / "out")
    line = INTENT.splitlines().index("  keys: {m_key: FABRIC_M_KEY}") + 1
    assert [(one.line, one.column, one.message) for one in caught.value.problems] == [(line, 17, says)]
    assert not (intent.parent / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "place", "says"),
    [
        (
            "  sm2:mlx5_0: 0x202\n",
            "",
            "Default",
            "sm2:mlx5_0 is a member of partition Default and nobody states its GUID",
        ),
        ("  spine1: 0x20\n", "", "routing", "spine1 is a root and nobody states its GUID"),
        (
            "jobs:\n",
            "sharp: {manager: sm1, settings: {am_key: 0x1234}}\njobs:\n",
            "am_key",
            "am_key protects the subnet and is never stated in an intent",
        ),
        (
            "sweep_interval: 15",
            'log_prefix: "a # b"',
            "log_prefix",
            "log_prefix: a # ends the line for whoever reads",
        ),
        (
            "sweep_interval: 15",
            "log_prefix: '\"a\"'",
            "log_prefix",
            "log_prefix: quotes around a value are not read",
        ),
    ],
)
def test_what_cannot_be_written_as_it_is_meant_is_a_located_error(
    intent: Path, old: str, new: str, place: str, says: str
) -> None:
    assert old in INTENT
    text = INTENT.replace(old, new)
    intent.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        api.render(intent, intent.parent / "out")
    found = [one for one in caught.value.problems if one.message.startswith(says)]
    assert len(found) == 1
    assert place in text.splitlines()[(found[0].line or 0) - 1]


def test_a_fabric_that_nobody_has_racked_yet_is_told_once_what_to_add(intent: Path) -> None:
    text = INTENT[: INTENT.index("guids:")] + INTENT[INTENT.index("subnet_manager:") :]
    intent.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        api.render(intent, intent.parent / "out")
    assert [one.message for one in caught.value.problems] == snapshot(
        [
            "sm1:mlx5_0 is a member of partition Default and nobody states its GUID (nor those of 4 more that files "
            "need): files have nothing but GUIDs; put lines like 'sm1:mlx5_0 0x506b4b0300abcdef' into a file, and its "
            "name into the key guid_file"
        ]
    )
    assert not (intent.parent / "out").exists()


def test_a_key_of_nvidias_opensm_is_refused_for_that_of_distributions(intent: Path) -> None:
    intent.write_text(INTENT.replace("sweep_interval: 15", "ar_sl_mask: 0xffff"), encoding="utf-8")
    result = api.render(intent, intent.parent / "out")
    assert [one.code for one in result.report.findings if one.severity == "error"] == ["IB019"]
    assert result.files == ()
    assert not (intent.parent / "out").exists()


def test_ufm_gets_its_own_folders_and_the_part_of_its_file_that_is_stated(intent: Path) -> None:
    sharp = "sharp: {manager: sm1, trees: 2, jobs: 1, settings: {max_trees: 2}}\njobs:\n"
    files = rendered(
        intent,
        ("flavour: upstream", "flavour: nvidia"),
        ("manager: opensm", "manager: ufm\n  ufm: {Server: {report_events: security}}"),
        ("engine: ftree", "engine: ar_updn"),
        ("sweep_interval: 15", "ar_sl_mask: 0xffff"),
        ("jobs:\n", sharp),
    )
    assert files["sm1/gv.cfg"] == snapshot("""\
# The part of UFM's gv.cfg that the intent of subnet small speaks of: set these keys in the file that UFM has.

[Sharp]
sharp_enabled = true

[Server]
report_events = security
""")
    assert files["sm1/sharp_am.cfg"] == snapshot("""\
# sharp_am.cfg of subnet small, rendered by lossless: the keys that its intent states, and no other.
max_trees 2
""")
    assert "NCCL_COLLNET_ENABLE=1" in files["host1/nccl.conf"].splitlines()
    conf = files["sm1/opensm.conf"].splitlines()
    assert "partition_config_file /opt/ufm/files/conf/opensm/partitions.conf" in conf
    assert conf[conf.index("# Keys of NVIDIA's OpenSM alone.") :] == snapshot(
        ["# Keys of NVIDIA's OpenSM alone.", "sharp_enabled 2", "ar_sl_mask 65535"]
    )


def test_ufm_is_given_partitions_to_merge_and_is_restarted_by_its_own_unit() -> None:
    subnet = fat_tree(2, 2, 2, "ftree", 1)
    ufm = subnet._replace(manager="ufm", flavour="nvidia")
    merged, plain = deployment_of(ufm, "partitions.conf"), deployment_of(subnet, "partitions.conf")
    assert merged is not None
    assert plain is not None
    assert (merged.target, merged.apply) == (
        "/opt/ufm/files/conf/partitions.conf.user_ext",
        ("/opt/ufm/scripts/sync_partitions_conf.sh",),
    )
    assert (plain.target, plain.apply) == ("/etc/opensm/partitions.conf", ("pkill -HUP -x opensm",))
    for name in ("opensm.conf", "root_guid.conf"):
        for manager, unit in ((ufm, "ufm-enterprise"), (subnet, "opensm")):
            deployment = deployment_of(manager, name)
            assert deployment is not None
            assert {command.split()[-1] for command in deployment.apply} == {unit}


def test_what_is_rendered_for_the_example_is_clean_as_deployed_files_too(tmp_path: Path) -> None:
    example = EXAMPLES / "infiniband-256-ndr"
    result = api.render(example, tmp_path)
    assert result.files
    report = api.lint([tmp_path])
    assert (report.findings, report.errors) == ((), ())
    assert report.files == 8


def test_a_manager_on_a_switch_gets_no_files_and_that_is_said(intent: Path) -> None:
    text = INTENT.replace("leaf: nvidia-qm9790", "leaf: nvidia-qm9700").replace("on: sm1,", "on: leaf1,")
    text = text.replace('full: "@management"', 'full: ["@management", SELF]')
    intent.write_text(text, encoding="utf-8")
    result = api.render(intent, intent.parent / "out")
    assert not [one for one in result.report.findings if one.severity == "error"]
    assert {name.partition("/")[0] for name in result.files} == {"host1", "host2", "sm2", "manifest.json"}
    assert result.notes == ("no files for the subnet manager on leaf1: a switch has it in its own CLI",)


def test_the_manifest_says_which_keys_only_a_restart_takes_in(intent: Path) -> None:
    rendered(intent)
    listed = json.loads((intent.parent / "out/manifest.json").read_text(encoding="utf-8"))["files"]
    found = {entry["path"]: entry for entry in listed}
    assert found["sm1/opensm.conf"]["apply"] == ["systemctl restart opensm"]
    assert found["sm1/opensm.conf"]["why"].startswith("read at the start alone: routing_engine; ")
    assert found["sm1/partitions.conf"]["apply"] == ["pkill -HUP -x opensm"]
    assert found["sm1/partitions.conf"]["target"] == "/etc/opensm/partitions.conf"
    assert [entry["path"] for entry in listed if "target" not in entry] == []

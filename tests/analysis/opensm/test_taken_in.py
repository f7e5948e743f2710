"""What a real opensm takes in on SIGHUP, and what it leaves: the ground that plans of a subnet stand on."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import AbstractContextManager
from pathlib import Path

from lossless.analysis.opensm.run import LiveSubnet, Tools, ibsim_fabric, live
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from tests.subnets import fat_tree, torus

SUBNET = with_derived_guids(fat_tree(leaves=2, spines=2, hosts=2, engine="minhop"))
assert isinstance(SUBNET.hcas, tuple)
HCAS = SUBNET.hcas
MANAGER, OTHER = HCAS[0], HCAS[1]
LANES = "qos TRUE\nmax_op_vls 3\nqos_sl2vl 0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0\n"
DEFAULT = "Default=0x7fff : ALL=limited, SELF=full ;\n"
SWEPT_S = 600.0


def own_process(folder: Path) -> int:
    """Return the process of the opensm that this test has started: its log lies in the test's folder."""
    told = f"{folder}/live.conf".encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if told in words and words[0].endswith(b"opensm"):
            return int(path.parent.name)
    raise AssertionError("opensm does not run")


def swept_again(up: LiveSubnet, conf: str) -> None:
    """Give opensm another file, and wait until it has said that it has swept the subnet."""
    before = up.text("opensm.log").count("SUBNET UP")
    (up.folder / "live.conf").write_text(conf + "log_flags 0x07\nforce_log_flush TRUE\n")
    os.kill(own_process(up.folder), signal.SIGHUP)
    until = time.monotonic() + SWEPT_S
    while up.text("opensm.log").count("SUBNET UP") == before:
        assert time.monotonic() < until, up.text("opensm.log")[-500:]
        time.sleep(0.05)


def started(
    tools: Tools, folder: Path, conf: str, partitions: str = DEFAULT
) -> tuple[str, AbstractContextManager[LiveSubnet]]:
    """Write the files, and return opensm.conf without its log, and the subnet to hold up."""
    (folder / "partitions.conf").write_text(partitions)
    whole = f"partition_config_file {folder / 'partitions.conf'}\n{conf}"
    (folder / "sm.conf").write_text(whole + "log_flags 0x07\nforce_log_flush TRUE\n")
    return whole, live(tools, ibsim_fabric(SUBNET), folder / "sm.conf", folder, MANAGER.name)


def lanes(up: LiveSubnet) -> str:
    """Return the SL2VL table of a host: ``|0|1|2|``."""
    said = re.sub(r"\s+", "", up.ask("smpquery", "-G", "sl2vl", f"{OTHER.guid:#x}", "1"))
    return said.rpartition(":")[2]


def keys(up: LiveSubnet) -> list[str]:
    """Return the P_Keys of a host in their places."""
    return re.findall(r"0x[0-9a-f]{4}\b", up.ask("smpquery", "-G", "pkeys", f"{OTHER.guid:#x}", "1"))[:4]


def routes(up: LiveSubnet, guid: int | None) -> list[str]:
    """Return where a switch sends each LID."""
    said = up.ask("ibroute", "-G", f"{guid:#x}")
    assert "valid lids dumped" in said, said
    return re.findall(r"^0x[0-9a-f]{4} \d+", said, re.MULTILINE)


def test_sighup_takes_lanes_in_and_sets_those_that_go_back_and_other_keys_that_go_stay(
    tools: Tools, tmp_path: Path
) -> None:
    conf, subnet = started(tools, tmp_path, LANES + "sm_priority 7\n")
    with subnet as up:
        assert "SMINFO_MASTER" in up.ask("sminfo", "-D", "0")
        assert lanes(up).startswith("|0|1|2|3|0|0|")
        swept_again(up, conf.replace("qos_sl2vl 0,1,2,3", "qos_sl2vl 3,2,1,0"))
        assert lanes(up).startswith("|3|2|1|0|0|0|")
        swept_again(
            up, conf.replace("qos_sl2vl 0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0\n", "").replace("sm_priority 7\n", "")
        )
        # opensm's own table, on four lanes.
        assert lanes(up).startswith("|0|1|2|3|0|1|")
        assert "priority 7" in up.ask("sminfo", "-D", "0")
        swept_again(
            up, conf.replace("qos TRUE", "qos FALSE").replace("qos_sl2vl 0,1,2,3", "qos_sl2vl 3,2,1,0")
        )
        assert lanes(up).startswith("|0|1|2|3|0|1|")


def test_p_keys_keep_their_places_and_a_new_one_comes_behind(tools: Tools, tmp_path: Path) -> None:
    members = ", ".join(f"{hca.guid:#x}=full" for hca in HCAS)
    two = f"A=0x0001 : {members} ;\nB=0x0002 : {members} ;\n"
    conf, subnet = started(tools, tmp_path, "", DEFAULT + two)
    with subnet as up:
        assert keys(up) == ["0x7fff", "0x8001", "0x8002", "0x0000"]
        (tmp_path / "partitions.conf").write_text(DEFAULT + two.replace("A=0x0001", "A=0x0003"))
        swept_again(up, conf)
        assert keys(up) == ["0x7fff", "0x0000", "0x8002", "0x8003"]


def test_a_limited_member_becomes_a_full_one_in_its_place(tools: Tools, tmp_path: Path) -> None:
    limited = f"A=0x0001 : {OTHER.guid:#x}=limited ;\nB=0x0002 : {OTHER.guid:#x}=full ;\n"
    conf, subnet = started(tools, tmp_path, "", DEFAULT + limited)
    with subnet as up:
        assert keys(up)[:3] == ["0x7fff", "0x0001", "0x8002"]
        (tmp_path / "partitions.conf").write_text(DEFAULT + limited.replace("limited ;\nB", "full ;\nB"))
        swept_again(up, conf)
        assert keys(up)[:3] == ["0x7fff", "0x8001", "0x8002"]


def test_roots_are_read_again_at_a_sweep(tools: Tools, tmp_path: Path) -> None:
    ring = with_derived_guids(torus((5,), 1, "updn"))
    assert isinstance(ring.switches, tuple)
    roots = tmp_path / "roots"
    roots.write_text(f"{ring.switches[0].guid:#x}\n")
    conf = f"routing_engine updn\nroot_guid_file {roots}\n"
    (tmp_path / "sm.conf").write_text(conf + "log_flags 0x07\nforce_log_flush TRUE\n")
    with live(tools, ibsim_fabric(ring), tmp_path / "sm.conf", tmp_path, "t0h0:mlx5_0") as up:
        tables = [routes(up, switch.guid) for switch in ring.switches]
        swept_again(up, conf)
        assert [routes(up, switch.guid) for switch in ring.switches] == tables
        roots.write_text(f"{ring.switches[2].guid:#x}\n")
        swept_again(up, conf)
        assert [routes(up, switch.guid) for switch in ring.switches] != tables

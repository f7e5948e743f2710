"""Failures in logs of jobs are reported with the cause that captures or the intent show, and nothing that is normal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lossless.api import Options, verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import Report
    from lossless.ground.basics.findings import Finding

INTENT = Path(__file__).parents[3] / "examples" / "roce-256" / "fabric.yaml"
USING = "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.9.0.1<0>"
TIMED_OUT = (
    "NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT,"
    " next state RTR, local GID index 3, local GID ::ffff:10.1.0.1, remote GID ::ffff:10.1.0.2"
)
RETRIES = (
    "NCCL WARN NET/IB : Got completion from peer 10.9.0.2<330> with status=12 opcode=0 len=0 vendor err 129"
)
SOCKETS = ("NCCL INFO NET/IB : No device found.", "NCCL INFO Using network Socket")


def log(*lines: str, host: str = "host1") -> str:
    """Return lines as NCCL prints them on a host."""
    return "".join(f"{host}:57:58 [0] {line}\n" for line in lines)


def ibstat(state: str, device: str = "mlx5_0") -> str:
    return (
        f"CA '{device}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: {state}\n"
        "\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: Ethernet\n"
    )


def show_gids(*rows: tuple[int, str, str], device: str = "mlx5_0") -> str:
    """Return a table of GIDs by their index, address and version."""
    heading = "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n"
    return heading + "".join(
        f"{device}\t1\t{index}\t0000:0000:0000:0000:0000:ffff:0a01:0001\t{address}\t{version}\teth0\n"
        for index, address, version in rows
    )


def of(folder: Path, *, intent: bool = False, **texts: Sequence[str]) -> Report:
    """Return the report on texts of hosts, each in a file of its own, beside an intent."""
    for host, own in texts.items():
        (folder / host).mkdir(exist_ok=True)
        for number, text in enumerate(own):
            (folder / host / f"capture{number}.txt").write_text(text)
    report = verify([folder, *([INTENT] if intent else [])], options=Options())
    assert report.errors == ()
    return report


def one(report: Report, code: str) -> Finding:
    [finding] = [finding for finding in report.findings if finding.code == code]
    return finding


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


def reasons(report: Report) -> str:
    return " / ".join(unchecked.reason for unchecked in report.not_checked)


def test_a_connection_that_timed_out_over_a_port_that_is_down_names_the_port(tmp_path: Path) -> None:
    finding = one(of(tmp_path, host1=[log(USING, TIMED_OUT), ibstat("Down")]), "HCT016")
    assert finding.data["errno"] == 110
    assert finding.data["causes"] == ["mlx5_0 port 1 of host1 is Down"]
    assert "bring mlx5_0 port 1 of host1 up" in finding.help


def test_a_connection_over_ports_that_are_active_has_no_such_cause(tmp_path: Path) -> None:
    assert one(of(tmp_path, host1=[log(USING, TIMED_OUT), ibstat("Active")]), "HCT016").data["causes"] == []


def test_the_peers_port_is_found_by_its_gid(tmp_path: Path) -> None:
    peer = [show_gids((3, "10.1.0.2", "v2")), ibstat("Down")]
    finding = one(of(tmp_path, host1=[log(USING, TIMED_OUT)], host2=peer), "HCT016")
    assert finding.data["causes"] == ["mlx5_0 port 1 of host2 is Down"]


def test_gids_of_two_address_families_cannot_connect(tmp_path: Path) -> None:
    line = TIMED_OUT.replace("110 Connection timed out", "22 Invalid argument").replace(
        "::ffff:10.1.0.1", "fd00::1"
    )
    finding = one(of(tmp_path, host1=[log(USING, line)]), "HCT016")
    assert finding.data["causes"] == ["the GIDs fd00::1 and ::ffff:10.1.0.2 have different address families"]


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        ([(3, "10.1.0.1", "v1")], "GID 3 of mlx5_0 of host1 is of RoCE v1"),
        ([(1, "10.1.0.1", "v2")], "mlx5_0 of host1 has no GID at index 3"),
        ([(3, "10.1.0.1", "v2")], ""),
    ],
)
def test_the_gid_in_use_must_be_of_roce_v2(
    tmp_path: Path, rows: list[tuple[int, str, str]], cause: str
) -> None:
    report = of(tmp_path, host1=[log(USING, TIMED_OUT), show_gids(*rows)])
    assert one(report, "HCT016").data["causes"] == ([cause] if cause else [])
    assert ("HCT019" in codes(report)) == bool(cause)


def test_a_job_on_a_dscp_that_is_not_lossless_by_the_intent_is_found(tmp_path: Path) -> None:
    set_to = "NCCL INFO NCCL_IB_TC set by environment to {}."
    finding = one(of(tmp_path, intent=True, host1=[log(USING, set_to.format(160))]), "HCT019")
    assert (finding.data["dscp"], finding.data["lossless"]) == (40, [26])
    assert "to 106" in finding.help
    assert "HCT019" not in codes(of(tmp_path, intent=True, host1=[log(USING, set_to.format(106))]))
    on_infiniband = log(USING.replace("RoCE", "IB"), set_to.format(160))
    assert "HCT019" not in codes(of(tmp_path, intent=True, host1=[on_infiniband]))


def test_retries_that_ran_out_on_a_lossy_dscp_have_it_as_their_cause(tmp_path: Path) -> None:
    text = log(USING, "NCCL INFO NCCL_IB_TC set by environment to 160.", RETRIES)
    finding = one(of(tmp_path, intent=True, host1=[text]), "HCT008")
    assert finding.data["causes"] == ["it sends DSCP 40, which is not lossless; the intent has 26"]


STORM = """==> ethtool -S eth0
NIC statistics:
     rx_packets: 812345678
     rx_discards_phy: 0
     rx_prio3_pause: 100
     tx_prio3_pause: 48213130
     tx_prio3_pause_duration: 1200000300
     tx_pause_storm_error_events: 14
     tx_pause_storm_warning_events: 14
"""


def test_retries_that_ran_out_name_the_peer_that_is_the_culprit(tmp_path: Path) -> None:
    text = log(USING, RETRIES) + log("NCCL INFO Bootstrap : Using eth0:10.9.0.2<0>", host="host2")
    report = of(tmp_path, host1=[text], host2=[STORM])
    [culprit] = report.culprits or ()
    assert culprit.device == "host2"
    assert "a job on host1 got error 12 from host2" in [fact.text for fact in culprit.evidence]
    shown = "host2 eth0, a receiver that does not drain: it pauses its switch"
    assert one(report, "HCT008").data["causes"] == [shown]


def test_sockets_are_no_finding_where_nothing_says_that_there_is_rdma(tmp_path: Path) -> None:
    report = of(tmp_path, host1=[log(*SOCKETS)])
    assert codes(report) == []
    assert "a job uses sockets" in reasons(report)


def test_sockets_of_a_host_with_rdma_are_found(tmp_path: Path) -> None:
    by_intent = one(of(tmp_path, intent=True, host1=[log(*SOCKETS)]), "HCT018")
    assert by_intent.data["expected"] == "the intent has RDMA on this host"
    down = one(of(tmp_path, host1=[log(*SOCKETS), ibstat("Down")]), "HCT018")
    assert down.data["reason"] == "mlx5_0 port 1 of host1 is Down"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("NCCL INFO NCCL_IB_DISABLE set by environment to 1.", "NCCL_IB_DISABLE=1 turns RDMA off"),
        ("NCCL INFO NCCL_IB_HCA set to mlx5_9", "NCCL_IB_HCA=mlx5_9 selects no active port"),
        ("NCCL INFO Failed to open libibverbs.so[.1]", "libibverbs is missing where the job runs"),
    ],
)
def test_the_log_shows_why_a_job_uses_sockets(tmp_path: Path, line: str, reason: str) -> None:
    text = log(line, *SOCKETS) + log(USING, host="host2")
    finding = one(of(tmp_path, host1=[text]), "HCT018")
    assert finding.data == {"expected": "other hosts of the job use RDMA", "reason": reason}
    assert finding.elements == ("host1",)


def test_a_job_on_rdma_alone_is_no_finding(tmp_path: Path) -> None:
    text = log(USING, "NCCL INFO Using network IB", "NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.")
    report = of(tmp_path, intent=True, host1=[text, ibstat("Active"), show_gids((3, "10.1.0.1", "v2"))])
    assert codes(report) == []


def test_sharp_that_was_not_given_has_the_remedy_of_its_librarys_error(tmp_path: Path) -> None:
    failed = "NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)"
    error = "[host1:1:28 unique id 12] ERROR collect_ports_data: mlx5_0 is not valid (port is used by SM)\n"
    finding = one(of(tmp_path, host1=[error + log(failed)]), "HCT018")
    assert "subnet manager" in finding.help


def unit(state: str) -> str:
    """Return what systemctl status prints of SHARP's manager."""
    return f"● sharp_am.service - SHARP Aggregation Manager (sharp_am)\n     Loaded: loaded (x)\n     Active: {state}\n"


@pytest.mark.parametrize(
    ("states", "shown", "starts"),
    [
        ({"ufm1": "failed (Result: exit-code) since Mon"}, "sharp_am of ufm1 is failed", True),
        ({"ufm1": "inactive (dead)"}, "sharp_am of ufm1 is inactive (dead)", True),
        ({"ufm1": "inactive (dead)", "ufm2": "active (running) since Mon"}, "sharp_am runs on ufm2", False),
    ],
)
def test_sharp_that_was_not_given_has_the_state_of_its_manager(
    states: dict[str, str], shown: str, starts: bool, tmp_path: Path
) -> None:
    failed = log("NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)")
    managers = {name: [unit(state)] for name, state in states.items()}
    finding = one(of(tmp_path, intent=False, host1=[failed], **managers), "HCT018")
    assert shown in finding.note
    assert ("systemctl start sharp_am" in finding.help) is starts


def test_a_port_of_the_subnet_manager_is_the_cause_whatever_its_manager_does(tmp_path: Path) -> None:
    error = "[host1:1:28 unique id 12] ERROR collect_ports_data: mlx5_0 is not valid (port is used by SM)\n"
    failed = log("NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)")
    finding = one(of(tmp_path, host1=[error + failed], ufm1=[unit("inactive (dead)")]), "HCT018")
    assert "NCCL_IB_HCA" in finding.help


def test_an_event_of_a_port_that_is_still_down_says_so(tmp_path: Path) -> None:
    event = "NCCL WARN NET/IB : mlx5_0:1 Got non-fatal async event: port error(10)"
    finding = one(of(tmp_path, host1=[log(event, event), ibstat("Down")]), "HCT017")
    assert (finding.data["reports"], finding.data["down"]) == (2, ["mlx5_0 port 1 of host1 is Down"])


@pytest.mark.parametrize("event", ["client reregistration(17)", "port active(9)", "SM change(13)"])
def test_events_of_the_subnet_manager_are_no_finding(tmp_path: Path, event: str) -> None:
    line = f"NCCL WARN NET/IB : mlx5_0:1 Got non-fatal async event: {event}"
    assert codes(of(tmp_path, host1=[log(line)])) == []


def test_sockets_that_close_after_rdma_has_failed_are_no_finding(tmp_path: Path) -> None:
    refused = "NCCL WARN socketStartConnect: Connect to 10.9.0.2<5> failed : Connection refused"
    assert codes(of(tmp_path, host1=[log(RETRIES, refused)])) == ["HCT008"]
    assert codes(of(tmp_path, host1=[log(refused)])) == ["HCT016"]


def test_a_log_of_closed_connections_alone_is_not_checked(tmp_path: Path) -> None:
    closed = "NCCL WARN socketProgress: Connection closed by remote peer host2<57557>"
    report = of(tmp_path, host1=[log(closed)])
    assert codes(report) == []
    assert "closed connections only" in reasons(report)


def test_collectives_that_did_not_end_are_found_where_nothing_else_failed(tmp_path: Path) -> None:
    watchdog = "".join(
        f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, "
        "Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n"
        for rank in (3, 5)
    )
    finding = one(of(tmp_path, host1=[log(USING) + watchdog]), "HCT016")
    assert (finding.data["ranks"], finding.data["ms"]) == ([3, 5], 600029)
    assert codes(of(tmp_path, host1=[log(USING, RETRIES) + watchdog])) == ["HCT008"]

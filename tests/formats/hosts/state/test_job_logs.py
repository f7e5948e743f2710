"""Logs of NCCL and UCX: which NICs a job uses, what is set, and which completions failed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from lossless.ground.basics.records import UNKNOWN
from tests.formats.readings import host_captures, of, problems, value

NICS = "node-2:57:58 [0] NCCL INFO NET/IB : Using [0]ibP1:1/IB [1]rdmaP1:1/RoCE [RO]; OOB eth0:10.2.0.4<0>"
OLD = (
    "node-2:57:59 [0] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer 10.2.0.5<330> with"
    " error 12, opcode 0, len 0, vendor err 129 (Recv) localGid ::ffff:10.6.0.35 remoteGid ::ffff:10.5.0.34"
)
NEW = (
    "[2026-02-03 10:46:33] node-2:57:59 [1] transport/net_ib/p2p.cc:648 NCCL WARN NET/IB: Got completion from peer"
    " 10.2.0.5<330> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129"
    " localGid ::ffff:10.6.0.35 remoteGids::ffff:10.5.0.34 hca mlx5_1"
)


def test_net_ib_names_infiniband_and_roce_apart() -> None:
    captures = host_captures(f"{NICS}\n")
    assert value(captures, "link_layer", device="ibP1", port=1) == "IB"
    assert value(captures, "link_layer", device="rdmaP1", port=1) == "RoCE"
    assert value(captures, "devices", host="node-2") == 2
    assert captures[0].device == "node-2"


def test_merged_nics_are_listed_one_by_one() -> None:
    merged = "a:1:2 [0] NCCL INFO NET/IB : Using [0]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} [RO]; OOB b:1<0>"
    assert value(host_captures(merged), "devices") == 2


def test_a_list_of_nics_that_is_cut_leaves_their_number_unknown() -> None:
    captures = host_captures(NICS[: NICS.index(" [RO]") - 3])
    assert value(captures, "devices") is UNKNOWN
    assert [reading.identity[1] for reading in of(captures, "link_layer")] == [("device", "ibP1")]
    assert problems(captures) == ["1:37: the list of NICs is cut: there may be more of them"]


@pytest.mark.parametrize("line", [OLD, NEW])
def test_a_completion_error_has_one_form_in_all_versions(line: str) -> None:
    captures = host_captures(line)
    assert (value(captures, "wc_status"), value(captures, "vendor_err")) == (12, 129)
    assert value(captures, "remote_gid", peer="10.2.0.5<330>", event=1) == "::ffff:10.5.0.34"
    assert value(captures, "local_gid", host="node-2") == "::ffff:10.6.0.35"


BLANKS = [match.start() for match in re.finditer(" ", OLD) if match.start() > OLD.index("completion")]


@given(
    st.lists(st.sampled_from(BLANKS), min_size=1, max_size=2, unique=True), st.sampled_from(["\n", "\r\n"])
)
def test_a_completion_error_that_is_wrapped_at_blanks_says_the_same(places: list[int], end: str) -> None:
    wrapped = "".join(end if index in places else letter for index, letter in enumerate(OLD))
    after = "node-2:57:59 [0] NCCL INFO transport/net.cc:1134 -> 6"
    said = [
        [(reading.identity, reading.name, reading.value) for reading in host_captures(text)[0].readings]
        for text in (f"{OLD}\n{after}\n", f"{wrapped}\n{after}\n")
    ]
    assert said[0] == said[1]


def test_a_line_that_is_wrapped_within_a_number_is_joined_without_a_blank() -> None:
    captures = host_captures(OLD.replace("err 129", "err 1\n29"))
    assert value(captures, "vendor_err") == 129


def test_a_completion_error_that_is_cut_leaves_the_rest_unknown() -> None:
    captures = host_captures(OLD[: OLD.index(", opcode")])
    assert (value(captures, "wc_status"), value(captures, "vendor_err")) == (12, UNKNOWN)
    assert problems(captures) == [f"1:{OLD.index('Got') + 1}: the completion is cut before its vendor_err"]


def test_errors_of_one_log_are_numbered_in_its_order() -> None:
    flushed = OLD.replace("error 12", "error 5")
    captures = host_captures(f"{OLD}\n{flushed}\n")
    assert [value(captures, "wc_status", event=event) for event in (1, 2)] == [12, 5]


def test_a_traffic_class_is_a_dscp_and_two_bits_of_ecn() -> None:
    captures = host_captures("h1:1:2 [0] NCCL INFO NCCL_IB_TC set by environment to 162.\n")
    assert [value(captures, name) for name in ("traffic_class", "dscp", "ecn_bits")] == [162, 40, 2]


def test_settings_have_numbers_and_words_and_the_next_line_is_not_theirs() -> None:
    lines = ["NCCL_IB_TIMEOUT set by environment to 21.", "NCCL_IB_HCA set by environment to =mlx5_0:1"]
    captures = host_captures("".join(f"h1:1:2 [0] NCCL INFO {line}\nstep 3\n" for line in lines))
    assert (value(captures, "ib_timeout"), value(captures, "NCCL_IB_HCA")) == (21, "=mlx5_0:1")


def test_what_every_process_of_a_host_repeats_is_said_once() -> None:
    line = "NCCL INFO NCCL_IB_GID_INDEX set by environment to 3."
    captures = host_captures(f"h1:1:2 [0] {line}\nh1:3:4 [1] {line}\nh2:5:6 [2] {line}\n")
    assert [dict(reading.identity)["host"] for reading in of(captures, "gid_index")] == ["h1", "h2"]
    assert captures[0].device is None


UCX = """[n1:9:0:9] ib_mlx5_log.c:139  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)
[n1:9:0:9] ib_mlx5_log.c:139  DCI QP 0xa9f wqe[0]: SEND s-e [rqpn 0xa66 rmac 0:1 sgix 3 dgid fe80::1 tc 106]
[1588.1] [n1:195:0]   parser.c:19 UCX  INFO  UCX_* env variables: UCX_NET_DEVICES=mlx5_0:1 UCX_IB_SL=3
[1588.2] [n1:195:0]   ucp_worker.c:1 UCX  INFO  ep_cfg[1]: tag(rc_mlx5/mlx5_0:1 rc_mlx5/mlx5_1:1)
"""


def test_an_error_of_ucx_has_the_status_that_nccl_would_print() -> None:
    captures = host_captures(UCX)
    assert value(captures, "wc_status", device="mlx5_0", port=1, event=1) == 12
    assert value(captures, "vendor_err", event=1) == 129
    assert (value(captures, "remote_gid", event=1), value(captures, "gid_index", event=1)) == ("fe80::1", 3)
    assert value(captures, "link_layer", host="n1") == "RoCE"


def test_ucx_names_its_devices_and_settings() -> None:
    captures = host_captures(UCX)
    assert [dict(reading.identity)["device"] for reading in of(captures, "transport")] == ["mlx5_0", "mlx5_1"]
    assert (value(captures, "net_devices"), value(captures, "service_level")) == ("mlx5_0:1", 3)


def test_a_job_that_uses_no_nic_says_so() -> None:
    captures = host_captures(
        "h:1:2 [0] NCCL INFO NET/IB : No device found.\nh:1:2 [0] NCCL INFO Using network Socket\n"
    )
    assert (value(captures, "devices"), value(captures, "network")) == (0, "Socket")


def test_a_nic_with_sharp_and_the_path_to_the_memory_of_a_gpu_are_named() -> None:
    log = "a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB/SHARP [1]mlx5_2:1/IB; OOB b:1<0>\n"
    captures = host_captures(log)
    assert value(captures, "sharp", device="mlx5_1") is True
    assert [r for capture in captures for r in capture.readings if r.name == "sharp"][1:] == []
    assert value(captures, "devices") == 2


@pytest.mark.parametrize(
    ("line", "direct"),
    [
        ("Channel 03/0 : 1[1] -> 8[0] [receive] via NET/IB/0/GDRDMA", True),
        ("Channel 00/0 : 3[1] -> 0[0] [send] via NET/IB/2", False),
        ("Connected all rings, use ring PXN 1 GDR 1", True),
        ("Connected all rings, use ring PXN 0 GDR 0", False),
    ],
)
def test_a_log_says_whether_nics_reach_the_memory_of_gpus(line: str, direct: bool) -> None:
    assert value(host_captures(f"a:1:1 [0] NCCL INFO {line}\n"), "gdrdma") is direct


def failures(text: str) -> list[tuple[object, object]]:
    """Return each failed call of a log with its error."""
    captures = host_captures(text)
    return [
        (one.value, other.value)
        for one, other in zip(of(captures, "failed_call"), of(captures, "errno"), strict=True)
    ]


@pytest.mark.parametrize(
    ("line", "call", "errno"),
    [
        ("NCCL WARN Call to ibv_modify_qp failed with error No such device", "ibv_modify_qp", 19),
        (
            "NCCL WARN Call to ibv_modify_qp failed with error Connection timed out errno 110",
            "ibv_modify_qp",
            110,
        ),
        ("NCCL WARN Call to ibv_modify_qp failed with 61 No data available, on dev a:1", "ibv_modify_qp", 61),
        ("NCCL WARN Call to ibv_create_qp failed", "ibv_create_qp", UNKNOWN),
        ("NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory", "ibv_reg_mr", 12),
        ("NCCL WARN NET/IB : Unable to open device mlx5_1", "ibv_open_device", UNKNOWN),
        ("NCCL WARN Connect to 10.0.0.4<56> failed : Software caused connection abort", "connect", 103),
        (
            "NCCL WARN socketPollConnect: Connect to 10.0.0.4<5> returned 113(No route to host) errno 115(In)",
            "connect",
            113,
        ),
        (
            "NCCL WARN ncclOsSocketPollConnect: connect to a<5> returned Connection refused, exceeded",
            "connect",
            111,
        ),
        ("NCCL WARN NET/OFI Couldn't open AV. RC: -22, ERROR: Invalid argument", "open AV", 22),
        (
            "NCCL WARN NET/OFI Request 0x7f completed with error. RC: 113. Error: 4 (Unresponsive)",
            "libfabric",
            113,
        ),
        ("NCCL WARN NET/OFI Request 0x7 (WRITE) completed with error: err: 113, flags: 0", "libfabric", 113),
    ],
)
def test_a_call_that_failed_has_its_error_as_a_number_in_all_versions(
    line: str, call: str, errno: object
) -> None:
    assert failures(f"h1:1:2 [0] {line}\n") == [(call, errno)]


@pytest.mark.parametrize(
    ("line", "call", "errno"),
    [
        (
            "[16.2] [n1:39:0]  dc_mlx5.c:4  UCX  ERROR ibv_modify_qp(DCI, RTR) failed : Invalid argument",
            "ibv_modify_qp",
            22,
        ),
        (
            "[16.2] [n1:39:0]  ud.c:2  UCX  ERROR Failed to modify UD QP to INIT: No such device",
            "ibv_modify_qp",
            19,
        ),
        (
            "[16.2] [n1:39:0]  sock.c:3  UCX  ERROR connect(fd=8, dest_addr=10.0.0.1:4) failed: Connection refused",
            "connect",
            111,
        ),
        (
            "[n1:39:0:39]  ud_ep.c:2  Fatal: UD endpoint 0x3b to n2:7: unhandled timeout error",
            "UD endpoint",
            110,
        ),
        (
            "libfabric:4:17::efa:cq:handle():7<warn> err: 5, message: Invalid address Peer host id: i-0c",
            "libfabric",
            5,
        ),
    ],
)
def test_a_call_of_ucx_or_libfabric_that_failed_has_its_error(line: str, call: str, errno: int) -> None:
    assert failures(f"{line}\n") == [(call, errno)]


def test_a_call_that_is_tried_again_has_not_failed() -> None:
    again = (
        "Call to ibv_modify_qp failed with 110 Connection timed out, on dev a:1, retrying 1/34 after 100 msec"
    )
    connect = "socketPollConnect: connect to 10.0.0.1<5> returned Connection refused, retrying (13/34)"
    assert failures(f"h1:1:2 [0] NCCL INFO {again}\nh1:1:2 [0] NCCL INFO {connect}\n") == []


def test_a_queue_pair_that_failed_names_its_nic_and_gids() -> None:
    captures = host_captures(
        "h1:1:2 [5] ibvwrap.c:2 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_4:1,"
        " curr state INIT, next state RTR, local GID index 3, local GID ::ffff:192.0.2.1,"
        " remote GID ::ffff:192.0.2.7\n"
    )
    assert value(captures, "errno", device="mlx5_4", port=1, host="h1") == 110
    assert (value(captures, "next_state"), value(captures, "local_gid_index")) == ("RTR", 3)
    assert value(captures, "remote_gid") == "::ffff:192.0.2.7"


@pytest.mark.parametrize(
    ("line", "event", "device"),
    [
        ("h:1:2 [0] NCCL WARN NET/IB : Got async event : port error", "port error", None),
        (
            "h:1:2 [0] NCCL WARN NET/IB : mlx5_4:1 Got non-fatal async event: port error(10)",
            "port error",
            "mlx5_4",
        ),
        (
            "h:1:2 [0] NCCL WARN NET/IB : mlx5_4:1 async fatal event on QP (0x5) qpn=4 state=6: CQ error",
            "CQ error",
            "mlx5_4",
        ),
        ("h:1:2 [0] NCCL WARN NET/IB : mlx5_4:1 GID table changed", "GID table change", "mlx5_4"),
        ("h:1:2 [0] NCCL WARN NET/IB : unknown event type (18)", "GID table change", None),
        (
            "[1.5] [h:3:1] ib_device.c:4 UCX  WARN  IB Async event on mlx5_4: port error on port 1",
            "port error",
            "mlx5_4",
        ),
        ("[1,12]<stdout>:h:8:8 [0] NCCL WARN NET/IB : Got async event : port error", "port error", None),
    ],
)
def test_an_event_of_a_nic_has_one_name_in_all_logs(line: str, event: str, device: str | None) -> None:
    captures = host_captures(f"{line}\n")
    [reading] = of(captures, "async_event")
    assert reading.value == event
    assert dict(reading.identity).get("device") == device
    assert dict(reading.identity)["host"] == "h"


def test_sharp_that_a_job_did_not_get_is_told_from_the_errors_of_its_library() -> None:
    captures = host_captures(
        "[h:0:1 - context.c:7] ERROR sharp_get_job_data_len failed: Job not found (-18)\n"
        "h:1:2 [0] sharp_plugin.c:2 NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)\n"
    )
    assert value(captures, "sharp_error") == "sharp_get_job_data_len failed: Job not found (-18)"
    assert value(captures, "collnet_failed") == "coll init error: Cannot create SHARP job(-11)"


def test_a_collective_that_pytorch_gave_up_has_its_rank_and_time() -> None:
    captures = host_captures(
        "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, "
        "Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n"
    )
    assert value(captures, "collective_timeout", rank=3, collective="ALLREDUCE") == 600029


def test_lines_of_ucx_in_a_log_of_nccl_are_read_too() -> None:
    captures = host_captures(f"{NICS}\n{UCX}")
    assert value(captures, "wc_status", device="mlx5_0") == 12
    assert value(captures, "devices", host="node-2") == 2

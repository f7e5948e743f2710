"""Public issues about hosts that run: which priority RDMA travels on, what NICs count, and jobs that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.checks.verify.issues.replay import StateIssue, StateReplay
from tests.checks.verify.running import INTENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.checks.verify.running import Files

_PRIORITY_5 = {
    "fabric.yaml": INTENT["fabric.yaml"].replace("dscp: 26, priority: 3,", "dscp: 59, priority: 5,")
}


def _priorities(way: str, packets: Mapping[int, int]) -> str:
    """Return what ``ethtool -S`` prints of the packets of each priority, in one direction."""
    return "".join(f"     {way}_prio{number}_packets: {packets.get(number, 0)}\n" for number in range(8))


def _host(intent: Files, *texts: str) -> Files:
    return {**{f"host1/{number}.txt": text for number, text in enumerate(texts)}, **intent}


_BYTEPS = (
    "==> ethtool -S enp178s0f0\n"
    + _priorities("rx", {0: 420000128479})
    + _priorities("tx", {0: 40304494275}),
    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err:2705\n",
)
_UCX_LOCAL = _priorities("rx", {0: 4943711983}) + _priorities("tx", {0: 7537659712, 3: 4675230410})
_MLNX_QOS = """\
DCBX mode: OS controlled
Priority trust state: dscp
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     0   0   0   0   0   1   0   0
"""
_BNXT = "".join(
    f"     {way}_pfc_ena_frames_pri{number}: 0\n     pfc_pri{number}_{way}_duration_us: 0\n"
    for number in range(8)
    for way in ("rx", "tx")
)
_OMNI_PATH = {
    "DmaWait": 50646,
    "PktDrop": 134,
    "RcResend": 2079,
    "RcSeqNak": 0,
    "RcTimeOut": 0,
    "RcAcks": 19918731,
}

HOST_ISSUES = (
    StateIssue(
        "bytedance/byteps#179",
        "RDMA was slower than TCP",
        (
            StateReplay(
                "all packets on priority 0, 2,705 acknowledgments timed out; beside an intent with PFC on 3",
                _host(INTENT, *_BYTEPS),
                {("HCT003", "host1:enp178s0f0")},
            ),
            StateReplay(
                "the same without an intent",
                _host({}, *_BYTEPS),
                set(),
                "nothing says that another priority is lossless",
                not_checked=("HCT003",),
            ),
        ),
    ),
    StateIssue(
        "openucx/ucx#10325",
        "the traffic class was applied in one direction only",
        (
            StateReplay(
                "4,675,230,410 packets sent on priority 3, all received ones on 0 (zeros were left out there)",
                _host(INTENT, _UCX_LOCAL),
                {("HCT010", "host1")},
            ),
            StateReplay(
                "the same without an intent",
                _host({}, _UCX_LOCAL),
                set(),
                "nothing says which priority is lossless",
            ),
        ),
    ),
    StateIssue(
        "NVIDIA/nccl#2383",
        "queue pairs of the GPU were on DSCP 0, and only DSCP 59 on priority 5 was lossless",
        (
            StateReplay(
                "mlnx_qos: PFC on priority 5 alone, beside an intent with DSCP 59 on 5",
                _host(_PRIORITY_5, _MLNX_QOS),
                set(),
                "the NIC is as intended, and counters per priority are not reported; what leaves on priority 0 beside "
                "marked RDMA may be TCP. `lint` answers with HST001, from how hosts mark",
            ),
            StateReplay(
                "the same beside an intent with PFC on 3",
                _host(INTENT, _MLNX_QOS),
                {("APP005", "host1")},
            ),
        ),
    ),
    StateIssue(
        "ROCm/rocm-systems#11027",
        "counters of pauses have other names on bnxt, and a script read nothing",
        (
            StateReplay(
                "rx_pfc_ena_frames_pri0 and its kin, all 0",
                _host(INTENT, _BNXT),
                set(),
                "pauses of 0 are no finding; the names are known",
            ),
        ),
    ),
    StateIssue(
        "netdata/netdata#9091",
        "an Omni-Path adapter counts under names of its own",
        (
            StateReplay(
                "PktDrop 134, RcResend 2,079, RcAcks 19,918,731",
                _host(
                    {},
                    "".join(
                        f"/sys/class/infiniband/hfi1_0/ports/1/hw_counters/{name}:{value}\n"
                        for name, value in _OMNI_PATH.items()
                    ),
                ),
                set(),
                "Omni-Path is neither of the fabrics that are checked",
            ),
        ),
    ),
    StateIssue(
        "NVIDIA/nccl#306",
        "training hung, and configuring PFC did not help",
        unseen="no counter, status or error is reported; what shows which link of the chain is broken is in the rows "
        "above: APP005, HCT003, HCT010 and CTR001",
    ),
    StateIssue(
        "NVIDIA/nccl#378",
        "bandwidth fell to a fraction after an upgrade",
        unseen="drop counters of NICs and switches are reported as 0, and none of them is shown",
    ),
    StateIssue(
        "NVIDIA/nccl#173",
        "NICs sent pauses after an upgrade of the library",
        unseen="how many, and of which kind, is not reported; PFC pauses that a NIC sends are no finding by "
        "themselves: a busy receiver sends them on any lossless fabric (HCT002 reports pauses of the whole link)",
    ),
    StateIssue(
        "linux-rdma/perftest#219",
        "two writers shared 5 of 25 Gb/s",
        unseen="only the bandwidth is reported; `lossless simulate` computes what two flows of one rate should get",
    ),
    StateIssue(
        "linux-rdma/perftest#284",
        "packets were dropped although the senders received PFC",
        unseen="no counter is reported; drops beside pauses that were sent are what CTR001 says of both",
    ),
    StateIssue(
        "prometheus/node_exporter#3137",
        "node_exporter does not have the counters of pauses that ethtool has",
        unseen="a request, without values; the names are read from `ethtool -S`",
    ),
)

"""Published incidents, rebuilt in a file: each is caught, by the rule that owns its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint_documents
from tests.checks.rules.checking import drawn, only, patched

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def leaf(**tables: Any) -> Document:
    return patched("leaf.json", tables)


def intent(**keys: Any) -> Document:
    return patched("leaf-spine.yaml", keys)


def shape(**keys: Any) -> dict[str, Any]:
    return {"topology": {"leaf_spine": keys}}


def severities(document: Document, *rdma_dscps: int) -> dict[str, str]:
    """Return the gravest severity that each rule draws."""
    report = lint_documents([document], Options(rdma_dscps=rdma_dscps))
    assert report.errors == ()
    return {finding.code: finding.severity for finding in reversed(report.findings)}


def test_inc01_queue_pairs_that_bypass_the_traffic_class() -> None:
    """NVIDIA/nccl issue 2383: lossless for DSCP 59 on priority 5, GPU-initiated RDMA on DSCP 0."""
    rdma = {"rdma": {"dscp": 59, "priority": 5}}
    found = only("HST001", intent(classes=rdma, hosts={"traffic_class": "unset"}))
    assert (found.severity, found.data["dscps"], found.data["lossless_dscps"]) == ("error", [0], [59])
    assert severities(intent(classes=rdma)) == severities(intent())
    # The same seen from a switch: what the hosts really send is DSCP 0.
    assert only("CLS001", leaf(), rdma_dscps=(0,)).severity == "error"


def test_inc04_a_whole_block_of_dscps_is_lossless() -> None:
    """The RoCE profile of Cumulus Linux maps 24 to 31 to one lossless priority."""
    block = {str(dscp): "3" for dscp in range(24, 32)}
    found = only("CLS002", leaf(DSCP_TO_TC_MAP={"AZURE": block}), rdma_dscps=(26,))
    assert found.severity == "warning"
    assert found.data["dscps"] == [24, 25, 27, 28, 29, 30, 31]


@pytest.mark.parametrize(
    ("tos", "drawn_codes"),
    [(26, {"CLS006": "error"}), (104, {}), (106, {}), (0, {"HST001": "error"})],
)
def test_inc07_104_or_106_for_dscp_26(tos: int, drawn_codes: dict[str, str]) -> None:
    """dmf-mxl/mxl pull request 603, chimera-nas/chimera issue 617."""
    found = severities(intent(hosts={"traffic_class": tos}))
    assert {code: found[code] for code in found if code in ("CLS006", "HST001")} == drawn_codes


def test_inc08_cnp_in_a_dwrr_queue() -> None:
    """sonic-buildimage qos_config.j2 @086b03b: DSCP 48 to TC 6, served by DWRR."""
    dwrr = {"cnp": {"scheduling": None, "bandwidth": "10%"}, "default": {"bandwidth": "40%"}}
    assert only("CLS007", intent(classes=dwrr)).severity == "info"
    assert drawn("CLS007", leaf(DSCP_TO_TC_MAP={"AZURE": {"48": "6"}})) == []


@pytest.mark.parametrize("lossless_dscp", [None, 4])
def test_inc09_an_operator_sets_cnp_dscp_4(lossless_dscp: int | None) -> None:
    """Mellanox/nic-configuration-operator @8bfbeb3; stock SONiC pauses DSCP 4."""
    rdma = {"rdma": {"dscp": lossless_dscp}} if lossless_dscp is not None else {}
    found = only("CLS008", intent(classes=rdma, congestion_control={"dcqcn": {"cnp_dscp": 4}}))
    assert found.severity == "error"
    assert found.data["class"] == ("default" if lossless_dscp is None else "rdma")


def test_inc13_pfc_on_six_priorities() -> None:
    """The default of Oracle's roce_config is the mask 0,1,1,1,1,1,1,0."""
    masks = {port: {"pfc_enable": "1,2,3,4,5,6", "pfcwd_sw_enable": "1,2,3,4,5,6"} for port in PORTS}
    found = severities(leaf(PORT_QOS_MAP=masks), 26)
    assert found["PFC001"] == "warning"


def test_inc14_pfc_on_one_side_only() -> None:
    """NVIDIA/nccl issues 306 and 378, here with the switch on and the NICs off."""
    assert only("PFC003", intent(hosts={"pfc": []})).severity == "error"


def test_inc17_pauses_cascade_over_oversubscribed_uplinks() -> None:
    """8:1 leaves that pause on their uplinks, with nothing that marks."""
    narrow = {"hosts_per_leaf": 16, "spines": 1, "uplinks": "4 x 400G", "oversubscription": 8}
    document = intent(
        classes={"rdma": {"ecn": "off"}},
        congestion_control="pfc-only",
        pfc={"watchdog": "off"},
        **shape(**narrow),
    )
    found = severities(document)
    assert (found["PFC009"], found["WD001"]) == ("error", "error")
    assert only("PFC009", document).data["ratio"] == 8


def test_inc20_a_server_port_without_a_watchdog() -> None:
    """Guo et al., SIGCOMM 2016, 4.3 and 6.2: one dead server sent 2,000 pauses a second."""
    found = only("WD001", leaf(PFC_WD={"Ethernet4": None}))
    assert (found.severity, found.elements) == ("error", ("leaf1:Ethernet4",))


def test_inc21_the_watchdogs_mask_is_missing() -> None:
    """edge-core/sonic-buildimage issues 689 and 697: 51 of 68 device files."""
    found = only("WD002", leaf(PORT_QOS_MAP={port: {"pfcwd_sw_enable": None} for port in PORTS}))
    assert (found.severity, found.places) == ("error", 3)


def test_inc22_the_transport_gives_up_before_the_queue_is_restored() -> None:
    """NCCL's defaults: 4.096 us x 2^20 x 8 = 34.4 s against a restoration of 60 s."""
    found = only("WD008", intent(pfc={"watchdog": {"restoration": "60000ms"}}))
    assert (found.severity, found.data["patience_ms"]) == ("error", 34359.738)
    assert drawn("WD008", intent(pfc={"watchdog": {"restoration": "30000ms"}})) == []


def test_inc26_no_congestion_control_and_nobody_who_decided_it() -> None:
    """Gangidi et al., SIGCOMM 2024, 5.2.1: PFC alone, on purpose."""
    off = {"rdma": {"ecn": "off"}}
    assert only("ECN001", intent(classes=off)).severity == "error"
    assert drawn("ECN001", intent(classes=off, congestion_control="pfc-only")) == []
    queues = {f"{port}|3": {"wred_profile": None} for port in PORTS}
    assert only("ECN001", leaf(QUEUE=queues)).severity == "warning"


def test_inc27_a_checker_recommends_probability_zero() -> None:
    """min 50,000, max 100,000, probability 0: nothing is marked before max."""
    curve = {"green_min_threshold": "50000", "green_max_threshold": "100000", "green_drop_probability": "0"}
    assert only("ECN003", leaf(WRED_PROFILE={"AZURE_LOSSLESS": curve})).severity == "error"


def test_inc28_the_ecn_defaults_of_a_storage_network() -> None:
    """1 MiB, 2 MiB, 5 % in 18 MB with alpha 1/8: T(1) is 2,000,000 B."""
    stock = {
        "green_min_threshold": "1048576",
        "green_max_threshold": "2097152",
        "green_drop_probability": "5",
    }
    eighth = {"dynamic_th": "-3"}
    document = leaf(
        WRED_PROFILE={"AZURE_LOSSLESS": stock},
        BUFFER_POOL={"ingress_lossless_pool": {"size": "18000000", "xoff": None}},
        BUFFER_PROFILE={"pg_lossless_400000_5m_profile": eighth, "pg_lossless_800000_40m_profile": eighth},
    )
    assert severities(document) == {"ECN004": "warning", "ECN005": "warning", "ECN010": "warning"}
    assert only("ECN004", document).data["two_egress_margin_bytes"] == 2_000_000 - 2 * 1_048_576


def test_inc35_a_headroom_row_below_physics() -> None:
    """sonic-buildimage SN4700 rows @086b03b: less headroom than the light in the fibre."""
    switch = {"profile": "nvidia-sn4700", "hwsku": "Mellanox-SN4700-O32"}
    cables = {"uplinks": "4 x 400G", "cables": {"uplink": "1500m"}}
    found = drawn("BUF001", intent(hardware={"leaf": switch, "spine": switch}, **shape(**cables)))
    assert {finding.severity for finding in found} == {"error"}


def test_inc36_no_row_for_speed_and_cable() -> None:
    """sonic-buildimage issues 5837, 24903 and 25606: 10G over 300 m on a 7260CX3."""
    sku = {"localhost": {"hwsku": "Arista-7260CX3-D108C8", "platform": "x86_64-arista_7260cx3_64"}}
    document = leaf(
        DEVICE_METADATA=sku,
        PORT={"Ethernet4": {"speed": "10000"}},
        CABLE_LENGTH={"AZURE": {"Ethernet4": "300m"}},
        BUFFER_PG={"Ethernet4|3": None},
    )
    found = next(finding for finding in drawn("BUF003", document) if finding.severity == "error")
    assert found.data == {
        "speed_bps": 10000000000,
        "cable_m": 300,
        "hwsku": "Arista-7260CX3-D108C8",
        "row_cables_m": [],
    }


@pytest.mark.parametrize("length", ["0m", None])
def test_inc37_pfc_without_headroom(length: str | None) -> None:
    """sonic-net/SONiC issue 480, sonic-swss issue 3548."""
    neighbors = {port: {"name": f"host-{port}", "port": "eth0"} for port in PORTS}
    cable = {"AZURE": {"Ethernet4": length}}
    document = leaf(CABLE_LENGTH=cable, BUFFER_PG={"Ethernet4|3": None}, DEVICE_NEIGHBOR=neighbors)
    assert only("BUF004", document).severity == "error"


def test_inc40_a_reference_architecture_that_does_not_fit() -> None:
    """8:1 undeclared, more links than ports, and a rate that one end does not have."""
    narrow = {"hosts_per_leaf": 16, "spines": 1, "uplinks": "4 x 400G"}
    assert only("TOP001", intent(**shape(**narrow))).data["ratio"] == 8
    assert only("TOP001", intent(**shape(**narrow))).severity == "error"
    overfull = drawn("TOP002", intent(**shape(hosts_per_leaf=80, uplinks="40 x 800G")))
    assert {finding.severity for finding in overfull} == {"error"}
    assert {f.severity for f in drawn("TOP003", intent(hardware={"nic": "connectx-6-dx"}))} == {"error"}


def test_inc42_the_job_hangs_and_nothing_ends_the_storm() -> None:
    """An intent that switches the watchdog off."""
    assert only("WD001", intent(pfc={"watchdog": "off"})).severity == "error"

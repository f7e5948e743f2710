"""What hosts are set to and what their jobs set: the rules of NICs and those of other families that read hosts."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import load_fabrics
from lossless.checks.rules.base import Violation
from lossless.checks.rules.nics.nic003_nic_kinds_mixed import check as check_kinds
from lossless.checks.rules.nics.nic015_mtu_ladder import RDMA_HEADERS, rdma_mtu
from lossless.formats.hosts.from_model.scripts import host_files
from lossless.ground.basics.errors import RenderError
from lossless.model.fabric.view import View
from tests.checks.rules.checking import Patch, drawn, only, patched, unchecked

INTENT = "leaf-spine.yaml"
FREE = {"congestion_control": "dcqcn"}
"""DCQCN without parameters, as NICs without a table of them need it."""


def hosts(**keys: Any) -> Patch:
    return {"hosts": keys}


def dcqcn(**keys: Any) -> Patch:
    return {"congestion_control": {"dcqcn": keys}}


def severity(code: str, patch: Patch) -> str | None:
    """Return how grave a rule finds an intent, None where it is silent."""
    found = drawn(code, patched(INTENT, patch))
    assert len(found) <= 1, [finding.message for finding in found]
    return found[0].severity if found else None


def topology(**devices: str | None) -> Patch:
    """Return one leaf and hosts by name, each with the NIC it states."""
    listed = {name: {"role": "host"} | ({"nic": nic} if nic else {}) for name, nic in devices.items()}
    links = [{"a": "leaf1", "b": name, "links": "1 x 200G", "cable": "3m"} for name in devices]
    links.append({"a": "leaf1", "b": "spine1", "links": "4 x 800G", "cable": "30m"})
    named = {"leaf1": {"role": "leaf"}, "spine1": {"role": "spine"}, **listed}
    return {"topology": {"leaf_spine": None, "devices": named, "links": links}}


@pytest.mark.parametrize(
    ("priorities", "expected"),
    [(None, None), ([3], None), ([0, 3], None), ([*range(8)], None), ([0], "error"), ([], "error")],
)
def test_dcqcn_runs_on_every_lossless_priority(priorities: list[int] | None, expected: str | None) -> None:
    assert severity("NIC001", dcqcn(priorities=priorities)) == expected


LOSSY = {"pfc": "off", "classes": {"rdma": {"lossless": False}}}


@pytest.mark.parametrize(("priorities", "expected"), [(None, "error"), ([], "error"), ([3], None)])
def test_dcqcn_without_a_lossless_class_needs_priorities_of_its_own(
    priorities: list[int] | None, expected: str | None
) -> None:
    """Lint refuses what render refuses: hosts whose DCQCN would run on nothing."""
    patch = {**LOSSY, **dcqcn(priorities=priorities)}
    assert severity("NIC001", patch) == expected
    (fabric,) = load_fabrics([patched(INTENT, patch)]).fabrics
    with nullcontext() if expected is None else pytest.raises(RenderError, match="no priority"):
        assert list(host_files(fabric.hosts[0].qos))


def test_each_lossless_class_counts_for_dcqcn() -> None:
    second = {
        "dscp": 4,
        "priority": 4,
        "lossless": True,
        "ecn": {"min": "1 MiB", "max": "2 MiB", "probability": "5%"},
    }
    patch = {"classes": {"storage": second}, **dcqcn(priorities=[3])}
    found = only("NIC001", patched(INTENT, patch))
    assert found.data == {"priorities": [3], "missing": [4]}


def test_without_dcqcn_its_parameters_are_nobodys() -> None:
    off = {"congestion_control": "pfc-only", "classes": {"rdma": {"ecn": "off"}}}
    mixed = topology(gpu1=None, gpu2="connectx-6-dx")
    assert [
        code for code in ("NIC001", "NIC003", "NIC005") if drawn(code, patched(INTENT, {**off, **mixed}))
    ] == []


def test_kinds_of_nic_that_are_identical_are_worth_knowing_and_no_more() -> None:
    found = only("NIC003", patched(INTENT, topology(gpu1=None, gpu2=None, old1="connectx-6-dx")))
    assert found.data == {"connectx-6-dx": 1, "connectx-7": 2}
    assert (found.severity, found.elements) == ("info", ("old1",))
    assert found.origin.path == ("topology", "devices", "old1", "nic")
    assert [related.origin.path for related in found.related] == [("hardware", "nic")]


def test_kinds_of_nic_that_differ_are_a_warning() -> None:
    patch = {**FREE, **topology(gpu1=None, gpu2="broadcom-thor-2")}
    assert severity("NIC003", patch) == "warning"


@pytest.mark.parametrize(
    ("nic", "other", "expected"),
    [
        ("connectx-7", "connectx-6-dx", "info"),
        ("connectx-7", "broadcom-thor-2", "warning"),
        ("amd-pollara-400", "broadcom-thor-2", "warning"),
    ],
)
def test_parameters_that_are_unknown_are_not_called_equal(nic: str, other: str, expected: str) -> None:
    assert severity("NIC003", {**FREE, **topology(gpu1=nic, gpu2=other)}) == expected


def test_hosts_of_one_kind_of_nic_may_differ_in_a_parameter() -> None:
    (fabric,) = load_fabrics([patched(INTENT, topology(gpu1=None, gpu2=None, old1="connectx-6-dx"))]).fabrics
    gpu1, gpu2, old1 = fabric.hosts
    values = tuple((name, value + (name == "rpg_ai_rate")) for name, value in gpu2.qos.dcqcn.values)
    changed = gpu2._replace(qos=gpu2.qos._replace(dcqcn=gpu2.qos.dcqcn._replace(values=values)))
    (found,) = check_kinds(View(fabric._replace(hosts=(gpu1, changed, old1))))
    assert isinstance(found, Violation)
    assert found.severity is None, "the warning of the rule, not information"


def test_one_kind_of_nic_by_two_names_is_one() -> None:
    assert severity("NIC003", topology(gpu1=None, gpu2="connectx-7")) is None


@pytest.mark.parametrize(("interval", "expected"), [("0us", None), ("50us", None), ("51us", "warning")])
def test_cnps_are_no_further_apart_than_in_the_paper(interval: str, expected: str | None) -> None:
    assert severity("NIC004", dcqcn(cnp_interval=interval)) == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"rpg_min_dec_fac": "99%"}, None),
        ({"rpg_min_dec_fac": "100%"}, "error"),
        ({"rpg_min_rate": "399G"}, None),
        ({"rpg_min_rate": "400G"}, "error"),
        ({"cnp_interval": "50us", "rpg_time_reset": "51us"}, None),
        ({"cnp_interval": "50us", "rpg_time_reset": "50us"}, "warning"),
        ({"rate_reduce_monitor_period": "299us"}, None),
        ({"rate_reduce_monitor_period": "300us"}, "warning"),
        # Tuned by Barre, USENIX ATC 2025, table 2.
        ({"cnp_interval": "2us", "rpg_time_reset": "20us", "rpg_min_dec_fac": "98%"}, None),
    ],
)
def test_a_sender_can_be_slowed_down(parameters: dict[str, str], expected: str | None) -> None:
    assert severity("NIC005", dcqcn(**{"cnp_interval": None, **parameters})) == expected


def test_the_parameter_that_is_stated_is_the_one_to_change() -> None:
    patch = dcqcn(cnp_interval=None, rate_reduce_monitor_period="1000us")
    found = only("NIC005", patched(INTENT, patch))
    assert found.origin.path == ("congestion_control", "dcqcn", "rate_reduce_monitor_period")
    assert found.data == {"rpg_time_reset": 300, "rate_reduce_monitor_period": 1000}


@pytest.mark.parametrize(("kept", "expected"), [(1019, None), (512, None), (511, "warning"), (0, "warning")])
def test_the_previous_alpha_weighs_half_at_least(kept: int, expected: str | None) -> None:
    assert severity("NIC006", dcqcn(dce_tcp_g=kept)) == expected


def test_the_g_of_the_paper_is_turned_round() -> None:
    assert only("NIC006", patched(INTENT, dcqcn(dce_tcp_g=4))).data == {"dce_tcp_g": 4}


@pytest.mark.parametrize(
    ("additive", "hyper", "expected"),
    [("50M", "50M", None), ("51M", "50M", "warning"), ("51M", None, "warning"), (None, "4M", "warning")],
)
def test_hyper_increase_is_the_faster_one(
    additive: str | None, hyper: str | None, expected: str | None
) -> None:
    assert severity("NIC007", dcqcn(rpg_ai_rate=additive, rpg_hai_rate=hyper)) == expected


def test_the_rate_that_is_stated_is_the_one_to_change() -> None:
    found = only("NIC007", patched(INTENT, dcqcn(rpg_hai_rate="4M")))
    assert found.origin.path == ("congestion_control", "dcqcn", "rpg_hai_rate")


def test_trust_in_tags_harms_where_rdma_has_a_priority_of_its_own() -> None:
    assert severity("NIC009", hosts(trust="pcp")) == "error"
    zero: Patch = {"classes": {"rdma": {"priority": 0}, "default": {"priority": 1}}}
    assert severity("NIC009", {**zero, **hosts(trust="pcp")}) is None


@pytest.mark.parametrize(("who", "expected"), [("unit", None), ("other", None), ("hand", "warning")])
def test_something_sets_the_nics_again(who: str, expected: str | None) -> None:
    assert severity("NIC010", hosts(applied_by=who)) == expected


@pytest.mark.parametrize(
    ("keys", "origin"),
    [
        ({"nccl": {"gin": True}}, "gin"),
        ({"nccl": {"gin": True, "ib_tc": 0}}, "ib_tc"),
        ({"nccl": {"gin": True, "ib_tc": 106}}, None),
        ({"nccl": {"gin": True, "ib_tc": 0, "gin_ib_tc": 106}}, None),
        ({"nccl": {"ib_tc": 106, "gin_ib_tc": 40}}, "gin_ib_tc"),
        ({"nccl": {"gin": False, "ib_tc": 0}}, None),
        ({"mori": {"traffic_class": 40}}, "traffic_class"),
        ({"mori": {}}, "mori"),
        ({"mori": {"traffic_class": 104}}, None),
        ({"ucx": {"traffic_class": 0}}, None),
    ],
)
def test_a_library_that_bypasses_the_kernel_needs_its_own_class(keys: Patch, origin: str | None) -> None:
    found = drawn("NIC011", patched(INTENT, hosts(**keys)))
    assert [finding.origin.path[-1] for finding in found] == ([origin] if origin else [])


@pytest.mark.parametrize(
    ("keys", "said_by"),
    [
        ({"traffic_class": "unset", "nccl": {"gin": True}}, "HST001"),
        ({"traffic_class": 106, "nccl": {"gin": True, "ib_tc": 26}}, "CLS006"),
    ],
)
def test_one_cause_of_a_lossy_class_is_said_once(keys: Patch, said_by: str) -> None:
    document = patched(INTENT, hosts(**keys))
    assert [code for code in ("HST001", "CLS006", "NIC011") if drawn(code, document)] == [said_by]


@pytest.mark.parametrize(("cable", "expected"), [("999m", None), ("1000m", "error"), ("1001m", "error")])
def test_mlx5_takes_cables_below_a_kilometre(cable: str, expected: str | None) -> None:
    shape = {"host_links": "1 x 100G", "uplinks": "4 x 100G", "cables": {"host": cable}}
    switch = {"profile": "nvidia-sn4700", "hwsku": "Mellanox-SN4700-O32"}
    patch = {"hardware": {"leaf": switch, "spine": switch}, "topology": {"leaf_spine": shape}}
    assert severity("NIC014", patch) == expected
    other: Patch = {**FREE, **patch, "hardware": {"leaf": switch, "spine": switch, "nic": "broadcom-thor-2"}}
    assert severity("NIC014", other) is None


@pytest.mark.parametrize(
    ("host_mtu", "switch_mtu", "expected", "origin"),
    [
        (9000, 9100, None, None),
        (9100, 9100, None, None),
        (9101, 9100, "error", ("hosts", "mtu")),
        (None, 8999, "error", ("mtu",)),
        (4192, 9100, None, None),
        (4191, 9100, "warning", ("hosts", "mtu")),
        (4096, 9100, "warning", ("hosts", "mtu")),
        (4095, 9100, "info", ("hosts", "mtu")),
        (1500, 9100, "info", ("hosts", "mtu")),
        (352, 9100, "info", ("hosts", "mtu")),
        (351, 9100, "error", ("hosts", "mtu")),
    ],
)
def test_the_mtu_ladder(
    host_mtu: int | None, switch_mtu: int, expected: str | None, origin: tuple[str, ...] | None
) -> None:
    found = drawn("NIC015", patched(INTENT, {"mtu": switch_mtu, **hosts(mtu=host_mtu)}))
    assert [(f.severity, f.origin.path) for f in found] == ([(expected, origin)] if expected else [])


@given(st.integers(0, 10_000))
def test_an_rdma_mtu_fits_and_the_next_would_not(mtu: int) -> None:
    found = rdma_mtu(mtu)
    assert found <= mtu
    assert found == 4096 or mtu < max(256, 2 * found)
    assert RDMA_HEADERS == 96


@pytest.mark.parametrize(("written", "expected"), [(True, "warning"), ("on", "warning"), (False, None)])
def test_loopback_is_a_second_stream_into_the_nic(written: object, expected: str | None) -> None:
    assert severity("NIC018", hosts(loopback_rdma=written)) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"pfc_prevention": "auto"}, None),
        ({"pfc_prevention": "1200ms"}, None),
        ({"pfc_prevention": "1201ms"}, "warning"),
        ({"pfc_prevention": "off"}, "warning"),
        ({"pfc_prevention": "off", "pfc": []}, None),
    ],
)
def test_a_nic_ends_its_storm_before_the_switch_does(keys: Patch, expected: str | None) -> None:
    assert severity("WD015", hosts(**keys)) == expected


@pytest.mark.parametrize("watchdog", ["off", {"action": "alert"}])
def test_a_watchdog_that_does_not_act_sets_no_time(watchdog: object) -> None:
    assert severity("WD015", {"pfc": {"watchdog": watchdog}, **hosts(pfc_prevention="8s")}) is None


def test_a_nic_that_nothing_is_known_of_is_not_checked() -> None:
    document = patched(INTENT, {**FREE, "hardware": {"nic": "broadcom-thor-2"}})
    assert drawn("WD015", document) == []
    assert [rule.times for rule in unchecked("WD015", document)] == [8]


@pytest.mark.parametrize(
    ("watchdog", "timeout", "expected"),
    [
        # detection 1200 + poll 600 + restoration 1200
        ({}, "3001ms", None),
        ({}, "3000ms", "error"),
        ({"action": "forward"}, "1801ms", None),
        ({"action": "forward"}, "1800ms", "error"),
        ({"action": "alert"}, "1s", None),
        ({}, None, None),
    ],
)
def test_a_queue_is_back_before_the_job_gives_up(
    watchdog: Patch, timeout: str | None, expected: str | None
) -> None:
    assert severity("WD009", {"pfc": {"watchdog": watchdog}, **hosts(job_timeout=timeout)}) == expected


def test_global_pause_excludes_pfc_and_nothing_else() -> None:
    assert severity("PFC006", hosts(global_pause="on")) == "error"
    lossy: Patch = {"pfc": "off", "classes": {"rdma": {"lossless": False}}}
    assert severity("PFC006", {**lossy, **hosts(global_pause="on")}) is None


def test_firmware_that_speaks_dcbx_is_a_matter_of_pfc() -> None:
    assert severity("PFC010", hosts(dcbx="firmware")) == "warning"
    assert severity("PFC010", hosts(dcbx="firmware", pfc=[])) is None


@pytest.mark.parametrize(
    ("patch", "expected", "origin"),
    [
        ({}, None, None),
        ({"classes": {"rdma": {"lossless": None}}}, "error", ("classes", "rdma", "lossless")),
        (
            {
                "classes": {"rdma": {"lossless": None}},
                "congestion_control": {"dcqcn": {"priorities": [3]}},
            },
            "warning",
            ("classes", "rdma", "lossless"),
        ),
        ({"pfc": "off"}, "error", ("pfc",)),
        ({"pfc": "off", "classes": {"rdma": {"lossless": False}}}, None, None),
    ],
)
def test_somebody_decided_what_is_lossless(patch: Patch, expected: str | None, origin: object) -> None:
    found = drawn("PFC012", patched(INTENT, patch))
    assert [(f.severity, f.origin.path) for f in found] == ([(expected, origin)] if expected else [])


def test_a_forgotten_lossless_is_one_error_and_idle_dcqcn_on_a_lossy_fabric_another() -> None:
    """Render refuses both: DCQCN has no priority. Who forgot the class is told that, and not of DCQCN besides."""
    forgotten = patched(INTENT, {"classes": {"rdma": {"lossless": None}}})
    assert (len(drawn("PFC012", forgotten)), drawn("NIC001", forgotten)) == (1, [])
    on_purpose = patched(INTENT, {"pfc": "off", "classes": {"rdma": {"lossless": False}}})
    assert (drawn("PFC012", on_purpose), len(drawn("NIC001", on_purpose))) == ([], 1)


def test_dcqcn_of_roce_beside_ultra_ethernet_needs_its_priorities_and_no_more() -> None:
    lossy = {"transport": "uec", "pfc": "off", "classes": {"rdma": {"lossless": False}}}
    assert len(drawn("NIC001", patched(INTENT, lossy))) == 1
    beside = {**lossy, "congestion_control": {"dcqcn": {"priorities": [3]}}}
    assert drawn("NIC001", patched(INTENT, beside)) == []


def test_pfc_off_is_not_a_missing_watchdog_as_well() -> None:
    assert drawn("WD001", patched(INTENT, {"pfc": "off"})) == []


@pytest.mark.parametrize(
    ("dscp", "expected"),
    [
        ("AF31", []),
        ({"AF31": 26}, []),
        ({"CS3": 26}, [(24, 26)]),
        ({"cs3": 25}, [(24, 25)]),
        ([25, {"AF31": 26}, {"EF": 47}], [(46, 47)]),
    ],
)
def test_a_dscp_by_name_and_number_is_one(dscp: Any, expected: list[tuple[int, int]]) -> None:
    # A merge patch lays mappings over what is there: the class is written again.
    ecn = {"min": "800 KiB", "max": "3200 KiB", "probability": "20%"}
    new = {"dscp": dscp, "priority": 3, "lossless": True, "bandwidth": "50%", "ecn": ecn}
    patch = {"classes": {"rdma": None, "gpu": new}}
    assert [
        (one.data["means"], one.data["dscp"]) for one in drawn("CLS005", patched(INTENT, patch))
    ] == expected


@pytest.mark.parametrize(("tos", "expected"), [(192, None), (106, None), (0, "warning"), (None, None)])
def test_control_messages_are_lossless_or_strict(tos: int | None, expected: str | None) -> None:
    assert severity("CLS015", hosts(nccl={"ib_fifo_tc": tos})) == expected


@pytest.mark.parametrize("tos", [104, 105, 106, 107])
def test_congestion_is_for_switches_to_say(tos: int) -> None:
    expected = "info" if tos == 107 else None
    assert severity("ECN016", hosts(traffic_class=tos)) == expected
    warned = severity("ECN016", {**FREE, "hardware": {"nic": "broadcom-thor-2"}, **hosts(traffic_class=tos)})
    assert warned == ("warning" if tos == 107 else None)


@pytest.mark.parametrize(
    "keys",
    [
        {"nccl": {"ib_tc": 107}},
        {"nccl": {"ib_tc": 107, "gin": True}},
        {"nccl": {"ib_fifo_tc": 195}},
        {"nccl": {"ib_tc": 106, "gin_ib_tc": 107}},
        {"ucx": {"traffic_class": 107}},
    ],
)
def test_every_byte_is_looked_at_once(keys: Patch) -> None:
    assert severity("ECN016", hosts(**keys)) == "info"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"ucx": {"traffic_class": 106}}, None),
        ({"ucx": {}}, None),
        ({"traffic_class": "unset", "ucx": {"traffic_class": 106}}, "warning"),
        ({"traffic_class": "unset", "ucx": {}, "nccl": {"ib_tc": 106}}, "warning"),
        ({"traffic_class": "unset", "nccl": {"ib_tc": 106}}, None),
    ],
)
def test_the_hosts_own_class_stands_behind_that_of_ucx(keys: Patch, expected: str | None) -> None:
    assert severity("HST003", hosts(**keys)) == expected


@pytest.mark.parametrize(
    ("keys", "tos"),
    [
        ({"traffic_class": "unset", "ucx": {}, "nccl": {"ib_tc": 106}}, 106),
        ({"traffic_class": 40, "ucx": {}, "nccl": {"ib_tc": 106}}, 40),
        ({"traffic_class": 40, "ucx": {"traffic_class": 106}}, 106),
    ],
)
def test_what_ucx_sends_without_a_byte_of_its_own(keys: Patch, tos: int) -> None:
    """The jobs of an intent get the hosts' byte as the variable; without one UCX has its default."""
    assert only("HST003", patched(INTENT, hosts(**keys))).data["tos"] == tos


@pytest.mark.parametrize(
    ("ucx", "byte"),
    [
        (None, "DSCP 0 (traffic_class and NCCL_IB_TC are unset)"),
        ({}, "DSCP 0 (traffic_class, NCCL_IB_TC and UCX_IB_TRAFFIC_CLASS are unset)"),
        ({"traffic_class": 40}, "DSCP 10 (UCX_IB_TRAFFIC_CLASS 40)"),
    ],
)
def test_where_no_source_is_right_hst001_says_so(ucx: Patch | None, byte: str) -> None:
    document = patched(INTENT, hosts(traffic_class="unset", ucx=ucx))
    assert drawn("HST003", document) == []
    finding = only("HST001", document)
    assert finding.severity == "error"
    assert byte in finding.message


def test_the_traffic_class_of_ucx_is_a_source_like_the_others() -> None:
    assert drawn("HST001", patched(INTENT, hosts(traffic_class="unset", ucx={"traffic_class": 106}))) == []
    assert only("CLS006", patched(INTENT, hosts(traffic_class="unset", ucx={"traffic_class": 26})))


@pytest.mark.parametrize(
    ("pairs", "uplinks", "expected"),
    [(1, "2 x 800G", "info"), (2, "2 x 800G", None), (None, "2 x 800G", None), (1, "1 x 800G", None)],
)
def test_one_queue_pair_matters_where_there_are_paths(
    pairs: int | None, uplinks: str, expected: str | None
) -> None:
    shape = {"spines": 1, "uplinks": uplinks, "oversubscription": 8}
    patch = {**hosts(nccl={"ib_qps_per_connection": pairs}), "topology": {"leaf_spine": shape}}
    assert severity("HST004", patch) == expected


@pytest.mark.parametrize(
    ("port", "mtu", "expected"),
    [
        ("leaf1:Ethernet0", 9000, []),
        ("leaf1:Ethernet0", 8999, []),
        ("leaf1:Ethernet32", 8999, [8]),
        ("spine1:Ethernet0", 8999, [8]),
    ],
)
def test_only_an_uplink_that_lets_less_through_drops_what_hosts_send(
    port: str, mtu: int, expected: list[int]
) -> None:
    """A host sends no more than the exception of its own port lets through."""
    found = drawn("NIC015", patched(INTENT, {"exceptions": {port: {"mtu": mtu}}}))
    errors = [finding for finding in found if finding.severity == "error"]
    assert [len(finding.elements) for finding in errors] == expected
    assert all(finding.origin.path == ("exceptions",) for finding in errors)

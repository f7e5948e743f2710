"""What rules say of hosts that were read: beside their intent, beside a switch alone, and where little is known."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.checks.lint.run import run
from lossless.checks.rules.hosts.host_drift import differences
from lossless.checks.rules.hosts.hst010_names_match_more import parsed
from lossless.checks.rules.nics.dcqcn_parameters import HostDcqcn
from lossless.checks.rules.nics.nic015_mtu_ladder import rdma_mtu
from lossless.checks.rules.registry import rules_for
from lossless.checks.rules.watchdog.watchdog_rows import dead_ms
from lossless.formats.inputs.devices import deployed_fabric
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import UNKNOWN
from lossless.ground.documents import load_text
from lossless.model.fabric.hosts import Ets, HostQos, unread
from lossless.model.fabric.model import Host
from lossless.model.fabric.qos import Watchdog
from lossless.model.fabric.view import View
from tests.checks.rules.linted import intent_view
from tests.checks.rules.read_hosts import as_read, at, checked, codes, places, with_library, with_variable
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Finding
    from lossless.model.fabric.model import Fabric

THOR = {"congestion_control": "dcqcn", "hardware": {"nic": "broadcom-thor-2"}}


@cache
def fabric() -> Fabric:
    return intent_view({}).fabric


def wanted(of: Fabric | None = None) -> HostQos:
    return (of or fabric()).hosts[0].qos


def switch(**tables: Any) -> Fabric:
    """Return a leaf as its file alone shows it, changed by a merge patch: no intent says what it should be."""
    data = merge(json.loads((BASES / "rendered-leaf.json").read_text()), tables)
    document = load_text(json.dumps(data), "leaf1/config_db.json")
    return deployed_fabric([document], (), lambda _file: (), [])


def beside_intent(have: HostQos) -> list[tuple[str, str]]:
    return places(checked(fabric(), have, wanted()))


def only(of: Fabric, have: HostQos, want: HostQos | None = None) -> Finding:
    (finding,) = checked(of, have, want).findings
    return finding


def test_of_a_host_that_says_nothing_nothing_is_checked() -> None:
    host = unread(Origin("hosts/host1"))
    verdicts = checked(fabric(), host, wanted())
    assert verdicts.findings == ()
    assert {rule.code for rule in verdicts.not_checked} >= {
        *("NIC001", "NIC009", "NIC013", "NIC014", "NIC015", "NIC019", "PFC003", "HST001", "CLS008", "WD015")
    }


@pytest.mark.parametrize(
    ("setting", "unchecked"),
    [
        ("rate_bps", ["NIC005"]),
        ("mtu_bytes", ["NIC015"]),
        ("cable_m", ["NIC014"]),
        ("dscp_to_priority", ["NIC019"]),
        ("pfc_priorities", ["PFC003", "PFC006", "PFC010", "WD015"]),
        ("traffic_class", ["HST001"]),
        ("nccl_tc", []),
        ("transport", ["WD008"]),
        ("stall_ms", ["WD015"]),
        ("trust", ["NIC009"]),
        ("dcbx", ["PFC010"]),
        ("global_pause", ["PFC006"]),
        ("applied_by", []),
        ("driver", []),
        ("cma_tos", []),
        ("rdma_mtu_bytes", []),
        ("roce_version", []),
        ("ets", ["NIC013"]),
        ("buffers", []),
        ("gid_types", []),
        ("out_of_order", []),
        ("selective_repeat", []),
    ],
)
def test_one_setting_that_no_file_says_leaves_open_what_depends_on_it(
    setting: str, unchecked: list[str]
) -> None:
    changes: dict[str, Any] = {setting: UNKNOWN}
    verdicts = checked(fabric(), as_read(wanted(), **changes), wanted())
    assert verdicts.findings == ()
    assert sorted(rule.code for rule in verdicts.not_checked) == unchecked


@pytest.mark.parametrize(
    ("setting", "unchecked"),
    [
        ("enabled", ["CLS008", "NIC001"]),
        ("priorities", ["NIC001"]),
        ("notifying", []),
        ("priority_mask", []),
        ("cnp_dscp", ["CLS008"]),
        ("cnp_priority", []),
    ],
)
def test_one_setting_of_dcqcn_that_no_file_says(setting: str, unchecked: list[str]) -> None:
    host = as_read(wanted())
    changes: dict[str, Any] = {setting: UNKNOWN}
    verdicts = checked(fabric(), host._replace(dcqcn=host.dcqcn._replace(**changes)), wanted())
    assert verdicts.findings == ()
    assert sorted(rule.code for rule in verdicts.not_checked) == unchecked


def test_a_host_that_says_nothing_hides_no_other() -> None:
    others = {
        "host2": as_read(wanted(), pfc_priorities=(), trust="pcp"),
        "host3": as_read(wanted(), pfc_priorities=(4,), global_pause=True, dcbx="firmware", trust="pcp"),
        "host4": as_read(wanted(), stall_ms=8000),
    }
    silent = Host("host1", unread(Origin("hosts/host1")))
    hosts = (silent, *(Host(name, qos) for name, qos in others.items()))
    verdicts = run(View(fabric()._replace(hosts=hosts)), rules_for("hosts"), "config_db")
    assert [(found.code, found.severity, found.elements) for found in verdicts.findings] == [
        ("NIC009", "error", ("host2", "host3")),
        ("PFC003", "error", ("host2",)),
        ("PFC003", "error", ("host3",)),
        ("PFC006", "error", ("host3",)),
        ("PFC010", "warning", ("host3",)),
        ("WD015", "warning", ("host4",)),
    ]
    assert {rule.times for rule in verdicts.not_checked} == {1}


def test_no_edit_is_offered_for_what_a_tool_printed() -> None:
    host = as_read(wanted(), trust="pcp", global_pause=True, dcbx="firmware")
    findings = checked(fabric(), with_variable(host, "NCCL_IB_SL", "3"), wanted()).findings
    assert {"NIC009", "PFC006", "PFC010", "HST006"} <= {finding.code for finding in findings}
    assert [finding for finding in findings if finding.fix] == []


def test_a_parameter_that_nobody_stated_is_where_all_of_dcqcn_is() -> None:
    host = as_read(wanted())
    stated, bare = host.dcqcn, host.dcqcn._replace(stated=())
    assert HostDcqcn(host, ("host1",)).at("rpg_min_rate") == stated.at("rpg_min_rate")
    assert HostDcqcn(host._replace(dcqcn=bare), ("host1",)).at("rpg_min_rate", "rpg_gd") == bare.origin
    assert stated.at("rpg_min_rate") != bare.origin


@pytest.mark.parametrize(
    ("room", "mtu"),
    [
        (4097, 4096),
        (4096, 4096),
        (4095, 2048),
        (2048, 2048),
        (2047, 1024),
        (1024, 1024),
        (1023, 512),
        (512, 512),
        (511, 256),
        (256, 256),
        (255, 0),
    ],
)
def test_rdma_has_the_largest_mtu_that_fits(room: int, mtu: int) -> None:
    assert rdma_mtu(room) == mtu


@pytest.mark.parametrize(
    ("restoration_ms", "detection_ms", "action", "poll_ms", "expected"),
    [
        (None, 400, "drop", 200, 600),
        (1000, 400, "drop", 200, 1600),
        (1000, 400, "forward", 200, 600),
        (1000, 400, "drop", None, 1500),
        (1000, 400, "alert", 200, None),
        (100, 100, "drop", 200, 400),
        (99, 400, "drop", 200, None),
        (60_000, 5000, "drop", 200, 65_200),
        (60_001, 400, "drop", 200, None),
        (1000, 5001, "drop", 200, None),
        (1000, 99, "drop", 200, None),
        (1000, None, "drop", 200, None),
    ],
)
def test_for_how_long_a_storm_leaves_a_queue_dead(
    restoration_ms: int | None,
    detection_ms: int | None,
    action: str,
    poll_ms: int | None,
    expected: int | None,
) -> None:
    watchdog = Watchdog(detection_ms, restoration_ms, action, Origin("config_db.json"))
    assert dead_ms(watchdog, poll_ms) == expected


@pytest.mark.parametrize(
    ("changes", "key", "runs"),
    [
        ({"priorities": ()}, "priorities", []),
        ({"notifying": (5,)}, "notifying", [5]),
        ({"enabled": False, "priorities": (), "notifying": ()}, "priorities", []),
        ({"priority_mask": 0}, "priority_mask", []),
    ],
)
def test_both_halves_of_dcqcn_and_the_firmware_count(
    changes: dict[str, Any], key: str, runs: list[int]
) -> None:
    host = as_read(wanted())
    found = only(fabric(), host._replace(dcqcn=host.dcqcn._replace(**changes)), wanted())
    assert (found.code, found.severity, found.data) == (
        "NIC001",
        "error",
        {"priorities": runs, "missing": [3]},
    )
    assert found.origin.path == ("dcqcn", key)


def test_the_firmwares_mask_is_blamed_where_it_is_what_switches_dcqcn_off() -> None:
    host = as_read(wanted())
    masked = host._replace(dcqcn=host.dcqcn._replace(priority_mask=0))
    assert only(fabric(), masked, wanted()).origin == at("dcqcn.priority_mask")


def test_where_nothing_marks_dcqcn_may_be_off() -> None:
    lossy = intent_view({"congestion_control": "pfc-only", "classes": {"rdma": {"ecn": "off"}}}).fabric
    assert checked(lossy, as_read(wanted(lossy)), wanted(lossy)).findings == ()


@pytest.mark.parametrize(
    ("priority_to_tc", "tsa", "percent", "expected"),
    [
        ((0, 0, 0, 1, 0, 0, 0, 0), ("ets", "ets"), (50, 50), False),
        ((0, 0, 0, 1, 0, 0, 0, 0), ("ets", "ets"), (75, 25), False),
        ((0, 0, 0, 1, 0, 0, 0, 0), ("ets", "ets"), (76, 24), True),
        ((0, 0, 0, 1, 0, 0, 0, 0), ("ets", "ets"), (100, 0), True),
        ((0, 0, 0, 1, 0, 0, 0, 0), ("ets", "strict"), (100, 0), False),
        ((0, 0, 0, 1, 0, 0, 0, 0), ("vendor", "vendor"), (0, 0), False),
        ((1, 1, 1, 1, 1, 1, 1, 1), ("ets", "ets"), (99, 1), False),
        # As Broadcom's script lays them out: the TC of RoCE is 1, its priority 3.
        ((0, 0, 0, 1, 0, 0, 0, 2), ("ets", "ets", "strict"), (50, 50, 0), False),
        ((0, 0, 0, 1, 0, 0, 0, 2), ("ets", "ets", "strict"), (90, 10, 0), True),
    ],
)
def test_rdma_has_half_of_an_equal_share_of_its_nic(
    priority_to_tc: tuple[int, ...], tsa: tuple[Any, ...], percent: tuple[int, ...], expected: bool
) -> None:
    rest = 8 - len(tsa)
    unused: tuple[Any, ...] = ("strict",) * rest
    ets = Ets(priority_to_tc, (*tsa, *unused), (*percent, *((0,) * rest)))
    found = codes(checked(fabric(), as_read(wanted(), ets=ets), wanted()))
    assert found == (["NIC013"] if expected else [])


@pytest.mark.parametrize(("told_m", "expected"), [(2, "NIC014"), (3, None), (4, "HST009")])
def test_a_nic_is_told_the_length_of_its_cable(told_m: int, expected: str | None) -> None:
    found = beside_intent(as_read(wanted(), cable_m=told_m))
    assert found == ([(expected, "cable_m")] if expected else [])


@pytest.mark.parametrize(
    ("index", "expected"), [(3, None), (1, None), (0, "error"), (2, "error"), (7, "warning")]
)
def test_nccl_uses_a_gid_of_roce_v2(index: int, expected: str | None) -> None:
    types = ((0, "IB/RoCE v1"), (1, "RoCE v2"), (2, "IB/RoCE v1"), (3, "RoCE v2"))
    host = as_read(wanted(), gid_types=types)
    host = host._replace(jobs=host.jobs._replace(gid_index=index))
    found = checked(fabric(), host, None).findings
    assert [(finding.code, finding.severity) for finding in found] == (
        [("NIC016", expected)] if expected else []
    )


def test_a_gid_whose_type_no_file_says_is_not_checked() -> None:
    host = as_read(wanted())
    verdicts = checked(fabric(), host._replace(jobs=host.jobs._replace(gid_index=3)), None)
    assert [(rule.code, rule.reason) for rule in verdicts.not_checked] == [
        ("NIC016", "no file of the host says of which type the GID 3 is")
    ]


def test_dscps_of_rdma_are_sorted_as_the_class_says() -> None:
    changed = tuple((dscp, 2 if dscp == 26 else priority) for dscp, priority in _map(wanted()))
    found = only(fabric(), as_read(wanted(), dscp_to_priority=changed), wanted())
    assert (found.code, found.data) == ("NIC019", {"dscps": [26], "nic_priorities": [2], "class_priority": 3})


def test_a_switch_alone_says_which_priority_a_dscp_has() -> None:
    device, host = switch(), as_read(wanted())
    assert checked(device, host, None).findings == ()
    changed = tuple((dscp, 2 if dscp == 26 else priority) for dscp, priority in _map(wanted()))
    assert codes(checked(device, host._replace(dscp_to_priority=changed), None)) == ["NIC019"]
    # What the host does not send RDMA on is its own business without an intent.
    other = tuple((dscp, 2 if dscp == 25 else priority) for dscp, priority in _map(wanted()))
    assert codes(checked(device, host._replace(dscp_to_priority=other), None)) == []


def _map(host: HostQos) -> tuple[tuple[int, int], ...]:
    assert isinstance(host.dscp_to_priority, tuple)
    return host.dscp_to_priority


def test_a_nic_left_to_its_own_map_joins_others_to_rdma() -> None:
    default = tuple((dscp, dscp >> 3) for dscp in range(64))
    found = checked(fabric(), as_read(wanted(), dscp_to_priority=default), wanted()).findings
    assert [(finding.code, finding.severity) for finding in found] == [("HST009", "warning")]
    assert found[0].data == {
        "setting": "the priority of DSCP 8-25, 27-47, 49-63",
        "found": "1, 2, 3, 4, 5, 6, 7",
        "wanted": "0",
    }


@pytest.mark.parametrize(("tos", "expected"), [(106, None), (104, None), (40, "info"), (26, "warning")])
def test_what_the_driver_overrides_does_no_harm(tos: int, expected: str | None) -> None:
    found = checked(fabric(), as_read(wanted(), nccl_tc=tos), wanted()).findings
    assert [finding.severity for finding in found] == ([expected] if expected else [])


def test_what_the_driver_forces_on_all_queue_pairs_is_graver_than_what_jobs_ask_for() -> None:
    found = only(fabric(), as_read(wanted(), traffic_class=40, nccl_tc=106), wanted())
    assert (found.code, found.severity) == ("HST008", "error")
    assert found.data == {"source": "traffic_class", "tos": 40, "dscp": 10, "lossless_dscp": 26}


def test_rdma_cm_counts_where_the_driver_has_no_class_of_its_own() -> None:
    inbox = as_read(wanted(), traffic_class=None, nccl_tc=106)
    assert beside_intent(inbox) == []
    assert beside_intent(inbox._replace(cma_tos=40)) == [("HST008", "cma_tos")]
    assert beside_intent(inbox._replace(cma_tos=0)) == [("HST009", "cma_tos")]


def test_a_library_that_is_lossy_beside_a_right_class_is_named() -> None:
    found = only(fabric(), with_library(as_read(wanted()), "UCX", "UCX_IB_TRAFFIC_CLASS", 40), wanted())
    assert (found.code, found.data["source"]) == ("HST008", "UCX_IB_TRAFFIC_CLASS")


@pytest.mark.parametrize(("priority", "expected"), [(6, []), (7, []), (5, ["CLS008"]), (3, ["CLS008"])])
def test_broadcom_ships_cnps_on_priority_7(priority: int, expected: list[str]) -> None:
    thor = intent_view(THOR).fabric
    want = wanted(thor)
    have = as_read(want)
    found = checked(thor, have._replace(dcqcn=have.dcqcn._replace(cnp_priority=priority)), None).findings
    assert [finding.code for finding in found] == expected


def test_cnps_of_the_operators_dscp_are_paused_by_a_stock_switch() -> None:
    """Mellanox/nic-configuration-operator sets CNP_DSCP to 4, which SONiC's templates make a PFC class."""
    stock = switch(DSCP_TO_TC_MAP={"AZURE": {"4": "3"}})
    have = as_read(wanted())
    found = only(stock, have._replace(dcqcn=have.dcqcn._replace(cnp_dscp=4)))
    assert (found.code, found.severity, found.data["nic_dscp"]) == ("CLS008", "error", 4)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("mlx5_1", ("mlx5_1",)),
        ("mlx5_0:1,mlx5_1:1", ("mlx5_0", "mlx5_1")),
        ("^mlx5_1", ("mlx5_1",)),
        ("=mlx5_1", ()),
        ("^=mlx5_1", ()),
        ("", ()),
        (",,", ()),
        ("mlx5", ("mlx5",)),
    ],
)
def test_a_list_is_read_as_nccl_reads_it(value: str, names: tuple[str, ...]) -> None:
    assert parsed(value) == names


@pytest.mark.parametrize(
    ("value", "devices", "expected"),
    [
        ("mlx5_1", ("mlx5_1", "mlx5_10"), "warning"),
        ("mlx5_1,mlx5_10", ("mlx5_1", "mlx5_10"), None),
        ("mlx5_1", ("mlx5_0", "mlx5_1", "mlx5_2"), None),
        ("mlx5", ("mlx5_0", "mlx5_1"), None),
        ("mlx5_1", (), "info"),
        ("mlx5_1", ("mlx5_0",), "info"),
        ("mlx5_0", (), None),
        ("mlx5", (), None),
        ("^mlx5_1", ("mlx5_1", "mlx5_11"), "warning"),
    ],
)
def test_a_name_that_begins_another_is_a_trap(
    value: str, devices: tuple[str, ...], expected: str | None
) -> None:
    host = with_variable(as_read(wanted(), rdma_devices=devices), "NCCL_IB_HCA", value)
    found = checked(fabric(), host, wanted()).findings
    assert [finding.severity for finding in found] == ([expected] if expected else [])
    assert all(finding.code == "HST010" for finding in found)


def test_the_list_is_given_back_with_its_ports() -> None:
    host = as_read(wanted(), rdma_devices=("mlx5_1", "mlx5_10"))
    found = only(fabric(), with_variable(host, "NCCL_IB_HCA", "^mlx5_1:1"), wanted())
    assert found.data["matched"] == [["mlx5_1", "mlx5_10"]]


@given(st.sampled_from(sorted(dict(wanted().dcqcn.values))), st.integers(0, 10_000))
def test_a_difference_names_both_values_and_both_places(name: str, value: int) -> None:
    want = wanted()
    have = as_read(want)
    values = {**dict(have.dcqcn.values), name: value}
    changed = have._replace(dcqcn=have.dcqcn._replace(values=tuple(values.items())))
    found = list(differences(changed, want))
    if value == dict(want.dcqcn.values)[name]:
        assert found == []
    else:
        ((setting, is_, says, origin, declared, _),) = found
        assert (setting, is_, says) == (name, str(value), str(dict(want.dcqcn.values)[name]))
        assert origin == at(f"dcqcn.{name}")
        assert declared.path[0] == "congestion_control"


def test_a_parameter_that_the_intent_states_is_declared_there_and_others_with_all_of_dcqcn() -> None:
    want = wanted(intent_view({"congestion_control": {"dcqcn": {"rpg_time_reset": "51us"}}}).fabric)
    have = as_read(want)
    other = tuple((name, value + 1) for name, value in have.dcqcn.values)
    changed = have._replace(dcqcn=have.dcqcn._replace(values=other))
    declared = {found.setting: found.declared.path for found in differences(changed, want)}
    assert declared["rpg_time_reset"] == ("congestion_control", "dcqcn", "rpg_time_reset")
    assert declared["rpg_hai_rate"] == ("congestion_control", "dcqcn")


@pytest.mark.parametrize(
    ("key", "stated", "mode", "field"),
    [
        ("reorder", "any", "out_of_order", "adaptive_routing_forced_en"),
        ("reorder", 64, "out_of_order", "adaptive_routing_forced_en"),
        ("retransmission", "selective", "selective_repeat", "selective_repeat_forced_en"),
    ],
)
def test_what_queue_pairs_are_made_with_is_compared_where_the_intent_states_it(
    key: str, stated: object, mode: str, field: str
) -> None:
    want = wanted(intent_view({"hosts": {key: stated}}).fabric)
    assert getattr(want, mode) is True
    assert list(differences(as_read(want), want)) == []
    off: dict[str, Any] = {mode: False}
    ((setting, is_, says, origin, declared, _),) = differences(as_read(want, **off), want)
    assert (setting, is_, says) == (f"{field} (hosts.{key})", "0", "1")
    assert (origin, declared.path) == (at(key), ("hosts", key))
    assert list(differences(as_read(want, **off), wanted())) == []


@pytest.mark.parametrize(
    ("hosts", "modes"),
    [
        ({}, (None, None)),
        ({"reorder": "none"}, (False, None)),
        ({"retransmission": "go-back-n"}, (None, False)),
    ],
)
def test_what_an_intent_leaves_open_is_asked_of_no_nic(hosts: dict[str, str], modes: tuple[Any, Any]) -> None:
    want = wanted(intent_view({"hosts": hosts}).fabric)
    assert (want.out_of_order, want.selective_repeat) == modes


def test_generations_of_nics_that_were_read_are_told_apart() -> None:
    """Bai et al., NSDI 2023, 7.2: one generation paces CNPs at the receiver, another at the sender."""
    new = as_read(wanted())
    values = dict(new.dcqcn.values) | {"min_time_between_cnps": 0}
    old = new._replace(nic_name="connectx-6-dx", dcqcn=new.dcqcn._replace(values=tuple(values.items())))
    strange = new._replace(nic=None, nic_name="")
    hosts = (Host("host1", new), Host("host2", old), Host("host3", strange))
    (finding,) = drawn(View(fabric()._replace(hosts=hosts)), "NIC003")
    assert (finding.severity, finding.elements) == ("warning", ("host2",))
    assert drawn(View(fabric()._replace(hosts=(hosts[0], hosts[2]))), "NIC003") == []


def drawn(view: View, code: str) -> list[Finding]:
    """Return the findings of one rule on a view."""
    return [
        one
        for one in run(view, rules_for("hosts", chosen=frozenset({code})), "intent").findings
        if one.code == code
    ]

"""Devices as they are found: what each spelling in CONFIG_DB means, and what is noted as unreadable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.sonic.from_model import OWNED, SHARED
from lossless.formats.sonic.read.tables import READ_TABLES, Tables, plain_name, whole_number
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.model import Tier
from lossless.model.fabric.qos import UNREADABLE, PortQos
from lossless.model.fabric.view import bare
from lossless.model.hardware.buffers import pg_profile_name
from tests.formats.sonic.devices import Config, base, patched, port_of, read


def qos_of(data: Config, port: str = "Ethernet0") -> PortQos:
    found = port_of(read(data)[0], port).qos
    assert found is not None
    return found


def test_the_leaf_base_in_full() -> None:
    switch, notes = read(base())
    assert notes == []
    assert (switch.name, switch.tier, switch.hwsku_name) == ("leaf1", Tier.LEAF, "ACS-SN5600")
    assert switch.device_type == "ToRRouter"
    assert switch.profile is not None
    assert switch.profile.name == "nvidia-sn5600"
    assert [(p.name, p.speed_bps, p.lanes, p.mtu_bytes, p.cable.configured_m) for p in switch.ports] == [
        ("Ethernet0", 400 * 10**9, 4, 9100, 5),
        ("Ethernet4", 400 * 10**9, 4, 9100, 5),
        ("Ethernet8", 800 * 10**9, 8, 9100, 40),
    ]
    assert all(port.cable.real_m is UNKNOWN and port.admin_up for port in switch.ports)
    assert switch.ports[0].qos is switch.ports[1].qos
    (inferred,) = switch.classes.classes
    assert (switch.classes.knowledge, inferred.priority, inferred.dscps) == ("inferred", 3, (26,))


def test_the_qos_of_a_port_of_the_leaf_base() -> None:
    qos = qos_of(base())
    assert qos.pfc.priorities == (3,)
    assert qos.watchdog_mask is not None
    assert qos.watchdog_mask.priorities == (3,)
    assert [qos.traffic_class(dscp) for dscp in (0, 26, 48)] == [0, 3, 6]
    assert [qos.group_of(tc) for tc in range(8)] == [0, 0, 0, 3, 0, 0, 0, 0]
    queue, group = qos.queues[3], qos.groups[3]
    assert queue is not None
    assert queue.wred is not None
    assert (queue.wred.marks, queue.wred.drops, queue.wred.green.min_bytes) == (True, False, 819_200)
    assert group is not None
    assert group.buffer is not None
    assert group.buffer.lossless
    assert group.buffer.pool is not None
    assert group.buffer.pool.name == "ingress_lossless_pool"


def test_the_azure_base_has_two_lossless_classes() -> None:
    switch, notes = read(base("azure"))
    assert notes == []
    assert [(cls.priority, cls.dscps) for cls in switch.classes.lossless] == [(3, (3,)), (4, (4,))]


class TestSpelling:
    """The same device, written in another spelling that is in the field."""

    @pytest.mark.parametrize(
        "change",
        [
            {"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "[DSCP_TO_TC_MAP|AZURE]"}}},
            {"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "[DSCP_TO_TC_MAP:AZURE]"}}},
            {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": ["3"]}}},
            {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": 3}}},
            {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": " 3"}}},
            {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,3"}}},
            {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "+03"}}},
            {"PORT": {"Ethernet0": {"speed": 400000, "mtu": 9100}}},
            {"PORT": {"Ethernet0": {"lanes": ["0", "1", "2", "3"]}}},
            {"CABLE_LENGTH": {"AZURE": {"Ethernet0": " 5m "}}},
            {"DSCP_TO_TC_MAP": {"AZURE": {"26": 3}}},
        ],
        ids=lambda change: json.dumps(change),
    )
    def test_means_the_same(self, change: dict[str, dict[str, Config]]) -> None:
        data = base()
        for table, rows in change.items():
            data = patched(data, **{table: {key: {**data[table][key], **row} for key, row in rows.items()}})
        switch, notes = read(data)
        assert notes == []
        assert bare(switch) == bare(read(base())[0])

    @pytest.mark.parametrize("value", ["3", ["3"]])
    def test_the_mark_of_a_list_behind_a_field_is_not_seen(self, value: object) -> None:
        marked = patched(base(), PORT_QOS_MAP={"Ethernet0": {"pfc_enable": None, "pfc_enable@": value}})
        assert qos_of(marked).pfc.priorities == (3,)

    def test_a_joined_key_is_a_row_for_each_port(self) -> None:
        rows = base()["PORT_QOS_MAP"]
        joined = {"global": rows["global"], "Ethernet0,Ethernet4,Ethernet8": rows["Ethernet0"]}
        data = base() | {"PORT_QOS_MAP": joined}
        switch, _ = read(data)
        assert bare(switch) == bare(read(base())[0])
        assert port_of(switch, "Ethernet4").qos is not None
        origin = qos_of(data, "Ethernet4").pfc.origin
        assert origin.path == ("PORT_QOS_MAP", "Ethernet0,Ethernet4,Ethernet8", "pfc_enable")

    def test_a_range_is_a_row_for_each_number(self) -> None:
        data = patched(base(), BUFFER_PG={"Ethernet0|3": None})
        data["BUFFER_PG"] = {"Ethernet0|3-4": {"profile": "pg_lossless_400000_5m_profile"}}
        groups = qos_of(data).groups
        assert [group is not None for group in groups[2:6]] == [False, True, True, False]

    def test_of_rows_that_overlap_the_last_key_counts(self) -> None:
        profiles = {"Ethernet0|3": {"profile": "ingress_lossy_profile"}, "Ethernet0|3-4": {"profile": "pg"}}
        data = patched(base(), BUFFER_PROFILE={"pg": {"xoff": "1"}})
        for rows in (profiles, dict(reversed(profiles.items()))):
            group = qos_of(data | {"BUFFER_PG": rows}).groups[3]
            assert group is not None
            assert group.buffer is not None
            assert group.buffer.name == "pg"

    def test_profile_lists_may_have_blanks_and_brackets(self) -> None:
        names = "[BUFFER_PROFILE|ingress_lossy_profile] , pg_lossless_400000_5m_profile,nothing"
        data = patched(base(), BUFFER_PORT_INGRESS_PROFILE_LIST={"Ethernet0": {"profile_list": names}})
        data = patched(data, BUFFER_PROFILE={"pg_lossless_400000_5m_profile": {"xoff": "1"}})
        listed = [profile.name for profile in qos_of(data).profile_lists[0]]
        assert listed == ["ingress_lossy_profile", "pg_lossless_400000_5m_profile"]


@pytest.mark.parametrize(
    ("text", "priorities"),
    [
        ("3,4", (3, 4)),
        ("3, 4", (3, 4)),
        ("4,3,4", (3, 4)),
        ("3-4", (3,)),
        ("3 4", (3,)),
        ("", ()),
        (",", ()),
        ("0", (0,)),
        ("00", (0,)),
        ("8", ()),
        ("33", (1,)),
        ("259", (3,)),
        ("3,x", (3,)),
        ("-3", ()),
    ],
)
def test_pfc_enable_as_orchagent_reads_it(text: str, priorities: tuple[int, ...]) -> None:
    row = {**base()["PORT_QOS_MAP"]["Ethernet0"], "pfc_enable": text}
    switch, notes = read(patched(base(), PORT_QOS_MAP={"Ethernet0": row}))
    qos = port_of(switch).qos
    assert qos is not None
    assert qos.pfc.priorities == priorities
    assert notes == []


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"QUEUE": {"Ethernet0|3": "AZURE"}}, "QUEUE|Ethernet0|3: not a row"),
        ({"CABLE_LENGTH": {"BACKBONE": []}}, "CABLE_LENGTH|BACKBONE: not a row"),
        ({"PORT": {"Ethernet0": {"speed": "400G"}}}, "PORT|Ethernet0|speed: '400G' is not above 0"),
        ({"PORT": {"Ethernet0": {"speed": "-1"}}}, "PORT|Ethernet0|speed: '-1' is not above 0"),
        ({"PORT": {"Ethernet0": {"mtu": "jumbo"}}}, "PORT|Ethernet0|mtu: 'jumbo' is not above 0"),
        ({"PORT": {"Ethernet0": {"mtu": {"a": 1}}}}, "PORT|Ethernet0|mtu: not a value"),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_what_means_nothing_and_no_rule_reports_is_noted(change: Config, note: str) -> None:
    switch, notes = read(patched(base(), **change))
    assert notes == [note]
    assert len(switch.ports) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"BUFFER_PG": {"Ethernet0|4-3": {}}},
        {"QUEUE": {"Ethernet0|5-5": {}}},
        {"QUEUE": {"Ethernet0|abc": {}}},
        {"QUEUE": {"Ethernet0": {}}},
        {"QUEUE": {"|3": {}}},
        {"QUEUE": {"a|b|3": {}}},
        {"QUEUE": {"Ethernet0|-3": {}}},
    ],
    ids=json.dumps,
)
def test_keys_that_are_no_port_and_range_are_kept_apart(change: Config) -> None:
    tables = Tables("sw.json", patched(base(), **change))
    ((table, rows),) = change.items()
    read_fabric([tables], lambda *_: None)
    assert [row.key for row in tables.keys[table].malformed] == list(rows)
    assert tables.unread == []


def test_rows_that_write_the_same_are_kept_apart() -> None:
    tables = Tables("sw.json", patched(base(), QUEUE={"Ethernet0|2-4": {}, "Ethernet4|2": {}}))
    read_fabric([tables], lambda *_: None)
    found = tables.keys["QUEUE"].overlaps
    assert [(o.port, o.numbers, o.earlier.key, o.later.key) for o in found] == [
        ("Ethernet0", (2,), "Ethernet0|2", "Ethernet0|2-4"),
        ("Ethernet0", (3,), "Ethernet0|2-4", "Ethernet0|3"),
        ("Ethernet0", (4,), "Ethernet0|2-4", "Ethernet0|4"),
    ]


class TestMaps:
    def test_an_entry_that_cannot_be_read_is_not_checked(self) -> None:
        row = {**base()["DSCP_TO_TC_MAP"]["AZURE"], "26": ""}
        found = qos_of(base() | {"DSCP_TO_TC_MAP": {"AZURE": row}}).dscp_to_tc
        assert found is not None
        assert found.targets[26] == UNREADABLE

    def test_a_class_that_cannot_be_read_is_in_no_group_and_no_queue(self) -> None:
        row = {**base()["DSCP_TO_TC_MAP"]["AZURE"], "26": ""}
        qos = qos_of(base() | {"DSCP_TO_TC_MAP": {"AZURE": row}})
        traffic_class = qos.traffic_class(26)
        assert (qos.group_of(traffic_class), qos.queue_of(traffic_class)) == (UNREADABLE, UNREADABLE)
        assert qos.queue_row(traffic_class) is None
        assert not qos.is_lossless(26)

    def test_an_unreadable_queue_of_a_class_is_not_the_last_one(self) -> None:
        row = {**base()["TC_TO_QUEUE_MAP"]["AZURE"], "3": ""}
        qos = qos_of(base() | {"TC_TO_QUEUE_MAP": {"AZURE": row}})
        assert qos.queue_of(3) == UNREADABLE
        assert qos.queue_row(3) is None
        assert qos.queue_row(4) is qos.queues[4]

    def test_a_missing_entry_goes_to_class_0(self) -> None:
        row = {dscp: tc for dscp, tc in base()["DSCP_TO_TC_MAP"]["AZURE"].items() if dscp != "26"}
        assert qos_of(base() | {"DSCP_TO_TC_MAP": {"AZURE": row}}).traffic_class(26) == 0

    def test_the_plain_spelling_of_an_index_counts(self) -> None:
        for row in ({"026": "1", "26": "3"}, {"26": "3", "026": "1"}):
            assert qos_of(base() | {"DSCP_TO_TC_MAP": {"AZURE": row}}).traffic_class(26) == 3

    def test_a_map_that_does_not_exist_is_none(self) -> None:
        assert qos_of(base() | {"TC_TO_PRIORITY_GROUP_MAP": {}}).tc_to_pg is None

    def test_the_global_row_is_that_of_a_port_without_a_map(self) -> None:
        row = {k: v for k, v in base()["PORT_QOS_MAP"]["Ethernet0"].items() if k != "dscp_to_tc_map"}
        rows = {"Ethernet0": row, "global": {"dscp_to_tc_map": "AZURE"}}
        assert qos_of(base() | {"PORT_QOS_MAP": rows}).traffic_class(26) == 3


class TestPorts:
    def test_without_a_port_table_the_other_tables_name_the_ports(self) -> None:
        switch, _ = read(patched(base(), PORT=None))
        assert [port.name for port in switch.ports] == ["Ethernet0", "Ethernet4", "Ethernet8"]
        assert all(port.speed_bps is None and port.mtu_bytes is UNKNOWN for port in switch.ports)
        assert all(port.admin_up is UNKNOWN for port in switch.ports)

    def test_ports_are_in_the_order_of_the_front_panel(self) -> None:
        ports: Config = {name: {} for name in ("Ethernet16", "Ethernet2", "Ethernet0", "Ethernet-BP0")}
        switch, _ = read({"PORT": ports})
        assert [port.name for port in switch.ports] == [
            "Ethernet0",
            "Ethernet2",
            "Ethernet16",
            "Ethernet-BP0",
        ]

    def test_defaults_count_where_nothing_is_written(self) -> None:
        port = port_of(read({"PORT": {"Ethernet0": {}}})[0])
        assert (port.mtu_bytes, port.admin_up, port.speed_bps, port.qos) == (9100, None, None, None)

    def test_an_mtu_that_cannot_be_read_is_unknown_and_not_the_default(self) -> None:
        assert port_of(read({"PORT": {"Ethernet0": {"mtu": "0"}}})[0]).mtu_bytes is UNKNOWN

    def test_no_cable_and_cable_none_and_no_metres(self) -> None:
        lengths = {"Ethernet0": "None", "Ethernet4": "0m"}
        switch, notes = read(base() | {"CABLE_LENGTH": {"AZURE": lengths}})
        assert [port.cable.configured_m for port in switch.ports] == [None, 0, None]
        assert notes == []


class TestGeneratedGroups:
    def test_without_a_row_the_device_makes_a_group_of_speed_and_cable(self) -> None:
        group = qos_of(base() | {"BUFFER_PG": {}, "BUFFER_PROFILE": {}}).groups[3]
        assert group is not None
        assert group.generated
        assert group.buffer is not None
        assert group.buffer.name == pg_profile_name(400 * 10**9, 5) == "pg_lossless_400000_5m_profile"

    def test_no_row_of_the_hwsku_makes_no_group(self) -> None:
        data = patched(base(), CABLE_LENGTH={"AZURE": {"Ethernet0": "7m"}})
        assert qos_of(data | {"BUFFER_PG": {}, "BUFFER_PROFILE": {}}).groups[3] is None

    def test_an_unknown_hwsku_makes_a_group_of_unknown_size(self) -> None:
        data = patched(base(), DEVICE_METADATA={"localhost": {"hwsku": "Mine-1"}})
        group = qos_of(data | {"BUFFER_PG": {}, "BUFFER_PROFILE": {}}).groups[3]
        assert group is not None
        assert (group.generated, group.buffer) == (True, None)

    def test_the_dynamic_model_computes_groups_without_a_profile(self) -> None:
        local = {**base()["DEVICE_METADATA"]["localhost"], "buffer_model": "dynamic"}
        data = base() | {"DEVICE_METADATA": {"localhost": local}}
        switch, _ = read(data | {"BUFFER_PG": {"Ethernet0|3": {"profile": "NULL"}}})
        assert switch.qos.buffer_model == "dynamic"
        qos = port_of(switch).qos
        assert qos is not None
        group = qos.groups[3]
        assert group is not None
        assert (group.generated, group.buffer) == (True, None)


class TestChassis:
    def rows(self, table: str = "QUEUE", **meta: str) -> list[str]:
        keys = ["lc1|Asic0|Ethernet0|3", "lc1|Asic1|Ethernet4|3", "lc2|Asic0|Ethernet8|3"]
        data: Config = {table: {key: {"profile": "x"} for key in keys}}
        if meta:
            data["DEVICE_METADATA"] = {"localhost": meta}
        return [port.name for port in read(data)[0].ports]

    @pytest.mark.parametrize("table", ["QUEUE", "BUFFER_QUEUE"])
    def test_rows_of_other_cards_are_theirs(self, table: str) -> None:
        assert self.rows(table, hostname="lc1", asic_name="Asic0", switch_type="voq") == ["Ethernet0"]
        assert self.rows(table, hostname="lc1", switch_type="voq") == ["Ethernet0", "Ethernet4"]

    def test_the_asic_may_be_written_in_any_case_and_the_host_may_not(self) -> None:
        assert self.rows(hostname="lc1", asic_name="ASIC0", switch_type="voq") == ["Ethernet0"]
        assert self.rows(hostname="LC1", asic_name="asic0", switch_type="voq") == []

    def test_only_queues_of_a_device_with_virtual_output_queues_have_such_keys(self) -> None:
        assert self.rows("BUFFER_PG", hostname="lc1", asic_name="Asic0", switch_type="voq") == []
        assert self.rows(hostname="lc1", asic_name="Asic0") == []

    def test_where_the_card_is_not_named_none_of_several_is_ones_own(self) -> None:
        assert self.rows() == []
        keys = {f"lc1|Asic0|Ethernet{n}|3": {"profile": "x"} for n in (0, 4)}
        assert [port.name for port in read({"QUEUE": keys})[0].ports] == ["Ethernet0", "Ethernet4"]
        _, unread = read({"QUEUE": {"lc1|Asic0|Ethernet0|3": {}, "lc2|Asic0|Ethernet0|3": {}}})
        assert unread == ["rows of 2 cards of a chassis, and nothing says which is this device"]

    def test_joined_ports_are_none_in_such_a_key(self) -> None:
        """orchagent splits the whole text at commas, and finds no port of either half."""
        meta = {"localhost": {"hostname": "lc1", "asic_name": "Asic0", "switch_type": "voq"}}
        data = {"DEVICE_METADATA": meta, "QUEUE": {"lc1|Asic0|Ethernet0,Ethernet4|3": {"scheduler": "x"}}}
        assert read(data)[0].ports == ()

    def test_it_is_known_for_one(self) -> None:
        assert read({"DEVICE_METADATA": {"localhost": {"switch_type": "voq"}}})[0].qos.voq


def test_a_table_that_is_a_list_is_reported_and_the_rest_is_read() -> None:
    tables = Tables("sw.json", base() | {"QUEUE": [], "PFC_WD": "on"})
    assert tables.unreadable == [
        ("PFC_WD", "PFC_WD is a str, not a table of rows; it is not read"),
        ("QUEUE", "QUEUE is a list, not a table of rows; it is not read"),
    ]
    (switch,) = read_fabric([tables], lambda _hwsku, _platform: None).switches
    assert len(switch.ports) == 3


def links(*ends: tuple[str, str, str, str]) -> list[tuple[str, str, str, str]]:
    """Return the links of devices that each name one neighbor: device, its port, the neighbor, its port."""

    def device(name: str, port: str, peer: str, peer_port: str) -> Config:
        return {
            "DEVICE_METADATA": {"localhost": {"hostname": name}},
            "PORT": {port: {"speed": "400000"}},
            "DEVICE_NEIGHBOR": {port: {"name": peer, "port": peer_port}} if peer else {},
        }

    tables = [Tables(f"{i}.json", device(*end)) for i, end in enumerate(ends)]
    found = read_fabric(tables, lambda _hwsku, _platform: None).links
    return [(link.a, link.a_port, link.b, link.b_port) for link in found]


def test_devices_that_name_each_other_are_linked_once() -> None:
    assert links(
        ("a", "Ethernet0", "b", "Ethernet8"),
        ("b", "Ethernet8", "a", "Ethernet0"),
        ("c", "Ethernet0", "elsewhere", "Ethernet0"),
    ) == [("a", "Ethernet0", "b", "Ethernet8")]


@pytest.mark.parametrize("names_the_other", ["a", "b"])
def test_a_link_that_one_end_names_is_found_whatever_the_ends_are_called(names_the_other: str) -> None:
    ends = {"a": ("a", "Ethernet0", "b", "Ethernet8"), "b": ("b", "Ethernet8", "a", "Ethernet0")}
    silent = {name: (*end[:2], "", "") for name, end in ends.items()}
    found = links(*(ends[name] if name == names_the_other else silent[name] for name in ends))
    assert found == [("a", "Ethernet0", "b", "Ethernet8")]


def test_small_readers() -> None:
    assert [whole_number(text) for text in ("3", " -3 ", "", "-", "--3", "3-", "0x3", "٣")] == [
        3,
        -3,
        *[None] * 6,
    ]
    assert [plain_name(text) for text in ("[A|x]", "[A:x]", "[A|x:y]", "[x]")] == ["x", "x", "x:y", ""]
    assert sorted(["Ethernet10", "Ethernet8", "Ethernet"], key=natural_key) == [
        "Ethernet",
        "Ethernet8",
        "Ethernet10",
    ]


def corpus(reference: Path) -> list[tuple[str, Any]]:
    found = [(str(path), json.loads(path.read_text())) for path in sorted(reference.glob("corpus/*/*.json"))]
    for name in ("cases", "accepted_cases"):
        cases = json.loads((reference / f"corpus/rejected/{name}.json").read_text())
        found += [(f"{name}:{case['test']}", case["config_db"]) for case in cases]
    return [(name, data) for name, data in found if isinstance(data, dict)]


def test_real_configurations_are_read(reference: Path) -> None:
    found = corpus(reference)
    assert len(found) > 300
    for name, data in found:
        switch, _ = read(data)
        rows = sum(len(data.get(table, ())) for table in READ_TABLES & data.keys() & {"PORT"})
        assert len(switch.ports) >= rows, name


def test_real_configurations_mean_the_same_in_any_order(reference: Path) -> None:
    for name, data in corpus(reference):
        backwards = {
            table: dict(reversed(rows.items())) if isinstance(rows, dict) else rows
            for table, rows in data.items()
        }
        assert bare(read(backwards)[0]) == bare(read(data)[0]), name


def test_every_table_that_is_rendered_is_read() -> None:
    assert {*OWNED, *SHARED} <= READ_TABLES

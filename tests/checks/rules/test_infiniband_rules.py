"""Rules of InfiniBand subnets: what each says beside its own examples, and what of a sound subnet it lets be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint_documents
from tests.checks.rules.checking import drawn, only, unchecked
from tests.checks.rules.infiniband import MEMBERS, conf, intent, managed, said
from tests.checks.rules.snippets import read_text

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document


# --- managers


def test_ufm_looks_after_its_own_standby() -> None:
    alone = {"hosts": [{"on": "sm1", "priority": 10}]}
    assert only("IB001", managed(**alone)).severity == "warning"
    assert drawn("IB001", managed(manager="ufm", **alone)) == []


def test_a_file_of_a_manager_says_nothing_of_the_others() -> None:
    assert drawn("IB001", *conf("sm_priority 3\nlmc 0\n")) == []
    assert [rule.times for rule in unchecked("IB001", *conf("sm_priority 3\nlmc 0\n"))] == [1]


def test_priorities_that_nobody_states_are_identical() -> None:
    finding = only("IB001", managed(hosts=[{"on": "sm1"}, {"on": "sm2"}]))
    assert finding.data == {"master": "sm1", "priority": 0, "other_priority": 0}
    assert finding.severity == "warning"


def test_a_managed_switch_can_run_the_manager() -> None:
    hosts = [{"on": "leaf1", "priority": 10}, {"on": "sm2", "priority": 5}]
    assert drawn("IB007", intent(subnet_manager={"hosts": hosts}, sharp="off")) == []


# --- links


@pytest.mark.parametrize(
    ("switch", "hca", "rate", "findings", "counted"),
    [
        ("nvidia-qm8700", "connectx-6", "EDR", 0, 0),
        ("nvidia-qm9700", "connectx-7", "EDR", 0, 0),
        ("nvidia-q3400", "connectx-8", "NDR", 0, 1),
        ("nvidia-q3400", "connectx-7", "XDR", 1, 0),
        ("nvidia-qm8700", "connectx-6", "NDR200", 2, 0),
    ],
)
def test_a_slower_generation_is_unknown_where_no_source_states_it_and_a_faster_one_is_impossible(
    switch: str, hca: str, rate: str, findings: int, counted: int
) -> None:
    tree = {"host_links": f"1 x {rate}", "uplinks": f"3 x {rate}"}
    document = intent(
        hardware={"switch": switch, "hca": hca}, topology={"fat_tree": tree, "hosts": None}, sharp="off",
        subnet_manager={"hosts": [{"on": "host1", "priority": 2}, {"on": "host2", "priority": 1}]},
        partitions={"storage": None},
    )  # fmt: skip
    kinds = {str(finding.data["product"]) for finding in drawn("IB006", document)}
    assert (len(kinds), len(unchecked("IB006", document))) == (findings, counted)


@pytest.mark.parametrize("switch", ["nvidia-qm9700", "nvidia-qm9790"])
def test_a_switch_of_ndr_has_four_ports_of_hdr100_a_cage(switch: str) -> None:
    plain: dict[str, Any] = {"hardware": {"switch": switch, "hca": "connectx-6"}, "sharp": "off"}
    plain |= {"partitions": {"storage": None}}
    tree = {"host_links": "1 x HDR100", "uplinks": "4 x NDR", "hosts_per_leaf": 112}
    managers = {"hosts": [{"on": "host1", "priority": 10}, {"on": "host2", "priority": 5, "standby": True}]}
    shape = {"hosts": None, "fat_tree": tree, "oversubscription": 4}
    assert drawn("IB006", intent(topology=shape, subnet_manager=managers, **plain)) == []
    full = {**shape, "fat_tree": {**tree, "hosts_per_leaf": 113}}
    have = only("IB006", intent(topology=full, subnet_manager=managers, **plain)).data["have"]
    assert isinstance(have, dict)
    assert have["HDR100"] == 128


# --- routing


def torus(*sides: int, engine: str, options: Any = None, **more: Any) -> Document:
    """Return a torus that is routed by an engine."""
    shape = {"sides": list(sides), "links": "1 x NDR", "hosts_per_switch": 1, "host_links": "1 x NDR"}
    place = [f"sw-{'-'.join(['1'] * (len(sides) - 1) + [str(number)])}" for number in (1, 2)]
    hosts = {
        name: {"at": where, "links": "1 x NDR", "role": "management"}
        for name, where in zip(("sm1", "sm2"), place, strict=True)
    }
    topology = {"fat_tree": None, "torus": shape, "hosts": {**hosts, "storage1": None}}
    parts = {"storage": None}
    manager = {"routing": {"engine": engine, "roots": "off"}, "options": options}
    return intent(topology=topology, subnet_manager=manager, sharp="off", partitions=parts, **more)


@pytest.mark.parametrize(
    ("document", "severity"),
    [
        (torus(4, 3, engine="ftree"), "error"),
        (torus(4, 3, engine="updn"), "error"),
        (torus(5, 3, engine="minhop"), "error"),
        (torus(5, 3, engine="dor"), "error"),
        (torus(4, 3, engine="dor"), "warning"),
        (managed(routing={"engine": "torus-2QoS", "roots": "off"}), "error"),
        (managed(routing={"engine": "minhop", "roots": "off"}), "info"),
    ],
)
def test_an_engine_that_does_not_fit_is_as_grave_as_what_becomes_of_it(
    document: Document, severity: str
) -> None:
    found = lint_documents([document], Options(select=("IB002",)))
    assert [finding.severity for finding in found.findings] == [severity]


@pytest.mark.parametrize("more", [{}, {"lmc": 1}])
def test_dor_has_no_credit_loop_on_rings_of_three(more: dict[str, int]) -> None:
    document = torus(3, 3, engine="dor", options=more)
    assert drawn("IB002", document) == drawn("IB020", document) == []


@pytest.mark.parametrize("engine", ["lash", "nue", "dfsssp"])
def test_engines_for_any_topology_fit_a_torus(engine: str) -> None:
    assert drawn("IB002", torus(5, 5, engine=engine)) == []


@pytest.mark.parametrize(
    ("tables", "lacking"),
    [
        ("qos_vlarb_high 0:64\nqos_vlarb_low 0:64\n", {"swe": [1, 2, 3]}),
        ("qos_vlarb_low 0:64,1:0,2:4,3:4\n", {"swe": [1]}),
        ("qos_vlarb_high 1:64,2:4,3:4\nqos_vlarb_low 1:64\n", {"ca": [0], "swe": [0]}),
        ("qos_vlarb_high 0:64\nqos_vlarb_low 0:64\nqos_swe_vlarb_low 0:4,1:4,2:4,3:4\n", {}),
        ("", {}),
    ],
)
def test_every_lane_of_torus_2qos_needs_a_weight(tables: str, lacking: dict[str, list[int]]) -> None:
    text = f"routing_engine torus-2QoS\nqos TRUE\nmax_op_vls 4\n{tables}"
    found = {finding.data["ports"]: finding.data["lanes"] for finding in drawn("IB027", *conf(text))}
    assert found == lacking


@pytest.mark.parametrize("vls", [2, 4, 8])
def test_what_an_intent_says_of_a_torus_serves_its_lanes(vls: int) -> None:
    levels = {
        "levels": {"training": {"sl": 1, "vl": 1, "high": 64}, "storage": {"sl": 8, "vl": 0, "low": 32}}
    }
    assert drawn("IB027", torus(4, 3, engine="torus-2QoS", qos={"vls": vls, **levels})) == []


@pytest.mark.parametrize("engine", ["lash", "dfsssp", "nue"])
def test_an_engine_of_lanes_finds_each_behind_the_level_of_its_number(engine: str) -> None:
    document = torus(4, 3, engine=engine, qos={"vls": 8})
    assert drawn("IB004", document) == drawn("IB027", document) == []
    text = f"routing_engine {engine}\nnue_max_num_vls 0\nqos TRUE\nmax_op_vls 3\nqos_sl2vl "
    assert only("IB004", *conf(text + ",".join(["0"] * 16) + "\n")).data["lanes"] == 1
    assert drawn("IB004", *conf(text + ",".join(map(str, range(15))) + ",7\n")) == []
    assert drawn("IB004", *conf(text.replace("qos_sl2vl ", ""))) == []


def test_what_nvidias_manager_takes_by_itself_is_not_checked() -> None:
    document = intent(flavour="nvidia", subnet_manager={"routing": None})
    assert drawn("IB002", document) == drawn("IB037", document) == []
    assert [rule.times for rule in unchecked("IB002", document)] == [1]


def test_a_leaf_among_the_roots_fails_ftree_and_misleads_updn() -> None:
    roots = ["leaf1", "spine1", "spine2"]
    assert only("IB003", managed(routing={"roots": roots})).severity == "error"
    assert only("IB003", managed(routing={"engine": "updn", "roots": roots})).severity == "warning"


def test_engines_of_nvidias_are_known_there_alone() -> None:
    routing = {"engine": "ar_updn", "roots": "off"}
    assert only("IB015", managed(routing=routing)).severity == "error"
    assert drawn("IB015", intent(flavour="nvidia", subnet_manager={"routing": routing})) == []
    deployed = conf("lmc 0\nrouting_engine ar_updn\n")
    assert drawn("IB015", *deployed) == []
    assert len(unchecked("IB015", *deployed)) == 1


@pytest.mark.parametrize("engine", ["pqft", "dfp2", "ar_torus", "kdor-hc", "auto", "nue"])
def test_an_engine_of_one_flavor_is_not_checked_where_the_flavor_is_unknown(engine: str) -> None:
    deployed = conf(f"lmc 0\nrouting_engine {engine}\n")
    assert drawn("IB015", *deployed) == []
    assert len(unchecked("IB015", *deployed)) == 1


@pytest.mark.parametrize(
    ("engine", "verdict"),
    [
        ("dfp2", "healthy"), ("ar_torus", "healthy"), ("ar_minhop", "healthy"), ("kdor-hc", "healthy"),
        ("kdor-ghc", "healthy"), ("pqft", "healthy"), ("chain", "healthy"), ("auto", "healthy"),
        ("dfp3", "unknown"), ("ar_lash", "unknown"), ("ar_dfp", "unknown"), ("spray", "unknown"),
        ("updnn", "wrong"), ("AR_UPDN", "wrong"), ("ar_ftre", "wrong"), ("nue", "wrong"), ("1", "wrong"),
    ],
)  # fmt: skip
def test_an_engine_of_nvidias_is_wrong_only_where_it_is_a_slip_or_one_of_upstream(
    engine: str, verdict: str
) -> None:
    """An engine of a later release has a name that no list has: it is unknown, and render does not refuse it."""
    document = intent(
        flavour="nvidia", sharp="off", subnet_manager={"routing": {"engine": engine, "roots": "off"}}
    )
    severities = [finding.severity for finding in drawn("IB015", document)]
    assert severities == {"healthy": [], "unknown": ["warning"], "wrong": ["error"]}[verdict]


@pytest.mark.parametrize("engine", ["ar_updn", "dfp2", "pqft", "auto"])
def test_an_engine_of_nvidias_is_named_so_under_the_upstream_opensm(engine: str) -> None:
    finding = only("IB015", managed(routing={"engine": engine, "roots": "off"}))
    assert (finding.severity, finding.data) == ("error", {"engine": engine})


def test_a_wrong_engine_behind_a_right_one_is_a_warning() -> None:
    finding = only("IB015", *conf("lmc 0\nrouting_engine updn,ftre\n"))
    assert (finding.severity, finding.data) == ("warning", {"engine": "ftre"})


def test_a_torus_cannot_be_kept_free_of_cycles_on_one_lane() -> None:
    one_lane: dict[str, Any] = {"qos": {"vls": 1, "levels": {"training": {"vl": 0}, "storage": {"vl": 0}}}}
    assert drawn("IB004", torus(5, 5, engine="lash")) == []
    assert only("IB004", torus(5, 5, engine="lash", **one_lane)).data == {"engine": "lash", "lanes": 1}


@pytest.mark.parametrize(
    ("code", "sl", "severity", "lanes"), [(1, 0, "error", 1), (2, 8, "warning", 2), (3, 8, "warning", 4)]
)
def test_torus_2qos_needs_lanes_for_what_it_is_to_do(code: int, sl: int, severity: str, lanes: int) -> None:
    parted = f"Default=0x7fff : ALL, SELF=full ;\nA=0x2, sl={sl} : {MEMBERS} ;\n"
    finding = only("IB004", *conf(f"routing_engine torus-2QoS\nqos TRUE\nmax_op_vls {code}\n", parted))
    assert finding.severity == severity
    assert finding.data == {"engine": "torus-2QoS", "lanes": lanes}


@pytest.mark.parametrize(("code", "sl"), [(3, 7), (4, 8)])
def test_lanes_that_nobody_asks_for_are_not_missed(code: int, sl: int) -> None:
    parted = f"Default=0x7fff : ALL, SELF=full ;\nA=0x2, sl={sl} : {MEMBERS} ;\n"
    assert drawn("IB004", *conf(f"routing_engine torus-2QoS\nqos TRUE\nmax_op_vls {code}\n", parted)) == []


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("max_op_vls 2\nqos_sl2vl 0,1,2,3,0,1,0,1,0,1,0,1,0,1,15,1\n", [2, 3]),
        ("max_op_vls 3\nqos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\n", [4, 5, 6, 7, 12, 13, 14, 15]),
        ("max_op_vls 4\nqos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\n", None),
        # What opensm writes into a file by itself names all lanes.
        ("max_op_vls 3\nqos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n", None),
        ("routing_engine torus-2QoS\nmax_op_vls 4\nqos_sl2vl 8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8\n", None),
    ],
)
def test_a_table_of_somebodys_own_names_operational_lanes(text: str, beyond: list[int] | None) -> None:
    found = drawn("IB004", *conf(f"qos TRUE\n{text}"))
    assert [finding.data["levels"] for finding in found] == ([] if beyond is None else [beyond])


def test_a_file_of_roots_that_is_named_lies_beside_the_others() -> None:
    text = "routing_engine {}\nroot_guid_file /etc/opensm/roots.conf\ncn_guid_file /etc/opensm/cn.conf\n"
    partitions = "Default=0x7fff : ALL=full ;\n"
    for engine, missing in (("ftree", 2), ("updn", 1), ("minhop", 0)):
        found = drawn("IB003", *conf(text.format(engine), partitions))
        assert [finding.severity for finding in found] == ["warning"] * missing
    assert drawn("IB003", *conf(text.format("ftree"))) == []
    assert len(unchecked("IB003", *conf(text.format("ftree")))) == 2
    there = [*conf(text.format("updn"), partitions), read_text("0x10\n", "roots.conf")]
    assert not any("file" in finding.data for finding in drawn("IB003", *there))


def test_an_engine_of_many_lanes_without_qos_is_no_error_on_a_tree() -> None:
    routing = {"routing": {"engine": "dfsssp", "roots": "off"}}
    parts = {"compute": {"level": None}, "storage": None}
    document = intent(subnet_manager=routing, qos=None, partitions=parts, jobs=None, sharp="off")
    finding = only("IB004", document)
    assert finding.severity == "warning"
    assert only("IB004", *conf("routing_engine dfsssp\nqos FALSE\n")).severity == "error"


def test_nue_needs_tables_only_where_it_may_use_several_lanes() -> None:
    assert drawn("IB004", *conf("routing_engine nue\nlmc 0\n")) == []
    assert only("IB004", *conf("routing_engine nue\nqos FALSE\nnue_max_num_vls 4\n")).severity == "error"


def test_where_a_file_says_nothing_of_qos_the_command_line_may_turn_it_on() -> None:
    finding = only("IB004", *conf("routing_engine dfsssp\nlmc 0\n"))
    assert finding.severity == "warning"
    table = "qos_sl2vl 0,1,2,3\n"
    assert drawn("IB005", *conf(table)) == []
    assert len(unchecked("IB005", *conf(table))) == 1
    assert unchecked("IB005", *conf("lmc 0\n")) == unchecked("IB005", *conf("qos FALSE\n" + table)) == []
    parts = "Default=0x7fff, sl=3 : ALL=full ;\n"
    assert len(unchecked("IB027", *conf("lmc 0\n", parts))) == 1


# --- levels of service


EIGHT = {"vls": 8, "levels": {"rest": {"sl": 0, "vl": 0, "low": 32}}}


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize(
    ("sides", "loops"), [((5, 3), True), ((6, 3), True), ((4, 3), False), ((4, 4), False)]
)
def test_jobs_of_one_level_close_the_rings_of_torus_2qos_that_are_longer_than_four(
    sides: tuple[int, ...], level: int, *, loops: bool
) -> None:
    jobs = {"level": None, "environment": {"NCCL_IB_SL": level}}
    found = drawn("IB046", torus(*sides, engine="torus-2QoS", qos=EIGHT, jobs=jobs))
    assert [finding.severity for finding in found] == ["error"] * loops
    assert [finding.data["sl"] for finding in found] == [level] * loops


def test_jobs_are_on_one_level_wherever_an_engine_chooses_levels_unless_nothing_can_loop() -> None:
    for engine in ("lash", "dfsssp"):
        assert only("IB046", torus(5, 3, engine=engine, qos=EIGHT)).severity == "warning"
    lanes = {
        "subnet_manager": {"routing": {"engine": "nue", "roots": "off"}, "options": {"nue_max_num_vls": 4}}
    }
    assert drawn("IB046", torus(5, 3, engine="nue", qos=EIGHT)) == []
    assert drawn("IB046", intent(**lanes)) == []
    assert drawn("IB046", torus(5, 3, engine="torus-2QoS", qos=EIGHT, jobs=None)) == []
    assert drawn("IB046", *conf("routing_engine torus-2QoS\nqos TRUE\n")) == []


def test_a_level_on_a_lane_that_is_not_there_uses_another() -> None:
    document = intent(qos={"vls": 2, "levels": {"storage": {"vl": 2}}})
    assert only("IB004", document).data == {"level": "storage", "vl": 2, "lanes": 2}


def test_storage_on_the_lane_of_the_jobs_is_a_warning() -> None:
    finding = only("IB005", intent(qos={"levels": {"storage": {"vl": 1}}}))
    assert finding.severity == "warning"
    assert finding.origin.path == ("partitions", "storage")


def test_entries_beyond_the_sixteenth_are_dropped() -> None:
    table = ",".join("0" * 17)
    assert only("IB005", *conf(f"qos TRUE\nqos_sl2vl {table}\n")).data == {"key": "qos_sl2vl", "entries": 17}


def test_tables_of_lanes_are_nothing_while_qos_is_off() -> None:
    assert said(*conf("qos FALSE\nqos_sl2vl 0,1\n")) == {"IB028": "error"}


@pytest.mark.parametrize("folder", ["/etc/opensm", "/etc/rdma", "/usr/local/etc/opensm"])
def test_the_file_of_a_policy_that_opensm_writes_by_itself_is_no_statement(folder: str) -> None:
    assert said(*conf(f"qos FALSE\nqos_policy_file {folder}/qos-policy.conf\n")) == {}
    assert said(*conf(f"qos FALSE\nqos_policy_file {folder}/ours.conf\n")) == {"IB028": "error"}


def test_a_command_line_may_turn_on_what_a_file_says_nothing_of() -> None:
    finding = only("IB028", *conf("qos_high_limit 4\n"))
    assert finding.severity == "warning"


def test_options_without_qos_are_named_in_the_order_of_their_names() -> None:
    finding = only("IB028", *conf("qos FALSE\nqos_sl2vl 0,1\nqos_high_limit 4\n"))
    assert finding.data["lost"] == ["qos_high_limit", "qos_sl2vl"]


def test_a_misspelled_qos_is_one_finding_and_not_three() -> None:
    assert said(*conf("routing_engine dfsssp\nqos yes\nqos_high_limit 4\n")) == {"IB016": "error"}


@pytest.mark.parametrize(
    ("table", "entries"), [("15:4,0:64", 2), ("0:64, 1:300, 2:abc,3-4", 4), (",".join(["0:4"] * 65), 65)]
)
def test_arbitration_of_lanes_or_weights_that_are_none_is_said_once(table: str, entries: int) -> None:
    text = f"qos TRUE\nmax_op_vls 4\nqos_vlarb_high {table}\n"
    finding = only("IB017", *conf(text))
    assert finding.data["entries"] == entries
    assert finding.origin.path == ("qos_vlarb_high",)
    assert drawn("IB017", *conf(text.replace("TRUE", "FALSE"))) == []


@pytest.mark.parametrize("table", ["(null)", "0:64,1:0x20, 14:255", ",".join(["0:4"] * 64)])
def test_sound_arbitration_is_let_be(table: str) -> None:
    assert drawn("IB017", *conf(f"qos TRUE\nqos_swe_vlarb_low {table}\n")) == []


@pytest.mark.parametrize("key", ["vl_stall_count", "leaf_vl_stall_count"])
def test_a_stall_count_of_zero_means_nothing(key: str) -> None:
    finding = only("IB017", *conf(f"lmc 0\n{key} 0\n"))
    assert (finding.severity, finding.data) == ("error", {"key": key, "number": 0})
    assert finding.origin.path[-1:] == (key,)
    assert drawn("IB017", *conf(f"lmc 0\n{key} 1\n")) == []


def test_what_is_off_in_any_word_is_off() -> None:
    assert said(*conf("lmc 0\nsweep_on_trap off\n")) == {"IB016": "info", "IB033": "warning"}
    assert said(*conf("lmc 0\nsweep_on_trap on\n")) == {"IB016": "error"}


def test_arbitration_of_their_own_for_some_ports_is_not_checked() -> None:
    text = "qos TRUE\nmax_op_vls 3\nqos_vlarb_low 0:4\nqos_ca_vlarb_low 0:4,3:4\n"
    deployed = conf(text, f"Training=0x2, sl=3 : {MEMBERS} ;\n")
    assert drawn("IB027", *deployed) == []
    assert len(unchecked("IB027", *deployed)) == 1


@pytest.mark.parametrize(("key", "code"), [("head_of_queue_lifetime", 0x0B), ("packet_life_time", 0x05)])
def test_short_lives_are_said_of_every_kind(key: str, code: int) -> None:
    assert said(*conf(f"lmc 0\n{key} {code:#x}\nleaf_head_of_queue_lifetime 0x0b\n")) == {"IB014": "warning"}


# --- links


def test_split_ports_count_half() -> None:
    hardware = {"switch": "nvidia-qm8700", "hca": "connectx-6"}
    shape = {"host_links": "1 x HDR100", "uplinks": "5 x HDR"}
    managers = [{"on": "host1", "priority": 10}, {"on": "host31", "priority": 5}]

    def leaf_of(hosts: int) -> Document:
        tree = {**shape, "hosts_per_leaf": hosts}
        topology = {"fat_tree": tree, "hosts": None, "oversubscription": 4}
        parts = {"storage": None}
        manager = {"hosts": managers}
        return intent(
            hardware=hardware, topology=topology, subnet_manager=manager, partitions=parts, sharp="off"
        )

    # 10 whole ports and 60 halves are the 40 that a switch has.
    assert drawn("IB006", leaf_of(60)) == []
    assert only("IB006", leaf_of(61)).data["asked"] == {"HDR100": 61, "HDR": 10}


def test_links_of_managers_are_no_load() -> None:
    assert drawn("IB040", intent(topology={"fat_tree": {"uplinks": "3 x NDR", "hosts_per_leaf": 5}})) == []
    more = {"topology": {"fat_tree": {"uplinks": "3 x NDR", "hosts_per_leaf": 6}}}
    assert only("IB040", intent(**more)).data["ratio"] == 1.167


# --- partitions


def test_two_statements_of_one_partition_are_one() -> None:
    parted = "Default=0x7fff : ALL, SELF=full ;\nA=0x8002 : 0x12, 0x13 ;\nB=0x2 : 0x14=full ;\n"
    assert drawn("IB024", *conf("lmc 0\n", parted)) == []
    assert only("IB024", *conf("lmc 0\n", parted.replace("B=0x2", "B=0x3"))).places == 2


def test_a_member_alone_has_nobody_to_talk_to() -> None:
    assert drawn("IB024", *conf("lmc 0\n", "A=0x2 : 0x12 ;\nB=0x3 : ALL=full ;\n")) == []


def test_opensm_makes_its_own_port_a_full_member_where_nothing_is_said() -> None:
    assert drawn("IB025", *conf("lmc 0\n", "A=0x2 : ALL=full ;\n")) == []
    assert only("IB025", *conf("lmc 0\n", "Default=0x7fff : ALL ;\nA=0x2 : ALL=full ;\n")).severity == "error"


def test_a_partition_of_switches_keeps_no_hosts_apart() -> None:
    default = "Default=0x7fff, ipoib : ALL_CAS=full, ALL_SWITCHES=full, SELF=full;\n"
    sun = f"{default}SUN_DCS=0x0001, ipoib : ALL_SWITCHES=full;\n"
    assert drawn("IB012", *conf("lmc 0\n", sun)) == []


def test_a_partition_that_has_everybody_is_no_wall_and_an_open_default_is_said_once() -> None:
    stock = """\
Default=0x7fff, rate=3, mtu=4, scope=2, defmember=full :
    ALL, ALL_SWITCHES=full ;
Default=0x7fff, ipoib, rate=3, mtu=4, scope=2 :
    mgid=ff12:401b::ffff:ffff       # IPv4 broadcast
    mgid=ff12:601b::1,Q_Key=0xb1b   # IPv6, all nodes
    ALL=full, ALL_SWITCHES=full ;
ib0_2=0x0002, rate=3, mtu=4, scope=2, defmember=full :
    ALL, ALL_SWITCHES=full ;
"""
    assert said(*conf("lmc 0\n", stock)) == {}
    walled = f"{stock}Tenant=0x3 : {MEMBERS} ;\n"
    assert only("IB012", *conf("lmc 0\n", walled)).data == {"partitions": ["Tenant"]}
    storage = f"{stock}Storage=0x3 : ALL=limited, {MEMBERS} ;\n"
    assert only("IB012", *conf("lmc 0\n", storage)).data == {"partitions": ["Storage"]}


@pytest.mark.parametrize("second", ["B=0x8010", "B=0x0010, ipoib", "B=0x10010"])
def test_two_partitions_with_one_key_are_one(second: str) -> None:
    file = f"Default=0x7fff : ALL, SELF=full ;\nA=0x0010 : {MEMBERS} ;\n{second} : 0x3=full, 0x4=full ;\n"
    finding = only("IB042", *conf("lmc 0\n", file))
    assert finding.data == {"pkey": 0x10, "partitions": ["A", "B"]}


def test_a_partition_without_a_key_may_be_given_that_of_a_later_one() -> None:
    default, other = "Default=0x7fff : ALL, SELF=full ;\n", "0x3=full, 0x4=full"
    assert only("IB042", *conf("lmc 0\n", f"{default}A : {MEMBERS} ;\nB=1 : {other} ;\n")).data["pkey"] == 1
    assert drawn("IB042", *conf("lmc 0\n", f"{default}B=1 : {other} ;\nA : {MEMBERS} ;\nC : 0x5 ;\n")) == []


def test_a_partition_may_be_written_in_several_statements() -> None:
    default = "Default=0x7fff : ALL, SELF=full ;\n"
    assert drawn("IB042", *conf("lmc 0\n", f"{default}A=0x2 : {MEMBERS} ;\nA=0x2 : 0x3=full ;\n")) == []
    assert drawn("IB042", *conf("lmc 0\n", f"{default}A=0x2 : {MEMBERS} ;\nA : 0x3=full ;\n")) == []
    identical = f"{default}A=0x2, ipoib : {MEMBERS} ;\nB=0x2, ipoib, scope=5 : {MEMBERS} ;\n"
    assert drawn("IB042", *conf("lmc 0\n", identical)) == []


def test_a_group_may_not_be_faster_than_the_slowest_port() -> None:
    parts = {"compute": {"ipoib": True, "rate": "XDR"}}
    assert only("IB026", intent(partitions=parts)).data == {
        "rate_bps": 800000000000,
        "slowest_bps": 400000000000,
    }
    assert drawn("IB026", intent(partitions={"compute": {"ipoib": True, "rate": "NDR"}})) == []


def test_partitions_that_are_not_enforced_are_an_error_where_there_are_several() -> None:
    deployed = conf(
        "no_partition_enforcement TRUE\n", f"Default=0x7fff : ALL, SELF=full ;\nA=0x2 : {MEMBERS} ;\n"
    )
    assert said(*deployed) == {"IB035": "error"}
    assert said(*conf("no_partition_enforcement TRUE\n")) == {"IB035": "warning"}


# --- jobs and SHARP


def test_jobs_at_the_first_place_need_their_partition_there() -> None:
    parts: dict[str, Any] = {"storage": {"members": {"limited": []}}}
    without = {"environment": {"NCCL_IB_PKEY": None}}
    assert only("IB013", intent(partitions=parts, jobs=without)).data == {"place": 0, "right": 1}
    first = {**parts, "compute": {"index0": True}}
    assert drawn("IB013", intent(partitions=first, jobs=without)) == []


def test_the_partition_that_asks_for_place_0_has_it_among_several() -> None:
    without = {"environment": {"NCCL_IB_PKEY": None}}
    both = {"options": {"allow_both_pkeys": "TRUE"}}
    counts = {}
    for index0 in (False, True):
        asked = intent(partitions={"compute": {"index0": index0}}, jobs=without, subnet_manager=both)
        counts[index0] = (len(drawn("IB013", asked)), len(unchecked("IB013", asked)))
    assert counts == {False: (0, 1), True: (0, 0)}


def test_which_of_several_partitions_is_at_a_place_is_not_checked() -> None:
    assert drawn("IB013", intent()) == []
    assert len(unchecked("IB013", intent())) == 1


def test_limited_members_of_the_default_partition_have_another_key_first_where_both_are_allowed() -> None:
    parts: dict[str, Any] = {"storage": {"members": {"limited": []}}}
    both = {"options": {"allow_both_pkeys": "TRUE"}}
    first, second = {"environment": {"NCCL_IB_PKEY": 0}}, {"environment": {"NCCL_IB_PKEY": 1}}
    assert drawn("IB013", intent(partitions=parts, jobs=first, subnet_manager=both)) == []
    finding = only("IB013", intent(partitions=parts, jobs=second, subnet_manager=both))
    assert finding.data == {"place": 1, "right": 0}
    opened = {**parts, "Default": {"members": {"full": ["SELF", "ALL"], "limited": []}}}
    assert drawn("IB013", intent(partitions=opened, jobs=second, subnet_manager=both)) == []


def test_hosts_of_another_tenant_need_not_be_members_of_the_partition_of_jobs() -> None:
    tenants = {
        "compute": {"members": {"full": "host[1-4]"}},
        "other": {"pkey": 0x20, "members": {"full": "host[5-8]"}},
    }
    apart = intent(partitions=tenants, jobs={"environment": None})
    assert drawn("IB043", apart) == []
    # A place is another tenant's key on hosts of another tenant, and hosts of nobody cannot run these jobs.
    assert len(only("IB043", intent(partitions=tenants)).elements) == 4
    alone = {"compute": {"members": {"full": "host[1-4]"}}}
    assert len(only("IB043", intent(partitions=alone, jobs={"environment": None})).elements) == 4


def test_hosts_of_jobs_are_full_members_of_their_partition() -> None:
    tenants: dict[str, Any] = {
        "compute": {"members": {"full": "host[1-4]"}},
        "other": {"pkey": 0x20, "members": {"full": "host[5-8]"}},
        "storage": {"members": {"limited": []}},
    }
    finding = only("IB043", intent(partitions=tenants))
    assert finding.data == {"partition": "compute", "members": "no"}
    assert finding.elements == tuple(f"host{n}:mlx5_0" for n in (5, 6, 7, 8))
    assert drawn("IB013", intent(partitions=tenants)) == []
    assert drawn("IB043", intent(partitions=tenants, jobs={"partition": None})) == []
    half = {"compute": {"members": {"full": "host[1-7]", "limited": "host8"}}}
    for links in ("1 x NDR", "2 x NDR"):
        one_host = intent(partitions=half, topology={"fat_tree": {"host_links": links}})
        assert drawn("IB043", one_host) == []
    assert drawn("IB043", intent()) == []


def test_members_of_both_kinds_are_such_where_opensm_is_told_so() -> None:
    default = "Default=0x7fff : ALL, SELF=full ;\n"
    parts = f"{default}A=0x2, defmember=both : {MEMBERS}, 0x506b4b0300000003 ;\n"
    assert only("IB044", *conf("lmc 0\n", parts)).elements == ("0x506b4b0300000003",)
    assert drawn("IB044", *conf("allow_both_pkeys TRUE\n", parts)) == []


def test_managers_of_sharp_are_on_a_server_of_their_own() -> None:
    on_leaf = [{"on": "leaf1", "priority": 10}, {"on": "sm2", "priority": 5, "standby": True}]
    standby = [{"on": "sm1", "priority": 10}, {"on": "leaf1", "priority": 5, "standby": True}]
    at_work = [{"on": "host1", "priority": 10}, {"on": "sm2", "priority": 5, "standby": True}]
    assert only("IB008", intent(subnet_manager={"hosts": on_leaf}, sharp={"manager": "leaf1"})).elements == (
        "leaf1",
    )
    waiting = only("IB008", intent(subnet_manager={"hosts": standby}, sharp={"manager": "sm1"}))
    assert (waiting.severity, waiting.data["node"]) == ("warning", "leaf1")
    resting = {"manager": "host1", "exclude": ["host1"]}
    assert only("IB008", intent(subnet_manager={"hosts": at_work}, sharp=resting)).severity == "warning"
    assert (
        drawn("IB008", intent())
        == drawn("IB008", intent(subnet_manager={"hosts": on_leaf}, sharp="off"))
        == []
    )


def test_the_trees_and_levels_of_sharp_that_is_off_do_not_matter() -> None:
    assert drawn("IB010", intent(sharp="off")) == drawn("IB011", intent(sharp="off")) == []


# --- SHARP as one thing


UFM = {"flavour": "nvidia", "subnet_manager": {"manager": "ufm"}}


@pytest.mark.parametrize("key", ["true", "false"])
@pytest.mark.parametrize("sharp", [{"manager": "sm1"}, "off"])
def test_ufm_starts_sharp_where_it_is_declared_and_nowhere_else(key: str, sharp: Any) -> None:
    manager = {"manager": "ufm", "ufm": {"Sharp": {"sharp_enabled": key}}}
    found = drawn("IB038", intent(flavour="nvidia", subnet_manager=manager, sharp=sharp))
    assert (found == []) is ((key == "true") == (sharp != "off"))
    assert all(finding.related[0].origin.path == ("sharp",) for finding in found)


def test_sharp_and_ufm_need_nvidias_opensm() -> None:
    sharp = {"manager": "sm1"}
    assert only("IB038", intent(sharp=sharp)).related[0].origin.path == ("flavour",)
    assert only("IB038", managed(manager="ufm")).origin.path == ("subnet_manager", "manager")
    assert drawn("IB038", intent(flavour="nvidia", sharp=sharp)) == drawn("IB038", intent(**UFM)) == []
    assert drawn("IB038", intent()) == []


def test_opensm_that_turns_sharp_on_needs_an_aggregation_manager() -> None:
    turned_on = {"flavour": "nvidia", "subnet_manager": {"options": {"sharp_enabled": 2}}}
    assert only("IB038", intent(**turned_on, sharp=None)).severity == "warning"
    assert drawn("IB038", *conf("routing_engine updn\nsharp_enabled 2\n")) == []


@pytest.mark.parametrize(
    ("key", "value", "codes"),
    [
        ("max_tree_radix", 16, []), ("max_tree_radix", 252, []), ("max_tree_radix", 15, ["IB017"]),
        ("max_tree_radix", 253, ["IB017"]), ("ib_qpc_sl", 15, []), ("ib_qpc_sl", 16, ["IB017"]),
        ("dynamic_tree_algorithm", 1, []), ("max_tress_to_build", 5, ["IB019"]), ("of_a_later_one", 5, []),
    ],
)  # fmt: skip
def test_keys_of_the_aggregation_manager_exist_and_have_values_of_their_ranges(
    key: str, value: int, codes: list[str]
) -> None:
    document = intent(flavour="nvidia", sharp={"manager": "sm1", "settings": {key: value}})
    found = [finding for code in ("IB017", "IB019") for finding in drawn(code, document)]
    assert [finding.code for finding in found] == codes
    assert all(finding.origin.path == ("sharp", "settings", key) for finding in found)


def test_values_of_the_aggregation_manager_are_numbers_where_it_takes_numbers() -> None:
    document = intent(flavour="nvidia", sharp={"manager": "sm1", "settings": {"max_tree_radix": "wide"}})
    assert only("IB017", document).origin.path == ("sharp", "settings", "max_tree_radix")


def test_ufm_reads_sharp_enabled_in_its_own_section() -> None:
    manager = {"manager": "ufm", "ufm": {"SHARP": {"sharp_enabled": "true"}}}
    finding = only("IB038", intent(flavour="nvidia", subnet_manager=manager, sharp={"manager": "sm1"}))
    assert finding.data == {"section": "SHARP"}


@pytest.mark.parametrize(
    ("section", "key", "codes", "unchecked"),
    [
        ("Sharp", "enable_sharp_allocation", [], 0),
        ("Server", "report_events", [], 0),
        ("MADLimiter", "mad_limiter_enabled", [], 0),
        ("Server", "reprot_events", ["IB019"], 0),
        ("Server", "of_a_later_ufm", [], 1),
    ],
)
def test_keys_of_gv_cfg_that_are_a_slip_are_reported_and_unlisted_ones_not_checked(
    section: str, key: str, codes: list[str], unchecked: int
) -> None:
    document = intent(flavour="nvidia", subnet_manager={"manager": "ufm", "ufm": {section: {key: "x"}}})
    report = lint_documents([document])
    found = [finding for finding in report.findings if finding.code == "IB019"]
    assert [finding.code for finding in found] == codes
    assert all(one.origin.path == ("subnet_manager", "ufm", section, key) for one in found)
    assert sum(rule.code == "IB019" for rule in report.not_checked) == unchecked


# --- jobs


def jobs(sharp: Any = "off", **variables: Any) -> Document:
    """Return the base with variables of jobs, beside SHARP on NVIDIA's OpenSM or none."""
    return intent(flavour="nvidia", sharp=sharp, jobs={"environment": variables})


@pytest.mark.parametrize(
    ("variable", "value", "severity"),
    [
        ("NCCL_IB_DISABLE", 0, None), ("NCCL_IB_DISABLE", 1, "error"), ("NCCL_NET", "IB", None),
        ("NCCL_NET", "Socket", "error"), ("NCCL_IB_TIMEOUT", 31, None), ("NCCL_IB_TIMEOUT", 32, "error"),
        ("NCCL_IB_RETRY_CNT", 7, None), ("NCCL_IB_RETRY_CNT", 8, "error"), ("NCCL_IB_HCA", "mlx5", None),
        ("NCCL_IB_HCA", "=mlx5_0:1", None), ("NCCL_IB_HCA", "=mlx5", "error"), ("NCCL_IB_HCA", "mlx5_7", "error"),
        ("NCCL_IB_HCA", "=mlx5_0,mlx5_7", "warning"), ("NCCL_IB_HCA", "^mlx5_7", None),
        ("UCX_NET_DEVICES", "mlx5_0:1,eth0", None), ("UCX_NET_DEVICES", "mlx5_3:1", "error"),
        ("NCCL_COLLNET_ENABLE", 1, "warning"), ("NCCL_COLLNET_ENABLE", 0, None),
        ("SHARP_COLL_ENABLE_SAT", 1, "warning"), ("NCCL_IB_HCA", "^mlx5", "error"),
        ("NCCL_IB_HCA", "^=mlx5_0", "error"), ("NCCL_IB_HCA", "^mlx5_0,mlx4", "error"), ("NCCL_IB_HCA", "^=mlx5", None),
        ("UCX_TLS", "tcp", "info"), ("UCX_TLS", "tcp,self,sm", "info"), ("UCX_TLS", "^ib", "info"),
        ("UCX_TLS", "^rc_x,ud,dc", "info"), ("UCX_TLS", "^tcp", None), ("UCX_TLS", "rc,sm,self", None),
        ("UCX_TLS", "dc_x,tcp", None), ("UCX_TLS", "all", None), ("UCX_TLS", "of_a_later_one", None),
        ("FI_PROVIDER", "tcp", "warning"), ("FI_PROVIDER", "efa", "warning"), ("FI_PROVIDER", "verbs", None),
        ("FI_PROVIDER", "tcp,verbs", None), ("FI_PROVIDER", "^tcp", None), ("NCCL_IB_DISABLE", "true", None),
        ("HCOLL_ENABLE_SHARP", 0, None), ("HCOLL_ENABLE_SHARP", 1, None), ("HCOLL_ENABLE_SHARP", 3, "warning"),
    ],
)  # fmt: skip
def test_variables_of_jobs_fit_the_subnet(variable: str, value: Any, severity: str | None) -> None:
    found = drawn("IB047", jobs(**{variable: value}))
    assert [finding.severity for finding in found] == ([] if severity is None else [severity])


def test_jobs_reduce_in_switches_where_sharp_is_on() -> None:
    on = {"manager": "sm1"}
    assert drawn("IB047", jobs(on, NCCL_COLLNET_ENABLE=1, SHARP_COLL_ENABLE_SAT=1)) == []
    assert only("IB047", jobs(on, NCCL_COLLNET_ENABLE=0)).related[0].origin.path == ("sharp",)
    assert only("IB047", jobs(None, NCCL_COLLNET_ENABLE=1)).related[0].origin.path == ("subnet_manager",)


@pytest.mark.parametrize(
    ("variable", "value", "requests"),
    [
        ("NCCL_ALGO", "Ring", False),
        ("NCCL_ALGO", "Ring,Tree", False),
        ("NCCL_ALGO", "NVLSTree", False),
        ("NCCL_ALGO", "^CollnetDirect,CollnetChain,Collnet,NVLS", False),
        ("NCCL_ALGO", "CollnetDirect;allreduce:tree", False),
        ("NCCL_ALGO", "allreduce:ring;broadcast:collnetdirect", False),
        ("NCCL_NET_PLUGIN", "none", False),
        ("NCCL_IBEXT_DISABLE", 1, False),
        ("NCCL_SHARP_DISABLE", 1, False),
        ("HCOLL_ENABLE_SHARP", 0, False),
        ("HCOLL_ENABLE_SHARP", 2, True),
        ("NCCL_ALGO", "CollnetDirect", True),
        ("NCCL_ALGO", "collnetchain,collnetdirect", True),
        ("NCCL_ALGO", "ring;allreduce:collnetdirect", True),
        ("NCCL_ALGO", "Ring,CollnetDirect", None),
        ("NCCL_ALGO", "NVLS", None),
        ("NCCL_ALGO", "^Tree", None),
        ("NCCL_ALGO", "broadcast:ring", None),
        ("NCCL_ALGO", "Sideways", None),
        ("NCCL_NET_PLUGIN", "sharp", None),
        ("NCCL_IBEXT_DISABLE", 0, None),
    ],
)
def test_algorithms_and_plugins_of_jobs_agree_with_sharp(
    variable: str, value: Any, requests: bool | None
) -> None:
    """What requests SHARP is reported without it, what keeps jobs from it with it, each with both places."""
    for sharp, place in (({"manager": "sm1"}, "sharp"), ("off", "sharp"), (None, "subnet_manager")):
        on = isinstance(sharp, dict)
        # CollNet alone needs it beside SHARP too, and NCCL does not turn it on by itself.
        turned_on = {"NCCL_COLLNET_ENABLE": 1} if on and variable == "NCCL_ALGO" and requests else {}
        found = drawn("IB047", jobs(sharp, **{variable: value, **turned_on}))
        assert len(found) == (requests is not None and requests != on)
        for one in found:
            assert (one.origin.path[-1], one.related[0].origin.path) == (variable, (place,))


def test_algorithms_of_collnet_alone_need_collnet_beside_sharp_too() -> None:
    on = {"manager": "sm1"}
    assert only("IB047", jobs(on, NCCL_ALGO="CollnetDirect")).severity == "warning"
    assert drawn("IB047", jobs(on, NCCL_ALGO="CollnetDirect,Ring")) == []
    assert len(drawn("IB047", jobs(on, NCCL_ALGO="CollnetDirect", NCCL_COLLNET_ENABLE=0))) == 2


@pytest.mark.parametrize(("threshold", "keeps"), [(2, False), (8, False), (9, True), (64, True)])
def test_collnet_is_off_where_a_job_has_fewer_hosts_than_its_threshold(threshold: int, keeps: bool) -> None:
    """The base has 8 compute hosts, so that no job has more."""
    variables = {"NCCL_COLLNET_ENABLE": 1, "NCCL_COLLNET_NODE_THRESHOLD": threshold}
    assert (drawn("IB047", jobs({"manager": "sm1"}, **variables)) != []) is keeps
    assert drawn("IB047", jobs("off", NCCL_COLLNET_NODE_THRESHOLD=threshold)) == []


def test_sharp_that_ufm_starts_serves_jobs() -> None:
    for key, severities in (("true", []), ("false", ["warning"])):
        manager = {"manager": "ufm", "ufm": {"Sharp": {"sharp_enabled": key}}}
        variables = {"environment": {"NCCL_COLLNET_ENABLE": 1}}
        document = intent(flavour="nvidia", subnet_manager=manager, sharp=None, jobs=variables)
        assert [finding.severity for finding in drawn("IB047", document)] == severities


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("0x0002", None),
        ("2", None),
        ("auto", None),
        ("0x0003", "not"),
        ("0x0009", "not"),
        ("0x8002", "0 to 0x7fff"),
    ],
)
def test_ucx_takes_the_p_key_of_the_partition_of_jobs_without_the_bit_of_full_members(
    key: str, problem: str | None
) -> None:
    found = drawn("IB013", intent(jobs={"environment": {"UCX_IB_PKEY": key}}))
    assert [problem in finding.message for finding in found if problem] == [True] * (problem is not None)
    assert len(found) == (problem is not None)


def test_a_p_key_of_ucx_is_one_of_the_hosts_where_jobs_state_no_partition() -> None:
    free: dict[str, Any] = {"partition": None, "level": None}
    for key, findings in (("0x0002", 0), ("0x7fff", 0), ("0x0009", 1)):
        variables = {"NCCL_IB_PKEY": None, "NCCL_IB_SL": None, "UCX_IB_PKEY": key}
        assert len(drawn("IB013", intent(jobs={**free, "environment": variables}))) == findings


@pytest.mark.parametrize(("sl", "findings"), [(0, 0), (1, 0), (2, 0), (5, 1), (15, 1)])
def test_a_service_level_of_jobs_is_one_that_something_has(sl: int, findings: int) -> None:
    variables = {"NCCL_IB_PKEY": None, "NCCL_IB_SL": sl}
    document = intent(jobs={"partition": None, "level": None, "environment": variables})
    assert [finding.severity for finding in drawn("IB029", document)] == ["warning"] * findings


@pytest.mark.parametrize(
    ("partitions", "severities"),
    [
        ({}, []),
        ({"compute": None, "storage": None}, ["error"]),
        ({"compute": {"members": {"full": "host[1-7]"}}, "storage": None}, ["warning"]),
        # Tenants of one host each, and of several.
        (
            {"compute": {"members": {"full": "host[1-7]"}}, "t8": {"pkey": 8, "members": {"full": "host8"}}},
            [],
        ),
        ({"storage": {"members": {"full": "@storage", "limited": None}}}, ["warning"]),
        ({"storage": {"members": {"full": "@compute", "limited": "@storage"}}}, []),
        ({"storage": None}, []),
    ],
)
def test_compute_hosts_reach_each_other_and_the_storage_that_has_a_partition(
    partitions: dict[str, Any], severities: list[str]
) -> None:
    default = {"Default": {"members": {"full": "@management", "limited": "ALL"}}}
    document = intent(partitions={**default, **partitions}, jobs=None)
    assert [finding.severity for finding in drawn("IB024", document)] == severities


def test_a_partition_of_storage_alone_says_which_hosts_nobody_reaches() -> None:
    parts = {"storage": {"members": {"full": "@storage", "limited": None}}}
    finding = only("IB024", intent(partitions=parts, jobs=None))
    assert (finding.elements, finding.origin.path[:2]) == (("storage1",), ("partitions", "storage"))


def test_a_partition_of_jobs_has_a_host_that_computes() -> None:
    others = {"pkey": 4, "members": {"full": "@compute"}}
    parts = {"compute": {"members": {"full": "@storage"}}, "other": others}
    assert len(only("IB043", intent(partitions=parts, jobs={"environment": None})).elements) == 8
    shared = {"compute": {"members": {"full": "host[1-2]"}}, "other": others}
    assert drawn("IB043", intent(partitions=shared, jobs={"environment": None})) == []


def test_managers_do_not_die_together() -> None:
    double = {"sm1": {"at": ["leaf1", "leaf2"], "links": "2 x NDR"}}
    both = [{"on": "sm1:mlx5_0", "priority": 10}, {"on": "sm1:mlx5_1", "priority": 5, "standby": True}]
    topology = {"hosts": double}
    assert only("IB001", intent(topology=topology, subnet_manager={"hosts": both})).data == {"node": "sm1"}
    third = [*both, {"on": "sm2", "priority": 4, "standby": True}]
    assert drawn("IB001", intent(topology=topology, subnet_manager={"hosts": third})) == []


@pytest.mark.parametrize(
    ("sm1", "sm2", "switch"),
    [("leaf1", "leaf2", None), ("leaf1", "leaf1", "leaf1"), (["leaf1", "leaf2"], "leaf1", None)],
)
def test_managers_do_not_die_with_one_switch(sm1: Any, sm2: str, switch: str | None) -> None:
    both = [{"on": "sm1:mlx5_0", "priority": 10}, {"on": "sm2", "priority": 5, "standby": True}]
    links = "2 x NDR" if isinstance(sm1, list) else "1 x NDR"
    topology = {"hosts": {"sm1": {"at": sm1, "links": links}, "sm2": {"at": sm2}}}
    if isinstance(sm1, list):
        # By its second port the master has another way.
        both[0]["on"] = "sm1:mlx5_1"
    found = drawn("IB001", intent(topology=topology, subnet_manager={"hosts": both}))
    assert [finding.data for finding in found] == ([] if switch is None else [{"switch": switch}])


def test_a_manager_on_a_switch_dies_with_those_behind_it() -> None:
    hosts = [{"on": "leaf1", "priority": 10}, {"on": "sm1", "priority": 5, "standby": True}]
    hardware = {"leaf": "nvidia-qm9700"}
    assert only("IB001", intent(hardware=hardware, subnet_manager={"hosts": hosts})).data == {
        "switch": "leaf1"
    }
    hosts[1]["on"] = "sm2"
    assert drawn("IB001", intent(hardware=hardware, subnet_manager={"hosts": hosts})) == []


def test_lanes_above_those_of_any_public_figure_are_not_checked() -> None:
    for vl, counted in ((7, []), (8, [1]), (14, [1])):
        document = intent(qos={"vls": 15, "levels": {"storage": {"vl": vl}}})
        assert [rule.times for rule in unchecked("IB004", document)] == counted


def test_a_partition_without_a_level_is_ahead_of_the_low_table_as_one_of_sl_0() -> None:
    tables = {"qos": "TRUE", "qos_high_limit": 255, "qos_vlarb_high": "0:64", "qos_vlarb_low": "1:64"}
    options = {**tables, "qos_sl2vl": ",".join(["0", "1", *["0"] * 14])}
    parts = {"compute": {"level": None}, "storage": {"level": None, "sl": 1}}
    document = intent(qos=None, partitions=parts, jobs=None, subnet_manager={"options": options})
    assert [finding.data["starved"] for finding in drawn("IB027", document)] == [[1]]


@pytest.mark.parametrize(
    ("limit", "storage", "starved"),
    [
        (255, {"high": None, "low": 32}, [0, 2]),
        (255, {"high": 32}, [0]),
        (254, {"high": None, "low": 32}, None),
    ],
)
def test_a_level_of_the_low_table_waits_for_those_of_a_high_table_without_limit(
    limit: int, storage: dict[str, int | None], starved: list[int] | None
) -> None:
    found = drawn("IB027", intent(qos={"high_limit": limit, "levels": {"storage": storage}}))
    assert [finding.data["starved"] for finding in found] == ([] if starved is None else [starved])


# --- capacity


def dragonfly_plus(groups: int, global_links: int, **more: Any) -> Document:
    """Return a dragonfly+ with four hosts of NDR below each of two leaves of a group, without other bottlenecks."""
    shape = {
        "groups": groups, "leaves": 2, "spines": 2, "hosts_per_leaf": 4, "host_links": "1 x NDR",
        "uplinks": "2 x NDR", "global_links": f"{global_links} x NDR",
    }  # fmt: skip
    topology = {"fat_tree": None, "dragonfly_plus": shape, "hosts": {"storage1": None}, **more}
    routing = {"engine": "dfsssp", "roots": None}
    return intent(
        topology=topology, subnet_manager={"routing": routing}, partitions={"storage": None}, jobs=None
    )


@pytest.mark.parametrize(
    ("groups", "global_links", "accepted", "share"),
    [
        (2, 8, 1, None), (2, 7, 1, 7 / 8), (2, 4, 2, None), (2, 3, 2, 3 / 8), (4, 4, 1, None), (4, 3, 1, 12 / 16),
        (3, 4, 1, None), (3, 3, 1, 6 / 8), (5, 3, 1, None), (5, 2, 1, 12 / 16), (12, 1, 1, 36 / 48),
    ],
)  # fmt: skip
def test_the_groups_of_a_dragonfly_plus_reach_each_other_at_the_declared_ratio(
    groups: int, global_links: int, accepted: float, share: float | None
) -> None:
    """Between halves of whole groups pass all links between their pairs; an odd group hides nothing."""
    found = drawn("IB040", dragonfly_plus(groups, global_links, oversubscription=accepted))
    shares = [float(str(finding.data["bps"])) / float(str(finding.data["host_bps"])) for finding in found]
    assert shares == ([] if share is None else [share])


def bundled_torus(sides: list[int], links: int, **topology: Any) -> Document:
    """Return a torus with 4 NDR links of compute hosts at each switch, and ``links`` between neighbors."""
    shape = {"sides": sides, "links": f"{links} x NDR", "hosts_per_switch": 4, "host_links": "1 x NDR"}
    first = "-".join("0" * len(sides))
    hosts = {"sm1": {"at": f"sw-{first}"}, "sm2": {"at": f"sw-{first}"}, "storage1": None}
    return intent(
        topology={"fat_tree": None, "torus": shape, "hosts": hosts, **topology},
        subnet_manager={"routing": {"engine": "dfsssp", "roots": None}},
        partitions={"storage": None},
        jobs=None,
    )


@pytest.mark.parametrize(
    ("sides", "links", "accepted", "cut"),
    [
        ([4, 4], 1, 1, (0, 4)),
        ([4, 4], 4, 1, None),
        ([4, 4], 1, 4, None),
        ([4, 4], 1, 3.9, (0, 4)),
        # Across the long side of 8, not along it, where twice as many links pass.
        ([2, 8], 4, 1, (1, 2)),
        ([2, 8], 8, 1, None),
        ([2, 2, 6], 1, 1, (2, 6)),
        ([2, 2, 6], 6, 1, None),
    ],
)
def test_hosts_of_half_a_torus_send_no_more_than_passes_the_middle_of_its_longest_side(
    sides: list[int], links: int, accepted: float, cut: tuple[int, float] | None
) -> None:
    """The cut is the side whose coordinate the halves share, and the ratio of what hosts send to what passes."""
    found = drawn("IB040", bundled_torus(sides, links, oversubscription=accepted))
    assert len(found) == (cut is not None)
    for finding in found:
        side, ratio = cut or (0, 0)
        near, far = (
            {int(name.split("-")[1 + side]) for name in str(finding.data[half]).split("'") if "sw-" in name}
            for half in ("a", "b")
        )
        assert (near, far) == ({*range(sides[side] // 2)}, {*range(sides[side] // 2, sides[side])})
        assert float(str(finding.data["host_bps"])) / float(str(finding.data["bps"])) == ratio
        assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("across", "severities"), [((4, 4, 4, 4), []), ((4, 4, 3, 5), ["warning"]), ((7, 1, 1, 7), ["warning"])]
)
def test_uplinks_of_two_leaves_that_are_listed_meet_at_the_spines(
    across: tuple[int, int, int, int], severities: list[str]
) -> None:
    ends = [("leaf1", "spine1"), ("leaf1", "spine2"), ("leaf2", "spine1"), ("leaf2", "spine2")]
    bundles = [{"a": a, "b": b, "links": f"{n} x NDR"} for (a, b), n in zip(ends, across, strict=True)]
    roles = {"leaf1": "leaf", "leaf2": "leaf", "spine1": "spine", "spine2": "spine"}
    hosts = {f"h{at}": {"at": f"leaf{at % 2 + 1}", "links": "1 x NDR"} for at in range(16)}
    shape = {"switches": {name: {"role": role} for name, role in roles.items()}, "links": bundles}
    document = intent(
        topology={"fat_tree": None, "hosts": {**hosts, "storage1": None}, **shape},
        partitions={"storage": None},
    )
    assert [finding.severity for finding in drawn("IB040", document)] == severities


@pytest.mark.parametrize(("short", "spare", "ratio"), [(4, 4, None), (1, 5, 4), (1, 9, 4), (3, 9, 4 / 3)])
def test_a_listed_leaf_with_too_few_links_is_named_whatever_others_have_to_spare(
    short: int, spare: int, ratio: float | None
) -> None:
    leaves = [f"leaf{at}" for at in range(1, 9)]
    bundles = [
        {"a": leaf, "b": "spine1", "links": f"{short if leaf == 'leaf8' else spare} x NDR"} for leaf in leaves
    ]
    switches = {**{leaf: {"role": "leaf"} for leaf in leaves}, "spine1": {"role": "spine"}}
    hosts = {f"h{at}": {"at": leaves[at % 8], "links": "1 x NDR"} for at in range(32)}
    document = intent(
        hardware={"spine": "nvidia-qm9790"},
        topology={
            "fat_tree": None,
            "hosts": {**hosts, "storage1": None},
            "switches": switches,
            "links": bundles,
        },
        partitions={"storage": None},
    )
    found = drawn("IB040", document)
    assert [finding.data["a"] for finding in found] == ([] if ratio is None else [["leaf8"]])
    for finding in found:
        assert float(str(finding.data["host_bps"])) / float(str(finding.data["bps"])) == ratio

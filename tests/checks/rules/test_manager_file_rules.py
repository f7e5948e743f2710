"""Rules of a subnet manager's files: what opensm makes of texts, and what it writes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import fix, lint
from lossless.checks.rules.registry import codes_for
from lossless.model.fabric.infiniband.subnet import known_keys, option, options
from tests.checks.rules.checking import drawn, only, patched, unchecked
from tests.checks.rules.infiniband import MEMBERS, conf, intent, managed, said
from tests.checks.rules.snippets import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.basics.findings import Finding


def test_keys_of_the_other_opensm_are_said_where_the_flavour_is_stated() -> None:
    finding = only("IB019", managed(options={"ar_mode": 1}))
    assert (finding.severity, finding.fixable) == ("error", "unsafe")
    assert drawn("IB019", *conf("lmc 0\nar_mode 1\n")) == []


def test_keys_that_may_be_nvidias_are_counted_and_not_checked() -> None:
    deployed = conf("lmc 0\nar_mode 1\nshield_mode 1\nsome_key_of_theirs 1\nanother_of_theirs 2\n")
    assert drawn("IB019", *deployed) == []
    assert [rule.times for rule in unchecked("IB019", *deployed)] == [2]


@pytest.mark.parametrize(
    ("key", "slip"),
    [
        ("sharp_enabeld", True),
        ("virt_enable", True),
        ("max_op_vlls", True),
        # Another letter, or another number, makes a key of a family of NVIDIA's.
        ("xs_key_lease_period", False),
        ("force_link_speed_ext3", False),
    ],
)
def test_a_slip_of_a_letter_in_a_key_of_nvidias_is_a_warning(key: str, slip: bool) -> None:
    document = intent(flavour="nvidia", subnet_manager={"options": {key: "1"}})
    found = drawn("IB019", document)
    assert [(it.severity, it.data) for it in found] == ([("warning", {"key": key})] if slip else [])
    assert len(unchecked("IB019", document)) == (not slip)


@pytest.mark.parametrize("key", ["vs_key_lease_period", "sm_db_dump", "force_link_speed_ext2"])
def test_keys_of_nvidia_that_resemble_others_are_no_slips_of_them(key: str) -> None:
    document = intent(flavour="nvidia", subnet_manager={"options": {key: "1"}})
    assert drawn("IB019", document) == []
    assert only("IB019", managed(options={key: "1"})).data == {"key": key}


@pytest.mark.parametrize(
    ("key", "known"),
    [("virt_enabled", True), ("aguid_default_hop_limit", True), ("max_op_vlz", False), ("sm_prio", False)],
)
def test_a_key_that_only_resembles_another_may_be_one_of_nvidia(key: str, known: bool) -> None:
    """A slip of a letter, and a key cut short, are none; what is meant is never set."""
    found = drawn("IB019", *conf(f"{key} 2\n"))
    assert (found == []) is known
    assert all(finding.fix == () for finding in found)


def test_a_key_from_the_environment_has_its_lease_checked() -> None:
    leased = {"options": {"m_key_lease_period": 5}, "keys": {"m_key": "M_KEY"}}
    assert only("IB032", managed(**leased)).data == {"lease_s": 5, "sweep_s": 10}
    assert only("IB032", managed(options={"m_key_lease_period": 60})).data == {"level": 0, "lease_s": 60}


def test_a_key_without_a_lease_is_worth_knowing() -> None:
    assert only("IB032", managed(keys={"m_key": "M_KEY"})).severity == "info"


def test_a_partition_whose_level_nobody_declares_gets_that_of_the_policy() -> None:
    document = intent(partitions={"storage": {"level": None, "sl": 5}})
    finding = only("IB041", document)
    assert finding.data == {"stated": 5, "given": 0}
    assert drawn("IB041", intent()) == []


@pytest.mark.parametrize(
    ("level", "key", "severities"),
    [
        ("training", "0x0002", []),
        ("Trainnig", "0x8002", ["error"]),
        ("Training", "0x0004", ["warning"]),
        ("Training", "0x0001-0x0003", []),
    ],
)
def test_what_a_policy_names_is_there(level: str, key: str, severities: list[str]) -> None:
    levels = "".join(
        f"qos-level\nname: {name}\nsl: {sl}\nend-qos-level\n"
        for name, sl in (("DEFAULT", 0), ("Training", 3))
    )
    rule = f"qos-match-rule\npkey: {key}\nqos-level-name: {level}\nend-qos-match-rule\n"
    text = f"qos-levels\n{levels}end-qos-levels\nqos-match-rules\n{rule}end-qos-match-rules\n"
    deployed = conf("qos TRUE\n", "Default=0x7fff : ALL, SELF=full ;\nA=0x2 : ALL=full ;\n")
    found = drawn("IB045", *deployed, read_text(text, "qos-policy.conf"))
    assert [finding.severity for finding in found] == severities


def test_a_file_without_partitions_opens_the_subnet() -> None:
    assert said(*conf("lmc 0\n", "# Default=0x7fff : ALL=limited ;\n")) == {"IB023": "error"}


def test_subnets_with_prefixes_of_their_own_are_let_be() -> None:
    first, second = (patched("infiniband.yaml", patch, file) for patch, file in _rails("0xfe80000000000001"))
    assert drawn("IB039", first, second) == []
    identical = [patched("infiniband.yaml", patch, file) for patch, file in _rails("0xfe80000000000000")]
    assert only("IB039", *identical).elements == ("rail1", "rail2")


def _rails(prefix: str) -> list[tuple[dict[str, Any], str]]:
    return [
        ({"fabric": "rail1"}, "rail1.yaml"),
        ({"fabric": "rail2", "subnet_manager": {"prefix": prefix}}, "rail2.yaml"),
    ]


STATED = {
    key: one for key in known_keys("upstream") if (one := option(key)) is not None and one.default is not None
}


@given(st.sets(st.sampled_from(sorted(STATED)), min_size=1))
def test_an_option_that_states_its_default_changes_nothing(keys: set[str]) -> None:
    text = "".join(f"{key} {STATED[key].default}\n" for key in sorted(keys))
    assert said(*conf(text)) == {}


@given(st.sampled_from([one for one in options().values() if one.wire and not one.only]), st.integers(0, 255))
def test_a_number_is_out_of_range_exactly_where_its_field_ends(one: Any, number: int) -> None:
    # The file that opensm -c writes calls this one value undefined, though its field holds it.
    first = 1 if one.key.endswith("vl_stall_count") else one.wire[0]
    found = drawn("IB017", *conf(f"{one.key} {number}\n"))
    assert bool(found) == (not first <= number <= one.wire[1])


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("300", "-1"),
        ("-2", "-1"),
        ("4294967301", "5"),
        ("0x100000000", "0"),
        ("-4294967295", "1"),
        ("99999999999999999999", "-1"),
        ("-99999999999999999999", "0"),
    ],
)
@pytest.mark.parametrize("key", ["qos_high_limit", "qos_swe_high_limit"])
def test_the_number_that_replaces_another_is_the_one_opensm_goes_by(
    key: str, text: str, replaced: str
) -> None:
    finding = only("IB017", *conf(f"qos TRUE\n{key} {text}\n"))
    assert finding.data == {"key": key, "text": text, "replaced": replaced}


@given(st.from_regex(r"[A-Za-z0-9]{1,8}", fullmatch=True))
def test_any_word_but_two_is_false_without_a_message(word: str) -> None:
    found = drawn("IB016", *conf(f"lmc 0\nqos {word}\n"))
    assert bool(found) == (word not in ("TRUE", "FALSE"))


SOUND = {
    "lanes by weight, one of them low alone": (
        "qos TRUE\nqos_max_vls 4\nqos_high_limit 240\nqos_vlarb_high 0:192,1:192,2:0,3:192\n"
        "qos_vlarb_low 0:192,1:192,2:64,3:192\n",
        None,
    ),
    "a level that nobody uses and that is dropped": (
        "qos TRUE\nqos_sl2vl 0,1,2,3,3,3,3,3,3,3,3,3,3,3,3,15\nqos_vlarb_high 0:100,1:50,2:20,3:10\n",
        None,
    ),
    "one partition for all": ("lmc 0\n", "Default=0x7fff, ipoib : ALL=full ;\n"),
    "partitions stated piece by piece": (
        "lmc 0\n",
        "Default=0x7fff : ALL, SELF=full ;\nA, ipoib : 0x11=full, 0x12=limi, 0x13 ;\n"
        "B=0x80, defmember=full : 0x14, 0x15 ;\nB=0x80 : 0x16, 0x17 ;\n",
    ),
    "clients that see storage and not each other": (
        "lmc 0\n",
        f"Default=0x7fff : ALL, SELF=full ;\nCompute=0x2 : {MEMBERS} ;\nStorage=0x3 : ALL_CAS, 0x18=full ;\n",
    ),
    "waiting shorter at the leaves, LIDs by the dozen": (
        "routing_engine updn\nlmc 2\nhead_of_queue_lifetime 0x10\nleaf_head_of_queue_lifetime 0x0f\n",
        None,
    ),
    "a manager of NVIDIA's": (
        "routing_engine ar_updn\nsharp_enabled 2\nar_mode 1\nmax_wire_smps 8\nsm_priority 15\nof_their_own 3\n",
        None,
    ),
}


@pytest.mark.parametrize(("text", "partitions"), SOUND.values(), ids=SOUND)
def test_files_that_nothing_is_wrong_with_draw_nothing(text: str, partitions: str | None) -> None:
    assert said(*conf(text, partitions)) == {}


def _deployed(folder: Path) -> dict[str, str]:
    files = {
        "opensm.conf": "routing_engine ftree\nlmc 1\nqos true\nmax_op_vls 8\nsubnet_prefix fe80000000000001\n"
        "ignore_other_sm TRUE\nreassign_lids TRUE\nsweep_interval=10\nmax_wire_smps 0\npart_enforce off\n"
        "head_of_queue_lifetime 0x14\npartition_config_file /etc/opensm/partitions.conf\n",
        "partitions.conf": "Default=0x7fff, ipoib, rate=200 : SELF=full, ALL ;\nA=0x2 : 0x12, 0x13 ;\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return files


EXPECTED = {
    "IB014": ("opensm.conf", 11),
    "IB016": ("opensm.conf", 3),
    "IB017": ("opensm.conf", 4),
    "IB018": ("opensm.conf", 5),
    "IB019": ("opensm.conf", 8),
    "IB024": ("partitions.conf", 2),
    "IB025": ("partitions.conf", 1),
    "IB026": ("partitions.conf", 1),
    "IB030": ("opensm.conf", 6),
    "IB031": ("opensm.conf", 7),
    "IB034": ("opensm.conf", 9),
    "IB035": ("opensm.conf", 10),
    "IB036": ("opensm.conf", 2),
}


def test_a_folder_of_a_manager_is_checked_line_by_line(tmp_path: Path) -> None:
    _deployed(tmp_path)
    report = lint([tmp_path])
    assert report.errors == ()
    where = {finding.code: _line(report.documents, finding) for finding in report.findings}
    assert where == EXPECTED
    assert {rule.code for rule in report.not_checked} <= codes_for("subnet") | {"IB020", "IB021"}


def _line(documents: Any, finding: Finding) -> tuple[str, int]:
    document = documents[finding.origin.file]
    span = document.locate_many([finding.origin.path], finding.origin.mark)[finding.origin.path]
    return finding.origin.file.rpartition("/")[2], span.line


def test_what_is_fixed_in_such_files_is_found_no_more(tmp_path: Path) -> None:
    _deployed(tmp_path)
    fixed = {finding.code for finding in fix([tmp_path], unsafe=True).findings}
    assert {"IB017", "IB018", "IB030", "IB031", "IB034", "IB035", "IB036"} <= fixed
    assert fixed.isdisjoint(finding.code for finding in lint([tmp_path]).findings)


def test_a_subnet_that_nothing_is_wrong_with_draws_nothing() -> None:
    assert said(intent()) == {}

"""What a subnet manager's files say, at which place, and what is wrong with them, in words an operator can act on."""

from __future__ import annotations

import pytest

from lossless.formats.infiniband.read.options import read_guids, read_options
from lossless.formats.infiniband.read.partitions import read_partitions, read_policy
from lossless.formats.infiniband.read.sharp import read_sharp
from lossless.formats.infiniband.to_model import SubnetFile, kind_of, read_subnet
from lossless.ground.basics.errors import Problem
from lossless.model.fabric.infiniband.subnet import Member

OPTIONS = """\
# a comment
routing_engine ftree,updn,no_fallback   # and one behind
\tlmc\t 1
log_file "/var/log/my sm.log"
qos
lmc 2
m_key 0x0123456789abcdef
sa_key 0x1
"""


def test_an_option_is_a_key_and_what_follows_it_up_to_a_comment() -> None:
    found = read_options(OPTIONS, "opensm.conf")
    assert [(one.key, one.text) for one in found.settings] == [
        ("routing_engine", "ftree,updn,no_fallback"),
        ("lmc", "1"),
        ("log_file", "/var/log/my sm.log"),
        ("qos", ""),
        ("lmc", "2"),
        ("sa_key", "0x1"),
    ]


def test_every_statement_of_an_option_has_its_own_place_and_the_option_has_the_last() -> None:
    found = read_options(OPTIONS, "opensm.conf")
    at = [(one.key, found.document.locate(one.origin.path)[:2]) for one in found.settings]
    assert at == [
        ("routing_engine", (2, 16)),
        ("lmc", (3, 7)),
        ("log_file", (4, 11)),
        ("qos", (5, 4)),
        ("lmc", (6, 5)),
        ("sa_key", (8, 8)),
    ]
    assert found.document.locate(("lmc",)) == (6, 5, 6, 6)
    assert found.document.locate(("lmc", 0), "key") == (3, 2, 3, 5)


def test_a_key_that_protects_the_subnet_is_known_to_be_there_and_no_more() -> None:
    found = read_options(OPTIONS, "opensm.conf")
    assert [secret.key for secret in found.secrets] == ["m_key"]
    assert found.document.data["m_key"] == "******************"
    assert found.document.line_text(7) == "m_key ******************"


def test_a_value_too_long_for_a_line_stays_in_one_piece_for_a_rule_to_say_so() -> None:
    text = "qos_vlarb_low " + ",".join(["0:4"] * 400) + "\nlmc 1\n"
    found = read_options(text, "opensm.conf")
    assert [len(one.text) for one in found.settings] == [1599, 1]
    assert found.document.problems == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "Default=0x7fff : ALL=full ;\nstorage=0x8002 : host1=full ;\n",
            (2, 18, "'host1' is no GUID and none of NONE, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS and SELF"),
        ),
        ("storage=8002h : ALL ;\n", (1, 9, "'8002h' is no P_Key; expected a number as 0x8001")),
        ("# all\n\n0x1234, 0x1235 ;\n", (3, 1, "a partition's definition ends with a colon on its line")),
        ("a=1, mtu=2048k : ALL ;\n", (1, 10, "'2048k' is no mtu; expected the number of a code")),
        (
            "a=1, sl=16 : ALL ;\n",
            (1, 9, "'16' is no sl; expected a number from 0 to 15: opensm skips it"),
        ),
        ("a=1, wep : ALL ;\n", (1, 6, "opensm knows no flag 'wep' and skips it")),
        ("a=1 : ALL=ful1 ;\n", (1, 11, "'ful1' is no membership, so opensm takes limited")),
    ],
)
def test_a_partition_that_opensm_does_not_understand_is_a_located_problem(
    text: str, problem: tuple[int, int, str]
) -> None:
    document, _ = read_partitions(text, "partitions.conf")
    (found,) = document.problems
    assert (found.file, found.line, found.column) == ("partitions.conf", *problem[:2])
    assert found.message.startswith(problem[2])


def test_members_have_the_membership_that_opensm_gives_them() -> None:
    text = "a=0x8001, defmember=full, indx0, sl=3 : 0x10, 0x11=limited,\n  ALL_CAS=both, SELF ;\n"
    document, (partition,) = read_partitions(text, "p")
    assert [(one.guid or one.word, one.membership) for one in partition.members] == [
        (0x10, "full"),
        (0x11, "limited"),
        ("ALL_CAS", "both"),
        ("SELF", "full"),
    ]
    assert (partition.base, partition.sl, partition.index0) == (1, 3, True)
    assert document.locate(partition.members[2].origin.path) == (2, 3, 2, 10)
    assert document.locate(("a", "sl")) == (1, 37, 1, 38)


def test_partitions_of_one_name_are_told_apart() -> None:
    document, found = read_partitions("a=1 : SELF ; a=1 : ALL=full ;\n", "p")
    assert [one.origin.path for one in found] == [("a",), ("a#2",)]
    assert document.locate(found[1].origin.path)[:2] == (1, 14)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "qos-levels\n  qos-level\n    sll: 1\n  end-qos-level\nend-qos-levels\n",
            (3, 5, "'sll' is no word of a qos-level; did you mean sl? (others: use, name, "),
        ),
        ("qos-ulps\n  default : 16\nend-qos-ulps\n", (2, 13, "'16' is no SL; expected 0 to 15")),
        ("qos-ulps\n  default : 0\n", (1, 1, "qos-ulps has no end-qos-ulps")),
        (
            "qos-ulps\n  any, pkey : 0\nend-qos-ulps\n",
            (2, 3, "no line of qos-ulps; expected one of 'default'"),
        ),
        (
            "port-group\nend-port-group\n",
            (1, 1, "'port-group' has no place here; expected qos-ulps or port-groups"),
        ),
    ],
)
def test_a_policy_that_opensm_refuses_is_a_located_problem(text: str, problem: tuple[int, int, str]) -> None:
    document, _ = read_policy(text, "qos-policy.conf")
    found = document.problems[0]
    assert (found.line, found.column) == problem[:2]
    assert found.message.startswith(problem[2])
    assert (
        found.message.endswith("opensm refuses the whole file, and no policy holds")
        or len(document.problems) > 1
    )


def test_guids_are_one_a_line_and_the_first_word_of_it() -> None:
    document, guids = read_guids("# roots\n0x10 spine1\n  17 # spine2\nspine3\n0\n", "roots")
    assert guids == (0x10, 17)
    assert document.locate((1,)) == (3, 3, 3, 5)
    assert [(one.line, one.column) for one in document.problems] == [(4, 1), (5, 1)]


def test_settings_of_sharp_are_read_and_its_keys_are_masked() -> None:
    document, found = read_sharp("max_trees 8 # c\nam_key = 0xabc\nlonely\n", "sharp_am.cfg")
    assert [(one.key, one.text) for one in found] == [("max_trees", "8"), ("am_key", "*****")]
    assert document.problems == (
        Problem(
            "sharp_am.cfg",
            3,
            1,
            "'lonely' is no key with a value; expected them on one line, a blank between",
        ),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sm_priority 14\nqos TRUE\n", "options"),
        ("Default=0x7fff : ALL ;\n", "partitions"),
        ("# c\nqos-ulps\n", "policy"),
        ("smx_protocol 1\nmax_trees 8\nlog_verbosity 3\n", "sharp"),
        ("0x10\n0x11\n", None),
        ("[server]\nport = 80\n", None),
        ("daemon TRUE\nlisten 80\nuser www\nworkers 4\n", None),
        ("a: b;\nc: d\n", None),
        ("width: 10;\nheight: 20;\n", None),
    ],
)
def test_a_file_is_known_by_its_content(text: str, kind: str | None) -> None:
    assert kind_of(text) == kind


def test_what_the_files_do_not_contain_is_unknown_and_not_absent() -> None:
    from lossless.ground.basics.records import UNKNOWN

    subnet = read_subnet(SubnetFile("opensm.conf", "sm_priority 3\n"), {}).subnet
    assert (subnet.switches, subnet.hcas, subnet.partitions, subnet.flavour) == (UNKNOWN,) * 4
    assert subnet.managers[0].node is UNKNOWN
    assert subnet.managers[0].priority == 3


def test_files_are_found_beside_by_the_names_that_options_give_them() -> None:
    conf = "partition_config_file /srv/sm/parts\nroot_guid_file /srv/sm/roots.txt\nsharp_enabled 2\n"
    beside = {
        "parts": SubnetFile("d/parts", "a=1 : SELF ;\n"),
        "roots.txt": SubnetFile("d/roots.txt", "0x10\n"),
        "qos-policy.conf": SubnetFile("d/qos-policy.conf", "qos-ulps\ndefault : 2\nend-qos-ulps\n"),
    }
    found = read_subnet(SubnetFile("d/opensm.conf", conf), beside).subnet
    assert found.files == ("d/opensm.conf", "d/parts", "d/qos-policy.conf", "d/roots.txt")
    assert found.routing.roots == (0x10,)
    assert found.policy is not None
    assert found.policy.ulps[0].sl == 2
    assert found.sharp is not None
    assert found.sharp.on
    assert found.flavour == "nvidia"
    assert isinstance(found.partitions, tuple)
    assert isinstance(found.partitions[0].members[0], Member)


def test_a_hash_in_a_path_ends_it_and_one_behind_a_word_is_a_comment() -> None:
    found = read_options("log_file /var/log/open#sm.log\nqos TRUE#yes\nlmc 0 # none\n", "opensm.conf")
    assert [(one.line, one.column, one.message) for one in found.document.problems] == [
        (1, 23, "a # ends a line anywhere: opensm reads '/var/log/open' as log_file")
    ]
    assert [(setting.key, setting.text) for setting in found.settings] == [
        ("log_file", "/var/log/open"),
        ("qos", "TRUE"),
        ("lmc", "0"),
    ]

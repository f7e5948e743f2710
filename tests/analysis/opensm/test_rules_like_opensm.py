"""What rules say of a subnet manager's files is what the program itself makes of them, on a simulated fabric."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.opensm.check import check_with_opensm
from lossless.analysis.opensm.run import ibsim_fabric, live, sweep, sweep_of
from lossless.checks.rules.base import Violation
from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.infiniband.subnet_queries import key_tables, vl_of
from lossless.checks.rules.registry import load
from lossless.formats.infiniband.read.partitions import read_partitions
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.derived_policy import torus_lanes, with_derived_guids
from lossless.model.fabric.infiniband.subnet import Job, ManagerSetting, qos_of
from tests.checks.rules.checking import drawn
from tests.checks.rules.snippets import read_text
from tests.subnets import HERE, dragonfly, fat_tree, torus
from tests.torus_file import torus_lines

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.analysis.opensm.run import Tools
    from lossless.model.fabric.infiniband.subnet import Subnet


def tree(engine: str = "minhop", **options: str) -> Subnet:
    """Return a small fat tree whose manager is told some options."""
    made = with_derived_guids(fat_tree(leaves=2, spines=2, hosts=2, engine=engine))
    settings = (*made.options, *(ManagerSetting(key, text, HERE) for key, text in options.items()))
    return made._replace(options=settings, qos=qos_of(settings, (), HERE))


def written(subnet: Subnet, folder: Path, **files: str) -> Path:
    """Write what a manager is told, and return the opensm.conf."""
    lines = [f"{setting.key} {setting.text}" for setting in subnet.options]
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        lines.append(f"{name} {folder / name}")
    path = folder / "sm.conf"
    # A manager that stays up keeps its log to itself without the last one.
    path.write_text("\n".join([*lines, "log_flags 0x07", "force_log_flush TRUE", ""]), encoding="utf-8")
    return path


def manager_of(subnet: Subnet) -> str:
    hca = subnet.managers[0].hca
    assert hca is not None
    return hca


FALLS_BACK = {
    "ftree with several LIDs a port": (tree("ftree", lmc="1"), "IB036"),
    "ftree on a torus": (torus((4, 3), 1, "ftree"), "IB002"),
    "updn on a torus": (torus((5, 3), 1, "updn"), "IB002"),
    "updn on a dragonfly+": (dragonfly(3, 2, 1, "updn"), "IB002"),
    "an engine in capitals": (tree("UPDN"), "IB015"),
    "an engine that is none": (tree("fatfree"), "IB015"),
}


@pytest.mark.parametrize(("subnet", "code"), FALLS_BACK.values(), ids=FALLS_BACK)
def test_opensm_falls_back_to_minhop_where_a_rule_says_so(
    tools: Tools, tmp_path: Path, subnet: Subnet, code: str
) -> None:
    named = with_derived_guids(subnet)
    violations = [violation for violation in load(code).check(named) if isinstance(violation, Violation)]
    assert [violation.severity or rule_of(code).severity for violation in violations] == ["error"]
    ran = sweep(tools, ibsim_fabric(named), written(named, tmp_path), tmp_path, manager_of(named))
    assert ran.ended
    assert sweep_of(ran.text("opensm.log").splitlines()).engine == "minhop"


def test_opensm_gives_up_a_file_without_partitions(tools: Tools, tmp_path: Path) -> None:
    text = "# Default=0x7fff : ALL=limited, SELF=full ;\n"
    deployed = [read_text("lmc 0\n", "opensm.conf"), read_text(text, "partitions.conf")]
    assert len(drawn("IB023", *deployed)) == 1
    subnet = tree()
    conf = written(subnet, tmp_path, partition_config_file=text)
    ran = sweep(tools, ibsim_fabric(subnet), conf, tmp_path, manager_of(subnet))
    assert "retrying with default config" in ran.text("opensm.log")


@pytest.mark.parametrize(
    "partitions",
    [
        "Default=0x7fff : SELF=full, ALL=limited ;\n",
        "Default=0x7fff : ALL ;\n",
        "Default=0x7fff : ALL=limited, SELF=full ;\n",
        "Default=0x7fff : SELF=limited ;\nDefault=0x7fff : ALL=full ;\n",
        "Other=0x0002 : ALL=full ;\n",
    ],
)
def test_the_manager_is_a_limited_member_exactly_where_a_rule_says_so(
    tools: Tools, tmp_path: Path, partitions: str
) -> None:
    deployed = [read_text("lmc 0\n", "opensm.conf"), read_text(partitions, "partitions.conf")]
    subnet = tree()
    conf = written(subnet, tmp_path, partition_config_file=partitions)
    with live(tools, ibsim_fabric(subnet), conf, tmp_path, manager_of(subnet)) as up:
        table = up.ask("smpquery", "pkeys", "-D", "0", "1")
    first = re.search(r"^\s*0:\s+(0x[0-9a-f]{4})", table, re.MULTILINE)
    assert first is not None, table
    assert bool(drawn("IB025", *deployed)) == (first[1] == "0x7fff")


MANAGER_FULL = "Default=0x7fff : ALL=limited, SELF=full ;\n"
ALL_FULL = "Default=0x7fff : ALL=full ;\n"


@pytest.mark.parametrize("both", ["FALSE", "TRUE"])
@pytest.mark.parametrize(
    "partitions",
    [
        MANAGER_FULL + "A=0x10 : {0}=full, {1}=full ;\nB=0x8010 : {2}=full, {3}=full ;\n",
        MANAGER_FULL + "A : {0}=full, {1}=full ;\nB=1 : {2}=full ;\nC : {3} ;\nA : {3}=full ;\n",
        MANAGER_FULL + "A=0x20 : {0}=full, {1}=full ;\nB=0x4000 : {0}=full, {1}=full, {2} ;\n",
        MANAGER_FULL + "A=0x20, indx0 : {0}=full, {1}=both ;\nB=0x4000 : ALL_CAS=full ;\n",
        MANAGER_FULL + "A=0x10 : {0}=both, {1}=both, {2}=limited ;\n",
        ALL_FULL + "A=0x10 : {0}=both, {1}=both, {2}=limited ;\nB=0x4000 : {1}=full, {2}=full ;\n",
        "A=0x10, defmember=full : {0}, {1} ;\n",
        # The order of statements matters: the last one about a port wins, and a name without key takes a free one.
        MANAGER_FULL + "A=0x10 : {1}=full, {2}=full ;\nB=0x10 : {1}=limited, {3} ;\n",
        MANAGER_FULL + "B=0x10 : {1}=limited, {3} ;\nA=0x10 : {1}=full, {2}=full ;\n",
        MANAGER_FULL + "A : {1}=full, {2}=full ;\nB=1 : {1}, {3}=full ;\nC=2 : {2}=full ;\n",
        MANAGER_FULL + "C=2 : {2}=full ;\nB=1 : {1}, {3}=full ;\nA : {1}=full, {2}=full ;\n",
    ],
)
def test_tables_of_keys_are_filled_as_rules_take_them_to_be(
    tools: Tools, tmp_path: Path, partitions: str, both: str
) -> None:
    subnet = tree(allow_both_pkeys=both)
    assert isinstance(subnet.hcas, tuple)
    text = partitions.format(*(f"{hca.guid:#x}" for hca in subnet.hcas))
    conf = written(subnet, tmp_path, partition_config_file=text)
    expected = key_tables(subnet._replace(partitions=read_partitions(text, "partitions.conf")[1]))
    with live(tools, ibsim_fabric(subnet), conf, tmp_path, manager_of(subnet)) as up:
        said = {hca.name: up.ask("smpquery", "-G", "pkeys", f"{hca.guid:#x}", "1") for hca in subnet.hcas}
    keys = {name: re.findall(r"0x[0-9a-f]{4}\b", of_hca) for name, of_hca in said.items()}
    found = {name: tuple(int(key, 16) for key in of_hca if int(key, 16)) for name, of_hca in keys.items()}
    assert found == expected


@pytest.mark.parametrize("code", [1, 2, 3, 4])
def test_lanes_are_folded_as_rules_take_them_to_be(tools: Tools, tmp_path: Path, code: int) -> None:
    table = "0,1,2,3,4,5,6,7,8,9,10,15"
    subnet = tree(qos="TRUE", max_op_vls=str(code), qos_sl2vl=table)
    with live(tools, ibsim_fabric(subnet), written(subnet, tmp_path), tmp_path, manager_of(subnet)) as up:
        said = up.ask("smpquery", "sl2vl", "-D", "0", "1")
    row = re.search(r"ports: in\s+0, out\s+0: \|(.*)\|", said)
    assert row is not None, said
    lanes = [int(cell) for cell in row[1].split("|")]
    assert [15 if vl_of(subnet, sl) is None else vl_of(subnet, sl) for sl in range(16)] == lanes


@pytest.mark.parametrize(("code", "vls"), [(2, 2), (3, 4), (4, 8)])
def test_torus_2qos_uses_the_lanes_that_rules_take_it_to_use(
    tools: Tools, tmp_path: Path, code: int, vls: int
) -> None:
    made = with_derived_guids(torus((4, 3), 1, "torus-2QoS"))
    given = {"qos": "TRUE", "max_op_vls": str(code)}
    settings = (*made.options, *(ManagerSetting(key, text, HERE) for key, text in given.items()))
    subnet = made._replace(options=settings, qos=qos_of(settings, (), HERE))
    assert not isinstance(subnet.switches, Unknown)
    assert not isinstance(subnet.hcas, Unknown)
    assert not isinstance(subnet.links, Unknown)
    conf = written(subnet, tmp_path, torus_config="\n".join([*torus_lines(subnet), ""]))
    guids = {switch.name: switch.guid for switch in subnet.switches}
    with live(tools, ibsim_fabric(subnet), conf, tmp_path, manager_of(subnet)) as up:
        at_host = up.ask("smpquery", "-G", "sl2vl", f"{subnet.hcas[0].guid:#x}", "1")
        between = [
            up.ask("smpquery", "-G", "sl2vl", f"{guids[link.a]:#x}", str(link.a_port))
            for link in subnet.links
            if not link.to_hca
        ]
    for sl in (0, 8):
        assert lanes_of(at_host, sl) == torus_lanes("ca", vls, sl)
        assert set().union(*(lanes_of(said, sl) for said in between)) == torus_lanes("swe", vls, sl)


@pytest.mark.parametrize(
    ("sides", "engine"),
    [
        ((5, 3), "torus-2QoS"),
        ((6, 3), "torus-2QoS"),
        ((4, 4), "torus-2QoS"),
        ((3, 3), "torus-2QoS"),
        ((5, 3), "nue"),
    ],
)
def test_jobs_on_one_level_close_a_cycle_in_the_tables_exactly_where_a_rule_says_so(
    tools: Tools, sides: tuple[int, ...], engine: str
) -> None:
    subnet = with_derived_guids(torus(sides, 2, engine, qos="TRUE", nue_max_num_vls="1"))
    files = {"opensm.conf": "".join(f"{option.key} {option.text}\n" for option in subnet.options)}
    if engine == "torus-2QoS":
        files["torus-2QoS.conf"] = "\n".join([*torus_lines(subnet), ""])
    subnet = subnet._replace(job=Job(None, None, (), HERE))
    said = check_with_opensm(tools, subnet, files).complaints
    assert [complaint.startswith("jobs send on SL 0 alone") for complaint in said] == [
        True for violation in load("IB046").check(subnet) if isinstance(violation, Violation)
    ]


def lanes_of(table: str, first: int) -> set[int]:
    """Return the lanes of eight service levels in the rows that smpquery prints, one a port of entry."""
    rows = re.findall(r"ports: in.*?: \|(.*)\|", table)
    assert rows, table
    return {int(cell) for row in rows for cell in row.split("|")[first : first + 8]}

"""Our readers against the program itself: what they call an error, it gives up; what they read, it reads."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.opensm.run import ibsim_fabric, live, read_configuration, sweep
from lossless.formats.device_files.infiniband import files_of
from lossless.formats.infiniband.read.options import read_options
from lossless.formats.infiniband.read.partitions import read_partitions, read_policy
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from lossless.model.fabric.infiniband.subnet import LINE_BYTES, options
from tests.subnets import fat_tree, torus

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.analysis.opensm.run import Tools

SUBNET = with_derived_guids(fat_tree(leaves=1, spines=1, hosts=2, engine="minhop"))
GIVEN_UP = "retrying with default config"
PARTITIONS = {
    "one member in a thousand that is no GUID": "Default=0x7fff : ALL=full ;\nX=0x2 : 0x12=full, host1 ;\n",
    "a definition over two lines": "X=0x2,\n ipoib : ALL ;\n",
    "no definition": "0x12=full ;\n",
    "a P_Key that is no number": "X=zz : ALL ;\n",
    "two colons": "X=0x2 : defmember=limited : ALL ;\n",
    "GUID 0": "X=0x2 : 0x0 ;\n",
    "a line beyond what is taken together": "X=0x2 : "
    + ",".join(f"0x{n:016x}=full" for n in range(1, 300))
    + " ;\n",
    "members over lines": "X=0x2 :\n ALL=full, # all\n 0x12 ;\n",
    "no end": "X=0x2 : ALL=full\n",
    "several on a line": "X=0x2:ALL=full;Y=0x3:SELF;0x4,ipoib:ALL_CAS=limited;\n",
    "no members": "X=0x2 : ;\n",
    "a name alone": "X : ALL=full ;\n",
    "a key alone": "0x8005 , indx0 : ALL=full ;\n",
    "words begun": "X=0x2, def=full : AL, SE ;\n",
    "a comma too many": "X=0x2 : ALL=full, ;\n",
    "multicast groups": "X=0x2, ipoib, rate=7 :\n mgid=ff12:401b::7,sl=1\n mgid=ff12::1,rate=3,Q_Key=2\n ALL=full ;\n",
    "a group on the line of its definition": "X=0x2 : mgid=ff12::1,sl=2\n ALL=full ;\n",
    "a group behind members": "X=0x2 :\n ALL=full, mgid=ff12::1\n ;\n",
    "a group begun": "X=0x2 :\n mgi=ff12::1\n ALL=full ;\n",
    "lines of Windows": "Default=0x7fff : ALL=limited, SELF=full ;\r\nX=0x2 : ALL=full ;\r\n",
    "a comment of Windows": "# partitions\r\nX=0x2 : ALL=full ; # all\r\n",
    "a byte-order mark": "\ufeffX=0x2 : ALL=full ;\n",
}  # fmt: skip
SKIPPED = {
    "a flag that nobody knows": "X=0x2, foo=3 : ALL ;\n",
    "an SL beyond 15": "X=0x2, sl=19 : ALL ;\n",
    "a scope beyond 15": "X=0x2, scope=99 : ALL ;\n",
    "a rate in words": "X=0x2, rate=fast : ALL ;\n",
    "a membership that is none": "X=0x2 : ALL=fulll ;\n",
    "a flag of a group that nobody knows": "X=0x2 :\n mgid=ff12::1,foo=2\n ALL=full ;\n",
    "an SL of a group beyond 15": "X=0x2 :\n mgid=ff12::1,sl=19\n ALL=full ;\n",
    "a member behind a group": "X=0x2 :\n mgid=ff12::1, 0x12=full\n ALL=full ;\n",
}
NO_GROUP = {
    "gid is not multicast": "X=0x2 :\n mgid=fe80::1\n ALL=full ;\n",
    "with invalid rate": "X=0x2, ipoib, rate=7 :\n mgid=ff12:401b::1,rate=3\n ALL=full ;\n",
    "with invalid mtu": "X=0x2, ipoib :\n mgid=ff12:601b::1,mtu=5\n ALL=full ;\n",
}
POLICIES = {
    "the shortest": "qos-ulps\n default : 0\nend-qos-ulps\n",
    "levels": "qos-levels\n qos-level\n name: DEFAULT\n sl: 0\n end-qos-level\nend-qos-levels\n",
    "a range of keys": "qos-ulps\n default: 0 # c\n any , pkey 0x7fff-0x7fff : 3\nend-qos-ulps\n",
    "no end": "qos-ulps\n default : 0\n",
    "an SL beyond 15": "qos-ulps\n default : 16\nend-qos-ulps\n",
    "a word that is none": "qos-levels\n qos-level\n nam: DEFAULT\n sl: 0\n end-qos-level\nend-qos-levels\n",
    "a value in words": "qos-levels\n qos-level\n name: DEFAULT\n sl: high\n end-qos-level\nend-qos-levels\n",
    "a section that is none": "qos-classes\nend-qos-classes\n",
    "lines of Windows": "qos-ulps\r\n default : 0\r\nend-qos-ulps\r\n",
    "a byte-order mark": "\ufeffqos-ulps\n default : 0\nend-qos-ulps\n",
}


def log_of(tools: Tools, tmp_path: Path, **files: str) -> str:
    """Return the log of a sweep with some files in place."""
    names = {"partitions": "partition_config_file", "policy": "qos_policy_file"}
    lines = ["qos TRUE", "log_flags 0x07"]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        lines.append(f"{names[name]} {tmp_path / name}")
    (tmp_path / "sm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert not isinstance(SUBNET.hcas, str)
    ran = sweep(tools, ibsim_fabric(SUBNET), tmp_path / "sm.conf", tmp_path, hca_of_manager())
    log = next(tmp_path.glob("*.log")).read_text(encoding="utf-8", errors="replace")
    assert ran.ended
    return log


def hca_of_manager() -> str:
    hca = SUBNET.managers[0].hca
    assert hca is not None
    return hca


@pytest.mark.parametrize("text", PARTITIONS.values(), ids=PARTITIONS)
def test_a_partition_file_is_given_up_where_we_say_so(tools: Tools, tmp_path: Path, text: str) -> None:
    document, _ = read_partitions(text, "partitions.conf")
    assert any("gives up" in problem.message for problem in document.problems) == (
        GIVEN_UP in log_of(tools, tmp_path, partitions=text)
    )


@pytest.mark.parametrize("text", SKIPPED.values(), ids=SKIPPED)
def test_what_opensm_skips_is_a_problem_of_ours(tools: Tools, tmp_path: Path, text: str) -> None:
    document, _ = read_partitions(text, "partitions.conf")
    assert len(document.problems) == 1
    log = log_of(tools, tmp_path, partitions=text)
    assert "PARSE WARN" in log
    assert GIVEN_UP not in log


@pytest.mark.parametrize(("words", "text"), NO_GROUP.items())
def test_a_group_that_opensm_does_not_make_is_a_problem_of_ours(
    tools: Tools, tmp_path: Path, words: str, text: str
) -> None:
    document, _ = read_partitions(text, "partitions.conf")
    assert [problem.line for problem in document.problems] == [2]
    log = log_of(tools, tmp_path, partitions=text)
    assert words in log
    assert GIVEN_UP not in log


@pytest.mark.parametrize("text", POLICIES.values(), ids=POLICIES)
def test_a_policy_is_refused_where_we_say_so(tools: Tools, tmp_path: Path, text: str) -> None:
    document, _ = read_policy(text, "qos-policy.conf")
    log = log_of(tools, tmp_path, policy=text)
    assert bool(document.problems) == ("ERR AC0" in log)


def test_a_byte_order_mark_hides_the_first_key(tools: Tools, tmp_path: Path) -> None:
    text = "\ufefflmc 3\nsm_priority 3\n"
    (tmp_path / "marked.conf").write_text(text, encoding="utf-8")
    effective = read_configuration(tools, tmp_path / "marked.conf", tmp_path).effective
    assert (effective["lmc"], effective["sm_priority"]) == ("0", "3")
    problems = read_options(text, "opensm.conf").document.problems
    assert [(problem.line, problem.column) for problem in problems] == [(1, 1)]
    assert "byte-order mark" in problems[0].message


def test_a_long_comment_ends_where_opensm_ends_it(tools: Tools, tmp_path: Path) -> None:
    text = "#" + "x" * (LINE_BYTES - 1) + "lmc 3\n"
    (tmp_path / "long.conf").write_text(text, encoding="utf-8")
    found = read_options(text, "opensm.conf")
    assert [(setting.key, setting.text) for setting in found.settings] == [("lmc", "3")]
    assert [(problem.line, problem.column) for problem in found.document.problems] == [(1, LINE_BYTES + 1)]
    assert read_configuration(tools, tmp_path / "long.conf", tmp_path).effective["lmc"] == "3"


@pytest.mark.parametrize(
    ("sides", "hosts"), [((3, 3, 3), 1), ((4, 3, 2), 2), ((4, 4), 1), ((5, 4, 1), 1), ((3, 3), 18)]
)
def test_torus_2qos_takes_the_file_that_is_rendered_for_a_torus(
    tools: Tools, tmp_path: Path, sides: tuple[int, ...], hosts: int
) -> None:
    subnet = with_derived_guids(torus(sides, hosts, engine="torus-2QoS,no_fallback", qos="TRUE"))
    subnet = subnet._replace(routing=subnet.routing._replace(engines=("torus-2QoS",), no_fallback=True))
    for name, text in files_of(subnet).items():
        (tmp_path / name).write_text(text.replace("/etc/opensm/", f"{tmp_path}/"), encoding="utf-8")
    at = subnet.managers[0].hca
    assert at is not None
    assert sweep(tools, ibsim_fabric(subnet), tmp_path / "opensm.conf", tmp_path, at).ended
    log = next(tmp_path.glob("*.log")).read_text(encoding="utf-8", errors="replace")
    assert "torus-2QoS tables configured on all switches" in log


def test_a_hup_takes_in_partitions_and_not_the_routing_engine(tools: Tools, tmp_path: Path) -> None:
    """What the manifest says of SIGHUP and of a restart."""
    conf, partitions = tmp_path / "sm.conf", tmp_path / "partitions.conf"
    common = f"partition_config_file {partitions}\nlog_flags 0x07\nsweep_interval 0\n"
    conf.write_text(f"{common}routing_engine minhop\n", encoding="utf-8")
    partitions.write_text("Default=0x7fff : ALL=full ;\nX=0x2 : ALL=full ;\n", encoding="utf-8")
    with live(tools, ibsim_fabric(SUBNET), conf, tmp_path, hca_of_manager()) as subnet:
        assert "0x8002" in subnet.ask("smpquery", "-D", "pkeys", "0", "1")
        (running,) = set(tmp_path.glob("*.conf")) - {conf, partitions}
        running.write_text(running.read_text(encoding="utf-8").replace("minhop", "updn"), encoding="utf-8")
        partitions.write_text("Default=0x7fff : ALL=full ;\nX=0x3 : ALL=full ;\n", encoding="utf-8")
        os.kill(process_with(tools.opensm, str(running)), signal.SIGHUP)
        until = time.monotonic() + 600
        while "0x8003" not in (keys := subnet.ask("smpquery", "-D", "pkeys", "0", "1")):
            assert time.monotonic() < until
            time.sleep(0.05)
        log = next(tmp_path.glob("*.log")).read_text(encoding="utf-8", errors="replace")
    assert "0x8002" not in keys
    assert log.count("minhop tables configured on all switches") > 1
    assert "updn tables configured" not in log
    assert options()["routing_engine"].restart
    assert not options()["part_enforce"].restart


def process_with(program: str, argument: str) -> int:
    """Return the process of a program that was given an argument: there is one, our own."""
    from pathlib import Path as Folder

    (found,) = (
        int(entry.parent.name)
        for entry in Folder("/proc").glob("[0-9]*/cmdline")
        if (words := entry.read_bytes().decode(errors="replace").split("\0"))[0] == program
        and argument in words
    )
    return found

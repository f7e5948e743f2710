"""Every wrong variant is refused: by the intent itself, by a rule, or by the real opensm.

One table. Each line says who must speak up, and what for. ``pytest -rP`` prints who did.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from lossless.analysis.opensm import run
from lossless.analysis.opensm.check import check_with_opensm
from lossless.api import lint_documents
from lossless.formats.device_files.infiniband import files_of
from lossless.formats.intent.infiniband.document import load_subnet
from lossless.formats.intent.resolve.infiniband.subnet import resolve_subnet
from lossless.ground.documents import load_text
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from tests.checks.rules.snippets import merge
from tests.paths import RULE_BASES

if TYPE_CHECKING:
    from lossless.analysis.opensm.run import Tools
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Subnet

BASE = RULE_BASES / "infiniband.yaml"
FALLBACK = "the routing engine is minhop"


class Trap(NamedTuple):
    """A change of a sound intent; the rule that finds it, what opensm must say, what refuses the intent itself."""

    name: str
    change: dict[str, Any]
    rule: str = ""
    opensm: str = ""
    intent: str = ""


def options(**texts: str) -> dict[str, Any]:
    return {"subnet_manager": {"options": texts}}


def engine(name: str, **more: Any) -> dict[str, Any]:
    return {"subnet_manager": {"routing": {"engine": name, **more}}}


def members(partition: str, **words: str | None) -> dict[str, Any]:
    return {"partitions": {partition: {"members": words}}}


def torus(engine: str, qos: dict[str, Any] | None = None) -> dict[str, Any]:
    shape = {"sides": [5, 5], "links": "2 x NDR", "hosts_per_switch": 1, "host_links": "1 x NDR"}
    return {
        "topology": {"fat_tree": None, "hosts": None, "torus": shape},
        "subnet_manager": {
            "hosts": [{"on": "host1", "priority": 10}, {"on": "host2", "priority": 5, "standby": True}],
            "routing": {"engine": engine, "roots": None},
        },
        "qos": qos,
        "partitions": None,
        "sharp": None,
        "jobs": None,
    }


TRAPS = (
    Trap("a boolean in small letters", options(sweep_on_trap="true"), "IB016", "takes sweep_on_trap as FALSE"),
    Trap("a boolean as yes", options(qos_dummy="yes"), "IB019", "does not know the key qos_dummy"),
    Trap("a boolean as 1", options(use_ucast_cache="1"), "IB016", "takes use_ucast_cache as FALSE"),
    Trap("a key in capitals", options(QOS="TRUE"), "IB019", "does not know the key QOS"),
    Trap("a key misspelt", options(sweep_intervall="10"), "IB019", "does not know the key sweep_intervall"),
    Trap("a key of the other flavour", options(sharp_enabled="2"), "IB019"),
    Trap("a code beyond five bits", options(subnet_timeout="99"), "IB017"),
    Trap("a lifetime beyond five bits", options(packet_life_time="0x40"), "IB017"),
    Trap("a lifetime that never ends", options(head_of_queue_lifetime="0x14"), "IB014"),
    Trap("a number that is none, silently", options(qos_high_limit="abc"), "IB018", "qos_high_limit as 0"),
    Trap("a number that is none", options(log_max_size="ten"), "IB018", "expected numeric input"),
    Trap("a limit above 255", options(qos_high_limit="300"), "IB017", "Invalid Cached Option: qos_high_limit"),
    Trap("an LMC above 7", options(lmc="8"), "IB017", "Invalid Cached Option Value:lmc"),
    Trap("a protection level above 3", options(m_key_protection_level="4"), "IB017", "as 2, written is 4"),
    Trap("a word that is no choice", options(part_enforce="maybe"), "IB017", "part_enforce as both"),
    Trap("partitions enforced nowhere", options(part_enforce="off"), "IB035"),
    Trap("two masters", options(ignore_other_sm="TRUE"), "IB030"),
    Trap("LIDs given again at each start", options(reassign_lids="TRUE"), "IB031"),
    Trap("no sweeps", options(sweep_interval="0"), "IB033"),
    Trap("management without a limit", options(max_wire_smps="0"), "IB034", "max_wire_smps as 2147483647"),
    Trap("a value with a # in it", options(log_prefix="a#b"), "", "takes log_prefix as a, written is a#b"),
    Trap("lanes stated twice", options(max_op_vls="9"), intent="max_op_vls is made of qos.vls"),
    Trap("a priority of 16", {"subnet_manager": {"hosts": [{"on": "sm1", "priority": 16}]}}, intent="0 to 15"),
    Trap("an engine that does not exist", engine("fatfree"), "IB015", FALLBACK),
    Trap("leaves as roots of updn", engine("updn", roots=["leaf1"]), "IB003"),
    Trap("ftree on a torus", torus("ftree"), "IB002", FALLBACK),
    Trap("updn on a torus", torus("updn"), "IB002", FALLBACK),
    Trap("dor on rings of five", torus("dor"), "IB020", "credit loop of "),
    Trap("minhop on rings of five", torus("minhop"), "IB020", "credit loop of "),
    Trap("torus-2QoS without QoS", torus("torus-2QoS"), "IB004", FALLBACK),
    Trap("torus-2QoS with one lane", torus("torus-2QoS", {"vls": 1, "levels": {}}), "IB004", FALLBACK),
    Trap("only limited members", members("compute", full=None, limited="@compute"), "IB024"),
    Trap("a manager that is no full member", members("Default", full=None, limited="ALL"), "IB025"),
    Trap("an SL of 16", {"partitions": {"compute": {"level": None, "sl": 16}}}, intent="16 is not an SL"),
)  # fmt: skip


def intent_with(change: dict[str, Any]) -> Document:
    base = load_text(BASE.read_text(encoding="utf-8"), BASE.name).data
    return load_text(json.dumps(merge(base, change)), "fabric.yaml")


def subnet_of(document: Document) -> Subnet:
    return with_derived_guids(resolve_subnet(load_subnet(document)))


def test_the_sound_intent_is_accepted_by_all(tools: Tools) -> None:
    document = intent_with({})
    report, subnet = lint_documents([document]), subnet_of(document)
    assert (report.findings, report.errors) == ((), ())
    found = check_with_opensm(tools, subnet, files_of(subnet))
    assert (found.complaints, found.changed, found.credits.state) == ((), (), "free")


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_a_wrong_variant_is_refused(trap: Trap, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SWEEP_S", 2.0)
    assert trap.rule or trap.opensm or trap.intent
    document = intent_with(trap.change)
    report = lint_documents([document])
    refusals = " / ".join(error.message for error in report.errors)
    assert (trap.intent in refusals) == bool(trap.intent or not refusals)
    if trap.intent:
        print(f"{trap.name}: the intent: {refusals}")
        return
    codes = {finding.code for finding in report.findings if finding.severity != "info"}
    assert not trap.rule or trap.rule in codes
    subnet = subnet_of(document)
    complaints = check_with_opensm(tools, subnet, files_of(subnet)).complaints
    assert not trap.opensm or any(trap.opensm in complaint for complaint in complaints), complaints
    print(
        f"{trap.name}: {', '.join(sorted(codes)) or 'no rule'}; {'; '.join(complaints) or 'opensm is silent'}"
    )


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("partitions.conf", "compute=0x0002", "compute=0x0002=", "retrying with default config"),
        ("partitions.conf", "=full, # host1", "=half, # host1", "PARSE WARN"),
        ("partitions.conf", "0x0200000100000001=full", "0xhost1=full", "bad PortGUID"),
        ("partitions.conf", ", sl=1", ", sl=19", "PARSE WARN"),
        ("partitions.conf", ", sl=1", ", foo=3", "PARSE WARN"),
        ("qos-policy.conf", "end-qos-levels", "end-of-levels", "ERR AC05"),
        ("qos-policy.conf", "0x0002", "0x0666", "partition doesn't exist"),
        ("opensm.conf", "qos_max_vls 4", "qos_max_vls=4", "does not know the key qos_max_vls=4"),
        ("opensm.conf", "qos_sl2vl 0,1,2,0", "qos_sl2vl 0,1,2", "qos_sl2vl"),
        ("opensm.conf", "qos_vlarb_high 1:64", "qos_vlarb_high 1:256", "qos_vlarb_high"),
        ("opensm.conf", "qos_vlarb_high 1:64", "qos_vlarb_high 15:64", "qos_vlarb_high"),
        ("root_guid.conf", "0x0200000000000003", "0x0200000000000001", FALLBACK),
    ],
)
def test_a_file_that_is_spoilt_by_hand_is_refused_by_opensm(
    name: str, before: str, after: str, words: str, tools: Tools
) -> None:
    subnet = subnet_of(intent_with({}))
    files = files_of(subnet)
    assert before in files[name]
    files[name] = files[name].replace(before, after)
    complaints = check_with_opensm(tools, subnet, files).complaints
    print(f"{before} -> {after}: {'; '.join(complaints)}")
    assert any(words in complaint for complaint in complaints), complaints

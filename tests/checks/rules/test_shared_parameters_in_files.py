"""Files of a host and of its switch, checked together: a line of either that is changed alone is reported."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.api import lint
from lossless.ground.documents import load_text
from tests.checks.rules.host_files import snapshot
from tests.checks.rules.linted import intent_view
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report
    from lossless.ground.basics.findings import Finding

HOST = "host1"
INTENT = (BASES / "leaf-spine.yaml").read_text()
SWITCH = json.loads((BASES / "rendered-leaf.json").read_text())
"""What the intent renders for leaf1."""
WORDS = {
    "Global tclass=106": "Global tclass=40",
    "RoCE v2": "IB/RoCE v1",
    "OS controlled": "Firmware controlled",
    "dscp": "pcp",
    "off": "on",
}
UNLIKE = re.compile(
    r"/device/|/gid_attrs/|^lldp|^(?:==>|#)|^Pause parameters|^Autonegotiate|tsa: vendor|priority: |:$|priority    0"
)
"""Lines that are no setting: which NIC it is, the GID table while NCCL looks for itself, titles, and shares that the
NIC has as it came."""


@cache
def wanted_snapshot() -> str:
    """Return what is read on a host that is set up as the intent wants it."""
    return snapshot(HOST, intent_view({}).fabric.hosts[0].qos, ("leaf1", "Ethernet0"))


def checked(
    folder: Path, facts: str, *, intent: bool = False, switch: dict[str, Any] | None = None
) -> Report:
    """Return what is said of a folder with the files of a host, and of what it belongs to."""
    files = {f"{HOST}.facts": facts, "fabric.yaml": INTENT if intent else None}
    files["config_db.json"] = None if switch is None else json.dumps(switch)
    for name, text in files.items():
        (folder / name).unlink(missing_ok=True)
        if text is not None:
            (folder / name).write_text(text)
    report = lint([folder])
    assert report.errors == ()
    return report


def lines_of(finding: Finding, report: Report) -> int:
    """Return the line that a finding points at."""
    document = report.documents[finding.origin.file]
    return document.locate_many([finding.origin.path])[finding.origin.path].line


@st.composite
def changed_lines(draw: st.DrawFn) -> tuple[int, str]:
    """Return the number of a line with a setting, and the whole snapshot with another value there."""
    lines = wanted_snapshot().splitlines()
    settable = [number for number, line in enumerate(lines) if line.strip() and not UNLIKE.search(line)]
    number = draw(st.sampled_from(settable))
    lines[number] = draw(other(lines[number]))
    return number + 1, "\n".join(lines) + "\n"


def other(line: str) -> st.SearchStrategy[str]:
    """Return lines with another value of the same kind."""
    head, value = _split(line)
    if value in WORDS:
        return st.just(head + WORDS[value])
    if head.strip().startswith("enabled"):
        flags = value.split()
        return st.integers(0, 7).map(lambda p: head + _flipped(flags, p))
    if head.startswith("NCCL_IB_TC"):
        return _numbers(head, int(value), 0, 255).filter(lambda new: int(new.rpartition("=")[2]) >> 2 != 26)
    if head.strip().startswith("prio:"):
        return st.integers(0, 7).filter(lambda p: f"prio:{p} " not in line).map(lambda p: _mapped(line, p))
    if "default_roce_tos" in head:
        return _numbers(head, int(value), 0, 255).filter(lambda new: int(new.rpartition("= ")[2]) >> 2 != 26)
    return _numbers(head, int(value), *_range(head))


def _split(line: str) -> tuple[str, str]:
    match = re.match(r"(.*?(?:=\s*(?=Global)|=\s*|:\s*|enabled\s+))(.*)$", line)
    assert match, line
    return match[1], match[2].strip()


def _flipped(flags: list[str], priority: int) -> str:
    return "   ".join(str(1 - int(flag)) if p == priority else flag for p, flag in enumerate(flags))


def _mapped(line: str, priority: int) -> str:
    return re.sub(r"prio:\d", f"prio:{priority}", line)


def _range(head: str) -> tuple[int, int]:
    small = {
        "enable/": (0, 1),
        "cnp_dscp": (0, 63),
        "cnp_802p_prio": (0, 7),
        "RETRY": (0, 7),
        "TIMEOUT": (0, 31),
    }
    return next((found for word, found in small.items() if word in head), (1, 8000))


def _numbers(head: str, present: int, low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).filter(lambda value: value != present).map(lambda value: f"{head}{value}")


@pytest.mark.parametrize("intent", [True, False])
@pytest.mark.parametrize("switch", [SWITCH, None])
def test_a_host_and_a_switch_that_are_set_up_as_wanted_draw_nothing(
    tmp_path: Path, intent: bool, switch: dict[str, Any] | None
) -> None:
    assert checked(tmp_path, wanted_snapshot(), intent=intent, switch=switch).findings == ()


def test_every_setting_of_a_host_that_is_changed_alone_is_one_finding(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("changed")

    @settings(max_examples=200, deadline=None)
    @given(changed_lines())
    def law(changed: tuple[int, str]) -> None:
        number, facts = changed
        report = checked(folder, facts, intent=True, switch=SWITCH)
        places = {finding.origin for finding in report.findings}
        assert len(places) == 1, [(finding.code, finding.message) for finding in report.findings]
        (finding, *_) = report.findings
        assert finding.origin.file.endswith(f"{HOST}.facts")
        pointed = wanted_snapshot().splitlines()[lines_of(finding, report) - 1]
        here = wanted_snapshot().splitlines()[number - 1]
        # The eight switches of one half of DCQCN are one setting.
        assert pointed == here or pointed.rpartition("/")[0] == here.rpartition("/")[0]

    law()


HOST_CHANGES = {
    "MTU above that of the port": ("eth2/mtu = 9000", "eth2/mtu = 9216", "NIC015"),
    "speed": ("speed = 400000", "speed = 200000", "LNK001"),
    "ToS byte": ("Global tclass=106", "Global tclass=40", "HST008"),
    "RoCE version": ("default_roce_mode = RoCE v2", "default_roce_mode = IB/RoCE v1", "NIC016"),
    "DCQCN of senders": ("roce_rp/enable/3 = 1", "roce_rp/enable/3 = 0", "NIC001"),
    "DCQCN of receivers": ("roce_np/enable/3 = 1", "roce_np/enable/3 = 0", "NIC001"),
    "DSCP of CNPs, lossless": ("cnp_dscp = 48", "cnp_dscp = 26", "CLS008"),
    "priority of CNPs, paused": ("cnp_802p_prio = 6", "cnp_802p_prio = 3", "CLS008"),
    "trust": ("trust state: dscp", "trust state: pcp", "NIC009"),
    "DSCP map": ("prio:3 dscp:26", "prio:2 dscp:26", "NIC019"),
    "PFC off": ("enabled     0   0   0   1", "enabled     0   0   0   0", "PFC003"),
    "PFC of another": ("enabled     0   0   0   1   0", "enabled     0   0   0   0   1", "PFC003"),
    "PFC of one more": ("enabled     0   0   0   1   0", "enabled     0   0   0   1   1", "PFC003"),
    "global pause": ("RX: off", "RX: on", "PFC006"),
    "DCBX": ("DCBX mode: OS", "DCBX mode: Firmware", "PFC010"),
    "storms": ("tout: 100", "tout: 8000", "WD015"),
    "timeout": ("NCCL_IB_TIMEOUT=20", "NCCL_IB_TIMEOUT=14", "WD008"),
    "NCCL's ToS byte": ("NCCL_IB_TC=106", "NCCL_IB_TC=40", "HST008"),
}
"""Settings of a host that the file of its switch alone contradicts, or that contradict each other."""


@pytest.mark.parametrize("name", HOST_CHANGES)
def test_a_host_that_does_not_fit_its_switch_is_one_finding_without_an_intent(
    tmp_path: Path, name: str
) -> None:
    old, new, code = HOST_CHANGES[name]
    assert old in wanted_snapshot()
    report = checked(tmp_path, wanted_snapshot().replace(old, new, 1), switch=SWITCH)
    assert [finding.code for finding in report.findings] == [code]


@pytest.mark.parametrize(
    "unsaid",
    [
        ("eth2/mtu",),
        ("eth2/speed",),
        ("roce_rp/enable", "roce_np/enable"),
        ("NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT"),
        ("pfc-prevention-tout: ",),
        ("cnp_dscp", "DCBX mode", "trust state", "dscp2prio", "prio:"),
        ("traffic_class", "default_roce", "NCCL_IB_TC"),
    ],
)
@pytest.mark.parametrize("storms", [True, False])
def test_what_no_file_of_a_host_says_is_held_against_nobody(
    tmp_path: Path, unsaid: tuple[str, ...], storms: bool
) -> None:
    """The watchdog restores late, which only a host that says when its transport gives up is told."""
    lines = wanted_snapshot().splitlines(keepends=True)
    left = "".join(line for line in lines if not any(text in line for text in unsaid))
    assert left != "".join(lines)
    switch = merge(SWITCH, {"PFC_WD": {"Ethernet0": {"restoration_time": "60000"}}}) if storms else SWITCH
    expected = ["WD008"] if storms and "NCCL_IB_TIMEOUT" not in unsaid else []
    assert [finding.code for finding in checked(tmp_path, left, switch=switch).findings] == expected


@pytest.mark.parametrize(("port_mtu", "expected"), [("9000", []), ("8999", ["NIC015"])])
def test_a_packet_of_a_host_may_be_as_large_as_its_port_takes(
    tmp_path: Path, port_mtu: str, expected: list[str]
) -> None:
    switch = merge(SWITCH, {"PORT": {"Ethernet0": {"mtu": port_mtu}}})
    assert [
        finding.code for finding in checked(tmp_path, wanted_snapshot(), switch=switch).findings
    ] == expected


@pytest.mark.parametrize(("detection", "expected"), [("101", []), ("100", []), (None, ["WD003"])])
def test_a_nic_may_storm_for_as_long_as_its_port_waits(
    tmp_path: Path, detection: str | None, expected: list[str]
) -> None:
    times = {"POLL_INTERVAL": "100"}, {"detection_time": detection}
    switch = merge(SWITCH, {"PFC_WD": dict(zip(("GLOBAL", "Ethernet0"), times, strict=True))})
    codes = {finding.code for finding in checked(tmp_path, wanted_snapshot(), switch=switch).findings}
    assert codes & {"WD003", "WD015"} == {*expected}


SWITCH_CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "MTU below that of the host": ({"PORT": {"Ethernet0": {"mtu": "4000"}}}, "NIC015"),
    "speed": ({"PORT": {"Ethernet0": {"speed": "200000"}}}, "LNK001"),
    "PFC of another": ({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "4"}}}, "PFC003"),
    "PFC of one more": ({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}}}, "PFC003"),
    "DSCP of RDMA lossy": ({"DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}}}, "CLS001"),
    "DSCP of CNPs lossless": ({"DSCP_TO_TC_MAP": {"AZURE": {"48": "3"}}}, "CLS008"),
    "no marking": ({"QUEUE": {"Ethernet0|3": {"wred_profile": None}}}, "ECN001"),
    "restoration": ({"PFC_WD": {"Ethernet0": {"restoration_time": "60000"}}}, "WD008"),
    "no watchdog": ({"PFC_WD": {"Ethernet0": None}}, "WD001"),
    "nobody watched": ({"PORT_QOS_MAP": {"Ethernet0": {"pfcwd_sw_enable": "4"}}}, "WD002"),
    "detection": ({"PFC_WD": {"Ethernet0": {"detection_time": "100"}}}, "WD004"),
}
"""What a switch's file says otherwise than its hosts need it, and the rule that must be among those that speak."""


@pytest.mark.parametrize("name", SWITCH_CHANGES)
@pytest.mark.parametrize("intent", [True, False])
def test_a_switch_that_does_not_fit_its_host_is_reported(tmp_path: Path, name: str, intent: bool) -> None:
    patch, code = SWITCH_CHANGES[name]
    report = checked(tmp_path, wanted_snapshot(), intent=intent, switch=merge(SWITCH, patch))
    found = {finding.code for finding in report.findings if finding.severity != "info"}
    assert found
    # Beside an intent, the switch is compared with what it should be, and its host is left alone.
    assert intent or code in found
    blamed = {finding.origin.file for finding in report.findings}
    assert not intent or {file.rpartition("/")[2] for file in blamed} == {"config_db.json"}


@pytest.mark.parametrize(
    ("keys", "old", "new", "code"),
    [
        ({"trust": "pcp"}, "trust state: dscp", "trust state: pcp", "NIC009"),
        ({"global_pause": True}, "RX: off", "RX: on", "PFC006"),
        ({"dcbx": "firmware"}, "DCBX mode: OS", "DCBX mode: Firmware", "PFC010"),
    ],
)
def test_a_host_that_does_what_its_intent_says_is_not_blamed_for_it(
    tmp_path: Path, keys: dict[str, Any], old: str, new: str, code: str
) -> None:
    (tmp_path / "fabric.yaml").write_text(
        json.dumps(merge(load_text(INTENT, "fabric.yaml").data, {"hosts": keys}))
    )
    (tmp_path / f"{HOST}.facts").write_text(wanted_snapshot().replace(old, new, 1))
    report = lint([tmp_path])
    assert [(f.code, f.origin.file.rpartition("/")[2]) for f in report.findings] == [(code, "fabric.yaml")]


RESOURCE = """
apiVersion: configuration.net.nvidia.com/v1alpha1
kind: NicConfigurationTemplate
metadata: {name: host1}
spec:
  nicSelector: {nicType: "1021"}
  template:
    numVfs: 0
    linkType: Ethernet
    roceOptimized: {enabled: true%s}
%s
"""
RAW = """    rawNvConfig:
    - {name: CNP_DSCP_P1, value: "48"}
"""


@pytest.mark.parametrize(
    ("qos", "raw", "expected"),
    [
        ("", "", [("HST007", "error"), ("HST007", "warning")]),
        (', qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 0}', RAW, [("HST007", "warning")]),
        (', qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 106}', "", [("HST007", "error")]),
        (', qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 106}', RAW, []),
        (', qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 26}', RAW, [("CLS006", "error")]),
        (', qos: {trust: dscp, pfc: "0,0,0,0,1,0,0,0", tos: 106}', RAW, [("PFC003", "error")]),
        (', qos: {trust: pcp, pfc: "0,0,0,1,0,0,0,0", tos: 106}', RAW, [("NIC009", "error")]),
        (', qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 106}, roceMode: 1', RAW, [("NIC016", "error")]),
    ],
)
def test_what_the_operator_of_nics_does_by_itself(
    tmp_path: Path, qos: str, raw: str, expected: list[tuple[str, str]]
) -> None:
    """Incident 9: roceOptimized gives CNPs DSCP 4 and RDMA a ToS byte of 0."""
    (tmp_path / "fabric.yaml").write_text(INTENT)
    (tmp_path / "nics.yaml").write_text(RESOURCE % (qos, raw))
    found = lint([tmp_path]).findings
    assert [(finding.code, finding.severity) for finding in found] == expected

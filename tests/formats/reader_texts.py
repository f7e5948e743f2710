"""A text of each reader, and the same with one part of it made as long as wanted, or repeated.

Every form of captures and of facts has one, every system of switches, every file of a subnet manager, and every file
that is written and read again; a test says which has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lossless.checks.lint.baseline import read_baseline
from lossless.checks.lint.configuration.reader import read_configuration
from lossless.checks.plan.plan import stored_plan
from lossless.formats.hosts.read.facts import is_facts, read_facts
from lossless.formats.hosts.read.scripts import is_script
from lossless.formats.importing.cabling.cables import read_lldp
from lossless.formats.importing.cabling.sheets import read_files
from lossless.formats.inputs.capture_forms import read_capture
from lossless.formats.inputs.collect import gather
from lossless.formats.inputs.patches import read_bytes, read_patch
from lossless.formats.telemetry.exposition.layout import read_layout
from lossless.ground.basics.limits import DIGITS
from lossless.ground.documents import load_text
from lossless.output.render.tree import _journal, listed_paths
from tests.formats.hosts.read import printed
from tests.formats.hosts.read.test_pasted import LLDPTOOL, QOS, WINDOWS
from tests.formats.hosts.state.test_host_captures import TEXTS as HOST_TEXTS
from tests.formats.hosts.state.test_host_settings_state import NICCTL
from tests.formats.hosts.state.test_job_logs import NEW, OLD
from tests.formats.importing.cabling.test_cabled_topology import HOST, SHEET, TABLE, UPLINK
from tests.formats.infiniband.state import ibdiagnet_files as ibdiagnet
from tests.formats.infiniband.state.test_subnet_captures import (
    ERRORS,
    LINKS,
    LOG,
    PORTS,
    TOPOLOGY,
    printed as counters,
)
from tests.formats.sonic.state.state_texts import COUNTERS, PFC
from tests.formats.sonic.state.test_switch_snapshot import TEXT as SNAPSHOT
from tests.formats.switches.test_other_switches import NXOS
from tests.interfaces.cli.inputs import INTENT, LEAF
from tests.paths import RULE_BASES

Reader = Callable[[str, Path], object]
"""Reads a text; the folder is for what is read from a file."""


class ReaderText(NamedTuple):
    """A sound text, and what reads it."""

    text: str
    read: Reader


def _captured(text: str) -> ReaderText:
    return ReaderText(text, lambda given, _: read_capture(given, "capture.txt"))


def _facts(command: str, output: str) -> ReaderText:
    text = f"# lossless host facts 1\n# host node1\n==> {command}\n{output.strip()}\n"
    return ReaderText(text, lambda given, _: is_facts(given) and read_facts(given, "node1.facts"))


def _configured(text: str, name: str) -> ReaderText:
    return ReaderText(text, lambda given, _: read_bytes(given.encode(), name))


def _base(name: str) -> ReaderText:
    return _configured((RULE_BASES / name).read_text(encoding="utf-8"), name)


def _in_file(text: str, name: str, read: Callable[[str], object]) -> ReaderText:
    def reading(given: str, folder: Path) -> object:
        file = folder / name
        file.write_text(given, encoding="utf-8")
        return read(str(file))

    return ReaderText(text, reading)


_UFM = {"Device1": {"port_guid": "0x1", "port_num": 1, "Infiniband_XmitWait_u_Ticks": 5, "node_guid": "0x2"}}
_SWITCH = (
    "part number  | MQM8790\nPSID                 | MT_1\nGUID                 | 0x1\nfan#1 (rpm)  | 5959\n"
)
_DEVICE = (
    "hca_id:\tmlx5_0\n\ttransport:\tIB (0)\n\tfw_ver:\t28.39.1002\n\tport:\t1\n\t\tactive_mtu:\t4096 (5)\n"
)
_REDIS = (
    'admin@leaf1:~$ redis-cli -n 2 hgetall "COUNTERS:oid:0x1"\n1) "SAI_PORT_STAT_PFC_3_RX_PKTS"\n2) "203"\n'
)
_GNMI = '{"Ethernet96:3": {"SAI_QUEUE_STAT_DROPPED_PACKETS": "9", "SAI_QUEUE_STAT_PACKETS": "1200"}}'
_LLDP = (
    "Interface:    eth0, via: LLDP, RID: 1, Time: 0 day\n  Chassis:\n    SysName:      leaf1\n"
    "  Port:\n    PortID:       ifname Ethernet0\n"
)
_APPLY = "/sys/kernel/config/bnxt_re/bnxt_re0/ports/1/cc/apply"
_QUEUE = {"intfQueueCounters": {"Ethernet1/1": {"queueCounters": {"0": "-", "1": "7"}}}}
_LAUNCH_KIT = {
    "connectivity": {
        "PingResults": [
            {
                "Family": "ib_write_bw",
                "Test": {"SrcNode": "node1", "DstNode": "node2", "SrcRDMADev": "mlx5_0"},
                "OK": False,
                "Error": "no route",
            }
        ]
    }
}
CAPTURES = {
    **{name: _captured(text) for name, text in HOST_TEXTS.items()},
    "nicctl": _captured(NICCTL),
    "k8s-launch-kit": _captured(json.dumps(_LAUNCH_KIT)),
    "NCCL log": _captured(OLD + NEW),
    "switch state": _captured(SNAPSHOT),
    "databases": _captured(json.dumps(COUNTERS)),
    "scripts": _captured('{"Ethernet0": {"RX_OK": "1,200", "TX_DRP": "0"}}'),
    "gNMI": _captured(_GNMI),
    "rows": _captured(_REDIS),
    "show": _captured(f"admin@leaf1:~$ show pfc counters\n{PFC}"),
    "EOS": _captured(json.dumps(_QUEUE)),
    "NX-OS": _captured(NXOS),
    "opensm log": _captured(LOG),
    "ibqueryerrors": _captured(ERRORS),
    "perfquery": _captured(counters("Port", 1, 1, {"PortXmitWait": 3})),
    "ibnetdiscover": _captured(TOPOLOGY + PORTS),
    "iblinkinfo": _captured(LINKS),
    "ibswinfo": _captured(_SWITCH),
    "UFM telemetry": _captured(json.dumps(_UFM)),
    "ibdiagnet2.db_csv": _captured(ibdiagnet.database({"port_xmit_wait": 1})),
    "ibdiagnet2.pm": _captured(ibdiagnet.counters_file({"port_xmit_wait": "0x1"})),
    "ibdiagnet2.net_dump": _captured(ibdiagnet.NET_DUMP),
    "ibdiagnet2.log": _captured(ibdiagnet.LOG),
    "ibdiagnet2.sharp_an_info": _captured(ibdiagnet.SHARP),
    "partitions.conf": _captured((RULE_BASES / "partitions.conf").read_text(encoding="utf-8")),
}
"""By the name of the form."""
SCRIPT = "#!/bin/bash\nIF=eth0\nmlnx_qos -i $IF --trust dscp --pfc=0,0,0,1,0,0,0,0\n"
FACTS = {
    "mlnx_qos": _facts("mlnx_qos -i eth2", printed.MLNX_QOS),
    "ethtool -a": _facts("ethtool -a eth2", printed.ETHTOOL_PAUSE),
    "ethtool": _facts(
        "ethtool -i eth2", "driver: mlx5_core\nfirmware-version: 28.39.1002\nbus-info: 0000:17:00.0\n"
    ),
    "mlxconfig": _facts("mlxconfig -d 0000:17:00.0 -e query", printed.MLXCONFIG),
    "mstconfig": _facts("mstconfig -d 0000:17:00.0 query", printed.MLXCONFIG_PLAIN),
    "mlxreg": _facts("mlxreg -d 0000:17:00.0 --get", printed.MLXREG),
    "mstreg": _facts("mstreg -d 0000:17:00.0 --get", printed.MLXREG),
    "files": _facts("files", printed.SYSFS),
    "cat": _facts(f"cat {_APPLY}", "ecn status (ecn_enable) : Enabled\ncnp dscp (cnp_dscp) : 48\n"),
    "lldpctl": _facts("lldpctl -f keyvalue", printed.LLDP),
    "cma_roce_tos": _facts("cma_roce_tos -d mlx5_0", "106\n"),
    "cma_roce_mode": _facts("cma_roce_mode -d mlx5_0", "RoCE v2\n"),
    "ibv_devinfo": _facts("ibv_devinfo -v", _DEVICE),
    "env": _facts("env", printed.NCCL_CONF),
    "nccl.conf": _facts("nccl.conf", printed.NCCL_CONF),
    "dcb": _facts("dcb -j ets show dev eth2", printed.DCB_ETS),
    "niccli": _facts("niccli -i 1 get_qos", QOS),
    "lldptool": _facts("lldptool -t -i eth3", LLDPTOOL),
    "Get-NetAdapterQos": _facts("Get-NetAdapterQos", WINDOWS),
    "script": ReaderText(
        SCRIPT, lambda given, _: is_script(given) and read_facts(given, "setup.sh", is_script=True)
    ),
}
SYSTEMS = {
    "sonic": _base("leaf.json"),
    "eos": _base("switch-leaf.txt"),
    "nvue": _base("switch-nvue.txt"),
    "nxos": _base("switch-nxos.txt"),
}
MANAGERS = {
    "options": _base("opensm.conf"),
    "partitions": _base("partitions.conf"),
    "policy": _base("opensm-policy.conf"),
    "sharp": _base("sharp_am.cfg"),
}
_ENTRY = {
    "code": "WD001",
    "file": "a.json",
    "object": "PORT|Ethernet0",
    "message": "m",
    "severity": "error",
    "elements": {"x": 1},
}
_BATCH = {
    "before": {"PORT": {"Ethernet0": {"mtu": "9100"}}},
    "after": {"PORT": {"Ethernet0": {"mtu": "9000"}}},
}
_PLAN = {
    "version": 1,
    "groups": {"leaves": ["leaf1"]},
    "steps": [{"number": 1, "switches": [{"group": "leaves", "batches": [_BATCH]}]}],
}
_PATCH = [{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9000"}]
_TOML = """\
select = ["ALL"]
[severity]
WD001 = "warning"
[[suppress]]
rules = ["PFC001"]
reason = "why"
path = ["*.json"]
"""
_CABLES = (RULE_BASES / "cables.csv").read_text(encoding="utf-8")
_LAYOUT = {
    "INSTANCES": {"redis": {"hostname": "127.0.0.1", "port": 6379}},
    "DATABASES": {"COUNTERS_DB": {"id": 2, "instance": "redis"}},
}
_JOURNAL = {"files": ["leaf1/config_db.json"], "stale": ["leaf2/config_db.json"]}
_MANIFEST = {"files": [{"path": "leaf1/config_db.json", "sha256": "0" * 64}]}
RECORDS = {
    "baseline": _in_file(json.dumps({"version": 1, "findings": [_ENTRY]}), "b.json", read_baseline),
    "plan": ReaderText(json.dumps(_PLAN), lambda given, _: stored_plan(load_text(given, "plan.json"))),
    "manifest": ReaderText(
        json.dumps(_MANIFEST), lambda given, _: listed_paths("manifest.json", given.encode())
    ),
    "journal": ReaderText(json.dumps(_JOURNAL), lambda given, _: _journal("journal.json", given.encode())),
}
"""What commands write and read again."""
OTHERS = {
    "intent": _configured(INTENT, "fabric.yaml"),
    "intent of a subnet": _base("infiniband.yaml"),
    "rows of CONFIG_DB": _configured(LEAF, "config_db.json"),
    "resources of Kubernetes": _in_file(printed.NIC_DEVICE, "nics.yaml", lambda file: gather([file])),
    "facts by their name": _in_file(printed.MLNX_QOS, "mlnx_qos.eth2.txt", lambda file: gather([file])),
    "lossless.toml": _in_file(_TOML, "lossless.toml", read_configuration),
    "patch": _in_file(json.dumps(_PATCH), "patch.json", read_patch),
    "databases of a switch": _in_file(json.dumps(_LAYOUT), "database_config.json", read_layout),
    "cabling": ReaderText(_CABLES, lambda given, _: read_files({"cables.csv": given})),
    "sheet": ReaderText(SHEET, lambda given, _: read_files({"cables.csv": given})),
    "inventory": ReaderText(json.dumps([HOST, UPLINK]), lambda given, _: read_files({"netbox.json": given})),
    "LLDP table": ReaderText(TABLE, lambda given, _: read_lldp(given, "leaf1.txt")),
    "LLDP": ReaderText(_LLDP, lambda given, _: read_lldp(given, "leaf1.txt")),
}
READERS: dict[str, ReaderText] = {
    f"{kind}: {name}": text
    for kind, texts in {
        "capture": CAPTURES,
        "facts": FACTS,
        "system": SYSTEMS,
        "manager": MANAGERS,
        "record": RECORDS,
        "other": OTHERS,
    }.items()
    for name, text in texts.items()
}

KINDS = ("blanks", "digits", "separators", "brackets", "repeated keys", "many keys")
_RUNS = {
    "blanks": re.compile(r"[ \t]+"),
    "digits": re.compile(r"[0-9]+"),
    "separators": re.compile(r"[,:;|=/.*#-]"),
    "brackets": re.compile(r"[\[\](){}<>\"']|(?<=[ \t])(?=\S)"),
}
"""What is made long; a bracket also where a word begins."""
LONG_PARTS = tuple(_RUNS)
_LETTERS = {"blanks": " ", "digits": "7", "separators": ",", "brackets": "["}
_MOST_PLACES = 48


def grown(text: str, kind: str, size: int) -> str:
    """Return a text of about so many characters, with parts of a kind that grow with it."""
    data = _data_of(text)
    if kind in _RUNS:
        return _long_in_json(data, kind, size) if data is not None else _long(text, kind, size)
    row = json.dumps(data)[1:-1] if data is not None else text.removesuffix("\n")
    # Where a row is numbered: its numbers, and keys of JSON that have none.
    marked = (
        row if kind == "repeated keys" else re.sub(r"[0-9]+(?![0-9])|(?<=[a-z])(?=\"\s*:)", r"\g<0>\0", row)
    )
    rows = (marked.replace("\0", str(number)) for number in range(1, size // len(row) + 1))
    if data is not None:
        return f"{json.dumps(data)[0]}{','.join((row, *rows))}{json.dumps(data)[-1]}"
    return "\n".join((row, *rows, ""))


def _data_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _long(text: str, kind: str, size: int) -> str:
    """Return a text, and behind it its lines again, each with one part of it made long; the end, where it has none."""
    lines = text.splitlines()
    places = [(line, run.span()) for line in dict.fromkeys(lines) for run in _RUNS[kind].finditer(line)]
    places = places or [(line, (len(line), len(line))) for line in dict.fromkeys(lines)]
    chosen = places[:: max(1, len(places) // _MOST_PLACES)]
    many = size // len(chosen)
    long = [
        line[:at] + (line[at:end][:1] or _LETTERS[kind]) * many + line[end:] for line, (at, end) in chosen
    ]
    return "\n".join((*lines, *long, ""))


def damaged(text: str, kind: str, size: int) -> Iterator[str]:
    """Yield a text with one of its parts made long, for each of them."""
    for run in _RUNS[kind].finditer(text):
        yield text[: run.start()] + (run[0][:1] or _LETTERS[kind]) * size + text[run.end() :]


def _long_in_json(data: Any, kind: str, size: int) -> str:
    """Return JSON in which every text has a long part; numbers are as long as they may be, and many."""
    many = size // max(sum(1 for _ in _strings(data)), 1)
    most = many if kind != "digits" else min(many, DIGITS - 20)
    whole = json.dumps(_with_long(data, _LETTERS[kind] * most))
    if kind != "digits" or not most:
        return whole
    rows = [whole[1:-1]] * (size // len(whole) + 1)
    return whole[0] + ",".join(rows) + whole[-1]


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    for part in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _strings(part)


def _with_long(data: Any, part: str) -> Any:
    if isinstance(data, dict):
        return {key: _with_long(value, part) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_long(value, part) for value in data]
    half = len(data) // 2 if isinstance(data, str) else 0
    return data[:half] + part + data[half:] if isinstance(data, str) else data

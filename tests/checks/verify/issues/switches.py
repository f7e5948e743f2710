"""Public issues about switches that run: the PFC watchdog, pauses, drops, and what of a configuration took effect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.checks.verify.issues.replay import StateIssue, StateReplay
from tests.checks.verify.running import INTENT, leaf_config, pauses, queue_counters, watchdog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.checks.verify.running import Files

_STOCK = {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}
"""What SONiC's stock QoS makes lossless, and watches."""


def _leaf(*texts: str, config: str = "") -> Files:
    files = {"leaf1/state.txt": "\n".join(texts)}
    return {**files, "leaf1/config_db.json": config} if config else files


def _stock(*ports: str) -> str:
    """Return a configuration with these ports in place of the first ones, priorities 3 and 4 lossless on them."""
    renamed = dict(zip(("Ethernet0", "Ethernet4", "Ethernet8"), ports, strict=False))
    groups = {
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"4": "4"}},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"4": "4"}},
        "DSCP_TO_TC_MAP": {"AZURE": {"4": "4"}},
    }
    return leaf_config(renamed, PORT_QOS_MAP=dict.fromkeys(ports, _STOCK), **groups)


def _queue(port: str, queue: int, status: str, storms: str, *columns: str) -> Mapping[str, Any]:
    """Return a row of ``show pfcwd stats``: storms detected/restored, and TX and RX as OK/DROP."""
    detected, restored = storms.split("/")
    tx, rx = (column.split("/") for column in (*columns, "0/0", "0/0")[:2])
    packets = {"tx_ok": tx[0], "tx_drop": tx[1], "rx_ok": rx[0], "rx_drop": rx[1]}
    named = {"port": port, "queue": queue, "status": status}
    return {**named, "detected": detected, "restored": restored, **packets}


def _stats(*rows: Mapping[str, Any]) -> str:
    return watchdog(rows)


def _on(code: str, *elements: str) -> set[tuple[str, str]]:
    return {(code, f"leaf1:{element}") for element in elements}


def _database(rows: Mapping[str, Any]) -> str:
    return json.dumps(rows, indent=1)


def _without_qos() -> str:
    tables = json.loads(leaf_config())
    kept = ("DEVICE_METADATA", "PORT")
    return _database({f"{table}|{key}": fields for table in kept for key, fields in tables[table].items()})


_UP = {"admin_status": "up", "oper_status": "up"}
_BROKEN_OUT = {
    "PORT_TABLE:Ethernet488": _UP,
    "PORT_TABLE:Ethernet489": _UP,
    "BUFFER_PROFILE_TABLE:pg_lossless_100000_5m_profile": {"xoff": "231424", "pool": "ingress_lossless_pool"},
    "BUFFER_PG_TABLE:Ethernet488:3-4": {"profile": "pg_lossless_100000_5m_profile"},
    "BUFFER_PG_TABLE:Ethernet488:0": {"profile": "ingress_lossy_profile"},
    "BUFFER_PG_TABLE:Ethernet489:0": {"profile": "ingress_lossy_profile"},
}
_8483 = (
    _queue("Ethernet4", 3, "stormed", "1/0", "0/41507426"),
    _queue("Ethernet4", 3, "operational", "1/1", "0/45830961"),
    _queue("Ethernet4", 3, "stormed", "2/1", "0/46497254"),
)
_9430 = _stats(
    _queue("Ethernet4", 3, "operational", "2/2", "0/56035", "14053/371184"),
    _queue("Ethernet6", 3, "operational", "2/2", "0/46416", "11240/361565"),
)
_682 = (("Ethernet36", 4, "1/1", "100/100", "0/100"), ("Ethernet96", 4, "5/5", "200/400", "100/300"))
_19067 = _stats(_queue("Ethernet24", 3, "operational", "2/2"))

SWITCH_ISSUES = (
    StateIssue(
        "sonic-net/sonic-buildimage#8483",
        "the watchdog restored the queue while pauses went on, and detected the storm again",
        (
            StateReplay(
                "first the queue is stormed, 41,507,426 packets dropped",
                _leaf(_stats(_8483[0])),
                _on("STM001", "Ethernet4:3"),
            ),
            StateReplay(
                "then operational, 1 storm detected and restored",
                _leaf(_stats(_8483[1])),
                _on("STM005", "Ethernet4:3"),
            ),
            StateReplay(
                "then stormed for the second time, compared with the second capture",
                _leaf(_stats(_8483[2])),
                _on("STM001", "Ethernet4:3"),
                before=_leaf(_stats(_8483[1])),
            ),
            StateReplay(
                "on the other image no queue in `show pfcwd stats`, while the sender was paused",
                _leaf(_stats(), config=leaf_config()),
                set(),
                "the command leaves out queues that never stormed: a watchdog that detects nothing looks like a "
                "fabric without storms, and pauses alone are no sign of one",
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#29203",
        "one storm that never stopped was detected and restored 170 times in 20 minutes",
        (
            StateReplay(
                "20 minutes apart: 170 storms more detected and restored (no packets reported; the 0 before is ours)",
                _leaf(_stats(_queue("Ethernet0", 3, "operational", "170/170"))),
                _on("STM005", "Ethernet0:3"),
                before=_leaf(_stats(_queue("Ethernet0", 3, "operational", "0/0"))),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#19067",
        "traffic was dropped in two storms, and the drop columns stayed 0",
        (
            StateReplay(
                "2 storms detected and restored, all columns 0, without counters of the queue",
                _leaf(_19067, config=_stock("Ethernet24")),
                _on("STM005", "Ethernet24:3"),
                not_checked=("STM004",),
            ),
            StateReplay(
                "the same with traffic on the queue (8,193 packets are ours)",
                _leaf(_19067, queue_counters({"Ethernet24 UC3": 0}), config=_stock("Ethernet24")),
                _on("STM005", "Ethernet24:3") | _on("STM004", "Ethernet24:3"),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#5898",
        "a storm without traffic, and drops that went on after it",
        (
            StateReplay(
                "in the storm: stormed, all columns 0",
                _leaf(_stats(_queue("Ethernet44", 4, "stormed", "1/0"))),
                _on("STM001", "Ethernet44:4"),
            ),
            StateReplay(
                "after it: operational, 2 storms detected and restored",
                _leaf(_stats(_queue("Ethernet44", 4, "operational", "2/2"))),
                _on("STM005", "Ethernet44:4"),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#9430",
        "a switch with two storms that ended sent pauses of the priority itself",
        (
            StateReplay(
                "2/2 storms on Ethernet4 and Ethernet6, 15,437 pauses sent at Ethernet6",
                _leaf(_9430, pauses("Tx", {"Ethernet4": 0, "Ethernet6": 15437})),
                _on("STM002", "Ethernet6:3") | _on("STM005", "Ethernet4:3", "Ethernet6:3"),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-utilities#500",
        "more storms detected than restored on queues that are operational",
        (
            StateReplay(
                "Ethernet36:3 and Ethernet96:4 operational at 18/9, Ethernet96:3 stormed at 19/9",
                _leaf(
                    _stats(
                        _queue("Ethernet36", 3, "operational", "18/9", "0/1800", "0/1800"),
                        _queue("Ethernet96", 4, "operational", "18/9", "0/1700", "0/1700"),
                        _queue("Ethernet96", 3, "stormed", "19/9", "0/1900"),
                    )
                ),
                _on("STM001", "Ethernet96:3") | _on("STM005", "Ethernet36:3", "Ethernet96:4"),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-utilities#682",
        "the watchdog was stopped, and the status became N/A",
        (
            StateReplay(
                "before: operational, 1/1 and 5/5",
                _leaf(
                    _stats(*(_queue(p, q, "operational", *rest) for p, q, *rest in _682)),
                    config=_stock("Ethernet0", "Ethernet36", "Ethernet96"),
                ),
                _on("STM005", "Ethernet36:4", "Ethernet96:4"),
            ),
            StateReplay(
                "after: N/A, the same counts",
                _leaf(
                    _stats(*(_queue(p, q, "N/A", *rest) for p, q, *rest in _682)),
                    config=_stock("Ethernet0", "Ethernet36", "Ethernet96"),
                ),
                _on("APP004", "Ethernet36:4", "Ethernet96:4") | _on("STM005", "Ethernet36:4", "Ethernet96:4"),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#23623",
        "storms were detected with the action drop, and packets went on",
        unseen="no counts are reported; packets that the watchdog counts as sent are those of the moment before it "
        "triggers too (sonic-utilities#682), so they are no sign of a drop that does not drop",
    ),
    StateIssue(
        "sonic-net/SONiC#1535, sonic-net/sonic-swss#3036",
        "the watchdog triggered without a storm, where pauses filled 80 % of a poll and the queue was empty",
        unseen="a false detection shows as a true one does: the counters that the watchdog compared are those of one "
        "poll, and are gone",
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#20590",
        "a switch sent pauses of priority group 0, which is lossy, in an oversubscription",
        (
            StateReplay(
                "179,523 pauses of priority 4 received at Ethernet152, where 3 and 4 are lossless",
                _leaf(
                    pauses("Rx", {"Ethernet0": 0, "Ethernet8": 0, "Ethernet152": 179523}, priority=4),
                    config=_stock("Ethernet0", "Ethernet8", "Ethernet152"),
                ),
                set(),
                "pauses of a lossless priority are what PFC is for",
            ),
            StateReplay(
                "pauses of priority 0 sent at Ethernet0 (that they were sent is reported; the 1 is ours)",
                _leaf(
                    pauses("Tx", {"Ethernet0": 1, "Ethernet152": 0}, priority=0),
                    config=_stock("Ethernet0", "Ethernet8", "Ethernet152"),
                ),
                _on("CTR002", "Ethernet0:0"),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#5540",
        "the ASIC had received 1,234 pauses, and pfcstat showed 0",
        (
            StateReplay(
                "pfcstat: 0 of all priorities",
                _leaf(pauses("Rx", {"Ethernet0": 0, "Ethernet4": 0, "Ethernet8": 0}), config=leaf_config()),
                set(),
                "nothing in a 0 tells that it is wrong, and no rule takes it for proof that nobody paused",
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#27606",
        "WRED dropped in lossless queues before PFC could pause",
        (
            StateReplay(
                "no counts are reported; those of public notes with the same sign (lolyu/aoi "
                "sonic/qos/buffer_triage.md @edf74e58bb89): 91,786 drops in the queue, no pause sent",
                _leaf(
                    queue_counters({"Ethernet4 UC3": 91786}),
                    pauses("Tx", {"Ethernet0": 0, "Ethernet4": 0, "Ethernet8": 0}),
                    config=leaf_config(),
                ),
                _on("CTR001", "Ethernet4:3"),
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#23354",
        "of the ports that were broken out only the first got a lossless priority group",
        (
            StateReplay(
                "the lossless profile for Ethernet488:3-4, for Ethernet489 group 0 alone (as told, not printed)",
                {
                    "leaf1/appl_db.json": _database(_BROKEN_OUT),
                    "leaf1/config_db.json": _stock("Ethernet488", "Ethernet489"),
                },
                _on("APP002", "Ethernet489:PG3", "Ethernet489:PG4"),
            ),
            StateReplay(
                "the same while Ethernet489 is down",
                {
                    "leaf1/appl_db.json": _database(
                        {**_BROKEN_OUT, "PORT_TABLE:Ethernet489": {**_UP, "oper_status": "down"}}
                    ),
                    "leaf1/config_db.json": _stock("Ethernet488", "Ethernet489"),
                },
                set(),
                "some switches take the headroom of ports that are down away on purpose",
            ),
        ),
    ),
    StateIssue(
        "sonic-net/SONiC#195, sonic-net/SONiC#223",
        "no cable length was set, and buffers and QoS were not in the database",
        (
            StateReplay(
                "CONFIG_DB with ports alone, beside an intent that wants a lossless class (as told, not printed)",
                {"leaf1/config_db.json": _without_qos(), **INTENT},
                {("APP001", "leaf1")},
            ),
            StateReplay(
                "the same without an intent",
                {"leaf1/config_db.json": _without_qos()},
                set(),
                "a switch may be meant to carry no lossless class",
            ),
        ),
    ),
    StateIssue(
        "sonic-net/sonic-buildimage#22201",
        "telemetry of port counters stopped after its first sample on one release",
        unseen="it is the transport that fails: what it does not send is no capture",
    ),
)

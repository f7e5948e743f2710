"""One change each to a network: what it changes of what a rule says is on record for each Bad example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.checks.rules.snippets import Snippet, document_of_data, merge, read_text, report_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.api import Report
    from lossless.ground.documents.text import Document

Data = dict[str, Any]
_UP = {"lanes": "1000", "alias": "odd", "index": "100", "mtu": "9100", "admin_status": "up"}
_AT_400G = {**_UP, "speed": "400000"}
_MAPS = {f"{name}_map": "AZURE" for name in ("dscp_to_tc", "tc_to_queue", "tc_to_pg", "pfc_to_queue")}
_ODD_PORTS: Data = {
    "PORT": {
        "Ethernet900": {**_UP, "admin_status": "down"},
        "Ethernet904": _AT_400G,
        "Ethernet908": _UP,
        "Ethernet912": _AT_400G,
        "Ethernet916": {**_UP, "speed": "100000"},
        "Ethernet920": {**_AT_400G, "admin_status": "down"},
    },
    "PORT_QOS_MAP": {
        "Ethernet904": {"pfc_enable": "3"},
        "Ethernet908": {**_MAPS, "pfc_enable": "3", "pfcwd_sw_enable": "3"},
        "Ethernet912": _MAPS,
        "Ethernet916": {"dot1p_to_tc_map": "AZURE", "pfc_enable": "3"},
        "Ethernet920": {**_MAPS, "pfc_enable": "3"},
    },
}
"""Down, without speed, without PFC, without maps, trusting PCP: ports that rules skip, or cannot check."""
_TWO_CLASSES = {
    "other": {"dscp": 40, "priority": 5, "lossless": True, "bandwidth": "5%", "ecn": "off"},
    "bulk": {"dscp": [10, 12], "priority": 1, "bandwidth": "5%"},
}


def _each(table: str, **fields: Any) -> Callable[[Data], Data]:
    """Return what sets fields in each row of a table; None removes one."""
    return lambda data: {
        **data,
        table: {key: merge(row, fields) for key, row in data.get(table, {}).items()},
    }


def _first_port(table: str, **fields: Any) -> Callable[[Data], Data]:
    """Return what sets fields in the rows of the first port, and removes the rows where none are given."""

    def changed(data: Data) -> Data:
        rows = data.get(table, {})
        own = {key for key in rows if key.partition("|")[0] == "Ethernet0"}
        kept = {
            key: merge(row, fields) if key in own else row
            for key, row in rows.items()
            if fields or key not in own
        }
        return {**data, table: kept}

    return changed


def _with(**patch: Any) -> Callable[[Data], Data]:
    return lambda data: merge(data, patch)


def _host(**fields: str) -> Callable[[Data], Data]:
    return _with(DEVICE_METADATA={"localhost": fields})


def _shape(**keys: Any) -> Callable[[Data], Data]:
    return _with(topology={"leaf_spine": keys})


def _odd_ports(data: Data) -> Data:
    return {**data, **{table: {**rows, **data[table]} for table, rows in _ODD_PORTS.items() if table in data}}


def _other_classes(data: Data) -> Data:
    classes = merge(data["classes"], {"default": {"bandwidth": "40%"}})
    return {**data, "classes": {**_TWO_CLASSES, **classes}}


def _partition_of_nobody(data: Data) -> Data:
    nobody = {"pkey": 0x0700, "members": {"full": []}}
    return {**data, "partitions": {"nobody": nobody, **data.get("partitions", {})}}


_DEVICES = {
    "odd ports come first": _odd_ports,
    "all ports are down": _each("PORT", admin_status="down"),
    "ports have no speed": _each("PORT", speed=None),
    "PFC is off": _each("PORT_QOS_MAP", pfc_enable=None),
    "PFC is on for two priorities": _each("PORT_QOS_MAP", pfc_enable="3,4"),
    "no DSCP map is bound": _each("PORT_QOS_MAP", dscp_to_tc_map=None),
    "queues have no map": _each("PORT_QOS_MAP", tc_to_queue_map=None, tc_to_pg_map=None),
    "thresholds are static": _each("BUFFER_PROFILE", dynamic_th=None, static_th="200000"),
    "thresholds and pools are static": lambda data: _each("BUFFER_POOL", mode="static")(
        _each("BUFFER_PROFILE", dynamic_th=None, static_th="200000")(data)
    ),
    "profiles have no headroom": _each("BUFFER_PROFILE", xoff=None),
    "pools have no size": _each("BUFFER_POOL", size=None),
    "no scheduler is bound": _each("QUEUE", scheduler=None),
    "no WRED profile is bound": _each("QUEUE", wred_profile=None),
    "the watchdog only alerts": _each("PFC_WD", action="alert"),
    "the first port is down": _first_port("PORT", admin_status="down"),
    "the first port has another speed": _first_port("PORT", speed="100000"),
    "the first port has no PFC": _first_port("PORT_QOS_MAP", pfc_enable=None),
    "the first port has PFC for another priority": _first_port("PORT_QOS_MAP", pfc_enable="4"),
    "the first port has no DSCP map": _first_port("PORT_QOS_MAP", dscp_to_tc_map=None),
    "the first port has no groups": _first_port("BUFFER_PG"),
    "the queues of the first port have no buffer": _first_port("BUFFER_QUEUE"),
    "the queues of the first port have no row": _first_port("QUEUE"),
    "the first port has no watchdog": _first_port("PFC_WD"),
    "neighbors are unknown": _with(DEVICE_NEIGHBOR=None, DEVICE_NEIGHBOR_METADATA=None),
    "the switch computes buffers": _host(buffer_model="dynamic"),
    "the hardware is unknown": _host(hwsku="None", platform="none"),
    "the hardware is Broadcom's": _host(hwsku="Arista-7260CX3-D108C8", platform="x86_64-arista_7260cx3_64"),
    "the release is unknown": _with(VERSIONS=None),
}
_INTENTS = {
    "other classes come first": _other_classes,
    "no class is lossless": _with(classes={"rdma": {"lossless": False}}),
    "the class marks nothing": _with(classes={"rdma": {"ecn": "off"}}),
    "the watchdog is off": _with(pfc={"watchdog": "off"}),
    "the watchdog only alerts": _with(pfc={"watchdog": {"action": "alert"}}),
    "the NIC is slower": _with(hardware={"nic": "connectx-6-dx"}),
    "the switches are Broadcom's": _with(
        hardware={"leaf": "arista-7060x6-64pe", "spine": "arista-7060x6-64pe"}
    ),
    "the cables are long": _shape(cables={"uplink": "300m"}),
    "the leaves are oversubscribed": _shape(spines=1, hosts_per_leaf=16),
    "frames are small": _with(mtu=4096),
    "hosts mark nothing": _with(hosts={"traffic_class": "unset"}),
    "storage is on the fabric": _with(networks={"storage": {"on": "fabric"}}),
    "failures are tolerated": _with(failures={"links": 1, "switches": 1}),
}
_SUBNETS = {
    "the manager is NVIDIA's": _with(flavour="nvidia"),
    "the hardware is older": _with(hardware={"switch": "nvidia-qm8700", "hca": "connectx-6"}),
    "nothing is known of jobs": _with(jobs=None),
    "there is one service level": _with(jobs=None, partitions=None, qos=None),
    "there are no partitions": _with(jobs={"partition": None, "environment": None}, partitions=None),
    "a partition of nobody comes first": _partition_of_nobody,
    "routes are shortest": _with(subnet_manager={"routing": {"engine": "minhop", "roots": "off"}}),
    "nothing is said of SHARP": _with(sharp=None),
}


_OPTIONS = {
    "QoS is on": "qos TRUE",
    "QoS is off": "qos FALSE",
    "there are two lanes": "max_op_vls 2",
    "the engine is ftree": "routing_engine ftree",
    "all is switched off": "sweep_interval 0\nmax_wire_smps 0\nno_partition_enforcement TRUE\nlmc 2",
}


_COMMANDS = {
    "the port is down": "interface Ethernet2\n   shutdown",
    "the port trusts DSCP": "interface Ethernet2\n   qos trust dscp",
    "the port has the profile": "interface Ethernet2\n   service-profile ROCE",
    "priority 3 is drop": "interface Ethernet2\n   priority-flow-control priority 3 drop",
    "PFC is off": "priority-flow-control all off",
    "the timers are ten times as long": "priority-flow-control pause watchdog default timeout 2",
}

_COMMANDS_OF_NXOS = {
    "the port is down": "interface Ethernet1/1\n  shutdown",
    "the port reads no marks": "interface Ethernet1/1\n  no service-policy type qos input MARKS",
    "DCBX decides": "interface Ethernet1/1\n  priority-flow-control mode auto",
    "PFC is off": "priority-flow-control override-interface mode off",
    "another class is no-drop": "policy-map type network-qos CLASSES\n"
    "  class type network-qos c-8q-nq4\n    pause pfc-cos 4",
}


def reports(snippet: Snippet, code: str) -> Iterator[tuple[str, Report]]:
    """Yield each change to the network of a snippet that leaves it readable, and what a rule says of the result."""
    for name, changed in () if snippet.simulate else _changed(snippet):
        report = report_on(snippet, changed, code)
        if not report.errors:
            yield name, report


def _changed(snippet: Snippet) -> Iterator[tuple[str, Document]]:
    """Yield what changes, and the file of a snippet with that change."""
    if snippet.kind == "conf opensm":
        for name, lines in _OPTIONS.items():
            yield name, read_text(f"{snippet.text}{lines}\n", snippet.file)
    elif snippet.kind == "text switch":
        of_nxos = snippet.base == "switch-nxos"
        for name, lines in (_COMMANDS_OF_NXOS if of_nxos else _COMMANDS).items():
            yield name, read_text(f"{snippet.document().text}{lines}\n", snippet.file)
    elif snippet.base != "none":
        changes = {"leaf-spine": _INTENTS, "infiniband": _SUBNETS}.get(snippet.base, _DEVICES)
        document = snippet.document()
        for name, change in changes.items():
            changed = change(document.data)
            # Of what stays as it is, the same would be said.
            if changed != document.data:
                yield name, document_of_data(changed, document.file)

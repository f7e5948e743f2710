"""The policies of a switch as a document of NX-OS's object model (DME), for RESTCONF and NX-API.

The modes of PFC and of its watchdog are numbers there, of which public sources explain one, and no source documents the
direction in which the network-qos policy is bound: all these are set by the commands alone. Shapes:
Cisco-NX-OS-device.yang (YangModels/yang @6795d9c vendor/cisco/nx/9.3-2), and CiscoDevNet/terraform-provider-nxos
gen/definitions/network_qos.yaml @41ca596; lbrlabs/pulumi-nxos 0.0.2 for the policy of all outputs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.switches.written_numbers import indexes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    DmeData = dict[str, Any]

_MODEL = "Cisco-NX-OS-device:System"
_LAST_DSCP = 63


def object_model(policies: Mapping[str, Any], names: Mapping[str, str]) -> DmeData:
    """Return the document of policies; ``names`` has those of the ``input`` and the ``network`` policy."""
    classes = policies["classes"]
    inputs = [{"name": _class_name(of), "setGrp-items": {"id": of["group"]}} for of in classes]
    return {
        _MODEL: {
            "ipqos-items": {
                "dflt-items": {
                    "c-items": {"name-items": {"CMapInst-list": [_class_map(of) for of in classes]}},
                    **_policies(
                        [(names["input"], [*inputs, {"name": "class-default", "setGrp-items": {"id": 0}}])]
                    ),
                    "policy-items": {
                        "in-items": _bound((each["name"], names["input"]) for each in policies["interfaces"])
                    },
                },
                "nw-items": _policies([(names["network"], [*map(_network, policies["network"])])]),
                "queuing-items": {
                    **_policies((name, [*map(_queue, rows)]) for name, rows in policies["outputs"].items()),
                    "policy-items": {"out-items": _bound_outputs(policies)},
                },
            }
        }
    }


def _class_name(of: DmeData) -> str:
    return f"LOSSLESS-GROUP-{of['group']}"


def _class_map(of: DmeData) -> DmeData:
    dscps = indexes(of["dscps"], _LAST_DSCP) or ()
    return {
        "name": _class_name(of),
        "matchType": "match-any",
        "dscp-items": {"Dscp-list": [{"val": dscp} for dscp in dscps]},
    }


def _policies(named: Iterable[tuple[str, list[DmeData]]]) -> DmeData:
    rows = [
        {"name": name, "matchType": "match-any", "cmap-items": {"MatchCMap-list": classes}}
        for name, classes in named
    ]
    return {"p-items": {"name-items": {"PMapInst-list": rows}}}


def _network(of: DmeData) -> DmeData:
    paused = {f"pfcCos{priority}": True for priority in of["pause"]}
    return {
        "name": of["name"],
        **({"pause-items": paused} if paused else {}),
        **({"mtu-items": {"value": of["mtu"]}} if of["mtu"] else {}),
    }


def _queue(row: DmeData) -> DmeData:
    return {"name": row["name"], **dict(_served(row))}


def _served(row: DmeData) -> Iterator[tuple[str, DmeData]]:
    if row["level"] is not None:
        yield "prio-items", {"level": row["level"]}
    if row["percent"] is not None:
        yield "setRemBW-items", {"val": row["percent"]}
    curve = row["curve"]
    if curve is not None:
        yield (
            "RandDet-items",
            {
                "minThreshold": curve["min"],
                "minThresholdUnit": curve["unit"],
                "maxThreshold": curve["max"],
                "maxThresholdUnit": curve["unit"],
                "dropAvail": curve["percent"],
                "weight": 0,
                "ecn": True,
            },
        )


def _bound_outputs(policies: Mapping[str, Any]) -> DmeData:
    system = {"pmap-items": {"name": policies["system_output"]}} if policies["system_output"] else None
    own = [(each["name"], each["output"]) for each in policies["interfaces"] if each["output"]]
    return {**({"sys-items": system} if system else {}), **(_bound(own) if own else {})}


def _bound(bindings: Iterable[tuple[str, str]]) -> DmeData:
    rows = [
        {"name": re.sub(r"^Ethernet", "eth", port), "pmap-items": {"name": name}} for port, name in bindings
    ]
    return {"intf-items": {"If-list": rows}}

"""Contradictions of an intent: values that are each valid alone and exclude each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.environment import VARIABLE_KEYS
from lossless.formats.intent.problems import located
from lossless.formats.intent.ranks import mapping_keys, speed_mappings
from lossless.formats.intent.trimmed_classes import contradictions_of_trimming
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.units import format_rate, parse_rate
from lossless.model.fabric.routing import UEC_CONTROLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.document import Intent
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document


def contradictions(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield each contradiction, located at the value that the operator can change."""
    yield from _shared_priorities(document, intent)
    yield from _shared_dscps(document, intent)
    yield from _bandwidth(document, intent)
    yield from _rest(document, intent)
    yield from _speeds(document, intent)
    yield from _networks(document, intent)
    yield from _dual_tor(document, intent)
    yield from _kubernetes(document, intent)
    yield from _environment(document, intent)
    yield from _transport(document, intent)
    yield from contradictions_of_trimming(document, intent)


def _transport(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield congestion controls and NIC settings that the transport does not have."""
    kind = intent.congestion_control.kind
    if intent.transport == "rocev2" and kind in UEC_CONTROLS:
        message = f"congestion_control: {kind} is that of transport uec; RoCEv2 has dcqcn"
        yield located(document, ("congestion_control",), message)
    if intent.transport != "rocev2" and intent.hosts.retransmission is not None:
        message = (
            "hosts.retransmission is of RoCE NICs; those of Ultra Ethernet send lost packets alone again"
        )
        yield located(document, ("hosts", "retransmission"), message)


def _shared_priorities(document: Document, intent: Intent) -> Iterator[Problem]:
    owners: dict[int, str] = {}
    for name, cls in intent.classes.items():
        first = owners.setdefault(cls.priority, name)
        if first != name:
            here, other = _written_first(document, name, first, "priority")
            message = f"classes.{here}.priority: {cls.priority} is already the priority of class {other}"
            yield located(document, ("classes", here, "priority"), message)


def _shared_dscps(document: Document, intent: Intent) -> Iterator[Problem]:
    owners: dict[int, str] = {}
    for name, cls in intent.classes.items():
        seen = set()
        for index, dscp in enumerate(cls.dscps):
            first = owners.setdefault(dscp, name)
            if dscp in seen:
                message = f"classes.{name}.dscp: DSCP {dscp} occurs twice in the list"
                yield located(document, _dscp_path(document, name, index), message)
            elif first != name:
                here, other = _written_first(document, name, first, "dscp")
                index = intent.classes[here].dscps.index(dscp)
                message = f"classes.{here}.dscp: DSCP {dscp} already belongs to class {other}"
                yield located(document, _dscp_path(document, here, index), message)
            seen.add(dscp)


def _written_first(document: Document, second: str, first: str, key: str) -> tuple[str, str]:
    """Return the class to report and the other one: the second class, unless only the first is in the file itself."""
    only_first = document.exists(("classes", first, key)) and not document.exists(("classes", second, key))
    return (first, second) if only_first else (second, first)


def _dscp_path(document: Document, name: str, index: int) -> Path:
    path = ("classes", name, "dscp")
    return (*path, index) if document.exists((*path, index)) else path


def _bandwidth(document: Document, intent: Intent) -> Iterator[Problem]:
    shares = {name: cls.bandwidth for name, cls in intent.classes.items() if cls.bandwidth}
    if sum(shares.values()) > 100:
        each = ", ".join(f"{name} {share}%{_from_preset(document, name)}" for name, share in shares.items())
        message = f"bandwidth adds up to {sum(shares.values())}%, and all classes share 100%: {each}"
        yield located(document, ("classes",), message, at_key=True)


def _from_preset(document: Document, name: str) -> str:
    return "" if document.exists(("classes", name, "bandwidth")) else " (preset)"


def _rest(document: Document, intent: Intent) -> Iterator[Problem]:
    rests = [name for name, cls in intent.classes.items() if cls.rest]
    rule = "exactly one class takes the rest of the DSCPs (dscp: rest)"
    if not rests:
        yield located(document, ("classes",), f"{rule}; there is none", at_key=True)
    elif len(rests) > 1:
        written = [name for name in rests if document.exists(("classes", name, "dscp"))]
        blamed = next((name for name in written if name != rests[0]), written[0])
        yield located(document, ("classes", blamed, "dscp"), f"{rule}; there are {', '.join(rests)}")


def _speeds(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield speeds that are written twice, as 400G and 400 Gb/s, and WRED profile names that two classes share."""
    for name, cls in intent.classes.items():
        for path in speed_mappings(document, name):
            written: dict[int, str] = {}
            for key in mapping_keys(document, path):
                first = written.setdefault(parse_rate(key), key)
                if first != key:
                    message = f"{'.'.join(map(str, path))}: {key} is the same speed as {first}"
                    yield located(document, (*path, key), message, at_key=True)
        for speed_bps in sorted(cls.ecn.speeds() if cls.ecn else ()):
            taken = wred_name_at(name, speed_bps)
            if taken in intent.classes:
                message = (
                    f"{taken} is the name of the WRED profile of class {name} at {format_rate(speed_bps)}"
                )
                yield located(document, ("classes", taken), f"classes: {message}", at_key=True)


def wred_name_at(class_name: str, speed_bps: int) -> str:
    """Return the name of the WRED profile of a class on links of one speed: ``rdma_400000``, in Mb/s."""
    return f"{class_name}_{speed_bps // 10**6}"


def _networks(document: Document, intent: Intent) -> Iterator[Problem]:
    for name, network in intent.networks.items():
        wanted = network.traffic_class
        if wanted is not None and wanted not in intent.classes:
            message = (
                f"networks.{name}.class: no class {wanted!r}{suggestion(wanted, sorted(intent.classes))}"
            )
            yield located(document, ("networks", name, "class"), message)


REMAP = {3: 2, 4: 6}
"""The second priority of a lossless class between dual ToRs, which is also the DSCP of its tunnel, by its priority.

Source: sonic-buildimage files/build_templates/qos_config.j2 @0791705 and the maps of Arista's 7260CX3 there.
"""


def _dual_tor(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield priorities and DSCPs that conflict with those of tunnels between dual ToRs, which SONiC prescribes."""
    where = _dual_tor_path(intent)
    if where is None:
        return
    lossless = {cls.priority: name for name, cls in intent.classes.items() if cls.lossless}
    second = {REMAP[priority]: name for priority, name in lossless.items() if priority in REMAP}
    for priority, name in lossless.items():
        if priority not in REMAP:
            message = f"{priority} has no second priority for tunnels between dual ToRs; 3 and 4 have"
            yield located(document, ("classes", name, "priority"), f"classes.{name}.priority: {message}")
    for name, cls in intent.classes.items():
        if cls.priority in second:
            owner = second[cls.priority]
            message = f"{cls.priority} is the second priority of class {owner} between dual ToRs"
            yield located(document, ("classes", name, "priority"), f"classes.{name}.priority: {message}")
        for index, dscp in enumerate(cls.dscps):
            if dscp in second:
                message = f"DSCP {dscp} marks tunnels of class {second[dscp]} between dual ToRs"
                yield located(document, _dscp_path(document, name, index), f"classes.{name}.dscp: {message}")
    yield from _dual_tor_pauses(document, intent, where)


def _dual_tor_pauses(document: Document, intent: Intent, where: Path) -> Iterator[Problem]:
    tiers = intent.pfc.tiers if intent.pfc else None
    if tiers is not None and "uplinks" not in tiers:
        message = (
            f"{'.'.join(map(str, where))} sends lossless classes back through uplinks, which have no PFC"
        )
        yield located(document, ("pfc", "tiers"), f"pfc.tiers: {message}; add uplinks")


def _dual_tor_path(intent: Intent) -> Path | None:
    """Return the path at which dual ToRs are declared, None where they are not."""
    topology = intent.topology
    for name, shape in (("leaf_spine", topology.leaf_spine), ("three_tier", topology.three_tier)):
        if shape is not None and shape.dual_tor:
            return ("topology", name, "dual_tor")
    dual_tors = (name for name, device in (topology.devices or {}).items() if device.dual_tor)
    first = next(dual_tors, None)
    return None if first is None else ("topology", "devices", first, "dual_tor")


def _kubernetes(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield settings that NVIDIA's NIC configuration operator does not support.

    Sources: Mellanox/nic-configuration-operator pkg/consts/consts.go @0044138 (trust), README.md @0082142 (ToS).
    """
    hosts = intent.hosts
    if hosts.kubernetes is not None and hosts.trust != "dscp":
        message = f"the operator of hosts.kubernetes is only known to set dscp, not {hosts.trust}"
        yield located(document, ("hosts", "trust"), f"hosts.trust: {message}")
    if hosts.kubernetes is not None and hosts.traffic_class == "unset":
        message = "the operator of hosts.kubernetes then writes ToS 0, which is DSCP 0; expected derived or a number"
        yield located(document, ("hosts", "traffic_class"), f"hosts.traffic_class: {message}")


def _environment(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield variables of the environment that have a key of their own in the intent."""
    for name in intent.hosts.environment:
        if name in VARIABLE_KEYS:
            message = f"hosts.environment: {name} is set by {VARIABLE_KEYS[name]}"
            yield located(document, ("hosts", "environment", name), message, at_key=True)

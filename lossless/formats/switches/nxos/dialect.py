"""Cisco NX-OS: running configurations and scripts of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.contract import Dialect, SwitchFile
from lossless.formats.switches.nxos.from_model.dme import object_model
from lossless.formats.switches.nxos.from_model.policies import INPUT, NETWORK, policies
from lossless.formats.switches.nxos.names import is_built_in
from lossless.formats.switches.nxos.read.running_config import config_of, document_of, looks_like_nxos
from lossless.formats.switches.nxos.refusals import refusals
from lossless.formats.switches.nxos.to_model.switch import NxosSwitch
from lossless.ground.basics.natural_order import natural_key
from lossless.model.fabric.configured_switch import ReadSwitch, UnboundObject, UndefinedName, Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.switches.nxos.read.rows import NxosConfig
    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Switch

_COMPUTED = "the switch computes headroom; a pause buffer of an input policy is checked by CFG014"
_PLATFORM = "how large the buffer is, and what headroom is computed, is not in the configuration"
_NO_TIMERS = "the watchdog is on or off; its timers and its action are those of the switch"
NOT_APPLICABLE = {
    "BUF001": _PLATFORM,
    "BUF002": _PLATFORM,
    "BUF003": _COMPUTED,
    "BUF004": _COMPUTED,
    "BUF007": _COMPUTED,
    "BUF013": "no egress buffer profile is configured per queue",
    "ECN004": _PLATFORM,
    "ECN005": _PLATFORM,
    "ECN010": "the values are defaults of SONiC's templates",
    "ECN012": "no buffer profile limits a queue",
    "PFC005": "the qos-group of a class is the one that is paused: they cannot disagree",
    "WD002": "NX-OS has no mask of watched priorities",
    "WD003": _NO_TIMERS,
    "WD004": _NO_TIMERS,
    "WD005": _NO_TIMERS,
    "WD006": _NO_TIMERS,
    "WD008": "the transport is that of hosts, which are not compared with switches of NX-OS",
    "WD010": _NO_TIMERS,
    "WD011": _NO_TIMERS,
    "WD012": _NO_TIMERS,
    "WD013": _NO_TIMERS,
}
"""Rules of fabrics that cannot say anything of NX-OS, each with why."""
_ECN = (
    "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0 ecn"
)
WORDS = {
    "WD001": Words(
        message="PFC is on, and no watchdog is on for the port",
        note="a stuck NIC then pauses the port permanently, and the pause propagates through the fabric",
        help="priority-flow-control watch-dog-interval on, for the switch and for every port with PFC",
    ),
    "ECN001": Words(
        message="the queue of a lossless class has no random-detect line with ecn: congestion is not marked",
        help=f"in the class of that queue in the output policy: {_ECN}",
    ),
    "ECN001 error": Words(
        message="the queue of a lossless class drops where it should mark: its random-detect line has no ecn",
        help="put ecn at the end of that line",
    ),
    "PFC001": Words(help="leave pause pfc-cos to the classes of lossless traffic alone"),
    "PFC002": Words(help="leave pause pfc-cos to two classes of the network-qos policy"),
    "PFC018": Words(help="pause pfc-cos 3 in class c-8q-nq3 of the network-qos policy that system qos names"),
    "CLS004": Words(help="service-policy type qos input, with a class map that matches the DSCP of RDMA"),
    "CLS007": Words(help="set qos-group 7 for its DSCP, a class of its own that is not paused"),
}
"""What rules say, in the commands of NX-OS."""


def _read(document: Document, rdma_dscps: tuple[int, ...]) -> ReadSwitch:
    config = config_of(document)  # type: ignore[arg-type]
    reader = NxosSwitch(config, rdma_dscps)
    return ReadSwitch(
        switch=reader.switch(),
        maps=reader.maps(),
        trusts=reader.trusts(),
        lossless={pause.group: pause.priority for pause in reader.pauses},
        undefined=tuple(_undefined(config)),
        unbound=tuple(_unbound(config)),
        refused=tuple(refusals(reader)),
        silent=tuple(_silent(reader)),
        untagged=frozenset(name for name in reader.names if _untagged(reader, name)),
        unread=tuple(
            f"line {document.locate(origin.path).line}: {text!r} is not read"
            for origin, text in config.unread
        ),
    )


_POLICIES = {"input": "qos", "queuing": "queuing", "queuing input": "queuing", "network-qos": "network-qos"}


def _uses(config: NxosConfig) -> Iterator[tuple[str, str, Origin]]:
    """Yield the policies that ports and the switch name: type, name and place."""
    blocks = (config.bound, *config.profiles.values(), *config.interfaces.values())
    for rows in blocks:
        for key, kind in _POLICIES.items():
            if key in rows:
                yield kind, rows[key].value, rows[key].origin


def _undefined(config: NxosConfig) -> Iterator[UndefinedName]:
    for kind, name, origin in _uses(config):
        if (kind, name) not in config.policies and not name.startswith("default-"):
            yield UndefinedName(f"policy-map type {kind}", name, origin)
    for (kind, _), policy in config.policies.items():
        for of in policy:
            known = is_built_in(kind, of.name) or (kind, of.name) in config.class_maps
            if not known and not _is_of_another_type(of.name):
                yield UndefinedName(f"class-map type {kind}", of.name, of.origin)
    for rows in config.interfaces.values():
        inherited = rows.get("inherit")
        if inherited is not None and inherited.value not in config.profiles:
            yield UndefinedName("port-profile", inherited.value, inherited.origin)


def _is_of_another_type(name: str) -> bool:
    return any(is_built_in(kind, name) for kind in ("network-qos", "queuing"))


def _unbound(config: NxosConfig) -> Iterator[UnboundObject]:
    used = {(kind, name) for kind, name, _ in _uses(config)}
    for kind, name in sorted(config.policies, key=lambda key: (key[0], natural_key(key[1]))):
        if (kind, name) not in used and (config.interfaces or config.bound):
            place = config.places[("policy-map", f"{kind} {name}")]
            yield UnboundObject(f"policy-map type {kind}", name, place)


def _silent(reader: NxosSwitch) -> Iterator[tuple[str, Origin]]:
    for name in reader.names:
        rows = reader.rows_of(name)
        mode, up = rows.get("pfc"), rows.get("up")
        if mode is not None and mode.value == "on" and not reader.pauses and (up is None or up.value):
            yield name, mode.origin


def _untagged(reader: NxosSwitch, name: str) -> bool:
    """Return whether a port gets no VLAN tags: a routed one, or an access port."""
    rows = reader.rows_of(name)
    return "routed" in rows or ("tagged" in rows and rows["tagged"].value is None)


_TIMES = "the watchdog is on or off; no line sets it"
LOSSES = {
    "buffers": _COMPUTED,
    "cable": "no cable length is configured",
    "watchdog.detection": _TIMES,
    "watchdog.restoration": _TIMES,
    "watchdog.action": _TIMES,
    "watchdog.poll": _TIMES,
}
"""What NX-OS has no place for, in the commands that are read."""
_APPLY = (
    "checkpoint lossless",
    "copy bootflash:qos.cfg running-config",
    "show policy-map system type network-qos",
    "rollback running-config checkpoint lossless",
)
_WHY = (
    "what is in the file is set, and what else is configured stays; the last command goes back. A change of the "
    "network-qos policy resets buffers: drain the switch first"
)


_DME = (
    "the policies alone, for RESTCONF and NX-API; PFC of ports, the watchdog and system qos are set by qos.cfg. "
    "A change of the network-qos policy resets buffers: drain the switch first"
)


def _files(switch: Switch) -> tuple[SwitchFile, ...]:
    made = policies(switch)
    content = {
        "device": switch.name,
        "product": switch.profile.product if switch.profile is not None else "unknown",
        "input": INPUT,
        "network_name": NETWORK,
        **made,
    }
    document = {"data": object_model(made, {"input": INPUT, "network": NETWORK})}
    return (
        SwitchFile("qos.cfg", "nxos/qos.cfg.j2", content, "running-config", _APPLY, _WHY),
        SwitchFile("qos.dme.json", "data.json.j2", document, "", (), _DME, whole=False),
    )


DIALECT = Dialect(
    reads="show running-config, scripts of commands",
    writes="qos.cfg, qos.dme.json",
    checked_with="public configurations, reading back, and the YANG models of 9.3(1)",
    recognizes=looks_like_nxos,
    recognizes_data=lambda _: False,
    document=document_of,
    read=_read,
    not_applicable=NOT_APPLICABLE,
    words=WORDS,
    files=_files,
    losses=LOSSES,
)

"""Merges rendered tables into a device's own config_db.json, its base, and plans files, commands and updates.

Owned tables are replaced, also their stale rows, shared ones are extended, and everything else is kept. Provisioned
settings of the base must agree with the intent: asymmetric PFC, tunnels, LAGs. Rendering overwrites none of them: a
base that disagrees is refused, because its settings would change the meaning of the rendered QoS.

A planned file has its text, the commands that bring it onto its device, and the effect on traffic. Commands are those
of sonic-utilities config/main.py @691b1bb: ``load`` merges into the running database, ``reload`` empties it and
restarts the services, ``apply-patch`` and ``replace`` go through the config updater, and only ``save`` makes a change
outlive the next boot.

Beside a switch's complete file go a patch, a rollback, and the removals that ``config load`` leaves undone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from lossless.formats.sonic.capabilities.updater_verdict import release_of, update
from lossless.formats.sonic.changes.json_patch import REFERRED, operations, patch_text
from lossless.formats.sonic.from_model import OWNED, SHARED
from lossless.formats.sonic.read.tables import whole_number
from lossless.formats.sonic.to_model.tunnel import BOUND
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.formats.sonic.capabilities.updater_verdict import Update, UpdateRefusal
    from lossless.formats.sonic.from_model import TableRows
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Port, Switch


_READ = SHARED
"""Tables of a base that must be mappings of rows."""


def onto_base(switch: Switch, rendered: TableRows, base: Document) -> dict[str, Any]:
    """Return the complete CONFIG_DB of a device: its base with the rendered tables.

    Raises:
        RenderError: the base is of another device or malformed, lacks a port that the intent uses, has another speed or
            a lower MTU, or has other settings that disagree with the intent; the message lists the reasons.
    """
    problems = list(_problems(switch, base.data)) or list(disagreements(switch, rendered, base.data))
    if problems:
        raise RenderError(*(f"{base.file}: {problem}" for problem in problems))
    kept = {table: rows for table, rows in base.data.items() if table not in OWNED}
    owned = {table: rows for table, rows in rendered.items() if table not in SHARED}
    shared = {table: _laid_over(kept.get(table, {}), rendered.get(table, {})) for table in SHARED}
    return kept | owned | {table: rows for table, rows in shared.items() if rows}


def _laid_over(rows: Mapping[str, Any], own: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    return dict(rows) | {key: {**rows.get(key, {}), **fields} for key, fields in own.items()}


def _problems(switch: Switch, data: Mapping[str, Any]) -> Iterator[str]:
    shapeless = list(_shapeless(data))
    if shapeless:
        yield from shapeless
        return
    meta = data.get("DEVICE_METADATA", {}).get("localhost", {})
    if meta.get("hwsku") not in (None, switch.hwsku_name):
        yield f"is for HWSKU {meta['hwsku']}; the intent makes {switch.name} a {switch.hwsku_name}"
    if meta.get("hostname") not in (None, switch.device):
        yield f"is the file of {meta['hostname']}, not of {switch.device}"
    asic = meta.get("asic_name")
    if switch.asic and asic is not None and asic.lower() != switch.asic.lower():
        yield f"is the file of {asic}, not of {switch.asic}"
    if meta.get("buffer_model") == "dynamic" and switch.qos.buffer_model != "dynamic":
        fix = "state buffers.model: dynamic, or make the device traditional first"
        yield f"sets buffer_model dynamic, and the intent has the traditional model; {fix}"
    yield from _port_problems(switch, data.get("PORT", {}))


def _shapeless(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each table of ``_READ``, and each row of these tables, that is no mapping."""
    for table in _READ:
        rows = data.get(table, {})
        if not isinstance(rows, dict):
            yield f"{table} is not a table of rows"
            continue
        yield from (f"{table}|{key} is not a row" for key, row in rows.items() if not isinstance(row, dict))


def _port_problems(switch: Switch, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    used = [port for port in switch.ports if port.admin_up is not False]
    missing = [port.name for port in used if port.placed and port.name not in rows]
    if missing and not rows:
        yield "has no table PORT: it is part of a configuration; name the switch's whole config_db.json"
    elif missing:
        yield f"PORT has no {listed(missing, 5)}; the intent uses them (break the cages out first)"
    yield from _unused_problems(switch, rows)
    yield from _mtu_problems(used, rows)
    # A cage that is not broken out has the speed of the whole cage, which is the same cause.
    if not missing:
        yield from _speed_problems(used, rows)


def _speed_problems(used: Sequence[Port], rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a message for each speed of used ports in a base that is not the intent's."""
    speeds = (
        ((str(speed), port.speed_bps // 10**6), port.name)
        for port in used
        if (speed := rows.get(port.name, {}).get("speed")) is not None and port.speed_bps is not None
    )
    for (speed, wanted), ports in grouped(speeds).items():
        if speed != str(wanted):
            yield f"PORT: speed is {speed} on {listed(ports, 5)}; the intent makes it {wanted}"


def _unused_problems(switch: Switch, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield messages for ports whose buffer is reclaimed as unused, although the base lacks them or has them up."""
    down = [port.name for port in switch.ports if port.admin_up is False]
    missing = [name for name in down if name not in rows]
    up = [name for name in down if rows.get(name, {}).get("admin_status") == "up"]
    if missing:
        fix = "state under hardware how its cages are broken out, or buffers.unused_ports: keep"
        yield f"PORT has no {listed(missing, 5)}, which the intent takes for unused; {fix}"
    if up:
        fix = "shut them down, give them links, or state buffers.unused_ports: keep"
        yield f"PORT: admin_status is up on {listed(up, 5)}, whose buffer the intent gives back; {fix}"


def _mtu_problems(used: Sequence[Port], rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a message for each port MTU below the intent's: PORT is kept as it is, and such a port drops frames."""
    mtus = ((whole_number(str(rows.get(port.name, {}).get("mtu", ""))), port) for port in used)
    below = grouped(
        ((mtu, port.mtu_bytes), port.name)
        for mtu, port in mtus
        if mtu is not None and isinstance(port.mtu_bytes, int) and mtu < port.mtu_bytes
    )
    for (mtu, wanted), ports in below.items():
        yield f"PORT: mtu is {mtu} on {listed(ports, 5)}; the intent makes it {wanted}"


def disagreements(switch: Switch, rendered: TableRows, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages for contradictions of a base to the intent: backplane, asymmetric PFC, tunnels, LAGs."""
    yield from _backplane(data.get("PORT", {}))
    yield from _asymmetric(switch, data.get("PORT", {}))
    yield from _tunnels(switch, rendered, _rows(data, "TUNNEL"))
    yield from _lags(switch, _rows(data, "PORTCHANNEL_MEMBER"))


def _rows(data: Mapping[str, Any], table: str) -> Mapping[str, Any]:
    rows = data.get(table)
    return rows if isinstance(rows, dict) else {}


def _backplane(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a message if a base has ports that join the ASICs of its device, which an intent cannot declare.

    Upstream gives them QoS as any port in use; rendering would take it from them (sonic-buildimage
    files/build_templates/qos_config.j2 @0791705). Upstream gives inband and recycle ports no QoS.
    """
    ports = [name for name in rows if name.startswith("Ethernet-BP")]
    if ports:
        more = f" and {len(ports) - 1} more" if len(ports) > 1 else ""
        why = "an intent has no backplane, and what is rendered would take its QoS away"
        yield f"PORT has {ports[0]}{more}: {why}"


def _asymmetric(switch: Switch, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield one message if ports of a base obey pauses of all priorities although the intent does not declare it."""
    ports = [
        port.name
        for port in switch.ports
        if not port.asymmetric and rows.get(port.name, {}).get("pfc_asym") == "on"
    ]
    if ports:
        more = f" and {len(ports) - 1} more" if len(ports) > 1 else ""
        why = "such ports obey pauses of all 8 priorities"
        yield f"PORT|{ports[0]}|pfc_asym is on{more}: {why}; state pfc.asymmetric, or switch it off"


def _tunnels(switch: Switch, rendered: TableRows, rows: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each tunnel of a base that names a QoS map which the rendered tables do not have."""
    for key, row in sorted(rows.items()):
        for field, table in BOUND.items():
            name = row.get(field) if isinstance(row, dict) else None
            if name and name not in rendered.get(table, {}):
                fix = f"state dual_tor for {switch.name}, or take the field off"
                yield f"TUNNEL|{key}|{field} names {table} {name}, which the intent does not have; {fix}"
                break


def _lags(switch: Switch, rows: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each LAG of the intent whose members are in several LAGs of the base."""
    member_of = {port: lag for lag, _, port in (str(key).partition("|") for key in rows)}
    members = (port for port in switch.ports if port.lag is not None and port.name in member_of)
    for names in grouped((port.lag, port.name) for port in members).values():
        theirs = {member_of[name]: name for name in reversed(names)}
        if len(theirs) > 1:
            (lag, first_port), (other_lag, other_port), *_ = sorted(theirs.items())
            why = "the intent makes them members of one LAG"
            yield f"PORTCHANNEL_MEMBER has {first_port} in {lag} and {other_port} in {other_lag}; {why}"


Extra = Literal["qos", "patch", "rollback"]
EXTRAS: tuple[Extra, ...] = ("qos", "patch", "rollback")
"""Files that can be made beside a switch's complete file; each needs the file that the switch runs."""
TELEMETRY = "telemetry"
"""The extra that needs an intent alone, and the name of its folder."""


class Deployment(NamedTuple):
    """The way to apply a rendered file on its device: its target path, the commands there, and the effect on traffic.

    ``hitless``: no port and no service goes down, and lossless traffic is not harmed; None if unknown. ``why`` is the
    reason for it. ``ports_stay_up``: no port goes down; None: no port does if ``hitless``, else it is unknown.
    """

    target: str
    apply: tuple[str, ...]
    hitless: bool | None
    why: str
    ports_stay_up: bool | None = None


class PlannedFile(NamedTuple):
    """One file to write, by its path below the output folder, such as ``<device>/<name>``.

    ``secret``: only its owner may read it, and its content is not shown.
    """

    path: str
    text: str
    executable: bool = False
    deployment: Deployment | None = None
    secret: bool = False


class UpdatePlan(NamedTuple):
    """The update that brings a running switch to the rendered configuration: nothing, a patch, or a reload.

    ``ports_down`` are the ports that a patch takes down. ``why`` are the reasons for a reload, with rows.
    ``harms`` lists effects of a patch on lossless traffic.
    """

    device: str
    how: Literal["nothing", "patch", "reload"]
    ports_down: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()


STARTUP = "/etc/sonic/config_db.json"
PATCH = "/etc/sonic/lossless-patch.json"
QOS = "/etc/sonic/lossless-qos.json"
DELETES = "/etc/sonic/lossless-qos-deletes.json"
ROLLBACK = "/etc/sonic/lossless-rollback.json"
_RELOAD = "config reload -y"
_SAVE = "config save -y"
_RESTARTS = "config reload stops SONiC's services and starts them again: every port goes down"

COMPLETE = Deployment(STARTUP, (_RELOAD,), hitless=False, why=_RESTARTS, ports_stay_up=False)
QOS_ALONE = Deployment(
    QOS,
    (f"config load -y {QOS}", _SAVE),
    hitless=False,
    why="config load merges: stale rows stay until they are deleted (name the switch's file with --base to have "
    "them listed), and rows change in no stated order under traffic",
)
QOS_WITH_DELETES = Deployment(
    QOS,
    (f"config load -y {QOS}", _SAVE),
    hitless=False,
    why="config load merges: run the deletes of qos-deletes.json around it; between a delete and the load a port "
    "is without that row",
)
LISTED_DELETES = Deployment(
    DELETES,
    (),
    hitless=False,
    why="commands to run: those under before, then config load, then those under after",
)
HOST_FILES = {
    "lossless-roce.sh": Deployment(
        "/usr/local/sbin/lossless-roce.sh",
        (),
        hitless=None,
        why="run by lossless-roce.service; it sets only what differs, on interfaces that may carry traffic",
    ),
    "lossless-roce.service": Deployment(
        "/etc/systemd/system/lossless-roce.service",
        ("systemctl daemon-reload", "systemctl enable --now lossless-roce.service"),
        hitless=None,
        why="starts lossless-roce.sh",
    ),
    "lossless-roce.rules": Deployment(
        "/etc/udev/rules.d/90-lossless-roce.rules",
        ("udevadm control --reload",),
        hitless=True,
        why="starts lossless-roce.service again when an RDMA device appears",
    ),
    "lossless-roce.json": Deployment(
        "/etc/lossless/roce.json",
        (),
        hitless=True,
        why="the same settings as data, for what manages configurations; nothing on the host reads it",
    ),
    "nccl.conf": Deployment(
        "/etc/nccl.conf",
        (),
        hitless=True,
        why="jobs that start from then on read it; those that run keep what they have",
    ),
    "jobs.env": Deployment(
        "/etc/lossless/jobs.env", (), hitless=True, why="read where a job's container or unit names it"
    ),
    "jobs.sh": Deployment("/etc/lossless/jobs.sh", (), hitless=True, why="read where a job sources it"),
}
"""How each file of a host is applied, by file name."""
CLUSTER = Deployment(
    "",
    (),
    hitless=False,
    why="the operator drains a node and resets its NICs, or reboots it, where settings of the firmware change",
)
"""How a Kubernetes resource is applied; target and command are set for each file."""


def asic_deployment(asic: str, *, complete: bool) -> Deployment:
    """Return how the file of one ASIC of several is applied on its device.

    ``config load`` takes the files of the host and of all ASICs together; a fragment goes to one namespace with
    the command that it runs for each (sonic-utilities config/main.py @691b1bb).
    """
    number = asic.removeprefix("asic")
    if complete:
        return COMPLETE._replace(target=f"/etc/sonic/config_db{number}.json")
    target = f"/etc/sonic/lossless-qos{number}.json"
    return QOS_ALONE._replace(
        target=target, apply=(f"sonic-cfggen -n {asic} -j {target} --write-to-db", _SAVE)
    )


def patch_deployment(update: Update) -> Deployment:
    """Return how a JSON patch that the config updater permits is applied."""
    return _updated(PATCH, f"config apply-patch {PATCH}", update)


def rollback_deployment(back: Update | None) -> Deployment:
    """Return how a switch gets its old file again: by the update ``back``, or by a reload if it is None or refused."""
    if back is None or back.refusals:
        return COMPLETE._replace(target=ROLLBACK, apply=(f"cp {ROLLBACK} {STARTUP}", _RELOAD))
    return _updated(ROLLBACK, f"config replace {ROLLBACK}", back)


def _updated(target: str, command: str, update: Update) -> Deployment:
    why = "; ".join((_updater_says(update), *update.harms))
    return Deployment(target, (command, _SAVE), update.hitless, why, ports_stay_up=not update.ports_down)


def _updater_says(update: Update) -> str:
    if not update.ports_down:
        return "the config updater takes no port and no service down"
    return f"the config updater takes ports down while it changes their rows: {listed(update.ports_down)}"


Tables = dict[str, Any]


def extra_files(
    switch: Switch, base: Document, content: Tables, extras: Collection[Extra]
) -> tuple[list[PlannedFile], UpdatePlan | None]:
    """Return the requested files beside the complete one, and the switch's update plan, None if no patch is requested.

    The extra ``qos`` is a file of removals, for ``config load``. There is no patch file where the plan is no patch.
    """
    files: list[PlannedFile] = []
    plan = None
    if "qos" in extras:
        text = json.dumps(removals(base.data, content), indent=2, ensure_ascii=False) + "\n"
        files.append(PlannedFile(f"{switch.name}/qos-deletes.json", text, deployment=LISTED_DELETES))
    there = update_of(switch, base.data, content) if {"patch", "rollback"} & set(extras) else None
    if "patch" in extras and there is not None:
        plan = change_of(switch, there)
        if plan.how == "patch":
            text = patch_text(step.as_json() for step in there.operations)
            files.append(PlannedFile(f"{switch.name}/patch.json", text, deployment=patch_deployment(there)))
    if "rollback" in extras and there is not None:
        back = None if there.refusals else update_of(switch, content, base.data)
        deployment = rollback_deployment(back)
        files.append(PlannedFile(f"{switch.name}/rollback.json", base.text, deployment=deployment))
    return files, plan


def update_of(switch: Switch, running: Mapping[str, Any], target: Mapping[str, Any]) -> Update:
    """Return the config updater's operations from a switch's running configuration to another, and its verdict.

    The updater's rules are those for the release and HWSKU in ``running``, else for those of the switch.
    """
    meta = running.get("DEVICE_METADATA", {}).get("localhost", {})
    return update(
        running, target, release_of(running) or switch.release, str(meta.get("hwsku") or switch.hwsku_name)
    )


def change_of(switch: Switch, there: Update) -> UpdatePlan:
    """Return the update plan of a switch: nothing, a patch, or a reload with its reasons."""
    if not there.operations:
        return UpdatePlan(switch.name, "nothing")
    if there.refusals:
        return UpdatePlan(switch.name, "reload", why=tuple(reasons(there.refusals)))
    return UpdatePlan(switch.name, "patch", there.ports_down, harms=there.harms)


def reasons(refusals: Sequence[UpdateRefusal]) -> Iterator[str]:
    """Yield a line for each reason why the config updater refuses changes, with the first rows that it holds for."""
    rows: dict[str, dict[str, None]] = {}
    for refusal in refusals:
        rows.setdefault(refusal.why, {})["|".join(refusal.path)] = None
    for why, places in rows.items():
        yield f"{listed(list(places))}: {why}"


def removals(running: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the commands that ``config load`` needs ``before`` and ``after`` it, as it removes nothing itself.

    Rows that others refer to go after, when no row refers to them any more; all else goes before: the removal of a
    range takes away the rows loaded for its numbers.
    """
    commands: dict[str, list[str]] = {"before": [], "after": []}
    for step in operations(running, content):
        if step.op == "remove":
            when = "after" if step.path[0] in REFERRED and len(step.path) < 3 else "before"
            commands[when] += _commands(step.path, running)
    return commands


def _commands(path: tuple[str, ...], running: Mapping[str, Any]) -> Iterator[str]:
    """Yield the commands that remove a table, a row or a field; CONFIG_DB ends the name of a list's field in ``@``."""
    from shlex import quote

    table = running[path[0]]
    for row in path[1:2] or (tuple(table) if isinstance(table, dict) else ()):
        key = quote(f"{path[0]}|{row}")
        if len(path) < 3:
            yield f"sonic-db-cli CONFIG_DB DEL {key}"
        else:
            value = table[row][path[2]]
            yield f"sonic-db-cli CONFIG_DB HDEL {key} {quote(path[2] + '@' * isinstance(value, list))}"

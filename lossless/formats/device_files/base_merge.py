"""A device's own file as base: owned tables replaced, stale rows gone, everything else kept.

Provisioned settings of a device's own file that must agree with its intent: asymmetric PFC, tunnels, LAGs.

Rendering overwrites none of them: a base that disagrees is refused, because its settings would change the meaning of
the rendered QoS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.from_model.tables import OWNED, SHARED
from lossless.formats.sonic.read.tables import whole_number
from lossless.formats.sonic.to_model.tunnel import BOUND
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.from_model.tables import TableRows
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Port, Switch


_READ = SHARED
"""Tables that must have the form of a table, to be compared or extended; other content is kept unread."""


def onto_base(switch: Switch, rendered: TableRows, base: Document) -> dict[str, Any]:
    """Return the complete configuration of a device.

    Raises:
        RenderError: the base is of another device, lacks a port that the intent uses, or computes its buffers
            itself although the intent does not declare it; the message lists every reason.
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
    """Yield the tables and rows that must be read or added to, and are none."""
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
    """Yield the speeds that are not the intent's, each with all ports that have it."""
    speeds = (
        ((str(speed), port.speed_bps // 10**6), port.name)
        for port in used
        if (speed := rows.get(port.name, {}).get("speed")) is not None and port.speed_bps is not None
    )
    for (speed, wanted), ports in grouped(speeds).items():
        if speed != str(wanted):
            yield f"PORT: speed is {speed} on {listed(ports, 5)}; the intent makes it {wanted}"


def _unused_problems(switch: Switch, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the ports whose buffer is given back as unused, although the device lacks them or has them up."""
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
    """Yield the MTUs that are below the intent's: PORT is kept as it is, and such a port drops frames."""
    mtus = ((whole_number(str(rows.get(port.name, {}).get("mtu", ""))), port) for port in used)
    below = grouped(
        ((mtu, port.mtu_bytes), port.name)
        for mtu, port in mtus
        if mtu is not None and isinstance(port.mtu_bytes, int) and mtu < port.mtu_bytes
    )
    for (mtu, wanted), ports in below.items():
        yield f"PORT: mtu is {mtu} on {listed(ports, 5)}; the intent makes it {wanted}"


def disagreements(switch: Switch, rendered: TableRows, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings of a base that the intent does not declare, or declares differently."""
    yield from _backplane(data.get("PORT", {}))
    yield from _asymmetric(switch, data.get("PORT", {}))
    yield from _tunnels(switch, rendered, _rows(data, "TUNNEL"))
    yield from _lags(switch, _rows(data, "PORTCHANNEL_MEMBER"))


def _rows(data: Mapping[str, Any], table: str) -> Mapping[str, Any]:
    rows = data.get(table)
    return rows if isinstance(rows, dict) else {}


def _backplane(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the ports that join the ASICs of a device, which an intent cannot declare.

    Upstream gives them QoS as any port in use; rendering would take it from them (sonic-buildimage
    files/build_templates/qos_config.j2 @0791705). Inband and recycle ports have none there either.
    """
    ports = [name for name in rows if name.startswith("Ethernet-BP")]
    if ports:
        more = f" and {len(ports) - 1} more" if len(ports) > 1 else ""
        why = "an intent has no backplane, and what is rendered would take its QoS away"
        yield f"PORT has {ports[0]}{more}: {why}"


def _asymmetric(switch: Switch, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the ports that obey pauses of all priorities although the intent does not declare it."""
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
    """Yield the tunnels that name maps which the rendered tables do not have."""
    for key, row in sorted(rows.items()):
        for field, table in BOUND.items():
            name = row.get(field) if isinstance(row, dict) else None
            if name and name not in rendered.get(table, {}):
                fix = f"state dual_tor for {switch.name}, or take the field off"
                yield f"TUNNEL|{key}|{field} names {table} {name}, which the intent does not have; {fix}"
                break


def _lags(switch: Switch, rows: Mapping[str, Any]) -> Iterator[str]:
    """Yield the LAGs of the intent whose members are in several of the device, or in several LAGs there."""
    member_of = {port: lag for lag, _, port in (str(key).partition("|") for key in rows)}
    members = (port for port in switch.ports if port.lag is not None and port.name in member_of)
    for names in grouped((port.lag, port.name) for port in members).values():
        theirs = {member_of[name]: name for name in reversed(names)}
        if len(theirs) > 1:
            (lag, first_port), (other_lag, other_port), *_ = sorted(theirs.items())
            why = "the intent makes them members of one LAG"
            yield f"PORTCHANNEL_MEMBER has {first_port} in {lag} and {other_port} in {other_lag}; {why}"

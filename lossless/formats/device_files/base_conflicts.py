"""Provisioned settings of a device's own file that must agree with its intent: asymmetric PFC, tunnels, LAGs.

Rendering overwrites none of them: a base that disagrees is refused, because its settings would change the meaning of
the rendered QoS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.to_model.tunnel import BOUND
from lossless.ground.basics.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.sonic.from_model.tables import TableRows
    from lossless.model.fabric.model import Switch


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

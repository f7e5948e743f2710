"""Writes a plausible base file for each switch of an intent: what the device would have besides QoS.

    python tools/example_base.py examples/roce-256

makes ``base/<device>/config_db.json`` below the example. Ports, lanes and aliases come from the hardware profile;
addresses and AS numbers are of the documentation and private ranges. Tests and benchmarks use it as well.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import Maybe
from lossless.ground.documents import load
from lossless.model.fabric.model import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric, Port, Switch
    from lossless.model.hardware.model import PortSpec

Tables = dict[str, Any]


def base_of(fabric: Fabric, switch: Switch) -> Tables:
    """Return the tables of a switch that rendering does not own."""
    number = fabric.switches.index(switch) + 1
    peers = {port: (node, far) for port, node, far in _peers(fabric, switch)}
    specs = sorted(_specs(switch), key=lambda spec: natural_key(spec.name))
    ports = {port.name: port for port in switch.ports}
    used = {name for name, port in ports.items() if port.admin_up}
    return _tunnels(switch) | {
        "AAA": {"authentication": {"login": "local"}},
        "BGP_NEIGHBOR": _sessions(fabric, switch, number),
        "DEVICE_METADATA": {"localhost": _metadata(switch, number)},
        "DEVICE_NEIGHBOR": {
            spec.name: dict(zip(("name", "port"), peers[spec.name], strict=True))
            for spec in specs
            if spec.name in peers
        },
        "FEATURE": {
            name: {"auto_restart": "enabled", "state": "enabled"}
            for name in ("bgp", "lldp", "snmp", "swss", "syncd", "teamd", "telemetry")
        },
        "FLEX_COUNTER_TABLE": {
            "PORT_RATES": {"FLEX_COUNTER_STATUS": "enable"},
            "PORT": {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "1000"},
        },
        "INTERFACE": {spec.name: {} for spec in specs if spec.name in used and not ports[spec.name].lag},
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|{_loopback(number)}/32": {}},
        "MGMT_INTERFACE": {f"eth0|10.10.{number // 250}.{10 + number % 240}/20": {"gwaddr": "10.10.0.1"}},
        "MGMT_PORT": {"eth0": {"admin_status": "up", "alias": "eth0"}},
        "NTP_SERVER": {"10.10.0.2": {}},
        "PORT": {spec.name: _port_row(spec, ports.get(spec.name), peers.get(spec.name)) for spec in specs},
        "SYSLOG_SERVER": {"10.10.0.3": {}},
        "VERSIONS": {"DATABASE": {"VERSION": f"version_{switch.release or '202411'}_01"}},
    }


def _loopback(number: int) -> str:
    return f"10.255.{number // 250}.{number % 250}"


def _metadata(switch: Switch, number: int) -> dict[str, str]:
    return {
        "bgp_asn": str(4_200_000_000 + number),
        "buffer_model": "traditional",
        "default_bgp_status": "up",
        "docker_routing_config_mode": "split",
        "hostname": switch.device,
        "hwsku": str(switch.hwsku_name),
        "mac": f"00:00:5e:00:53:{number % 256:02x}",
        "platform": switch.profile.platform if switch.profile else "",
        "type": _TYPES.get(switch.tier, "ToRRouter"),
        **({"subtype": "DualToR"} if switch.qos.tunnel else {}),
        **({"asic_name": switch.asic, "sub_role": "FrontEnd"} if switch.asic else {}),
    }


_TYPES: dict[Maybe[Tier], str] = {Tier.SPINE: "LeafRouter", Tier.SUPER_SPINE: "SpineRouter"}
_TUNNEL = {
    "tunnel_type": "IPINIP",
    "dst_ip": "10.1.0.32",
    "dscp_mode": "pipe",
    "ecn_mode": "copy_from_outer",
    "encap_ecn_mode": "standard",
    "ttl_mode": "pipe",
}
_TUNNEL_MAPS = ("decap_dscp_to_tc_map", "decap_tc_to_pg_map", "encap_tc_to_dscp_map", "encap_tc_to_queue_map")


def _tunnels(switch: Switch) -> Tables:
    """Return the tunnel of a dual ToR to its peer, as upstream's minigraph writes it, and the LAGs of a switch."""
    found: Tables = {}
    if switch.qos.tunnel:
        found["TUNNEL"] = {"MuxTunnel0": _TUNNEL | dict.fromkeys(_TUNNEL_MAPS, "AZURE_TUNNEL")}
    members = [port for port in switch.ports if port.lag]
    if members:
        # teammgrd gives members the MTU of their LAG, which belongs to provisioning as the LAG does.
        found["PORTCHANNEL"] = {
            str(port.lag): {"admin_status": "up", "mtu": str(port.mtu_bytes)} for port in members
        }
        found["PORTCHANNEL_MEMBER"] = {f"{port.lag}|{port.name}": {} for port in members}
    return found


def _peers(fabric: Fabric, switch: Switch) -> Iterator[tuple[str, str, str]]:
    for link in fabric.links:
        if link.a == switch.name:
            yield link.a_port, link.b, link.b_port
        elif link.b == switch.name:
            yield link.b_port, link.a, link.a_port


def _sessions(fabric: Fabric, switch: Switch, number: int) -> dict[str, dict[str, str]]:
    names = [other.name for other in fabric.switches]
    peers = sorted({node for _, node, _ in _peers(fabric, switch) if node in names}, key=natural_key)
    return {
        _loopback(names.index(peer) + 1): {
            "asn": str(4_200_000_001 + names.index(peer)),
            "holdtime": "10",
            "keepalive": "3",
            "local_addr": _loopback(number),
            "name": peer,
        }
        for peer in peers
    }


def _port_row(spec: PortSpec, port: Port | None, peer: tuple[str, str] | None) -> dict[str, str]:
    row = {
        "admin_status": "up" if port and port.admin_up else "down",
        "alias": spec.alias,
        "index": str(spec.index),
        "lanes": ",".join(map(str, spec.lanes)),
        "mtu": str(port.mtu_bytes) if port else "9100",
        "speed": str(spec.speed_bps // 10**6),
    }
    if spec.speed_bps >= 100 * 10**9:
        row["fec"] = "rs"
    if peer:
        row["description"] = ":".join(peer)
    return dict(sorted(row.items()))


def _specs(switch: Switch) -> Iterator[PortSpec]:
    """Yield the ports in use as they are broken out, and those that no link uses."""
    yield from (port.spec for port in switch.ports if port.spec is not None)
    # Ports that give their buffer back are among the ports of the switch.
    named = {port.name for port in switch.ports}
    yield from (spec for spec in switch.unused if spec.name not in named)


def main(folder: Path) -> None:
    """Write the bases of the intent in a folder."""
    fabric = resolve(load_intent(load(folder / "fabric.yaml")))
    for switch in fabric.switches:
        target = folder / "base" / switch.name / "config_db.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(base_of(fabric, switch), indent=4) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

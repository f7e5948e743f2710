"""A device name for NCCL without `=` matches every device whose name begins with it.

Severity: warning
Subject: intent, hosts

## What it does
Reads NCCL_IB_HCA and NCCL_SOCKET_IFNAME where they are written without `=`. A name of a device of the host is a finding
where the host has another device whose name begins with it and that the list does not name: `mlx5_1` matches `mlx5_10`
as well, and `^mlx5_1` leaves both out. Where no device of that name was read, `mlx5_1` to `mlx5_9` and other names that
the kernel numbers like that are information. A text that is not a device name (`mlx5`, `^docker`) is meant as a prefix.

## Why it breaks a lossless fabric
The additional device belongs to another network: for storage, or for management. NCCL opens rings over it that the
fabric was not sized for, or cannot reach the other hosts through it, and the job hangs or is slow on hosts with one
device more than those where it was tested.

## Bad
```text facts file=nccl.conf beside=leaf-spine.yaml
NCCL_IB_TC=106
NCCL_IB_HCA=mlx5_1   # <- here
```

## Good
```text facts file=nccl.conf beside=leaf-spine.yaml
NCCL_IB_TC=106
NCCL_IB_HCA==mlx5_1
NCCL_SOCKET_IFNAME=^docker,lo
```

## Fix
Write `=` before the list: `NCCL_IB_HCA==mlx5_1`.

## Sources
- NVIDIA/nccl src/transport/net_ib/init.cc @e5d9a7a (`^` and `=` before NCCL_IB_HCA) and src/misc/utils.cc @44a0963
  (without `=`, as many characters as the list has are compared)
- NVIDIA/nccl src/misc/socket.cc @081eafa (NCCL_SOCKET_IFNAME)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.view import View

_COUNTED = re.compile(r"(?:mlx4_|mlx5_|bnxt_re|irdma|eth|ib|bond)[1-9]")
"""Numbered names of the kernel that are prefixes of others: ``mlx5_1`` of ``mlx5_10``; none is ``mlx5_00``."""


Pairs = tuple[tuple[str, str], ...]
"""Pairs of a listed name and another device that it matches."""


class NameList(NamedTuple):
    """One list of names as NCCL reads it. ``devices`` are those of the host, empty where they are unknown."""

    variable: str
    written: str
    excluding: bool
    names: tuple[str, ...]
    devices: tuple[str, ...]
    origin: Origin

    def beside(self) -> Pairs:
        """Return pairs of a listed device and another device of the host that it matches and the list does not name."""
        return tuple(
            (name, device)
            for name in self.names
            for device in self.devices
            if name in self.devices and device.startswith(name) and device not in self.names
        )

    def possible(self) -> Pairs:
        """Return pairs of a numbered name that is unknown on the host and another name that it would match."""
        unknown = (name for name in self.names if name not in self.devices)
        return tuple((name, f"{name}0") for name in unknown if _COUNTED.fullmatch(name))


def check(view: View) -> Results:
    """Yield a violation per NCCL list of device names that matches further devices of the host, or may match some."""
    for host, names in view.host_kinds:
        for listed in _lists(host, _devices(view, host, names)):
            others, possible = listed.beside(), listed.possible()
            if others or possible:
                yield _names_match_more(listed, others or possible, bool(others), names)


def _devices(view: View, host: HostQos, names: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the devices of a host by variable; of a host that was read, those of all its interfaces."""
    machine = names[0].partition(":")[0]
    read = [interface.qos for interface in view.fabric.hosts if interface.name.partition(":")[0] == machine]
    every = read if host.provenance == "deployed" else [host]
    return {
        "NCCL_IB_HCA": tuple(dict.fromkeys(name for qos in every for name in qos.rdma_devices)),
        "NCCL_SOCKET_IFNAME": tuple(dict.fromkeys(name for qos in every for name in qos.interfaces)),
    }


def _lists(host: HostQos, devices_of: Mapping[str, tuple[str, ...]]) -> Iterator[NameList]:
    for name, devices in devices_of.items():
        variable = host.jobs.variable(name)
        listed = parsed(variable.value) if variable else None
        if variable and listed:
            written = variable.value.removeprefix("^")
            yield NameList(name, written, written != variable.value, listed, devices, variable.origin)


def parsed(value: str) -> tuple[str, ...]:
    """Return the names of an NCCL list that are compared as prefixes; none where ``=`` makes them whole names."""
    names = value.removeprefix("^")
    if names.startswith("="):
        return ()
    return tuple(name for entry in names.split(",") if (name := entry.partition(":")[0].strip()))


def _names_match_more(listed: NameList, matches: Pairs, is_there: bool, hosts: tuple[str, ...]) -> Violation:
    name, other = matches[0]
    verb = "leaves out" if listed.excluding else "takes"
    why = ": names are compared as far as they go" if is_there else ", where a host has one"
    return Violation(
        origin=listed.origin,
        message=f"{listed.variable} {name} {verb} {other} too{why}",
        help=f"write {listed.variable}={'^=' if listed.excluding else '='}{listed.written}",
        elements=hosts,
        data={"variable": listed.variable, "matched": [[name, device] for name, device in matches]},
        severity=None if is_there else "info",
    )

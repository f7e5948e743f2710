"""A job must use the network that it was given: RDMA rather than sockets, SHARP where it asks for it.

Severity: warning
Subject: running fabric

## What it does
Reports hosts on which NCCL or libfabric used sockets although RDMA is there: other hosts of the job use it, a capture
shows RDMA ports, the intent has the host, or the job sets variables of RDMA or loads aws-ofi-nccl. Without any of these
it is *not checked*. The note has the reason that the log or a capture shows, such as `NCCL_IB_DISABLE=1`,
`NCCL_NET=Socket`, a list in `NCCL_IB_HCA` that selects no active port, or ports that are down. It also reports SHARP
(CollNet) that a job asked for and did not get, with the first error of its library, and whether SHARP's manager runs
where a capture has `systemctl status sharp_am`.

## Why it breaks a lossless fabric
A job on sockets runs, and nothing fails: it is slow, on an interface that may be the one for management, in a lossy
class.

## Bad
```text capture
node-1:57:58 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.2.0.4<0>
node-2:57:58 [0] NCCL INFO NET/IB : No device found.   # <- here
node-2:57:58 [0] NCCL INFO Using network Socket
```

## Good
```text capture
node-1:57:58 [0] NCCL INFO NET/IB : No device found.
node-1:57:58 [0] NCCL INFO Using network Socket
```

## Fix
Give the container `/dev/infiniband` and the user libraries of the NIC (libibverbs, its provider), bring the ports up,
and unset `NCCL_IB_DISABLE` and `NCCL_NET`. SHARP: see that the aggregation manager runs beside the subnet manager and
reaches this host, and that no other job has its tree.

## Sources
- NVIDIA/nccl src/transport/net_ib/init.cc, src/plugin/net.cc and src/transport.cc @5067397
- Mellanox/nccl-rdma-sharp-plugins src/sharp_plugin.c @2f5ac02
- NVIDIA SHARP documentation, Running NVIDIA SHARP Aggregation Manager (the service sharp_am, its log)
- NVIDIA/nccl#952 (no device found), #1050 (SHARP is not offered), #1219 and nccl-rdma-sharp-plugins#151 (a port of
  the subnet manager; a tree that is locked)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.host_counters.rdma_ports import (
    Cause,
    down_ports,
    first_of,
    job_events,
    logged,
    of_down_port,
    owner,
)
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.host_counters.rdma_ports import JobEvent
    from lossless.checks.rules.running_subjects import RunningDevice, RunningFabric
    from lossless.model.fabric.state import PlacedReading

_SOCKETS = frozenset({"socket", "sockets", "tcp", "tcp;ofi_rxm", "udp;ofi_rxd"})
_RDMA_VARIABLES = ("ib_hca", "gid_index", "traffic_class", "service_level")
_SEE = "see ibv_devinfo where the job runs: a container needs /dev/infiniband and the libraries of the NIC"
_SHARP = {
    "port is used by SM": "the port of this NIC runs the subnet manager, which SHARP does not allow: exclude it by "
    "NCCL_IB_HCA, or move the subnet manager",
    "Aggregation Manager": "see that sharp_am runs beside the subnet manager, and that this host reaches it",
    "lock": "a tree for streaming serves one job at a time: end the other one, or run without SHARP",
    "Cannot create SHARP job": "see that the fabric offers SHARP to this tenant (log of sharp_am, sharp_hello)",
}
"""Remedies by a part of the error of SHARP's library."""
_OTHER_CAUSES = ("port is used by SM", "lock")
"""Errors of SHARP's library that have another cause than a manager that does not run."""
_ANY_SHARP = (
    "run sharp_hello on this host, and read the log of sharp_am; without SHARP set NCCL_COLLNET_ENABLE=0"
)


def throughout(fabric: RunningFabric) -> Results:
    """Yield a violation per log and reason where hosts with RDMA use sockets, and one per log in which SHARP failed."""
    for device in fabric.devices:
        by_file = grouped(
            (placed.file, placed)
            for placed in device.state.every("network", "provider", "devices")
            if placed.part("event") is None
        )
        for file, network in by_file.items():
            yield from _sockets(fabric, device, file, network)
        for events in job_events(device).values():
            failed = [event for event in events if event.value("collnet_failed") is not None]
            if failed:
                errors = [event for event in events if event.value("sharp_error") is not None]
                yield _sharp(failed, errors, _manager(fabric))


def _sockets(
    fabric: RunningFabric, device: RunningDevice, file: str, network: Sequence[PlacedReading]
) -> Results:
    on_sockets = [
        placed
        for placed in network
        if placed.reading.name != "devices" and str(placed.reading.value).lower() in _SOCKETS
    ]
    by_host = grouped((placed.part("host") or device.name, placed) for placed in on_sockets)
    unknown = 0
    found: dict[tuple[str, Cause], list[PlacedReading]] = {}
    for host, placed in by_host.items():
        expected = _expected(fabric, device, file, host)
        if expected:
            none = next(
                (each for each in logged(device, file, host, "devices") if each.number == 0), placed[0]
            )
            found.setdefault((expected, _reason(fabric, device, file, host)), []).append(none)
        else:
            unknown += 1
    if unknown:
        yield MissingInput(
            "a job uses sockets: no capture and no intent says that its host has RDMA", unknown
        )
    for (expected, reason), places in found.items():
        hosts = tuple(placed.part("host") or device.name for placed in places)
        yield Violation(
            origin=places[0].origin,
            message=f"a job on {first_of(hosts)} uses sockets instead of RDMA",
            note_lines=tuple(filter(None, (expected, reason.text and f"shown: {reason.text}"))),
            help=reason.help,
            elements=hosts,
            data={"expected": expected, "reason": reason.text},
        )


def _expected(fabric: RunningFabric, device: RunningDevice, file: str, host: str) -> str:
    """Return the sign that a host should use RDMA, as text; empty without one."""
    if any(
        placed.part("host") != host for placed in device.state.every("link_layer") if _is_logged(placed, file)
    ):
        return "other hosts of the job use RDMA"
    captured = owner(fabric, device, host)
    states = () if captured is None else tuple(captured.state.named("state", "device", "port"))
    if any("active" in str(placed.reading.value).lower() for placed in states):
        return "captures show active RDMA ports"
    if states:
        return "captures show RDMA ports"
    if host in fabric.hosts:
        return "the intent has RDMA on this host"
    if any(True for _ in logged(device, file, host, "providers", "provider")):
        return "the job loads aws-ofi-nccl, which is for RDMA"
    names = [placed.reading.path[-1] for placed in logged(device, file, host, *_RDMA_VARIABLES)]
    return f"the job sets {names[0]}" if names else ""


def _is_logged(placed: PlacedReading, file: str) -> bool:
    return placed.file == file and placed.reading.value in ("IB", "RoCE")


def _reason(fabric: RunningFabric, device: RunningDevice, file: str, host: str) -> Cause:
    """Return the reason for sockets that the log or a capture shows; with an empty text where neither shows one."""

    def said(name: str) -> Iterator[object]:
        return (placed.reading.value for placed in logged(device, file, host, name))

    if any(value not in (0, "0") for value in said("ib_disable")):
        return Cause("NCCL_IB_DISABLE=1 turns RDMA off", "unset NCCL_IB_DISABLE")
    net = next(said("net"), None)
    if net is not None and str(net).lower() in _SOCKETS:
        return Cause(f"NCCL_NET={net} chooses sockets", "unset NCCL_NET")
    if 0 in said("verbs_library"):
        return Cause(
            "libibverbs is missing where the job runs", "add rdma-core to the image of the container"
        )
    down = [*down_ports(owner(fabric, device, host))]
    if down:
        return of_down_port(down[0], host)
    if 0 in said("providers"):
        return Cause("libfabric found no provider for RDMA", f"see `fi_info -p efa` there; {_SEE}")
    adapters = next(said("ib_hca"), None)
    if adapters is not None and 0 in said("devices"):
        return Cause(
            f"NCCL_IB_HCA={adapters} selects no active port", f"name active ports in NCCL_IB_HCA; {_SEE}"
        )
    return Cause("", _SEE)


def _manager(fabric: RunningFabric) -> Cause | None:
    """Return the host of SHARP's manager, or that it does not run, by ``systemctl status``; None without a capture."""
    states = [
        (device.name, str(placed.reading.value))
        for device in fabric.devices
        for placed in device.state.named("unit_state", "unit")
        if placed.part("unit") == "sharp_am"
    ]
    running = [name for name, state in states if state.startswith("active")]
    if running:
        return Cause(f"sharp_am runs on {listed(running)}", "")
    if not states:
        return None
    name, state = states[0]
    return Cause(
        f"sharp_am of {name} is {state}: no manager gives trees to jobs",
        f"start sharp_am on {name} (systemctl start sharp_am), and read /var/log/sharp_am.log there",
    )


def _sharp(failed: Sequence[JobEvent], errors: Sequence[JobEvent], manager: Cause | None) -> Violation:
    first = next(
        (each for each in failed if "point-to-point" not in str(each.value("collnet_failed"))), failed[0]
    )
    hosts = tuple(dict.fromkeys(event.host for event in failed))
    said = [str(error.value("sharp_error")) for error in errors] + [str(first.value("collnet_failed"))]
    part = next((part for text in said for part in _SHARP if part in text), "")
    shown = [f"shown: {manager.text}"] if manager is not None else []
    of_manager = manager.help if manager is not None and part not in _OTHER_CAUSES else ""
    return Violation(
        origin=first.placed.origin,
        message=f"a job on {first_of(hosts)} does not use SHARP, which it requested",
        note_lines=tuple(dict.fromkeys((str(first.value("collnet_failed")), *said[:1], *shown))),
        help=of_manager or _SHARP.get(part, _ANY_SHARP),
        elements=hosts,
        data={"failure": str(first.value("collnet_failed"))},
    )

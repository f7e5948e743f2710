"""Settings of NVIDIA's NIC configuration operator, and which of the intent's NICs that operator can set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError
from lossless.model.fabric.kubernetes import KubernetesPolicy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.errors import Problem
    from lossless.model.hardware.nic import NicProfile

NVIDIA = "mlx5"
FOLDER = "kubernetes"
"""The folder of a rendered tree with the files that belong to no single host."""


def kubernetes_policy(
    loaded: LoadedIntent, nics: Collection[NicProfile], devices: Collection[str]
) -> KubernetesPolicy | None:
    """Return the settings of the operator, None where hosts are not nodes of a cluster.

    Raises:
        InputError: it can set none of the NICs, or a device has the name of the folder it is rendered to.
    """
    stated = loaded.intent.hosts.kubernetes
    if stated is None:
        return None
    problems = list(_problems(loaded, nics, devices))
    if problems:
        raise InputError(problems)
    size = stated.pci_performance
    return KubernetesPolicy(
        namespace=stated.namespace,
        num_vfs=stated.num_vfs,
        node_selector=tuple(sorted((stated.node_selector or {}).items())),
        pci_addresses=stated.pci_addresses or (),
        ports=stated.ports,
        pci_performance=size is not None,
        max_read_request=size if isinstance(size, int) else None,
        gpu_direct=stated.gpu_direct,
        firmware=tuple(sorted((stated.firmware or {}).items())),
        origin=loaded.origin("hosts", "kubernetes"),
    )


def _problems(
    loaded: LoadedIntent, nics: Collection[NicProfile], devices: Collection[str]
) -> Iterator[Problem]:
    at = loaded.origin("hosts", "kubernetes").key()
    nvidia = [nic for nic in nics if nic.driver == NVIDIA]
    if not nvidia:
        names = ", ".join(sorted({nic.name for nic in nics}))
        yield loaded.problem(at, f"hosts.kubernetes: the operator sets NICs by NVIDIA; {names} is none")
    for name in sorted({nic.name for nic in nvidia if nic.pci_id is None}):
        message = (
            f"hosts.kubernetes: the operator selects NICs by type, and the profile of {name} has no pci_id"
        )
        yield loaded.problem(at, message)
    yield from _decided_elsewhere(loaded, nvidia)
    lossless = any(cls.lossless and cls.dscps for cls in loaded.intent.classes.values())
    if loaded.intent.hosts.traffic_class == "derived" and not lossless:
        message = (
            "no lossless class names a DSCP, and the operator would write ToS 0; state hosts.traffic_class"
        )
        yield loaded.problem(at, f"hosts.kubernetes: {message}")
    if FOLDER in devices:
        message = f"hosts.kubernetes: its files go to the folder {FOLDER!r}, which is a device's name here"
        yield loaded.problem(at, message)


def _decided_elsewhere(loaded: LoadedIntent, nics: Collection[NicProfile]) -> Iterator[Problem]:
    """Yield firmware settings that are parameters of DCQCN, which are derived from congestion_control."""
    stated = loaded.intent.hosts.kubernetes
    parameters = {name for nic in nics for name in nic.dcqcn}
    for name in (stated.firmware or {}) if stated else ():
        if re.sub(r"_P\d$", "", name) in parameters:
            origin = loaded.origin("hosts", "kubernetes", "firmware", name).key()
            message = (
                f"hosts.kubernetes.firmware: {name} follows from congestion_control.dcqcn; state it there"
            )
            yield loaded.problem(origin, message)

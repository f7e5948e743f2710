"""The defaults that NVIDIA's operator of NICs writes must fit the classes of the fabric.

Severity: error
Subject: hosts

## What it does
Reads a NicConfigurationTemplate (or NicDevice) with `roceOptimized`. Without `qos` the operator sets the ToS byte of
all RDMA to 0, with it to its `tos`, which is 0 where it is left out. Independent of `qos`, it gives CNPs DSCP 4 and
priority 6 in the firmware unless `rawNvConfig` names CNP_DSCP_P1. Each is compared with the classes of the fabric.
CLS006, CLS008, HST001 and HST008 check the stated settings of the resource as those of any host.

## Why it breaks a lossless fabric
The resource should prepare the NICs for RoCE and overwrites their correct settings: RDMA leaves on DSCP 0, best effort,
and CNPs on DSCP 4, which is a lossless class in SONiC's own templates and the default class elsewhere. CNPs wait there
behind the data that they should slow down.

## Bad
```yaml facts file=nics.yaml beside=leaf-spine.yaml
apiVersion: configuration.net.nvidia.com/v1alpha1
kind: NicConfigurationTemplate
metadata: {name: host1}
spec:
  nicSelector: {nicType: "1021"}
  template:
    numVfs: 0
    linkType: Ethernet
    roceOptimized:
      enabled: true   # <- here
      qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 106}
```

## Good
```yaml facts file=nics.yaml beside=leaf-spine.yaml
apiVersion: configuration.net.nvidia.com/v1alpha1
kind: NicConfigurationTemplate
metadata: {name: host1}
spec:
  nicSelector: {nicType: "1021"}
  template:
    numVfs: 0
    linkType: Ethernet
    roceOptimized:
      enabled: true
      qos: {trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 106}
    rawNvConfig:
    - {name: CNP_DSCP_P1, value: "48"}
    - {name: CNP_802P_PRIO_P1, value: "6"}
```

## Fix
State `qos.tos`, and CNP_DSCP_P1 under `rawNvConfig`, which is written last.

## Sources
- Mellanox/nic-configuration-operator README.md @0082142 (the settings of roceOptimized, ToS 0)
- Mellanox/nic-configuration-operator pkg/configuration/configvalidation.go @01eed1d (CNP_DSCP 4; rawNvConfig last)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.classification.cls007_cnp_class_unsafe import CNP_CLASS
from lossless.checks.rules.classification.host_markings import ECT0, lossless_dscps, markings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import ClassSet
    from lossless.model.fabric.view import View

_OPTIMIZED = "roceOptimized"


def check(view: View) -> Results:
    """Yield a violation per default of NVIDIA's NIC operator that does not fit the classes of the fabric."""
    classes = view.fabric.classes
    for host, names in view.host_kinds:
        if host.provenance != "deployed":
            continue
        if _OPTIMIZED in host.traffic_class_origin.path and host.traffic_class == 0:
            yield from _unmarked(host, classes, names)
        if host.dcqcn.at("cnp_dscp").path[-1:] == (_OPTIMIZED,):
            yield from _cnps(host, classes, names)


def _unmarked(host: HostQos, classes: ClassSet, names: tuple[str, ...]) -> Iterator[Violation]:
    lossless = lossless_dscps(classes)
    if not lossless or 0 in lossless:
        return
    wanted = lossless[0] << 2 | ECT0
    yield Violation(
        origin=host.traffic_class_origin,
        message=f"the operator sets the ToS byte of all RDMA to 0, which is lossy; lossless is DSCP {lossless[0]}",
        note="tos is 0 where the resource does not state it",
        help=f"state tos: {wanted} under roceOptimized.qos",
        elements=names,
        data={"tos": 0, "wanted_tos": wanted},
        severity=_severity(host, lossless),
    )


def _severity(host: HostQos, lossless: tuple[int, ...]) -> Severity | None:
    """Return ``warning`` where jobs set a lossless class, or their files are unknown; else None."""
    asked = any(marking.dscp in lossless for marking in markings(host))
    return "warning" if asked or not isinstance(host.nccl_tc, int | None) else None


def _cnps(host: HostQos, classes: ClassSet, names: tuple[str, ...]) -> Iterator[Violation]:
    dscp = host.dcqcn.cnp_dscp
    cls = classes.of_dscp(dscp) if isinstance(dscp, int) else None
    cnp_class = classes.named(CNP_CLASS)
    if cls is None or (not cls.lossless if cnp_class is None else cls.name == cnp_class.name):
        return
    wanted = cnp_class.dscps[0] if cnp_class and cnp_class.dscps else 48
    yield Violation(
        origin=host.dcqcn.at("cnp_dscp"),
        message=f"the operator puts DSCP {dscp} on CNPs, which fall into {cls.name}"
        + (", which is lossless" if cls.lossless else ""),
        note="roceOptimized writes CNP_DSCP 4 in the firmware, unless rawNvConfig has it",
        help=f'add {{name: CNP_DSCP_P1, value: "{wanted}"}} to rawNvConfig',
        elements=names,
        data={"nic_dscp": dscp if isinstance(dscp, int) else None, "class": cls.name},
    )

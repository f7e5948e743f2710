"""Each switch must have a hostname of its own.

Severity: warning
Subject: devices

## What it does
Looks for configurations that are checked together and have the same hostname. The ASICs of one switch have separate
names. Files whose name marks a copy (`backup`, `bak`, `old`, or a date, in the name of the file or its folder) do not
count beside the current one. Where each of the files, or its folder, has the hostname as its name (`site1/leaf1` and
`site2/leaf1`), they may be of several fabrics: they are reported as *not checked* against their neighbors.

## Why it breaks a lossless fabric
The name of a neighbor does not identify one of the two. Therefore neither is compared with its neighbors and with its
role: lossless priorities, MTU and cables of its links are not checked. One of the two is often a copy of another switch
that kept its name, and other copied settings are wrong there too.

## Bad
```json config_db base=wired-spine beside=wired-leaf
{
  "DEVICE_METADATA": {"localhost": {
    "hostname": "leaf1"   // <- here
  }}
}
```

## Good
```json config_db base=wired-spine
{
  "DEVICE_METADATA": {"localhost": {
    "hostname": "spine1"
  }}
}
```

## Fix
Give the switch its own hostname, or take one of the files out of the folder where both are of one switch.

## Sources
- sonic-buildimage src/sonic-config-engine/minigraph.py @086b03b (the hostname is the name by which neighbors call it)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices, DeviceSummary


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per file with the hostname of another file.

    Left out are files that are named after the hostname; without any such file, the first one.
    """
    for name, claims in devices.claims.items():
        switches = [claim for claim in claims if claim.origin.path[:1] == ("DEVICE_METADATA",)]
        switches.sort(key=lambda claim: claim.file)
        if len(switches) < 2 or name in {claim.file for claim in switches}:
            continue
        called_so = [claim for claim in switches if _is_called(claim, name)]
        if len(called_so) == len(switches) or len({claim.fabric for claim in switches}) > 1:
            reason = (
                "several files have one hostname: their switches are not compared with neighbors and role"
            )
            yield MissingInput(reason, len(switches))
            continue
        first = (called_so or switches)[0]
        for claim in switches:
            if claim is not first and claim not in called_so:
                yield Violation(
                    origin=claim.origin.at("localhost", "hostname"),
                    message=f"{name} is the hostname in another file too: are they one switch?",
                    note="neither is compared with its neighbors and its role",
                    help="give the switch its own hostname, or take out the file that is a copy",
                    elements=(name,),
                    related=(RelatedPlace(first.origin.at("localhost", "hostname"), "the other file"),),
                )


def _is_called(claim: DeviceSummary, name: str) -> bool:
    """Return whether a file, or a folder on its path, has the given name."""
    return name in claim.file.replace("\\", "/").replace(".json", "").split("/")

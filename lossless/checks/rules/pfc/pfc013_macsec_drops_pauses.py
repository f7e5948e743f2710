"""Both ends of a MACsec link must treat PFC frames so that the other takes them.

Severity: error
Subject: devices

## What it does
Compares how the two ports of a link with MACsec and PFC treat PFC frames, `pfc_encryption_mode` of their `PORT` rows:
`bypass`, the default, sends them in clear and takes both kinds; `encrypt` encrypts and takes both; `strict_encrypt`
encrypts, and takes only encrypted ones. The file of one switch alone does not show its neighbor's mode, and is not
checked.

## Why it breaks a lossless fabric
A port in mode `strict_encrypt` discards the pauses that come in clear, and keeps sending into the full buffers of
its neighbor. Both masks agree, both sides count the pauses they send, and lossless packets are dropped.

## Bad
```json config_db base=wired-leaf-macsec beside=wired-spine-macsec
{
  "PORT": {"Ethernet8": {
    "pfc_encryption_mode": "strict_encrypt"   // <- here
  }}
}
```

## Good
```json config_db base=wired-leaf-macsec beside=wired-spine-macsec
{
  "PORT": {"Ethernet8": {"macsec": "MACSEC_PROFILE"}}
}
```

## Fix
Give both ports the same `pfc_encryption_mode`.

## Sources
- sonic-net/SONiC doc/macsec/MACsec_hld.md @0969ba4 (the frames that each mode sends and takes, and the default)
- sonic-swss orchagent/macsecorch.cpp @012ee75 (createPFCEntry)
- Bai et al., Empowering Azure Storage with RDMA, NSDI 2023, section 8.3 (vendors that did not agree)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.checks.rules.links.cabling import Disagreement, disagreements
from lossless.ground.basics.findings import RelatedPlace

if TYPE_CHECKING:
    from lossless.model.fabric.deployed_devices import DeployedDevices, LinkEnd

_MODES = _STRICT, _CLEAR = "strict_encrypt", "bypass"


def across(devices: DeployedDevices) -> Results:
    """Yield a violation per two devices of which one drops the pauses of the other."""
    return map(_macsec_drops_pauses, disagreements(devices, _mode))


def _mode(end: LinkEnd) -> int | None:
    return _MODES.index(end.macsec_pfc) if end.pfc and end.macsec_pfc in _MODES else None


def _macsec_drops_pauses(links: Disagreement) -> Violation:
    strict, clear = links.low, links.high
    return Violation(
        origin=strict.origin.at("pfc_encryption_mode"),
        message=f"{strict.name} drops pauses that are not encrypted, and {clear.name} sends them in clear",
        note=f"{_STRICT} takes encrypted PFC frames only; {_CLEAR}, the default, sends them without MACsec",
        help="give both ports the same pfc_encryption_mode",
        elements=links.elements,
        data={"modes": [_STRICT, _CLEAR]},
        related=(RelatedPlace(clear.origin, f"the end that sends pauses in clear ({_CLEAR})"),),
    ).certain_if(links.mutual)

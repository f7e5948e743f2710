"""A line of opensm.conf must fit the 1022 bytes that opensm reads at once.

Severity: error
Subject: subnet

## What it does
Measures each key with its value.

## Why it breaks a lossless fabric
opensm reads the bytes behind byte 1022 as a line of their own: the end of a long arbitration table or congestion
control table becomes an unknown key, and the table is short. Lanes whose weights were in the lost part are starved.

## Bad
```yaml intent base=infiniband
subnet_manager:
  options:
    cc_cct: >-   # <- here
      0:0000, 0:0001, 0:0002, 0:0003, 0:0004, 0:0005, 0:0006, 0:0007, 0:0008, 0:0009, 0:0010, 0:0011, 0:0012,
      0:0013, 0:0014, 0:0015, 0:0016, 0:0017, 0:0018, 0:0019, 0:0020, 0:0021, 0:0022, 0:0023, 0:0024, 0:0025,
      0:0026, 0:0027, 0:0028, 0:0029, 0:0030, 0:0031, 0:0032, 0:0033, 0:0034, 0:0035, 0:0036, 0:0037, 0:0038,
      0:0039, 0:0040, 0:0041, 0:0042, 0:0043, 0:0044, 0:0045, 0:0046, 0:0047, 0:0048, 0:0049, 0:0050, 0:0051,
      0:0052, 0:0053, 0:0054, 0:0055, 0:0056, 0:0057, 0:0058, 0:0059, 0:0060, 0:0061, 0:0062, 0:0063, 0:0064,
      0:0065, 0:0066, 0:0067, 0:0068, 0:0069, 0:0070, 0:0071, 0:0072, 0:0073, 0:0074, 0:0075, 0:0076, 0:0077,
      0:0078, 0:0079, 0:0080, 0:0081, 0:0082, 0:0083, 0:0084, 0:0085, 0:0086, 0:0087, 0:0088, 0:0089, 0:0090,
      0:0091, 0:0092, 0:0093, 0:0094, 0:0095, 0:0096, 0:0097, 0:0098, 0:0099, 0:0100, 0:0101, 0:0102, 0:0103,
      0:0104, 0:0105, 0:0106, 0:0107, 0:0108, 0:0109, 0:0110, 0:0111, 0:0112, 0:0113, 0:0114, 0:0115, 0:0116,
      0:0117, 0:0118, 0:0119, 0:0120, 0:0121, 0:0122, 0:0123, 0:0124, 0:0125, 0:0126, 0:0127, 0:0128, 0:0129,
      0:0130, 0:0131, 0:0132, 0:0133, 0:0134, 0:0135, 0:0136, 0:0137, 0:0138, 0:0139, 0:0140, 0:0141, 0:0142,
```

## Good
```yaml intent base=infiniband
subnet_manager:
  options:
    cc_cct: "0:0,0:1,0:2,0:3"
```

## Fix
Write numbers without needless digits and lists without blanks; an arbitration table has 64 entries at most.

## Sources
- linux-rdma/opensm opensm/osm_subnet.c @007a62e (osm_subn_parse_conf_file reads lines by fgets of 1023)
- opensm 3.3.23, run
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.model.fabric.infiniband.subnet import LINE_BYTES

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


def check(subnet: Subnet) -> Results:
    """Yield a violation per option that is longer, with its value, than the line that opensm reads at once."""
    for setting in subnet.options:
        length_bytes = len(f"{setting.key} {setting.text}".encode())
        if length_bytes > LINE_BYTES:
            yield Violation(
                origin=setting.origin,
                message=f"{setting.key} and its value are {length_bytes} bytes; opensm reads {LINE_BYTES} as a line",
                note="the rest is read as another line, whose key nobody knows",
                help="shorten the list",
                data={"key": setting.key, "bytes": length_bytes, "most_bytes": LINE_BYTES},
            )

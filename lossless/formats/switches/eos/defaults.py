"""Defaults of EOS for settings without a line.

Sources: Arista, EOS User Manual, "Quality of Service" (as SongKou/songkou.github.io
content/posts/arista-eos-roce-config.md @0c73d9a quotes it) and "VLANs"; Arista, AI Network Fabric Deployment Guide (CS3
has traffic class 3 without a line).
"""

from __future__ import annotations

CLASS_OF_COS = (1, 0, 2, 3, 4, 5, 6, 7)
"""The traffic class of each CoS, and of each eighth of the DSCPs."""
ROUTED_TRUST, SWITCHED_TRUST = "dscp", "cos"
"""The mark that a port trusts by default. Ports are switched unless ``switchport default mode routed`` is set (EOS 4.18
and later), and a switched port is an access port of VLAN 1 unless a line makes it a trunk: it gets no tags."""

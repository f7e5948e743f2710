"""Defaults of NX-OS for settings without a line.

Sources: Cisco, NX-API REST SDK guide of Nexus 3000 and 9000 9.3(x), "Configuring Priority Flow Control" (the modes),
and configurations of batfish/batfish @cba1873 with ``show running-config all``; Cisco-NX-OS-device.yang 9.3(1) of
ydk-models-cisco-nx-os 9.3.1 (``ipqos_MTU``); Cisco, Nexus 9000 QoS Configuration Guide 10.5(x) (qos-groups); Cisco,
Nexus 5000 CLI Configuration Guide 4.0(1a)N1, "Configuring QoS" (FCoE).
"""

from __future__ import annotations

PFC_MODE = "auto"
"""Whether PFC runs at a port: DCBX of the peer decides."""
CLASS_MTU_BYTES = 1500
"""The MTU of a class of the network-qos policy."""
UNCLASSIFIED = 0
"""The qos-group of packets that match no class, or a class that sets none."""
FCOE_CLASS, FCOE_GROUP, FCOE_PRIORITY = "class-fcoe", 1, 3
"""The class of FCoE, which the Ethertype leads to and no mark."""

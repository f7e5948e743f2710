"""What SONiC calls switches by their tier."""

from __future__ import annotations

ROLES = {
    "ToRRouter": "leaf",
    "BackEndToRRouter": "leaf",
    "MiniToR": "leaf",
    "LeafRouter": "spine",
    "BackEndLeafRouter": "spine",
    "MiniLeaf": "spine",
    "SpineRouter": "super-spine",
}
"""Roles by ``type`` of DEVICE_METADATA: SONiC calls a leaf ToRRouter (t0), a spine LeafRouter (t1), a super-spine
SpineRouter (t2).

Source: sonic-buildimage files/build_templates/buffers_config.j2 and qos_config.j2 @086b03b, which choose the
defaults of t0 and t1 by these types.
"""

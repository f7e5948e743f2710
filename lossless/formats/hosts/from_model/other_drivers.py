"""Host files for NICs of unsupported drivers: only the settings that Linux has for any NIC.

The ports are found by the NIC's PCI id, or named in the intent. Congestion control remains unchanged: every driver
has its own way to set it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.settings import profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.hosts import HostQos


def values(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of an unsupported driver's part of a host's script.

    Raises:
        RenderError: the NIC has no profile.
    """
    nic = profile(qos)
    return {"driver_part": "other", "module": None, "pci_id": nic.pci_id, "rdma_module": nic.driver}


def settings(qos: HostQos) -> Mapping[str, int]:
    """Return the congestion control settings of an unsupported driver: none."""
    del qos
    return {}

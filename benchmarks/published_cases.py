"""Published tests and measurements of RoCEv2 on switches, as networks of the packet-level model.

Four hosts at 400G on one switch, as SONiC's suite of RoCEv2 has them (sonic-net/sonic-mgmt
tests/snappi_tests/rocev2). What it leaves to the switch under test is assumed: 60 MB of shared buffer, alpha 1,
headroom for any peer, the ECN curve of stock SONiC, and ConnectX defaults of DCQCN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lossless.analysis.simulation.engine.network import (
    SimCable,
    SimFlow,
    SimGroup,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWred,
)
from lossless.analysis.simulation.question.nodes import dcqcn_defaults
from lossless.model.hardware.load import load_nic

if TYPE_CHECKING:
    from collections.abc import Sequence

RATE_BPS = 400e9
SWITCH, RECEIVER = 4, 3
Q3, Q4, Q0, Q1 = range(4)
"""Classes by the queue that they ride: two lossless, two lossy."""
WEIGHTS = {Q3: 50, Q4: 50, Q0: 25, Q1: 25}
_LOSSLESS = (Q3, Q4)
_POOL_BYTES = 60_000_000
_HEADROOM_BYTES = 400_000
_STOCK_ECN = SimWred(1 << 20, 2 << 20, 0.05)
"""sonic-buildimage files/build_templates/qos_config.j2 @086b03b."""
_ENDLESS_BYTES = 1 << 36
"""More than any case sends."""


class Published(NamedTuple):
    """A case: where it is published, the network, how long it runs, and what was published of it.

    ``expected`` are bounds of measures, the least and the most, None where there is no bound.
    """

    name: str
    source: str
    network: SimNetwork
    horizon_ns: float
    expected: dict[str, tuple[float | None, float | None]]
    assumed: str = ""


_SUITE = "sonic-net/sonic-mgmt tests/snappi_tests/rocev2"
_NO_LOSS = {"lossless_drops": (0, 0)}
_NO_CE = {"marks": (0, 0)}
_SOME = (1, None)
_SHARE = 0.05
"""RATE_TOLERANCE_PCT of the suite: a queue's rate against its share by weight."""
_FEW_PFC = 100
"""PFC_TOLERANCE_FRAMES of the suite."""
_UNFAIR = 0.30
"""FAIRNESS_DEVIATION_PCT of the suite."""


def cases() -> tuple[Published, ...]:
    """Return all cases."""
    pfc_test = f"{_SUITE}/test_rocev2_pfc_congestion_ai.py @0cd94cc"
    dcqcn_test = f"{_SUITE}/test_rocev2_qp_fairness_dcqcn.py @b870265"
    storage = f"{_SUITE}/test_rocev2_storage_congestion.py @3379e18"
    weights = "weights 50, 50, 25 and 25"
    return (
        Published(
            "two flows of their own ports",
            f"{_SUITE}/test_rocev2_basic_dp_no_congestion.py @4622a20",
            network([(0, 2, Q3), (1, 3, Q0)]),
            2e6,
            {**_NO_LOSS, **_NO_CE, "lossy_drops": (0, 0), "pauses_q3": (0, 0)},
        ),
        Published(
            "incast 3:1, two lossless flows in queue 3",
            pfc_test,
            network([(0, RECEIVER, Q3), (1, RECEIVER, Q3), (2, RECEIVER, Q0), (2, RECEIVER, Q1)]),
            4e6,
            {**_NO_LOSS, **_NO_CE, "pauses_q3": _SOME, "lossy_drops": _SOME, **_shares(Q3, Q0, Q1)},
            weights,
        ),
        Published(
            "incast 3:1, lossless flows in queues 3 and 4",
            pfc_test,
            network([(0, RECEIVER, Q3), (1, RECEIVER, Q4), (2, RECEIVER, Q0), (2, RECEIVER, Q1)]),
            4e6,
            {
                **_NO_LOSS,
                **_NO_CE,
                "pauses_q3": _SOME,
                "pauses_q4": _SOME,
                "lossy_drops": _SOME,
                **_shares(Q3, Q4, Q0, Q1),
            },
            weights,
        ),
        Published(
            "two flows in one lossless queue, measured",
            "sonic-net/sonic-mgmt#25347, table of traffic: 186,088,660 and 186,091,619 frames received",
            network([(0, RECEIVER, Q3), (1, RECEIVER, Q3), (2, RECEIVER, Q0), (2, RECEIVER, Q1)]),
            4e6,
            {**_NO_LOSS, "flow_ratio": (0.99, 1.01)},
            f"{weights}; 1 % for 4 ms in place of 62 s",
        ),
        Published(
            "storage incast 3:1 without DCQCN, ECT",
            storage,
            network([(0, RECEIVER, Q3), (1, RECEIVER, Q3), (2, RECEIVER, Q0)], ecn=True),
            4e6,
            {**_NO_LOSS, "pauses_q3": _SOME, "marks": _SOME},
            "weights 50 and 25",
        ),
        Published(
            "incast 3:1 under DCQCN in queue 3",
            dcqcn_test,
            network([(host, RECEIVER, Q3) for host in range(3)], ecn=True, dcqcn=True),
            1e9,
            {
                **_NO_LOSS,
                "marks": _SOME,
                "cnps": _SOME,
                "pauses_q3": (0, _FEW_PFC),
                "deviation": (0, _UNFAIR),
            },
            "rates over the second half of one second in place of 180 s",
        ),
        Published(
            "incast 3:1 under DCQCN in queues 3 and 4",
            dcqcn_test,
            network([(0, RECEIVER, Q3), (1, RECEIVER, Q4), (2, RECEIVER, Q3)], ecn=True, dcqcn=True),
            1e9,
            {
                **_NO_LOSS,
                "marks": _SOME,
                "cnps": _SOME,
                "pauses_q3": (0, _FEW_PFC),
                "pauses_q4": (0, _FEW_PFC),
            },
            "rates over the second half of one second in place of 180 s",
        ),
    )


def _shares(*queues: int) -> dict[str, tuple[float | None, float | None]]:
    """Return the bounds of the share of each queue that is busy: by weight, within the suite's tolerance."""
    total = sum(WEIGHTS[queue] for queue in queues)
    parts = {queue: WEIGHTS[queue] / total for queue in queues}
    return {f"share_{queue}": (part * (1 - _SHARE), part * (1 + _SHARE)) for queue, part in parts.items()}


def network(flows: Sequence[tuple[int, int, int]], *, ecn: bool = False, dcqcn: bool = False) -> SimNetwork:
    """Return four hosts on a switch; flows are sender, receiver and class, without end."""
    wred = _STOCK_ECN if ecn else None
    queues = tuple(SimQueue(wred if queue in _LOSSLESS else None, weight=WEIGHTS[queue]) for queue in WEIGHTS)
    groups = tuple(
        SimGroup(1.0, _HEADROOM_BYTES if queue in _LOSSLESS else None, pool=0 if queue in _LOSSLESS else 1)
        for queue in WEIGHTS
    )
    end = SimPort(queues, groups)
    cables = tuple(SimCable(SWITCH, host, RATE_BPS, 15, a_end=end, a_reaction_ns=1158, b_reaction_ns=1158)
                   for host in range(4))  # fmt: skip
    sent_by = dcqcn_defaults(load_nic("connectx-7")) if dcqcn else None
    return SimNetwork(
        nodes=5,
        switches={SWITCH: SimSwitch(1 << 40, _POOL_BYTES, other_pools=(_POOL_BYTES,))},
        cables=cables,
        flows=tuple(
            SimFlow((sender, SWITCH, receiver), _ENDLESS_BYTES, traffic_class=queue, dcqcn=sent_by)
            for sender, receiver, queue in flows
        ),
        classes=len(WEIGHTS),
    )

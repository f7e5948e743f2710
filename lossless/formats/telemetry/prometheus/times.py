"""Scrape interval, windows and waiting times of alerts, derived from the intent where it declares them.

Three intervals affect a counter. A switch polls its groups of counters (sonic-utilities counterpoll/main.py @063b996:
PORT each second; QUEUE and PG_DROP every 10 s; watermarks every 60 s, and PERIODIC ones are cleared every 120 s,
sonic-swss orchagent/watermarkorch.cpp @0545c4c). Prometheus scrapes. And the watchdog, or the transport, ends a
fault. An alert must look back over the longest interval, and wait until faults that heal by themselves have healed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.model import Fabric

DEFAULT_SCRAPE_S = 10
"""Scrape interval without one in the intent: the longest that rule TEL001 accepts."""
SLOW_POLL_S = 10
"""Polling interval of SONiC for queues and drops of groups."""
WATERMARK_S = 120
"""Interval at which SONiC clears its PERIODIC watermarks."""
_SCRAPES_PER_WINDOW = 4
"""Ours: a rate needs two samples, and twice as many survive a failed scrape."""
_SETTLES_S = 300
"""Seconds (ours) within which a switch is back that boots, or reloads its configuration.

Alerts wait that long, since the person who restarted it does not need one.
"""


class AlertTimes(NamedTuple):
    """Times in seconds.

    ``scrape``: between scrapes. ``rate``: window of rates. ``event``: how long an alert shows a single increase of a
    counter. ``storm``: period in which repeated storms count as one. ``settles``: how long an absence lasts before it
    is reported. ``patience``: how long a queue pair retries before it gives up.
    """

    scrape: int
    rate: int
    event: int
    storm: int
    settles: int
    patience: int

    @property
    def sustained(self) -> int:
        """How long a rate must stay above 0 to be more than a burst: two windows without a common sample."""
        return 2 * self.rate

    @property
    def retries(self) -> int:
        """How long retransmissions must continue until the death of a peer no longer explains them.

        Twice the patience and a window; an hour at most (ours), where queue pairs hardly ever give up.
        """
        return min(max(self.settles, 2 * self.patience + self.rate), 3600)

    @property
    def sample(self) -> int:
        """The interval of samples in tests: that of scrapes, or longer, to keep their number small."""
        return max(self.scrape, DEFAULT_SCRAPE_S)

    @property
    def peaks(self) -> int:
        """How long peaks must repeat: five periods of watermarks (ours)."""
        return 5 * WATERMARK_S


def times(fabric: Fabric) -> AlertTimes:
    """Return the times of a fabric."""
    telemetry = fabric.telemetry
    interval_ms = telemetry.interval_ms if telemetry is not None else None
    scrape = math.ceil(interval_ms / 1000) if interval_ms else DEFAULT_SCRAPE_S
    rate = _SCRAPES_PER_WINDOW * max(scrape, SLOW_POLL_S)
    return AlertTimes(
        scrape=scrape,
        rate=rate,
        event=max(_SETTLES_S, rate),
        storm=max(2 * scrape, math.ceil(_storm_cycle_ms(fabric) / 1000) + scrape),
        settles=_SETTLES_S,
        patience=math.ceil(max(_patience_s(fabric), default=0)),
    )


def subnet_times() -> AlertTimes:
    """Return the times of an InfiniBand subnet, whose intent declares no scrape interval."""
    rate = _SCRAPES_PER_WINDOW * SUBNET_SCRAPE_S
    return AlertTimes(SUBNET_SCRAPE_S, rate, max(_SETTLES_S, rate), 0, _SETTLES_S, 0)


SUBNET_SCRAPE_S = 30
"""Scrape interval (ours): error counters change within minutes, and UFM Telemetry serves its last sample alone."""


def _storm_cycle_ms(fabric: Fabric) -> int:
    """Return the longest time from one storm on a queue to the next: detected, restored, each at the next poll."""
    return max(_cycles_ms(fabric), default=0)


def _cycles_ms(fabric: Fabric) -> Iterator[int]:
    for switch in {id(switch.ports): switch for switch in fabric.switches}.values():
        poll = switch.qos.poll.poll_ms or 0
        watchdogs = {port.qos.watchdog for port in switch.ports if port.qos is not None and port.qos.watchdog}
        for watchdog in watchdogs:
            yield (watchdog.detection_ms or 0) + (watchdog.restoration_ms or 0) + 2 * poll


def _patience_s(fabric: Fabric) -> Iterator[float]:
    for qos in {id(host.qos): host.qos for host in fabric.hosts}.values():
        patience_ns = getattr(qos.transport, "patience_ns", None)
        if patience_ns is not None:
            yield patience_ns / 1e9

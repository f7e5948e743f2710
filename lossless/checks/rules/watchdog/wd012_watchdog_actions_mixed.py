"""On a Broadcom chip all watchdogs of a switch should take the same action.

Severity: warning
Confidence: medium
Subject: fabric

## What it does
Looks for different actions on the ports of one switch, and warns where its chip is Broadcom's. On other chips
each port has an action of its own. Where the chip is not known, a mixture is not checked. `forward` on a Cisco 8000,
which does not support it, is reported by SWS005.

## Why it breaks a lossless fabric
Where the chip recovers from deadlocks itself, its packet action holds for the whole switch. orchagent takes it from
the first row and refuses the rows that ask for another one: those ports have PFC and no watchdog, and
`pfcwd show config` shows them all the same. Whether a switch recovers so depends on its chip settings, which no
configuration file shows.

## Bad
```json config_db base=azure
{
  "PFC_WD": {"Ethernet4": {
    "action": "forward"   // <- here
  }}
}
```

## Good
```json config_db base=azure
{
  "PFC_WD": {
    "Ethernet0": {"action": "forward"},
    "Ethernet4": {"action": "forward"},
    "Ethernet8": {"action": "forward"}
  }
}
```

## Fix
Give all ports of the switch one action. Stop the watchdog everywhere before it is changed.

## Sources
- sonic-swss orchagent/pfcwdorch.cpp @e6b0c5b (PFC DLR: one packet action for the switch, another is refused)
- sonic-swss pull requests 2316 and 2807 (recovery by DLR_INIT on Broadcom)
- sonic-buildimage issues 26359 and 23623 (an action changed under a running watchdog does not drop)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.checks.rules.locations import beside, places
from lossless.checks.rules.watchdog.watchdog_rows import by_switch, sets_of, watched
from lossless.ground.basics.findings import grouped
from lossless.model.fabric.qos import WATCHDOG_ACTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.watchdog.watchdog_rows import WatchdogRows
    from lossless.model.fabric.view import View
    from lossless.model.hardware.model import SwitchProfile

_BROADCOM = ("Tomahawk", "Trident", "Jericho")


def check(view: View) -> Results:
    """Yield a violation per watchdog action on a switch with a Broadcom chip that is not the one of most ports."""
    for watchdogs in by_switch(rows for rows in watched(view) if rows.accepted):
        actions = {rows.watchdog.action for rows in watchdogs}.intersection(WATCHDOG_ACTIONS)
        if len(actions) > 1:
            yield from _of_chip(watchdogs[0].switch.profile, watchdogs)


def _of_chip(profile: SwitchProfile | None, watchdogs: Sequence[WatchdogRows]) -> Results:
    if profile is None:
        yield MissingInput("missing chip: some take one watchdog action for the whole switch")
    elif profile.asic.name.startswith(_BROADCOM):
        yield from _odd_ones(watchdogs)


def _odd_ones(watchdogs: Sequence[WatchdogRows]) -> Iterator[Violation]:
    by_action = grouped((rows.watchdog.action, rows) for rows in watchdogs)
    usual, *others = sorted(by_action, key=lambda action: -places(sets_of(by_action[action])))
    for action in others:
        yield _watchdog_actions_mixed(by_action[action], by_action[usual])


def _watchdog_actions_mixed(different: Sequence[WatchdogRows], others: Sequence[WatchdogRows]) -> Violation:
    action, usual = different[0].watchdog.action, others[0].watchdog.action
    ports = places(sets_of(others))
    return Violation(
        origin=different[0].at("action"),
        message=f"action {action} here, {usual} on {ports} other port{'s' if ports > 1 else ''} of the switch",
        note="where the chip recovers by itself (DLR), orchagent refuses every row whose action is not the first one's",
        help=f"set the action to {usual} on all ports, or to {action}",
        data={"action": action, "usual": usual, "usual_ports": ports},
        related=beside(different[0].at("action"), (others[0].at("action"), f"action {usual}")),
    ).on_ports(*sets_of(different))

"""``dcb -j OBJECT show dev IF`` of the pretended host, as iproute2 prints it.

Source: iproute2 dcb/dcb_{app,pfc,ets,buffer}.c (pmachata/iproute2 @3c3a345, @cecd504, @63672e4) and
lib/json_print.c (print_color_on_off): on and off are booleans, an empty table has no key.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DSCP = 5
"""The selector of DSCPs (IEEE_8021QAZ_APP_SEL_DSCP)."""


def shown(nic: dict[str, Any], about: str) -> dict[str, Any]:
    """Return the object that dcb prints of one NIC."""
    if about == "app":
        pairs = sorted([app[1], app[2]] for app in nic["apps"] if app[0] == _DSCP)
        return {"dscp_prio": pairs} if pairs else {}
    if about == "pfc":
        flags = [bool(on) for on in nic["pfc"]]
        return {"pfc_cap": 8, "macsec_bypass": False, "delay": nic["cable"], "prio_pfc": flags}
    if about == "ets":
        ets = nic["ets"]
        return {
            "willing": ets["willing"] == "on",
            "ets_cap": 8,
            "cbs": False,
            "tc_bw": ets["tc-bw"],
            "pg_bw": [0] * 8,
            "tc_tsa": ets["tc-tsa"],
            "prio_tc": ets["prio-tc"],
        }
    return {"host": True, "ieee": True} if nic["dcbx"] == "os" else {"lld_managed": True, "ieee": True}


def run(state: dict[str, Any], args: list[str]) -> None:
    """Print one object, or fail as a driver without receive buffers to show does."""
    about, interface = args[1], args[4]
    if about == "buffer":
        sys.exit("Attribute not found: Success")
    print(json.dumps(shown(state["nics"][interface], about), separators=(",", ":")))

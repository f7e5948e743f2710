"""The body of a pretended ``mlxconfig``: three columns a query, words for booleans, values that wait for a reset."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

BOOLEANS = ("CLAMP_TGT_RATE", "CLAMP_TGT_RATE_AFTER_TIME_INC")


def fail(message: str) -> NoReturn:
    """End as mlxconfig does."""
    print(f"\n-E- {message}", file=sys.stderr)
    sys.exit(3)


def run(state: dict[str, Any], args: list[str]) -> None:
    """Do what ``mlxconfig`` would do with ``args``."""
    option, pci, flag, command, *names = args
    kept = state["firmware"].get(pci)
    if option != "-d" or kept is None:
        fail(f"Failed to open the device {pci}")
    if (flag, command) == ("-e", "query"):
        _query(kept, names)
    elif (flag, command) == ("-y", "set"):
        for setting in names:
            name, value = setting.split("=")
            if name not in kept:
                fail(f"The Device doesn't support {name} parameter")
            kept[name][2] = int(value)
        print("Applying... Done!\n-I- Please reboot machine to load new configurations.")
    else:
        fail("No command found")


def _query(kept: dict[str, list[int]], names: list[str]) -> None:
    print("\nDevice #1:\n----------\n\nConfigurations:          Default       Current       Next Boot")
    for name in names:
        if name not in kept:
            fail(f"The Device doesn't support {name} parameter")
        boolean = name.rsplit("_P", 1)[0] in BOOLEANS
        shown = [f"{bool(value)}({value})" if boolean else str(value) for value in kept[name]]
        mark = "*" if kept[name][1] != kept[name][2] else " "
        print(f"{mark}        {name:<44}{shown[0]:<21}{shown[1]:<21}{shown[2]:<20}")

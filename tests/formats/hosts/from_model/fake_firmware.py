"""The body of a pretended ``mlxconfig``: three columns a query, words for booleans, values that wait for a reset.

And of ``mlxreg``, which shows and sets the register ROCE_ACCL: fields, each with one that says whether it can be set
(docs.nvidia.com, Adaptive Retransmission: Parameters Control, Sample Usage).
"""

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


def mlxreg(state: dict[str, Any], args: list[str]) -> None:
    """Do what ``mlxreg`` would do with ``args``."""
    _, pci, *words = [word for word in args if word != "--yes"]
    register = state["registers"].get(pci)
    if register is None or words[:2] != ["--reg_name", "ROCE_ACCL"]:
        fail("Failed to open device")
    if words[2:] == ["--get"]:
        print("Sending access register...\n\nField Name                                     | Data")
        print("=" * 60)
        for name, value in register.items():
            print(f"{name:<46} | 0x{value:08x}")
        print("=" * 60)
    else:
        assert words[2] == "--set"
        name, value = words[3].split("=")
        assert "--yes" in args
        if register[f"{name}_field_select"]:
            register[name] = int(value)

"""The body of every pretended tool: its stub imports this module and calls :func:`main`, or the test's process does.

A script calls tools hundreds of times in a test, so that what is imported here is what Python starts with.
"""

from __future__ import annotations

import marshal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODULES = {
    "dcb": ("fake_dcb", "run"),
    "niccli": ("fake_broadcom", "niccli"),
    "mkdir": ("fake_broadcom", "mkdir"),
    "rmdir": ("fake_broadcom", "rmdir"),
    "cat": ("fake_broadcom", "cat_apply"),
    "mlxconfig": ("fake_firmware", "run"),
    "mlxreg": ("fake_firmware", "mlxreg"),
    "mstreg": ("fake_firmware", "mlxreg"),
}
"""Tools with a body of their own: its module, beside this one, and the function."""


def _show_qos(nic: dict[str, Any]) -> None:
    print("DCBX mode:", "OS controlled" if nic["dcbx"] == "os" else "Firmware controlled")
    print("Priority trust state:", nic["trust"])
    if nic["trust"] == "dscp":
        print("dscp2prio mapping:")
        for priority in range(8):
            listed = [dscp for dscp in reversed(range(64)) if nic["map"][dscp] == priority]
            for start in range(0, len(listed), 8):
                row = "".join(f"{dscp:02d}," for dscp in listed[start : start + 8])
                print(f"\tprio:{priority} dscp:{row}")
    print("default priority:\n\tprio:0")
    print("Cable len:", nic["cable"])
    print("PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7")
    print("\tenabled     " + "".join(f"{on}   " for on in nic["pfc"]))
    print("tc: 0 ratelimit: unlimited, tsa: vendor\n\t priority:  1")


def _mlnx_qos(state: dict[str, Any], args: list[str]) -> None:
    options = list(zip(args[::2], args[1::2], strict=True))
    named = dict(options)
    nic = state["nics"][named["-i"]]
    if nic["qos_refused"]:
        sys.exit("Netlink error: Operation not supported")
    if "--trust" in named and "--dscp2prio" in named:
        sys.exit("trust and dscp2prio commands cannot be used at the same time.")
    nic["dcbx"] = named.get("--dcbx", nic["dcbx"])
    if "--pfc" in named or "--cable_len" in named:
        _set_pfc(nic, named.get("--pfc", "0,0,0,0,0,0,0,0"), int(named.get("--cable_len", "0")))
    for _, value in (pair for pair in options if pair[0] == "--dscp2prio"):
        action, dscp, priority = value.split(",")
        assert action == "set"
        nic["map"][int(dscp)] = int(priority)
    if named.get("--trust") == "dscp" and nic["trust"] != "dscp":
        nic["trust"], nic["map"] = "dscp", [dscp >> 3 for dscp in range(64)]
    _show_qos(nic)


def _set_pfc(nic: dict[str, Any], mask: str, cable_m: int) -> None:
    pfc = [int(on) for on in mask.split(",")]
    nic["pfc_changes"] += pfc != nic["pfc"]
    nic["pfc"] = pfc
    nic["cable"] = cable_m if 0 < cable_m < 1000 else nic["cable"]


def _ethtool(state: dict[str, Any], args: list[str]) -> None:
    option, interface, *rest = args
    nic = state["nics"][interface]
    if option == "-a":
        rx, tx = nic["pause"]
        print(f"Pause parameters for {interface}:\nAutonegotiate:\toff\nRX:\t\t{rx}\nTX:\t\t{tx}\n")
    elif option == "-A":
        wanted = [rest[1], rest[3]]
        if wanted == nic["pause"]:
            print("no pause parameters changed, aborting", file=sys.stderr)
            sys.exit(78)
        nic["pause"] = wanted
    elif option == "--get-tunable":
        print(f"{rest[0]}: {nic[rest[0]]}")
    elif nic["tunable_refused"]:
        sys.exit(f"{rest[0]}: Operation not supported")
    elif not rest[1].isdecimal():
        sys.exit("ethtool: bad command line argument(s)")
    else:
        nic[rest[0]] = int(rest[1])


def _cma(state: dict[str, Any], args: list[str], key: str, option: str) -> None:
    device = state["devices"][args[1]]
    if option in args:
        value = args[args.index(option) + 1]
        device[key] = {"1": "IB/RoCE v1", "2": "RoCE v2"}[value] if key == "mode" else int(value)
    print(device[key])


def main(folder: str, tool: str, *words: str) -> None:
    """Do what ``tool`` would do with its arguments, and remember the call."""
    args = list(words)
    with open(f"{folder}/calls", "a", encoding="utf-8") as calls:
        calls.write(" ".join([tool, *args]).replace("\n", "\\n") + "\n")
    with open(f"{folder}/state", "rb") as stream:
        state = marshal.load(stream)
    if tool == "id":
        print(state["uid"])
    elif tool == "cma_roce_mode":
        _cma(state, args, "mode", "-m")
    elif tool == "cma_roce_tos":
        _cma(state, args, "tos", "-t")
    elif tool == "systemctl":
        sys.exit(0 if args == ["is-active", "--quiet", "lldpad.service"] and state["lldpad"] else 3)
    elif tool in MODULES:
        module, function = ("fake_dcb_json", "run") if args[:1] == ["-j"] else MODULES[tool]
        # Beside this module, which a stub finds on its path and a test in its package.
        beside = __name__.removesuffix("fake_tool") + module
        getattr(__import__(beside, fromlist=[function]), function)(state, args)
    elif tool == "ip":
        with open(f"{folder}/sys/class/net/{args[3]}/mtu", "w", encoding="utf-8") as stream:
            stream.write(args[5] + "\n")
    else:
        {"mlnx_qos": _mlnx_qos, "ethtool": _ethtool}[tool](state, args)
    with open(f"{folder}/state", "wb") as stream:
        marshal.dump(state, stream)

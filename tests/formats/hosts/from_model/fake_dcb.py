"""The body of a pretended ``dcb``: the grammar of iproute2, and what its drivers keep.

From iproute2 dcb/dcb_app.c @00d59f4, dcb_ets.c @12d41d0, dcb_apptrust.c @21f88a0, dcb_dcbx.c @9ef3210 and
pmachata/iproute2 dcb/dcb_pfc.c @cecd504: every mapping is checked against its range, shares must make up 100 with the
TCs that are ETS, what is deleted must be there, and ``apptrust`` is only known from 6.2 on.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

APPS = {"dscp-prio": (5, 63), "dgram-port-prio": (3, 65535)}
"""Selector and largest key."""
SELECTORS = ("ethtype", "stream-port", "dgram-port", "port", "dscp", "pcp")
_TSA = ("strict", "cbs", "ets", "vendor")


def fail(message: str) -> NoReturn:
    """End as dcb does where it refuses its arguments or the kernel an attribute."""
    print(message, file=sys.stderr)
    sys.exit(1)


def run(state: dict[str, Any], args: list[str]) -> None:
    """Do what ``dcb`` would do with ``args``."""
    if args[:1] == ["-N"]:
        args = args[1:]
    known = ("app", "pfc", "ets", "dcbx", *(("apptrust",) if tuple(state["dcb_version"]) >= (6, 2) else ()))
    if args[0] not in known:
        fail(f'Object "{args[0]}" is unknown')
    if args[1:] == ["help"]:
        return
    topic, command, dev, interface, *rest = args
    if dev != "dev" or interface not in state["nics"]:
        fail("Cannot find device")
    nic = state["nics"][interface]
    if nic["qos_refused"]:
        fail("Attribute read: Operation not supported")
    {"app": _app, "pfc": _pfc, "ets": _ets, "dcbx": _dcbx, "apptrust": _apptrust}[topic](nic, command, rest)


def _mappings(rest: list[str]) -> tuple[str, list[tuple[str, str]], list[str]]:
    """Return a keyword, the ``key:value`` words behind it, and what follows them."""
    name, *words = rest
    count = next((i for i, word in enumerate(words) if ":" not in word), len(words))
    pairs = [(word.split(":")[0], word.split(":")[1]) for word in words[:count]]
    return name, pairs, words[count:]


def _number(text: str, most: int, what: str) -> int:
    if not text.isdecimal() or int(text) > most:
        fail(f"{what} is expected to be 0..{most}")
    return int(text)


def _app(nic: dict[str, Any], command: str, rest: list[str]) -> None:
    name, pairs, more = _mappings(rest)
    if name not in APPS or more:
        fail(f'What is "{(more or [name])[0]}"?')
    selector, most = APPS[name]
    apps = nic["apps"]
    if command == "show":
        listed = sorted((key, priority) for kind, key, priority in apps if kind == selector)
        if listed:
            print(name, "".join(f"{key}:{priority} " for key, priority in listed))
        return
    for key_text, priority_text in pairs:
        entry = [selector, _number(key_text, most, "key"), _number(priority_text, 7, "PRIO")]
        if command == "replace":
            nic["apps"] = apps = [app for app in apps if app[:2] != entry[:2]]
            apps.append(entry)
        elif command == "del" and entry in apps:
            apps.remove(entry)
        else:
            fail("Attribute write: No such file or directory")


def _pfc(nic: dict[str, Any], command: str, rest: list[str]) -> None:
    if command == "show":
        on_off = "".join(f"{p}:{'on' if on else 'off'} " for p, on in enumerate(nic["pfc"]))
        shown = {"prio-pfc": f"prio-pfc {on_off}", "delay": f"delay {nic['cable']} "}
        print(shown[rest[0]] if rest else "\n".join(shown.values()))
        return
    while rest:
        if rest[0] == "delay":
            nic["cable"] = _number(rest[1], 65535, "delay")
            rest = rest[2:]
            continue
        name, pairs, rest = _mappings(rest)
        if name != "prio-pfc":
            fail(f'What is "{name}"?')
        mask = list(nic["pfc"])
        for key, value in pairs:
            if value not in ("on", "off"):
                fail(f"Invalid pfc mapping {value}")
            for priority in range(8) if key == "all" else (_number(key, 7, "PRIO"),):
                mask[priority] = int(value == "on")
        nic["pfc_changes"] += mask != nic["pfc"]
        nic["pfc"] = mask


def _ets(nic: dict[str, Any], command: str, rest: list[str]) -> None:
    ets = nic["ets"]
    if command == "show":
        for name in rest or ets:
            column = ets[name]
            indexed = (
                column if isinstance(column, str) else " ".join(f"{i}:{v}" for i, v in enumerate(column))
            )
            print(name, indexed, "" if rest or name != "willing" else "ets-cap 8 cbs off ")
        return
    new = {name: list(column) if isinstance(column, list) else column for name, column in ets.items()}
    while rest:
        if rest[0] == "willing":
            new["willing"], rest = rest[1], rest[2:]
            continue
        name, pairs, rest = _mappings(rest)
        if name not in ("prio-tc", "tc-tsa", "tc-bw"):
            fail(f'What is "{name}"?')
        for key, value in pairs:
            if name == "tc-tsa" and value not in _TSA:
                fail(f"Invalid tc-tsa mapping {value}")
            most = {"prio-tc": nic["most_tc"], "tc-bw": 100, "tc-tsa": 0}[name]
            new[name][_number(key, 7, "TC")] = value if name == "tc-tsa" else _number(value, most, name)
    total, whole = sum(new["tc-bw"]), 100 if "ets" in new["tc-tsa"] else 0
    if total not in (100, whole):
        fail(f"Bandwidth percentages in tc-bw sum to {total}%, expected {whole}%")
    nic["ets"] = new


def _dcbx(nic: dict[str, Any], command: str, rest: list[str]) -> None:
    if command == "show":
        print("host ieee " if nic["dcbx"] == "os" else "lld-managed ieee ")
    elif set(rest) <= {"host", "lld-managed", "cee", "ieee", "static"}:
        nic["dcbx"] = "os" if "host" in rest else "fw"
    else:
        fail(f'What is "{rest[0]}"?')


def _apptrust(nic: dict[str, Any], command: str, rest: list[str]) -> None:
    if nic["order"] is None:
        fail("Attribute read: Operation not supported")
    if command == "show":
        print("order:", "".join(f"{selector} " for selector in nic["order"]))
    elif rest[:1] == ["order"] and set(rest[1:]) <= set(SELECTORS) and len(set(rest)) == len(rest):
        nic["order"] = rest[1:]
    else:
        fail("Invalid list of selectors")

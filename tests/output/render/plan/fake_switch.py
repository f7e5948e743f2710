"""A pretended SONiC: ``config``, ``show`` and ``sonic-db-cli``, whose state is a folder.

``running.json`` is the configuration that runs, ``calls`` has one line a call, and ``faults`` what happens at calls,
by their number or by how they begin. Started for many a call, so that little is imported; the process of a test says
:func:`at` first, and then does calls by itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

STATE = SAVED = LOCK = ""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def at(environment: Mapping[str, str]) -> None:
    """Say where the switch is, whose tools are called."""
    global STATE, SAVED, LOCK
    STATE = environment["FAKE_STATE"]
    SAVED = environment["SONIC_ETC"] + "/config_db.json"
    LOCK = environment["LOSSLESS_RUN_DIR"] + "/lossless-plan.lock"


def read(name: str) -> Any:
    """Return what a file of the state holds."""
    with open(f"{STATE}/{name}", encoding="utf-8") as file:
        return json.load(file)


def write(path: str, value: Any, *, half: bool = False) -> None:
    """Write a file as JSON, or the first half of it."""
    text = json.dumps(value, indent=1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2] if half else text)


def main(tool: str, *args: str) -> None:
    """Do what a tool does, or the fault that is due."""
    call = " ".join((tool, *args))
    kind = due(call)
    with open(f"{STATE}/calls", "a", encoding="utf-8") as calls:
        calls.write(call + "\n")
    if kind is None:
        run(tool, args)
    else:
        fault(kind, tool, args)


def due(call: str) -> str | None:
    """Return the fault that is due at the next call, which is this one."""
    with open(f"{STATE}/calls", "a+", encoding="utf-8") as calls:
        calls.seek(0)
        number = len(calls.readlines()) + 1
    kinds = (kind for when, kind in read("faults").items() if when == str(number) or call.startswith(when))
    return next(kinds, None)


def fault(kind: str, tool: str, args: tuple[str, ...]) -> None:
    """Fail, hang, say that all is well, tell the script to stop, end it, lose the connection, change something."""
    if kind in ("half", "half-hang"):
        run(tool, args, half=True)
    if kind == "outdated":
        write(args[-1], read("start.json"))
    if kind == "race":
        run(tool, args)
        become({**read("running.json"), "DSCP_TO_TC_MAP": {"AZURE": {"24": "3"}}})
    if kind in ("hang", "half-hang"):
        if "FAKE_TIMEOUT" in os.environ:
            os.kill(int(os.environ["FAKE_TIMEOUT"]), signal.SIGUSR1)
        time.sleep(600)
    if kind in ("late", "TERM", "HUP", "KILL", "disconnect"):
        if kind == "disconnect":
            write(os.environ["HOME"] + "/unreachable", read("disconnected_for"))
        elif kind != "late":
            with open(LOCK, encoding="utf-8") as lock:
                process = int(lock.read().partition("process ")[2].partition(",")[0])
            os.kill(process, getattr(signal, f"SIG{kind}"))
        run(tool, args)
    if kind in ("fail", "half", "late"):
        sys.exit("Error: this did not work")


def run(tool: str, args: tuple[str, ...], *, half: bool = False) -> None:
    """Do what a tool does, or the half of it."""
    command = " ".join((tool, *args[:2]))
    if command == "show runningconfiguration all":
        text = json.dumps({**read("running.json"), "bgpraw": "router bgp"})
        print(text[: len(text) // 2] if half else text)
    elif command == "show interfaces status":
        status(half=half)
    elif tool == "sonic-db-cli":
        if not half:
            delete(*args[1:])
    else:
        CONFIG[args[0]](args[-1], half)


def status(*, half: bool) -> None:
    """Print ports as tabulate does; those that are down come up after as many calls as ``down`` says."""
    ports, left = read("running.json").get("PORT", {}), read("down")
    print("  Interface    Lanes    Speed      Alias    Vlan    Oper    Admin             Type  Asym PFC")
    print("-----------  -------  -------  ---------  ------  ------  -------  ---------------  --------")
    for number, name in enumerate(ports):
        if not half or number == 0:
            oper = "down" if left else "up"
            print(
                f"{name:>11}      1,2     400G  etp{number} a/b  routed  {oper:>6}       up  QSFP28 or later  N/A"
            )
    if left > 0:
        write(f"{STATE}/down", left - 1)


def down() -> None:
    """Take ports down, for a while or until somebody helps."""
    write(f"{STATE}/down", read("down_for"))


def checkpoint(name: str, half: bool) -> None:
    """Keep the configuration that runs."""
    write(f"{STATE}/{name}.cp.json", read("running.json"), half=half)


def apply_patch(name: str, half: bool) -> None:
    """Apply a patch as the updater does: all of it is tried on a copy first."""
    import jsonpatch

    with open(name, encoding="utf-8") as file:
        steps = json.load(file)
    running = read("running.json")
    jsonpatch.JsonPatch(steps).apply(running)
    some = [step for step in steps if step["op"] != "test"]
    some = some[: len(some) // 2] if half else some
    if any(step["path"].startswith("/BUFFER_PG/") for step in some):
        down()
    become(jsonpatch.JsonPatch(some).apply(running))


def rollback(name: str, half: bool) -> None:
    """Restore a checkpoint, or every second table of it."""
    kept, running = read(f"{name}.cp.json"), read("running.json")
    if half:
        kept = {table: (kept if place % 2 else running).get(table, {}) for place, table in enumerate(kept)}
    become(kept)


def load(name: str, half: bool) -> None:
    """Merge a file into the configuration that runs, field by field."""
    running = read("running.json")
    with open(name, encoding="utf-8") as file:
        rows = [(table, key, row) for table, keys in json.load(file).items() for key, row in keys.items()]
    for table, key, row in rows[: len(rows) // 2] if half else rows:
        running.setdefault(table, {}).setdefault(key, {}).update(row)
    become(running)


def save(name: str, half: bool) -> None:
    """Write the configuration that runs to a file: without a name, to the one that the switch boots with."""
    write(SAVED if name == "-y" else name, read("running.json"), half=half)


def reload(name: str, half: bool) -> None:
    """Empty the database and fill it from a file; refused for a while after the last time."""
    if read("not_ready"):
        write(f"{STATE}/not_ready", read("not_ready") - 1)
        print("SwSS container is not ready. Retry later or use -f to avoid system checks")
        sys.exit(1)
    with open(SAVED if name == "-y" else name, encoding="utf-8") as file:
        loaded = json.load(file)
    down()
    become(dict(list(loaded.items())[: len(loaded) // 2]) if half else loaded)


def delete(verb: str, name: str, *fields: str) -> None:
    """Remove a row or a field of it; lists are kept under their field's name and an ``@``."""
    running = read("running.json")
    table, _, key = name.partition("|")
    rows = running.get(table, {})
    if verb == "DEL":
        rows.pop(key, None)
    else:
        for field in fields:
            is_list = isinstance(rows.get(key, {}).get(field.removesuffix("@")), list)
            if field.endswith("@") == is_list:
                rows.get(key, {}).pop(field.removesuffix("@"), None)
    become(running)


def become(config: dict[str, Any]) -> None:
    """Run a configuration; the database has no empty tables."""
    write(f"{STATE}/running.json", {table: rows for table, rows in config.items() if rows})


CONFIG = {
    "checkpoint": checkpoint,
    "apply-patch": apply_patch,
    "rollback": rollback,
    "load": load,
    "save": save,
    "reload": reload,
}

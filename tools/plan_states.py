"""Makes random changes of small fabrics, carries out the plan of ``lossless plan``, and checks every state on the way.

    python tools/plan_states.py [--seed N] [--count N] [--source intent|files] [--orders N] [--json FILE] [--keep DIR]

Each case has a random intent and random changes of it. CURRENT is that intent, or the folder of files rendered from
it (config_db.json of each switch on the base of the switch, scripts of each host). The plan is carried out by its
plan.json and its files: the steps one after another, the devices of a step in a random order, the moves of a switch's
updater in a random order, and of a drained group no more devices at a time than may change at once. From the end of
each step its rollback is carried out too. Each state is evaluated by tools/damages/classes.py, from rows and settings
of NICs alone.
Counted are

- unsafe: a state has a fault that neither the start nor the goal has,
- end: a switch does not end with the rows, or a host with the settings, that ``lossless render`` writes of the target,
- rollback: it does not end with those of the start,
- sending: a DSCP goes out of use without a restart of jobs, or a NIC marks one that the plan does not count,
- refused: no plan, with the first line of the reason.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import io
import json
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import jsonpatch

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.api import render  # noqa: E402
from lossless.interfaces.cli import main as command  # noqa: E402
from tests.checks.plan.drawn_changes import files_of, intent  # noqa: E402
from tests.checks.plan.moves import Move, Step, carried_out, moves_of  # noqa: E402
from tests.checks.plan.service import dangling  # noqa: E402
from tools.damages.classes import Checker, Config, End, Fault, Limits, Nic, Rows, Site, site_of  # noqa: E402

Data = dict[str, Any]
Change = Callable[[Data, random.Random], None]
_ECN_BITS = 2


# --- what is drawn ---------------------------------------------------------------------------------------------------
def _set(*path: str, values: Sequence[Any]) -> Change:
    """Return a change that sets a key of an intent to one of some values; None takes it out."""

    def change(data: Data, rng: random.Random) -> None:
        holder = data
        for key in path[:-1]:
            holder = holder.setdefault(key, {})
        value = rng.choice([value for value in values if value != holder.get(path[-1])])
        if value is None:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value

    return change


def _rdma_dscp(data: Data, rng: random.Random) -> None:
    used = {cls["dscp"] for cls in data["classes"].values()}
    data["classes"]["rdma"]["dscp"] = rng.choice([dscp for dscp in (8, 24, 26, 34) if dscp not in used])


def _priority(data: Data, rng: random.Random) -> None:
    used = {cls["priority"] for cls in data["classes"].values()}
    data["classes"]["rdma"]["priority"] = rng.choice([p for p in (2, 3, 4, 5) if p not in used])


def _second_class(data: Data, rng: random.Random) -> None:
    """Take the second class out, give it another DSCP or priority, or add one."""
    classes = data["classes"]
    if "storage" in classes and rng.random() < 0.4:
        del classes["storage"]
        classes["rdma"]["bandwidth"] = f"{int(classes['rdma']['bandwidth'].rstrip('%')) + 10}%"
        return
    used = {cls[key] for cls in classes.values() for key in ("dscp", "priority")} | {0}
    dscp, priority = rng.choice([16, 30, 32]), rng.choice([p for p in (1, 2, 4, 5) if p not in used])
    if dscp in used:
        dscp = 40
    if "storage" in classes:
        classes["storage"].update(rng.choice([{"dscp": dscp}, {"priority": priority}]))
        return
    own = copy.deepcopy({"ecn": classes["rdma"]["ecn"], "buffer": classes["rdma"].get("buffer", {})})
    share = int(classes["rdma"]["bandwidth"].rstrip("%"))
    classes["rdma"]["bandwidth"] = f"{share - 10}%"
    classes["storage"] = {"dscp": dscp, "priority": priority, "lossless": True, "bandwidth": "10%"}
    classes["storage"] |= {key: value for key, value in own.items() if value}


def _shares(data: Data, rng: random.Random) -> None:
    rdma, default = data["classes"]["rdma"], data["classes"]["default"]
    move = rng.choice([5, 10, -10])
    rdma["bandwidth"] = f"{int(rdma['bandwidth'].rstrip('%')) + move}%"
    default["bandwidth"] = f"{int(default['bandwidth'].rstrip('%')) - move}%"


def _cables(data: Data, rng: random.Random) -> None:
    cables = data["topology"]["leaf_spine"]["cables"]
    cables[rng.choice([*cables])] = rng.choice(["3m", "10m", "30m", "100m", "150m"])


def _shape(key: str) -> Change:
    def change(data: Data, rng: random.Random) -> None:
        shape = data["topology"]["leaf_spine"]
        if key == "uplinks":
            shape[key] = {"1": "2", "2": "1"}[shape[key][0]] + shape[key][1:]
        else:
            shape[key] = max(1, shape[key] + rng.choice([-1, 1]))

    return change


def _release(data: Data, rng: random.Random) -> None:
    data["sonic"]["release"] = rng.choice(["202311", "202405", "202411", "202505"])


_ECN = ("classes", "rdma", "ecn")
_DOG = ("pfc", "watchdog")
_CC = ("congestion_control", "dcqcn")
CHANGES: dict[str, Change] = {
    "RDMA DSCP": _rdma_dscp,
    "second class": _second_class,
    "PFC priority": _priority,
    "priority group": _set("classes", "rdma", "pg", values=[None, 1, 2, 5]),
    "alpha of groups": _set(
        "classes", "rdma", "buffer", values=[None, {"dynamic_th": 1}, {"dynamic_th": -1}]
    ),
    "alpha of a tier": _set(
        "classes", "rdma", "buffer", values=[None, {"by_tier": {"leaf": {"dynamic_th": 1}}}]
    ),
    "buffer of queues": _set("classes", "rdma", "queue", values=[None, {"size": "9 KiB"}, {"dynamic_th": 5}]),
    "shared headroom": _set("buffers", "headroom_oversubscription", values=[None, 1.5, 2]),
    "size of pools": _set(
        "buffers", "pool_sizes", values=[None, {"ingress_lossless_pool": {"size": "60 MiB"}}]
    ),
    "headroom": _set("classes", "rdma", "buffer", values=[None, {"xoff": "700 KiB"}]),
    "cables": _cables,
    "Kmin": _set(*_ECN, "min", values=["200 KiB", "400 KiB", "800 KiB"]),
    "Kmax": _set(*_ECN, "max", values=["1600 KiB", "3200 KiB"]),
    "Pmax": _set(*_ECN, "probability", values=["5%", "20%", "60%"]),
    "ECN of a tier": _set(
        *_ECN,
        "by_tier",
        values=[None, {"spine": {"min": "1000 KiB", "max": "3000 KiB", "probability": "10%"}}],
    ),
    "watchdog detection": _set(*_DOG, "detection", values=["1200ms", "1600ms", "600ms"]),
    "watchdog polling": _set(*_DOG, "poll", values=["200ms", "400ms", "600ms"]),
    "watchdog restoration": _set(*_DOG, "restoration", values=["1200ms", "1600ms", "3000ms"]),
    "watchdog action": _set(*_DOG, "action", values=["drop", "forward"]),
    "watchdog of a tier": _set(*_DOG, "by_tier", values=[None, {"spine": {"detection": "2000ms"}}]),
    "scheduler weights": _shares,
    "strict priority": _set("classes", "cnp", "scheduling", values=["strict", "dwrr"]),
    "CNP DSCP": _set("classes", "cnp", "dscp", values=[46, 48]),
    "CNP priority": _set("classes", "cnp", "priority", values=[6, 7]),
    "leaves": _shape("leaves"),
    "spines": _shape("spines"),
    "hosts": _shape("hosts_per_leaf"),
    "links": _shape("uplinks"),
    "trust": _set("hosts", "trust", values=["dscp", "pcp"]),
    "MTU of switches": _set("mtu", values=[1500, 4200, 9100]),
    "MTU of hosts": _set("hosts", "mtu", values=[1500, 4200, 9000]),
    "DCQCN": _set(*_CC, "rpg_ai_rate", values=[None, "10M", "40M"]),
    "CNP interval": _set(*_CC, "cnp_interval", values=["4us", "8us"]),
    "stall prevention": _set("hosts", "pfc_prevention", values=["auto", "off", "200ms"]),
    "NCCL": _set("hosts", "nccl", values=[None, {"ib_timeout": 22}]),
    "ToS of jobs": _set("hosts", "traffic_class", values=["derived", "unset"]),
    "NIC": _set("hardware", "nic", values=["connectx-7", "connectx-8"]),
    "release": _release,
}


class Case(NamedTuple):
    """An intent before and after, and what was changed in it."""

    before: Data
    after: Data
    changed: tuple[str, ...]


def case(seed: int, number: int) -> Case:
    """Draw a case; the first change goes through all kinds in turn."""
    rng = random.Random(f"{seed} {number}")
    chip: Data = rng.choice([{}, {}, {"leaf": "nvidia-sn4700", "spine": "nvidia-sn4700"}])
    before = intent(
        cables=rng.choice([(3, 30), (10, 30), (3, 100)]),
        second=rng.choice([None, None, (30, 4)]),
        oversubscription=rng.choice([None, None, 2]),
        release=rng.choice(["202311", "202405", "202411", "202505"]),
        model=rng.choice([None, None, "dynamic"]) if chip else None,
        **chip,
    )
    if rng.random() < 0.2:
        before["topology"]["leaf_spine"] |= {"leaves": 3, "hosts_per_leaf": 1}
    after = copy.deepcopy(before)
    names = [*CHANGES]
    chosen = [names[number % len(names)], *rng.sample(names, rng.choice([0, 0, 1, 1, 2, 3]))]
    for name in dict.fromkeys(chosen):
        CHANGES[name](after, rng)
    return Case(before, after, tuple(dict.fromkeys(chosen)))


# --- what is carried out ---------------------------------------------------------------------------------------------
class State(NamedTuple):
    """A fabric on the way: rows of switches, settings of NICs, DSCPs in use, and whether cables are the new ones.

    ``restarted``: jobs began after the last change of what hosts send.
    """

    configs: dict[str, Config]
    nics: dict[str, Nic]
    in_use: frozenset[int]
    recabled: bool
    restarted: bool = False


class Operation(NamedTuple):
    """An operation of a patch."""

    op: str
    path: tuple[str, ...]
    value: Any


class World(NamedTuple):
    """Start and goal of a case, what faults they have themselves, and the folder of the plan."""

    start: State
    goal: State
    checker: Checker
    limits: tuple[Limits, Limits]
    allowed: frozenset[Fault]
    folder: Path
    recables: bool
    groups: Mapping[str, Sequence[str]]
    notes: Sequence[str]


def world_of(drawn: Case, folder: Path, plan: Data) -> World:
    """Return what a plan is carried out on."""
    start_configs = _configs(folder / "files")
    goal_configs = {
        name: {table: rows for table, rows in config.items() if rows}
        for name, config in _configs(folder / "goal").items()
    }
    wanted = _nics(folder / "goal")
    nics = {host: nic for host, nic in _nics(folder / "files").items() if host in wanted}
    start = State(start_configs, nics, frozenset(plan["dscps_before"]), recabled=False)
    goal = State(goal_configs, wanted, frozenset(plan["dscps_after"]), recabled=True)
    # A link or host that only one side has carries no traffic: the plan says when it comes or goes.
    after = site_of(_configs(folder / "after" / "files")).links
    checker = Checker(
        Site({end: far for end, far in site_of(start_configs).links.items() if after.get(end) == far})
    )
    cables = [data["topology"]["leaf_spine"]["cables"] for data in (drawn.before, drawn.after)]
    recables = any(step["kind"] == "cables" for step in plan["steps"])
    limits = _limits(checker, start, goal, cables if recables else [])
    if not recables:
        goal = goal._replace(recabled=False)
    allowed = {*checker.faults(start.configs, start.nics, start.in_use, limits[0])}
    allowed |= {*checker.faults(goal.configs, goal.nics, goal.in_use, limits[1])}
    return World(
        start,
        goal,
        checker,
        limits,
        frozenset(allowed),
        folder / "plan",
        recables,
        plan["groups"],
        plan["notes"],
    )


def _limits(checker: Checker, start: State, goal: State, lengths: Sequence[Any]) -> tuple[Limits, Limits]:
    """Return the limits with the cables of the start, and of the goal; without lengths those of the lower headroom.

    A headroom is for cables of the length that the port is configured for, which can be longer than its own.
    """
    rows = [({name: Rows(config) for name, config in each.configs.items()}, each) for each in (start, goal)]
    pools: dict[End, set[str]] = {}
    needs: list[dict[End, int]] = [{}, {}]
    for end, far in checker.site.links.items():
        found = []
        for own, state in rows:
            into = [own[end[0]].ingress(end[1], dscp) for dscp in state.in_use]
            out = [own[end[0]].egress(end[1], end[1], dscp) for dscp in state.in_use]
            pools.setdefault(end, set()).update(each.pool for each in into)
            pools[end].update(each.pool for each in out)
            found.append(min((each.headroom for each in into), default=0))
        kind = "uplink" if far[0] in start.configs else "host"
        meters = [int(cables[kind].rstrip("m")) for cables in lengths] or [0, 0]
        reach = [
            max(own, _configured_m(state.configs[end[0]], end[1]))
            for own, (_, state) in zip(meters, rows, strict=True)
        ]
        for side in (0, 1):
            fits = [headroom for headroom, long in zip(found, reach, strict=True) if long >= meters[side]]
            needs[side][end] = min(fits, default=0)
    committed = {
        name: max(max(own[name].committed(), own[name].buffer()) for own, _ in rows)
        for name in start.configs
        if name in goal.configs
    }
    return Limits(needs[0], pools, committed), Limits(needs[1], pools, committed)


def _configured_m(config: Config, port: str) -> int:
    """Return the length in meters that a port is configured for, 0 without one."""
    lengths = (row[port] for row in config.get("CABLE_LENGTH", {}).values() if port in row)
    return int(next(lengths, "0m").rstrip("m"))


def _configs(folder: Path) -> dict[str, Config]:
    return {file.parent.name: json.loads(file.read_text()) for file in folder.glob("*/config_db.json")}


def _nics(folder: Path) -> dict[str, Nic]:
    return {file.parent.name: nic_of(file) for file in folder.glob("*/lossless-roce.json")}


def nic_of(file: Path) -> Nic:
    """Return what the settings beside the script of a host say."""
    told = json.loads(file.read_text())
    told_files = "".join(each.read_text() for each in sorted(file.parent.iterdir()))
    by_dscp = told["trust"] == "dscp" and told["dscp_to_priority"] is not None
    priorities = tuple(told["dscp_to_priority"]) if by_dscp else None
    digest = hashlib.sha256(told_files.encode()).hexdigest()
    return Nic(
        priorities, frozenset(told["pfc_priorities"]), told["traffic_class"], told["mtu_bytes"], digest
    )


class Work:
    """What is left to do on one device in a step: batches of a switch, or settings of a host one after another."""

    def __init__(self, device: str, group: str, told: Data) -> None:
        self.device, self.group = device, group
        self.drained = bool(told["drained"])
        self.at_once: int | None = told["at_once"]
        self.batches: list[tuple[Data, Path | None]] = []
        self.nics: list[Nic] = []
        self.wrong: list[str] = []
        self._moves: list[Move] = []
        self._goal: Config = {}

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return not (self.batches or self.nics or self._moves)

    def advance(self, state: State, rng: random.Random) -> State:
        """Make one move."""
        if self.nics:
            return state._replace(nics={**state.nics, self.device: self.nics.pop(0)})
        config = state.configs[self.device]
        if not self._moves:
            self._begin(config)
        if not self._moves:
            return state
        rng.shuffle(self._moves)
        made = config
        for move in self._moves:
            made = carried_out(config, [move])
            if dangling(made) is None:
                self._moves.remove(move)
                break
        else:
            made = carried_out(config, self._moves)
            self._moves = []
        if not self._moves and _filled(made) != _filled(self._goal):
            self.wrong.append(f"{self.device}: a batch ends with other rows than its patch")
        return state._replace(configs={**state.configs, self.device: made})

    def _begin(self, config: Config) -> None:
        batch, patch = self.batches.pop(0)
        for table, rows in batch["before"].items():
            for key, row in rows.items():
                found = config.get(table, {}).get(key)
                if (
                    row is not None
                    and found is not None
                    and table in ("DEVICE_METADATA", "FLEX_COUNTER_TABLE", "PORT")
                ):
                    found = {field: found.get(field) for field in row}
                if found != row:
                    self.wrong.append(f"{self.device}: {table}|{key} is {found}, expected {row}")
        if batch["how"] == "by hand":
            # Another release keeps the rows; one of another switch is not drawn.
            rows = {"VERSIONS": {"DATABASE": batch["after"]["VERSIONS"]["DATABASE"]}}
            self._moves, self._goal = (
                [Move((Step(("VERSIONS", "DATABASE"), rows["VERSIONS"]["DATABASE"]),), "")],
                config | rows,
            )
            return
        operations = [
            Operation(
                each["op"], tuple(_unescaped(part) for part in each["path"][1:].split("/")), each.get("value")
            )
            for each in batch["operations"]
        ]
        try:
            text = batch["operations"] if patch is None else json.loads(patch.read_text())
            self._goal = jsonpatch.apply_patch(config, text)
        except jsonpatch.JsonPatchException as error:
            self.wrong.append(f"{self.device}: the patch is refused: {error}")
            return
        self._moves = moves_of(config, operations)  # type: ignore[arg-type]
        if batch["how"] == "reload":
            self._moves = [Move(tuple(step for move in self._moves for step in move.steps), "")]


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _differences(one: Nic, other: Nic) -> list[str]:
    """Return the names of settings that differ."""
    return [name for name, *both in zip(Nic._fields, one, other, strict=True) if both[0] != both[1]]


def _compared(config: Config) -> Config:
    """Return the tables of a configuration that are not empty, and of its version the release."""
    release = str(config["VERSIONS"]["DATABASE"]["VERSION"]).split("_")[1]
    return {**_filled(config), "VERSIONS": {"DATABASE": {"VERSION": release}}}


def _filled(config: Config) -> Config:
    return {table: rows for table, rows in config.items() if rows}


class Walk:
    """Carries out the steps of a plan in a drawn order, and keeps what is wrong: its kind, and what it is."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.wrong: list[tuple[str, str]] = []

    def whole(self, plan: Data) -> None:
        """Carry out a plan, and the rollback from each of its steps."""
        state, folder = self.world.start, self.world.folder
        for step, back in zip(plan["steps"], plan["rollback"], strict=True):
            number = step["number"]
            state = self._step(state, step, folder / f"step-{number:02}", f"step {number}")
            returning = state
            for each in back:
                own = folder / f"rollback-from-{number:02}" / f"step-{each['number']:02}"
                returning = self._step(
                    returning, each, own, f"rollback from {number}, step {each['number']}", True
                )
            self._arrived(returning, self.world.start, f"rollback from {number}", "rollback")
        self._arrived(state, self.world.goal, "end", "end")

    def _step(self, state: State, step: Data, folder: Path, where: str, is_back: bool = False) -> State:
        """Carry out one step; return the state after it."""
        in_use = frozenset(step["dscps_in_use"])
        if step["kind"] == "stop":
            return state._replace(in_use=frozenset(), restarted=True)
        gone = state.in_use - in_use
        if gone and not state.restarted:
            self.wrong.append(
                ("sending", f"{where}: {sorted(gone)} goes out of use, and no job was restarted")
            )
        state = state._replace(in_use=in_use)
        self._check(state, where)
        if step["kind"] == "cables":
            state = state._replace(recabled=not state.recabled)
            self._check(state, where)
        if step["kind"] == "change":
            works = [*_works_of_switches(step, folder, self.world.groups)]
            works += _works_of_hosts(
                step, folder, state, (self.world.start if is_back else self.world.goal).nics
            )
            before, state = state, self._mixed(state, works, where)
            if any(nic.tos != before.nics[host].tos for host, nic in state.nics.items()):
                state = state._replace(restarted=not in_use)
            marked = {nic.tos >> _ECN_BITS for nic in state.nics.values() if nic.tos}
            if state.in_use and not marked <= in_use:
                self.wrong.append(
                    ("sending", f"{where}: hosts send {sorted(marked)}, counted are {sorted(in_use)}")
                )
        return state._replace(restarted=True) if step["kind"] == "jobs" else state

    def _mixed(self, state: State, works: Sequence[Work], where: str) -> State:
        """Carry out the work of all devices: each time one move of a drawn device."""
        waiting = self.rng.sample(works, len(works))
        begun: list[Work] = []
        eager = self.rng.choice([0.05, 0.4, 1.0])
        while waiting or begun:
            counts = Counter(work.group for work in begun)
            free = [work for work in waiting if work.at_once is None or counts[work.group] < work.at_once]
            if free and (not begun or self.rng.random() < eager):
                begun.append(free[0])
                waiting.remove(free[0])
            work = self.rng.choice(begun)
            state = work.advance(state, self.rng)
            away = {each.device for each in begun if each.drained}
            if work.is_done:
                begun.remove(work)
                self.wrong += (("end", f"{where}: {what}") for what in work.wrong)
                away -= {work.device}
            self._check(state, where, away)
        return state

    def _check(self, state: State, where: str, away: Collection[str] = ()) -> None:
        world = self.world
        limits = world.limits[state.recabled]
        for fault in world.checker.faults(state.configs, state.nics, state.in_use, limits, away):
            if fault not in world.allowed:
                said = ("unsafe", f"{where}: DSCP {fault.dscp}: {fault.place} {fault.what}")
                if said not in self.wrong:
                    self.wrong.append(said)

    def _arrived(self, state: State, goal: State, where: str, kind: str) -> None:
        for name, config in state.configs.items():
            own, wanted = _compared(config), _compared(goal.configs[name])
            tables = sorted(table for table in {*own, *wanted} if own.get(table) != wanted.get(table))
            if tables:
                self.wrong.append((kind, f"{where}: {name} does not have its {', '.join(tables)}"))
        said = any("hosts are set to now is not known" in note for note in self.world.notes)
        for host, nic in state.nics.items():
            if said and nic == self.world.start.nics.get(host):
                continue
            differ = _differences(nic, goal.nics.get(host, nic))
            if differ:
                self.wrong.append((kind, f"{where}: {host} does not have its {', '.join(differ)}"))
        # In a rollback jobs need not begin again what they were stopped from sending.
        if state.in_use != goal.in_use and not (kind == "rollback" and state.in_use <= goal.in_use):
            self.wrong.append((kind, f"{where}: jobs send {sorted(state.in_use)}, not {sorted(goal.in_use)}"))
        if state.recabled != goal.recabled and self.world.recables:
            self.wrong.append(
                (kind, f"{where}: cables are not those of {'start' if state.recabled else 'goal'}")
            )


def _works_of_switches(step: Data, folder: Path, groups: Mapping[str, Sequence[str]]) -> Iterator[Work]:
    for group in step["switches"]:
        # Where single ports go down, jobs use the others meanwhile.
        by_port = any(
            line.startswith(f"{group['group']}: ") and "the ports go down one after another" in line
            for line in step["by_hand"]
        )
        devices = group.get("devices") or groups[group["group"]]
        for device in devices:
            work = Work(device, f"switches {group['group']} {devices[0]}", group)
            work.drained = work.drained and not by_port
            for number, batch in enumerate(group["batches"], 1):
                patch = _folder(folder, group["group"]) / f"{number:02}-patch.json"
                work.batches.append((batch, patch if batch["how"] == "patch" else None))
            yield work


def _folder(step: Path, group: str) -> Path:
    return step / re.sub(r"[^A-Za-z0-9_]+", "_", group)


def _works_of_hosts(step: Data, folder: Path, state: State, wanted: Mapping[str, Nic]) -> Iterator[Work]:
    """Yield the work on hosts: a script sets the map, then PFC, then all else; people set what a line says."""
    for group in step["hosts"]:
        file = _folder(folder, group["group"]) / "lossless-roce.json"
        for host in group["hosts"]:
            # A host that the target adds runs no jobs yet.
            then = nic_of(file)
            yield _host_work(host, state.nics.get(host, then), then, group)
    told = [
        line.partition(": ")[2]
        for line in step["by_hand"]
        if line.startswith("hosts") and "job scheduler" not in line
    ]
    # A host that only the target has is not set back: it goes before a rollback.
    for host, now in state.nics.items() if told else ():
        then = told_in_words(now, wanted.get(host, now), told[0])
        yield _host_work(host, now, then, {"group": "hosts", "drained": False, "at_once": None})


def _host_work(host: str, now: Nic, then: Nic, group: Data) -> Work:
    work = Work(host, f"hosts {group['group']}", group)
    mapped = now._replace(priorities=then.priorities)
    work.nics = [mapped, mapped._replace(pfc=then.pfc), then]
    return work


def told_in_words(now: Nic, wanted: Nic, line: str) -> Nic:
    """Return the settings of a host after people have done what a line of a step says, towards ``wanted``."""
    back = "back to before: "
    parts = re.split(r", (?=back to before|take in|send|set as)", line)
    for part in parts:
        said = part.removeprefix(back)
        drops = said.endswith("no longer")
        if said.startswith("set as") or (said.startswith("take in") and drops != part.startswith(back)):
            return wanted
        if said.startswith("send"):
            now = now._replace(tos=wanted.tos)
        elif now.priorities is not None and wanted.priorities is not None:
            own, dscps = [*now.priorities], [int(dscp) for dscp in re.findall(r"\d+", said)]
            for dscp in dscps:
                own[dscp] = wanted.priorities[dscp]
            now = now._replace(
                priorities=tuple(own), pfc=now.pfc | {wanted.priorities[dscp] for dscp in dscps}
            )
    return now


# --- the run ---------------------------------------------------------------------------------------------------------
class Outcome(NamedTuple):
    """What a case came to: the reason why there is no plan, or the states evaluated and what is wrong, by kind."""

    changed: tuple[str, ...]
    refused: str = ""
    states: int = 0
    steps: int = 0
    unsafe_ends: bool = False
    wrong: tuple[tuple[str, str], ...] = ()


def outcome(drawn: Case, folder: Path, *, from_files: bool, orders: int, rng: random.Random) -> Outcome:
    """Plan a case in a folder, and carry the plan out in some drawn orders."""
    current, target = folder / "current.yaml", folder / "target.yaml"
    current.write_text(json.dumps(drawn.before))
    target.write_text(json.dumps(drawn.after))
    running = files_of(current, folder)
    made = _run(
        "plan", *([running] if from_files else [current]), target, "-o", folder / "plan", "--no-config"
    )
    if made.code != 0:
        return Outcome(drawn.changed, made.errors.strip() or f"exit code {made.code} without a word")
    file = folder / "plan" / "plan.json"
    _render_goal(target, folder)
    if not file.exists():
        silent = "hosts are set to now is not known" not in " ".join(made.output.split())
        return Outcome(drawn.changed, made.output.strip(), wrong=tuple(_kept(folder, hosts=silent)))
    plan = json.loads(file.read_text())
    world = world_of(drawn, folder, plan)
    wrong: list[tuple[str, str]] = []
    for _ in range(orders):
        walk = Walk(world, rng)
        walk.whole(plan)
        wrong += (each for each in walk.wrong if each not in wrong)
    return Outcome(
        drawn.changed, "", world.checker.states, len(plan["steps"]), bool(world.allowed), tuple(wrong)
    )


def _kept(folder: Path, *, hosts: bool) -> Iterator[tuple[str, str]]:
    """Yield the devices whose files the target changes, where the plan says that nothing is to change.

    Hosts are compared unless the plan says that it does not know what they are set to.
    """
    start, goal = folder / "files", folder / "goal"
    for name, config in _configs(goal).items():
        if _compared(config) != _compared(_configs(start)[name]):
            yield "end", f"nothing to change: {name} has other rows in the target"
    for host, nic in _nics(goal).items() if hosts else ():
        if differ := _differences(_nics(start).get(host, nic), nic):
            yield "end", f"nothing to change: {host} has other {', '.join(differ)} in the target"


def _render_goal(target: Path, folder: Path) -> None:
    """Render the target onto the files in service, as they are on its release."""
    files_of(target, folder / "after")
    base, release = folder / "upgraded", json.loads(target.read_text())["sonic"]["release"]
    shutil.copytree(folder / "files", base)
    for file in base.glob("*/config_db.json"):
        rows = {"VERSIONS": {"DATABASE": {"VERSION": f"version_{release}_01"}}}
        file.write_text(json.dumps(json.loads(file.read_text()) | rows))
    render(target, folder / "goal", base_dir=base)


class _Answer(NamedTuple):
    code: int
    output: str
    errors: str


def _run(*args: object) -> _Answer:
    """Run a command of lossless in this process."""
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            code = command([*map(str, args)])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 2
    return _Answer(code, output.getvalue(), errors.getvalue())


def main() -> int:
    """Run the cases of a seed; return 1 if something is wrong."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=300, help="cases that are planned")
    arguments.add_argument("--source", choices=("intent", "files"), default="intent")
    arguments.add_argument("--orders", type=int, default=2, help="orders that each plan is carried out in")
    arguments.add_argument("--only", type=int, help="the number of one case")
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--keep", type=Path, help="folder for the cases with something wrong")
    told = arguments.parse_args()
    outcomes: dict[int, Outcome] = {}
    numbers = count() if told.only is None else iter((told.only,))
    while sum(not each.refused for each in outcomes.values()) < told.count:
        number = next(numbers, None)
        if number is None:
            break
        folder = Path(tempfile.mkdtemp())
        rng = random.Random(f"orders {told.seed} {number}")
        drawn = case(told.seed, number)
        found = outcome(drawn, folder, from_files=told.source == "files", orders=told.orders, rng=rng)
        outcomes[number] = found
        if found.wrong:
            print(f"{number}: {', '.join(found.changed)}")
            print(*(f"    {kind}: {what}" for kind, what in found.wrong[:6]), sep="\n", flush=True)
            if told.keep:
                shutil.copytree(folder, told.keep / f"{told.source}-{number:03}", dirs_exist_ok=True)
        shutil.rmtree(folder)
        if told.json:
            told.json.write_text(json.dumps({n: each._asdict() for n, each in outcomes.items()}))
    print("\n".join(summary([*outcomes.values()])))
    return int(any(each.wrong for each in outcomes.values()))


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the figures of a run."""
    planned = [each for each in outcomes if not each.refused]
    kinds = Counter(kind for each in planned for kind in {kind for kind, _ in each.wrong})
    unsafe_ends = sum(each.unsafe_ends for each in planned)
    yield (
        f"{len(outcomes)} cases, {len(planned)} planned ({unsafe_ends} with a fault at the start or the goal), "
        f"{sum(each.steps for each in planned)} steps, {sum(each.states for each in planned)} states evaluated"
    )
    yield f"cases that are wrong: {dict(kinds) or 'none'}"
    reasons = Counter(_reason(each.refused) for each in outcomes if each.refused)
    yield from (f"{count} refused: {reason}" for reason, count in reasons.most_common())


def _reason(refused: str) -> str:
    """Return the first line of a reason without places, names and numbers."""
    line = refused.splitlines()[0]
    line = re.sub(r"^\S*(current|target)\.yaml(:\d+)*:? ?", "", line)
    return re.sub(r"\d+", "N", line)[:140]


if __name__ == "__main__":
    sys.exit(main())

"""What ports of a subnet do on the way, by the texts of files alone: no rule, model or plan of ours is asked.

Any manager may be the master at any time, so ports have tables of any file that any manager has, each table by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from lossless.checks.plan.plan import PlanStep

CONF, PARTITIONS, POLICY = "opensm.conf", "partitions.conf", "qos-policy.conf"
DROP = 15
_DEFAULT_LOW = ",".join(f"{vl}:4" for vl in range(1, 15))


class Held(NamedTuple):
    """The files that each host has."""

    files: Mapping[str, Mapping[str, str]]

    def after(self, step: PlanStep) -> Held:
        """Return the files after a step; each must be as the step expects it."""
        files = {host: dict(own) for host, own in self.files.items()}
        for group in step.files:
            for host, file in product(group.devices, group.files):
                own = files.setdefault(host, {})
                assert own.get(file.name) == file.before, (step.number, host, file.name)
                if file.after is None:
                    del own[file.name]
                else:
                    own[file.name] = file.after
        return Held(files)

    def texts(self, name: str) -> set[str]:
        """Return what managers have in a file."""
        return {files[name] for files in self.files.values() if name in files}


def start_of(steps: Iterable[PlanStep]) -> Held:
    """Return the files before the first step, as far as steps tell."""
    files: dict[str, dict[str, str]] = {}
    seen = set()
    for step in steps:
        for group in step.files:
            for host, file in product(group.devices, group.files):
                if (host, file.name) not in seen:
                    seen.add((host, file.name))
                    if file.before is not None:
                        files.setdefault(host, {})[file.name] = file.before
                    else:
                        files.setdefault(host, {})
    return Held(files)


def unserved(held: Held, then: Held, in_use: Iterable[int]) -> Iterator[str]:
    """Yield service levels that some port drops or starves in a step."""
    options = [dict(_options(text)) for text in {*held.texts(CONF), *then.texts(CONF)}]
    for sl2vl, weights, count in product(options, repeat=3):
        vls = (1, 2, 4, 8, 15)[int(count["max_op_vls"]) - 1]
        served = _served(weights)
        for sl in in_use:
            vl = int(sl2vl["qos_sl2vl"].split(",")[sl])
            if vl == DROP or vl >= vls or vl not in served:
                yield f"SL {sl} on VL {vl} of {vls}, weights {sorted(served)}"


def unanswerable(held: Held, step: PlanStep) -> Iterator[str]:
    """Yield service levels that a policy answers with, and lanes drop, while files come into their places."""
    for group in step.files:
        own = dict(held.files.get(group.devices[0], {}))
        for file in group.files if group.states is not None else ():
            own[file.name] = file.after or ""
            levels = map(int, re.findall(r"^\s*sl: (\d+)$", own.get(POLICY, ""), re.MULTILINE))
            table = dict(_options(own.get(CONF, ""))).get("qos_sl2vl", ",".join("0" * 16)).split(",")
            yield from (f"SL {sl} is dropped" for sl in levels if int(table[sl]) == DROP)


def _served(options: Mapping[str, str]) -> set[int]:
    text = f"{options.get('qos_vlarb_high', '0:4')},{options.get('qos_vlarb_low', _DEFAULT_LOW)}"
    pairs = (entry.split(":") for entry in text.split(","))
    return {int(vl) for vl, weight in pairs if int(weight)}


def _options(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, _, value = line.partition("#")[0].strip().partition(" ")
        if key:
            yield key, value


def keys_of_ports(text: str) -> dict[str, set[int]]:
    """Return the P_Keys of each port that a file lists, by its GUID."""
    keys: dict[str, set[int]] = {}
    plain = re.sub(r"#.*", "", text)
    for definition, members in (part.split(":", 1) for part in plain.split(";") if ":" in part):
        match = re.search(r"=\s*(0x[0-9a-f]+)", definition)
        assert match is not None
        for member in members.split(","):
            who, _, how = member.strip().partition("=")
            keys.setdefault(who, set()).add(int(match[1], 16) | (0x8000 if how == "full" else 0))
    return keys


def talking(texts: Iterable[str]) -> set[tuple[str, str, int]]:
    """Return which ports may talk in which partition, each with the keys of any of some files."""
    tables = [keys_of_ports(text) for text in texts]
    pairs = set()
    for mine, theirs in product(tables, repeat=2):
        for (one, own), (other, others) in product(mine.items(), theirs.items()):
            for key, their_key in product(own, others):
                if one < other and (key ^ their_key) & 0x7FFF == 0 and (key | their_key) & 0x8000:
                    pairs.add((one, other, key & 0x7FFF))
    return pairs

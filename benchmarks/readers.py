"""How long each reader takes over text that is hard on it, against ``json.loads`` of a configuration of that size.

Each text is read at two sizes, one eight times the other; the exponent says how the time grows with the size.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import report
from lossless.formats.inputs.patches import read_bytes
from lossless.ground.basics.errors import InputError

ITEMS, TIMES = 8_000, 8
ROUNDS = 3
MOST = {"config_db.json": 100.0, "fabric.yaml": 250.0, "host1.facts": 50.0, "opensm.conf": 150.0}
"""The multiples of ``json.loads`` that docs/guides/reliability.md promises, by kind of file."""
MOST_EXPONENT = 1.3
"""In proportion to the size, and more where the larger text no longer fits into the caches of a processor."""


def configuration(ports: int) -> str:
    """Return a plain configuration of so many ports."""
    row = {"lanes": "1,2,3,4", "speed": "400000", "mtu": "9100", "admin_status": "up"}
    return json.dumps({"PORT": {f"Ethernet{port}": row for port in range(ports)}}, indent=4)


def repeated(head: str, item: str, tail: str = "", between: str = "") -> Callable[[int], str]:
    """Return what makes a text of so many items; ``{}`` in one is its number."""
    return lambda items: head + between.join(item.replace("{}", str(at)) for at in range(items)) + tail


TEXTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "ports": ("config_db.json", configuration),
    "unknown tables": ("config_db.json", repeated("{", '"table{}": {}', "}", ",")),
    "escapes": (
        "config_db.json",
        repeated('{"PORT": {"Ethernet0": {"alias": "', "\\u00e9\\ud83d\\ude00", '"}}}'),
    ),
    "nesting": ("config_db.json", repeated('{"PORT": [', "[" * 40 + "]" * 40, "]}", ",")),
    "one key, on one line": (
        "config_db.json",
        repeated('{"PORT": {', '"Ethernet0": {"speed": "1"}', "}}", ","),
    ),
    "keys": ("fabric.yaml", repeated("lossless: v1\n", "key{}: value{}\n")),
    "comments": ("fabric.yaml", repeated("lossless: v1\n", "# comment {}\n", "fabric: a\n")),
    "flow mappings": ("fabric.yaml", repeated("lossless: v1\nlinks:\n", "- {a: leaf{}, b: host{}}\n")),
    "escapes in YAML": ("fabric.yaml", repeated('lossless: v1\nfabric: "', "x\\u00e9 ", '"\n')),
    "interfaces": ("host1.facts", repeated("", "interface ens{}\nmtu 9000\n")),
    "one option": ("opensm.conf", repeated("", "qos_max_vls {}\n")),
}


def cpu_s(work: Callable[[], object]) -> float:
    """Return the least processor time of some rounds; what is refused has been read, too."""
    taken = []
    for _ in range(ROUNDS):
        started = time.process_time()
        with suppress(InputError):
            work()
        taken.append(time.process_time() - started)
    return min(taken)


def main() -> None:
    """Measure and print."""
    plain = configuration(50_000)
    s_per_byte = cpu_s(lambda: json.loads(plain)) / len(plain)
    rows: list[tuple[str, float, float, str]] = []
    for name, (file, text_of) in TEXTS.items():
        few, many = (text_of(items).encode() for items in (ITEMS, ITEMS * TIMES))
        few_s, many_s = (cpu_s(partial(read_bytes, raw, file)) for raw in (few, many))
        exponent = math.log(many_s / few_s) / math.log(len(many) / len(few))
        rows.append((f"{file}: {name}", many_s / (s_per_byte * len(many)), MOST[file], "x json"))
        rows.append((f"{file}: {name}, growth", exponent, MOST_EXPONENT, "exponent"))
    report(rows)


if __name__ == "__main__":
    main()

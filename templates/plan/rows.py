"""Compare the configuration of a switch, on standard input, with what a plan reads and writes.

rows.py FILE...         say how many batches are done, by the files of their rows in order: before, after,
                        after 1 of 2, or neither and which rows
rows.py --put FILE      print the configuration with the rows of one batch as they are after it
rows.py --up            print the ports that are up, from the table of: show interfaces status
rows.py --not-up FILE   print which of the ports that a file lists are not up, from the same table

Exit status: 0, 1 for neither and for ports that are not up, 2 for input that cannot be read.

It runs on the switch, on Python 3.7 and newer with the standard library alone.
"""

from __future__ import annotations

import json
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Tables = dict[str, dict[str, Any]]
    Place = tuple[str, ...]
    Row = dict[str, str] | None
    Rows = dict[Place, Row]
    Pair = tuple[Rows, Rows]

GAP = re.compile(r"\s{2,}")
"""What separates two columns; there are single blanks within a column."""
MOST_SHOWN = 20


def main(arguments: list[str]) -> int:
    try:
        return run(arguments)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"rows.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


def run(arguments: list[str]) -> int:
    mode, *files = arguments
    if mode == "--put":
        json.dump(put(json.load(sys.stdin), read(files[0])), sys.stdout, indent=4)
        return 0
    if mode == "--up":
        print("\n".join(sorted(up_ports(sys.stdin.read()))))
        return 0
    if mode == "--not-up":
        with open(files[0], encoding="utf-8") as listed:
            missing = sorted(set(listed.read().split()) - up_ports(sys.stdin.read()))
        print(" ".join(missing))
        return 1 if missing else 0
    return report(json.load(sys.stdin), [flat(read(name)) for name in arguments])


def read(name: str) -> Any:
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def report(config: Tables, batches: list[Pair]) -> int:
    """Print how many of the batches a configuration has done."""
    has = {place: row_of(config, place) for before, _ in batches for place in before}
    wrong = [differences(has, expected(batches, done)) for done in range(len(batches) + 1)]
    # The last one that fits: a batch that changes nothing is done.
    fitting = [done for done, rows in enumerate(wrong) if not rows]
    if not fitting:
        strange = {place for place in has if not any(has[place] in sides(batch, place) for batch in batches)}
        print("neither", *described(strange, min(wrong, key=len)), sep="\n")
        return 1
    done = fitting[-1]
    print("before" if not done else "after" if done == len(batches) else f"after {done} of {len(batches)}")
    return 0


def expected(batches: list[Pair], done: int) -> Rows:
    """Return every row as it is after some batches: as the last of them left it, or as the next one expects it."""
    rows: Rows = {}
    for before, _ in reversed(batches[done:]):
        rows.update(before)
    for _, after in batches[:done]:
        rows.update(after)
    return rows


def sides(batch: Pair, place: Place) -> list[Row]:
    return [rows[place] for rows in batch if place in rows]


def flat(batch: dict[str, Any]) -> Pair:
    """Return the rows before and after a batch by table and key, None for no such row.

    Of tables whose rows say more of a switch than the plan, each field that it names is an entry of its own.
    """
    before, after = (dict(entries(batch[side], batch.get("by_field", []))) for side in ("before", "after"))
    places = {**before, **after}
    return {place: before.get(place) for place in places}, {place: after.get(place) for place in places}


def entries(tables: Tables, by_field: list[str]) -> Iterator[tuple[Place, Row]]:
    for table, rows in tables.items():
        for key, row in rows.items():
            if table in by_field and row is not None:
                for field, value in row.items():
                    yield (table, key, field), None if value is None else normal({field: value})
            else:
                yield (table, key), normal(row)


def row_of(config: Tables, place: Place) -> Row:
    table, key, *field = place
    row = (config.get(table) or {}).get(key)
    if not field:
        return normal(row)
    value = (row or {}).get(field[0])
    return None if value is None else normal({field[0]: value})


def normal(row: dict[str, Any] | None) -> Row:
    """Return a row as CONFIG_DB has it: text alone, lists as text with commas, NULL for a row without fields."""
    if row is None:
        return None
    return {field: text(value) for field, value in row.items() if field != "NULL"}


def text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def differences(has: Rows, wanted: Rows) -> dict[Place, tuple[Row, Row]]:
    return {place: (has[place], row) for place, row in wanted.items() if has[place] != row}


def described(strange: set[Place], nearest: dict[Place, tuple[Row, Row]]) -> Iterator[str]:
    """Yield one line a row that is neither old nor new, or else what is missing where only some are new."""
    rows = {place: pair for place, pair in nearest.items() if place in strange}
    if not rows:
        rows = nearest
        yield "only some of the rows of a batch are as it leaves them; these are not:"
    for place in sorted(rows)[:MOST_SHOWN]:
        has, wanted = rows[place]
        yield f"{'|'.join(place)}: {told(has, wanted)}"
    if len(rows) > MOST_SHOWN:
        yield f"and {len(rows) - MOST_SHOWN} more rows"


def told(has: Row, wanted: Row) -> str:
    if has is None:
        return "is missing"
    if wanted is None:
        return "is there, and should not be"
    fields = sorted(field for field in {**has, **wanted} if has.get(field) != wanted.get(field))
    return ", ".join(
        f"{field} is {has.get(field, 'not set')}, not {wanted.get(field, 'unset')}" for field in fields
    )


def put(config: Tables, batch: dict[str, Any]) -> Tables:
    """Return a configuration with rows set; a table without rows goes, as the database has none."""
    for table, keys in batch["after"].items():
        held = config.setdefault(table, {})
        for key, row in keys.items():
            if row is None:
                held.pop(key, None)
            elif table in batch.get("by_field", []):
                put_fields(held.setdefault(key, {}), row)
            else:
                held[key] = {field: spelled(value, held.get(key), field) for field, value in row.items()}
        if not held:
            del config[table]
    return config


def put_fields(held: dict[str, Any], row: dict[str, Any]) -> None:
    for field, value in row.items():
        if value is None:
            held.pop(field, None)
        else:
            held[field] = spelled(value, held, field)


def spelled(value: Any, held: dict[str, Any] | None, field: str) -> Any:
    """Return a value as the row that it replaces has it: a list, or text with commas."""
    old = (held or {}).get(field)
    if isinstance(old, list) and isinstance(value, str):
        return value.split(",")
    return text(value) if isinstance(old, str) else value


def up_ports(table: str) -> set[str]:
    """Return the ports that a table says are operationally up."""
    lines = [GAP.split(line.strip()) for line in table.splitlines()]
    header = next((cells for cells in lines if cells[0] == "Interface"), [])
    oper = header.index("Oper")
    return {
        cells[0] for cells in lines if cells[0].startswith("Ethernet") and cells[oper : oper + 1] == ["up"]
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

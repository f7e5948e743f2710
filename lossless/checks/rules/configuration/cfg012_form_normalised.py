"""A file should have the form of `config_db.json`; each other form is reported once.

Severity: info
Subject: device
Needs: normalized forms

## What it does
Reports other forms than that of `config_db.json` in which a file, or a value in it, is written, how often they occur,
and how they were read: keys `TABLE|key`, fields that end in `@`, `NULL` rows and rows wrapped with their type, as dumps
of redis have them; one file for several ASICs; a list of configurations; numbers without quotes; a byte-order mark.
References in brackets, keys that join ports and numbers with other characters than digits are not repeated here:
[CFG002](CFG002.md), [SWS008](SWS008.md) and [CFG001](CFG001.md) report their effect on the device.

## Why it breaks a lossless fabric
It does not, but the other findings depend on how the file was read. A dump of redis shows the running configuration,
which may differ from the one that the next boot loads. Of these forms SONiC's own tools accept only numbers, and on a
device of several ASICs one file for all of them.

## Bad
```json config_db base=leaf
{
  "WRED_PROFILE": {
    "AZURE_LOSSLESS": {
      "green_max_threshold": 2097152   // <- here
    }
  }
}
```

## Good
```json config_db base=leaf
{
  "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_max_threshold": "2097152"}}
}
```

## Fix
No change is needed. `sonic-cfggen -d --print-data`, with `-n asic0` for an ASIC, prints the running configuration in
the form of `config_db.json`.

## Sources
- sonic-py-swsssdk src/swsssdk/configdb.py @0589283 (how redis holds lists and empty rows; values are written as text)
- sonic-buildimage src/sonic-py-common/sonic_py_common/multi_asic.py @bc57a0c (namespaces are called asicN)
- sonic-utilities config/main.py @008ae9c (`config save FILE` writes all ASICs into one file)
- RFC 8259 section 8.1 (a text must not begin with a byte-order mark, and who reads it may ignore one)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Results, Violation
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.ground.basics.findings import Path


_PLAIN = "sonic-cfggen -d --print-data prints what runs in the form of config_db.json"


class _Wording(NamedTuple):
    """The message of one form, for one place and for several, with its note and help."""

    one: str
    many: str
    note: str = ""
    help: str = ""


_KINDS = {
    "dump": _Wording(
        "1 row has a Redis key, TABLE|key, and is read as a row of its table",
        "{} rows have Redis keys, TABLE|key, and are read as rows of their tables",
        "a dump shows what runs; the next boot loads config_db.json",
        _PLAIN,
    ),
    "wrapped": _Wording(
        "1 row is wrapped with its type, as redis-dump does; the content of value is read",
        "{} rows are wrapped with their type, as redis-dump does; the content of value is read",
    ),
    "listed": _Wording(
        "1 field ends in @, by which redis marks a list, and is read as a list",
        "{} fields end in @, by which redis marks a list, and are read as lists",
    ),
    "null": _Wording(
        "1 row holds NULL, which means no fields, and is read as empty",
        "{} rows hold NULL, which means no fields, and are read as empty",
    ),
    "sections": _Wording(
        "the file has a section above its tables; it is checked as a device",
        "the file has {} sections above its tables, localhost or asicN; each is checked as a device of its own",
    ),
    "list": _Wording(
        "the file is a list of one configuration",
        "the file is a list of {} configurations; each is checked as a device of its own",
    ),
    "numbers": _Wording(
        "1 value is a JSON number, and is read as text",
        "{} values are JSON numbers, and are read as text",
        "SONiC does the same when it loads the file",
    ),
    "mark": _Wording(
        "the file begins with a byte-order mark, which is skipped",
        "",
        "SONiC's tools refuse to read JSON that begins so",
        "save the file as UTF-8 without a byte-order mark",
    ),
}
_NAMED = 5


def check(device: Device) -> Results:
    """Yield a violation per form, other than that of ``config_db.json``, of the file or of values in it."""
    for remark in device.tables.remarks:
        yield _form_normalised(device, remark.kind, remark.places, remark.paths)
    numbers = device.tables.numbers
    if numbers:
        yield _form_normalised(device, "numbers", len(numbers), tuple(numbers[:_NAMED]))


def _form_normalised(device: Device, kind: str, places: int, paths: tuple[Path, ...]) -> Violation:
    wording = _KINDS[kind]
    origin = Origin(device.tables.file, paths[0] if paths else ())
    return Violation(
        origin=origin if kind == "numbers" else origin.key(),
        message=wording.one if places == 1 else wording.many.format(places),
        note=wording.note,
        help=wording.help,
        elements=tuple("|".join(map(str, path)) for path in paths),
        places=places,
        data={"kind": kind, "places": places},
    )

"""Records as plain data: an object has the fields of its record, in their order."""

from __future__ import annotations

import json

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple, Record
from lossless.ground.documents.excerpts import Locations
from lossless.output.report.plain import plain

NOWHERE = Locations({}, ())


class Queue(NamedTuple):
    number: int
    weight: int | None
    origin: Origin


class Port(Record):
    name: str
    queues: tuple[Queue, ...]


def test_fields_keep_names_and_order_at_every_depth() -> None:
    origin = Origin("./leaf1.json", ("QUEUE", "Ethernet0|3", "scheduler"))
    port = Port("Ethernet0", (Queue(3, None, origin),))
    place = '{"file": "leaf1.json", "path": ["QUEUE", "Ethernet0|3", "scheduler"]}'
    wanted = f'{{"name": "Ethernet0", "queues": [{{"number": 3, "weight": null, "origin": {place}}}]}}'
    assert json.dumps(plain(port, NOWHERE)) == wanted


def test_records_below_names_become_objects_too() -> None:
    by_name = {"leaf1": Port("Ethernet0", ())}
    assert plain(by_name) == {"leaf1": {"name": "Ethernet0", "queues": []}}

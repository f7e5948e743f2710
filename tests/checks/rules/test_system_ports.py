"""SWS019: rows of queues on a card of a VOQ chassis, by what is taken from a card that is sound."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import lint_documents
from lossless.ground.documents import load_text
from tests.formats.sonic.test_sonic_voq import CHASSIS, rendered

if TYPE_CHECKING:
    from collections.abc import Callable

Data = dict[str, Any]
OTHERS = tuple(f"card2|Asic1|Ethernet{n}" for n in (0, 8, 16))
WORDS = (
    "have no profile",
    "have no wred_profile",
    "of lossy queues",
    "is no system",
    "are no system",
    " more ",
)
OWN = ("leaf1|Asic0|Ethernet0", "leaf1|Asic0|Ethernet8")


@cache
def sound() -> Data:
    return rendered(**CHASSIS)[1]


def found(change: Callable[[Data], object]) -> list[dict[str, Any]]:
    """Return what the rule says of the card after a change."""
    tables = copy.deepcopy(sound())
    change(tables)
    report = lint_documents([load_text(json.dumps(tables), "leaf1/config_db.json")])
    return [
        {
            **json.loads(json.dumps(dict(one.data))),
            "on": one.elements,
            "at": one.origin.path[1:],
            "help": one.help,
            "words": [word for word in WORDS if word in one.message],
        }
        for one in report.findings
        if one.code == "SWS019"
    ]


def without(table: str, *ports: str, number: str = "3") -> Callable[[Data], object]:
    return lambda tables: [tables[table].pop(f"{port}|{number}", None) for port in ports]


def unset(table: str, *ports: str, at: tuple[str, ...] = ()) -> dict[str, Any]:
    help_ = f"give {table}|{ports[0]}|3 what the card's own ports have"
    words = ["have no wred_profile" if table == "QUEUE" else "have no profile"]
    return {"table": table, "queues": [3], "on": ports, "at": at, "help": help_, "words": words}


@pytest.mark.parametrize("table", ["QUEUE", "BUFFER_QUEUE"])
@pytest.mark.parametrize("ports", [OTHERS, OTHERS[1:2]], ids=["all", "one"])
def test_system_ports_without_a_row_are_one_finding(table: str, ports: tuple[str, ...]) -> None:
    assert found(lambda _: None) == []
    assert found(without(table, *ports)) == [unset(table, *ports)]


@pytest.mark.parametrize("table", ["QUEUE", "BUFFER_QUEUE"])
def test_a_range_of_queues_counts_and_the_row_that_is_applied_last(table: str) -> None:
    def ranged(tables: Data) -> None:
        tables[table][f"{OTHERS[0]}|2-4"] = tables[table].pop(f"{OTHERS[0]}|3")

    def emptied(tables: Data) -> None:
        tables[table][f"{OTHERS[0]}|3-5"] = {}

    assert found(ranged) == []
    assert found(emptied) == [unset(table, OTHERS[0], at=(f"{OTHERS[0]}|3-5",))]


def test_a_port_of_the_card_itself_without_marks_is_said_by_another_rule() -> None:
    assert found(without("QUEUE", OWN[0])) == []
    assert found(without("BUFFER_QUEUE", OWN[0])) == []


def test_where_no_port_of_the_card_has_buffers_all_system_ports_lack_them() -> None:
    ports = (*OTHERS, OWN[0])
    assert found(without("BUFFER_QUEUE", *OWN, *OTHERS)) == [unset("BUFFER_QUEUE", *ports)]
    assert found(without("BUFFER_QUEUE", *OWN)) == [unset("BUFFER_QUEUE", OWN[0])]


def test_where_no_port_of_the_card_marks_its_system_ports_are_not_asked_to() -> None:
    assert found(without("QUEUE", *OWN, *OTHERS)) == []


@pytest.mark.parametrize("where", ["name", "pool"])
def test_a_profile_of_lossy_queues_is_none(where: str) -> None:
    def lossy(tables: Data) -> None:
        profile = "egress_lossy_profile" if where == "name" else "own"
        tables["BUFFER_PROFILE"]["own"] = {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3"}
        tables["BUFFER_QUEUE"][f"{OTHERS[1]}|3"] = {"profile": profile}

    expected = unset("BUFFER_QUEUE", OTHERS[1], at=(f"{OTHERS[1]}|3",))
    assert found(lossy) == [{**expected, "words": ["of lossy queues"]}]


def test_another_profile_with_room_is_one() -> None:
    def roomy(tables: Data) -> None:
        tables["BUFFER_PROFILE"]["own"] = {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "3"}
        tables["BUFFER_QUEUE"][f"{OTHERS[1]}|3"] = {"profile": "own"}

    assert found(roomy) == []

    def nameless(tables: Data) -> None:
        roomy(tables)
        del tables["BUFFER_PROFILE"]["own"]["pool"]

    assert found(nameless) == []


def unknown(table: str, *names: str) -> dict[str, Any]:
    help_ = "write the names of SYSTEM_PORT, or remove the rows"
    words = ["is no system" if len(names) == 1 else "are no system", *([" more "] if len(names) > 3 else [])]
    place = {"on": names, "at": (f"{names[0]}|3",), "help": help_, "words": words}
    return {"table": table, "rows": len(names), **place}


@pytest.mark.parametrize("table", ["QUEUE", "BUFFER_QUEUE"])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_rows_of_what_is_no_system_port_are_dropped(table: str, count: int) -> None:
    names = tuple(f"card9|Asic1|Ethernet{8 * n}" for n in range(count))
    assert found(lambda tables: tables[table].update({f"{name}|3": {} for name in names})) == [
        unknown(table, *names)
    ]


@pytest.mark.parametrize("spelling", ["Card2|Asic1|Ethernet8", "card2|asic1|Ethernet8"])
def test_a_name_in_other_letters_is_said_once_and_not_that_the_port_lacks_a_row(spelling: str) -> None:
    def renamed(tables: Data) -> None:
        tables["QUEUE"][f"{spelling}|3"] = tables["QUEUE"].pop(f"{OTHERS[1]}|3")

    assert found(renamed) == [unknown("QUEUE", spelling)]


@pytest.mark.parametrize(
    "port", ["card2|Asic1|Cpu0", "card2|Asic1|Ethernet-IB0", "card2|Asic1|Ethernet-Rec0"]
)
def test_ports_inside_a_card_need_no_rows(port: str) -> None:
    assert port in sound()["SYSTEM_PORT"]
    assert not any(key.startswith(port) for key in sound()["QUEUE"])


@pytest.mark.parametrize(
    "change",
    [
        lambda tables: tables["DEVICE_METADATA"]["localhost"].update(switch_type="switch"),
        lambda tables: tables.pop("PORT"),
        lambda tables: tables["BUFFER_QUEUE"].update({"Ethernet0|3": {"profile": "egress_lossless_profile"}}),
    ],
    ids=["no chassis", "a fragment", "keys of two parts"],
)
def test_without_keys_of_a_chassis_buffers_are_not_compared(change: Callable[[Data], object]) -> None:
    def both(tables: Data) -> None:
        without("BUFFER_QUEUE", *OTHERS)(tables)
        change(tables)

    assert found(both) == []


@pytest.mark.parametrize("name", ["Ethernet0", "leaf1|Asic0", ""])
def test_a_name_of_other_parts_is_no_system_port_and_the_rest_is_checked(name: str) -> None:
    def change(tables: Data) -> None:
        tables["SYSTEM_PORT"][name] = dict(tables["SYSTEM_PORT"][OWN[0]])
        without("QUEUE", OTHERS[0])(tables)

    (said,) = found(change)
    assert OTHERS[0] in str(said)

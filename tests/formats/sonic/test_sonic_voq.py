"""Queue rows of a VOQ chassis: keys with host and ASIC, thresholds on the ports of other cards."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lossless.api import lint_documents
from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.resolve.layout import MONITORED
from lossless.formats.sonic.from_model import chassis_rows
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.documents import load_text
from lossless.model.hardware.load import switch_for_hwsku
from tests.strategies import fabric_of
from tests.switch_view import switch_view
from tools.example_base import base_of

Data = dict[str, Any]
INTENT: Data = {
    "lossless": "v1",
    "fabric": "f",
    "transport": "rocev2",
    "preset": "nvidia",
    "hardware": {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": "connectx-7"},
    "topology": {
        "leaf_spine": {
            "leaves": 1,
            "spines": 1,
            "hosts_per_leaf": 1,
            "host_links": "1 x 400G",
            "uplinks": "1 x 800G",
            "cables": {"host": "3m", "uplink": "30m"},
        }
    },
}
CHASSIS: Data = {"switch_type": "voq", "hostname": "leaf1", "asic_name": "Asic0"}
SYSTEM_PORTS = {
    "leaf1|Asic0|Ethernet0": {"speed": "400000"},
    "card2|Asic1|Ethernet0": {"speed": "400000"},
    "card2|Asic1|Ethernet8": {"speed": "800000"},
    "card2|Asic1|Ethernet16": {"speed": "10000"},
    "card2|Asic1|Cpu0": {"speed": "10000"},
    "card2|Asic1|Ethernet-IB0": {"speed": "10000"},
    "card2|Asic1|Ethernet-Rec0": {"speed": "10000"},
}


def rendered(**metadata: str) -> tuple[Any, Data]:
    fabric = fabric_of(INTENT)
    switch = fabric.switches[0]
    base = base_of(fabric, switch)
    base["DEVICE_METADATA"]["localhost"] |= metadata
    base["SYSTEM_PORT"] = SYSTEM_PORTS
    document = load_text(json.dumps(base), "base/leaf1/config_db.json")
    return switch, json.loads(switch_file(switch, document).text)


def ports_of(rows: Data) -> set[str]:
    return {key.rpartition("|")[0] for key in rows}


def test_a_chassis_names_host_and_asic_in_the_keys_of_queues_and_of_nothing_else() -> None:
    _, tables = rendered(**CHASSIS)
    for table in ("QUEUE", "BUFFER_QUEUE"):
        assert all(len(key.split("|")) == 4 for key in tables[table])
        assert {"leaf1|Asic0|Ethernet0", "leaf1|Asic0|Ethernet8"} <= ports_of(tables[table])
    assert ports_of(tables["BUFFER_PG"]) == {"Ethernet0", "Ethernet8"}
    assert {"Ethernet0", "Ethernet8"} <= tables["PORT_QOS_MAP"].keys()


def test_ports_of_other_cards_get_thresholds_and_no_scheduler() -> None:
    _, tables = rendered(**CHASSIS)
    theirs = {key: row for key, row in tables["QUEUE"].items() if key.startswith("card2")}
    assert {tuple(row) for row in theirs.values()} == {("wred_profile",)}
    assert ports_of(theirs) == {f"card2|Asic1|Ethernet{n}" for n in (0, 8, 16)}
    assert ports_of(tables["BUFFER_QUEUE"]) == {
        *ports_of(theirs),
        "leaf1|Asic0|Ethernet0",
        "leaf1|Asic0|Ethernet8",
    }


def test_what_is_read_back_from_a_chassis_is_what_was_declared() -> None:
    switch, tables = rendered(**CHASSIS)
    (read,) = read_fabric([Tables("config_db.json", tables)], switch_for_hwsku).switches
    assert read.qos.voq
    counters = frozenset(MONITORED)
    assert switch_view(read, counters) == switch_view(switch, counters)


def test_a_switch_of_its_own_has_plain_keys() -> None:
    for metadata in ({}, {"switch_type": "switch", "asic_name": "Asic0"}, {"switch_type": "voq"}):
        _, tables = rendered(**metadata)
        assert all(len(key.split("|")) == 2 for key in tables["QUEUE"])


def test_a_port_of_no_speed_of_this_card_is_as_the_first_port() -> None:
    rows = {"QUEUE": {"Ethernet0|3": {"wred_profile": "a"}, "Ethernet8|3": {"wred_profile": "b"}}}
    device = {
        "DEVICE_METADATA": {"localhost": CHASSIS},
        "PORT": {"Ethernet0": {"speed": "400000"}, "Ethernet8": {"speed": "800000"}},
        "SYSTEM_PORT": SYSTEM_PORTS,
    }
    found = chassis_rows(rows, device)["QUEUE"]
    assert {key: row["wred_profile"] for key, row in found.items() if key.startswith("card2")} == {
        "card2|Asic1|Ethernet0|3": "a",
        "card2|Asic1|Ethernet8|3": "b",
        "card2|Asic1|Ethernet16|3": "a",
    }


class TestQueuesOfOtherCards:
    """SWS019, on a card that renders sound: what is taken away or written otherwise, and what is then said."""

    @staticmethod
    def said(change: Callable[[Data], None]) -> dict[str, tuple[str, ...]]:
        """Return what is said of a card after a change: the first words of each finding, and what it shows on."""
        _, tables = rendered(**CHASSIS)
        change(tables)
        report = lint_documents([load_text(json.dumps(tables), "leaf1/config_db.json")])
        return {
            f"{found.code} {found.message.partition(' of ')[0]}": found.elements
            for found in report.findings
            if found.severity != "info"
        }

    @staticmethod
    def renamed(table: str, old: str, new: str) -> Callable[[Data], None]:
        """Return a change of the names in the keys of a table; a row without a name is gone."""

        def change(tables: Data) -> None:
            changed = {key.replace(old, new) if new else key: row for key, row in tables[table].items()}
            tables[table] = {key: row for key, row in changed.items() if new or not key.startswith(old)}

        return change

    def test_a_card_with_queues_for_all_ports_of_the_chassis_is_sound(self) -> None:
        assert self.said(lambda _: None) == {}

    @pytest.mark.parametrize("table", ["QUEUE", "BUFFER_QUEUE"])
    def test_ports_of_other_cards_without_rows_are_named_once(self, table: str) -> None:
        (found,) = self.said(self.renamed(table, "card2|Asic1|", "")).items()
        assert found == (
            "SWS019 virtual output queues 3",
            tuple(f"card2|Asic1|Ethernet{n}" for n in (0, 8, 16)),
        )

    @pytest.mark.parametrize(("old", "new"), [("card2|", "Card2|"), ("|Asic1|", "|asic1|")])
    def test_names_of_other_cards_are_taken_to_the_letter(self, old: str, new: str) -> None:
        found = self.said(self.renamed("QUEUE", old, new))
        assert [said.split()[0] for said in found] == ["SWS019"]
        assert "no system ports" in next(iter(found))

    def test_the_asic_of_the_card_itself_is_taken_in_any_letters(self) -> None:
        assert self.said(self.renamed("QUEUE", "leaf1|Asic0|", "leaf1|ASIC0|")) == {}

    def test_a_lossless_queue_of_another_card_has_no_profile_of_lossy_queues(self) -> None:
        def lossy(tables: Data) -> None:
            tables["BUFFER_QUEUE"]["card2|Asic1|Ethernet8|3"]["profile"] = "egress_lossy_profile"

        (found,) = self.said(lossy).items()
        assert found == ("SWS019 virtual output queues 3", ("card2|Asic1|Ethernet8",))

    def test_keys_of_two_parts_bind_nothing(self) -> None:
        found = self.said(self.renamed("QUEUE", "leaf1|Asic0|", ""))
        assert {"ECN001"} == {said.split()[0] for said in found}
        plain = self.said(
            lambda tables: tables["QUEUE"].update(
                {
                    key.removeprefix("leaf1|Asic0|"): tables["QUEUE"].pop(key)
                    for key in [*tables["QUEUE"]]
                    if "leaf1" in key
                }
            )
        )
        assert {"ECN001", "SCM006"} == {said.split()[0] for said in plain}

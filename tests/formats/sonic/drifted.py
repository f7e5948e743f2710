"""Configurations that have drifted from what was rendered: by hand, by an older release, by another tool."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from lossless.formats.sonic.changes.json_patch import REFERRED
from lossless.formats.sonic.from_model import OWNED

Data = dict[str, Any]
ODD_NAMES = st.sampled_from(["Ethernet0|7", "a/b", "t~1", "~0/", "OLD", "Ethernet0|3-4"])


def _rows(data: Data) -> list[tuple[str, str]]:
    return [(table, key) for table in OWNED for key in data.get(table, {})]


def _set_value(draw: Any, data: Data) -> None:
    table, key = draw(st.sampled_from(_rows(data)))
    if data[table][key]:
        field = draw(st.sampled_from(sorted(data[table][key])))
        data[table][key][field] = draw(st.sampled_from(["0", "7", "100", "x", "lossless/odd"]))


def _drop_field(draw: Any, data: Data) -> None:
    table, key = draw(st.sampled_from(_rows(data)))
    if data[table][key]:
        data[table][key].pop(draw(st.sampled_from(sorted(data[table][key]))))


def _drop_row(draw: Any, data: Data) -> None:
    table, key = draw(st.sampled_from(_rows(data)))
    del data[table][key]


def _drop_table(draw: Any, data: Data) -> None:
    data.pop(draw(st.sampled_from(OWNED)), None)


def _stale_row(draw: Any, data: Data) -> None:
    table, key = draw(st.sampled_from(_rows(data)))
    data[table][draw(ODD_NAMES)] = copy.deepcopy(data[table][key])


def _integers(draw: Any, data: Data) -> None:
    table = draw(
        st.sampled_from([t for t in ("PFC_WD", "WRED_PROFILE", "BUFFER_PROFILE") if data.get(t)] or ["X"])
    )
    for fields in data.get(table, {}).values():
        for field, value in fields.items():
            fields[field] = int(value) if isinstance(value, str) and value.isdecimal() else value


def _brackets(draw: Any, data: Data) -> None:
    table, field, other = draw(
        st.sampled_from(
            [
                ("BUFFER_PG", "profile", "BUFFER_PROFILE"),
                ("QUEUE", "scheduler", "SCHEDULER"),
                ("BUFFER_PROFILE", "pool", "BUFFER_POOL"),
                ("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP"),
            ]
        )
    )
    for fields in data.get(table, {}).values():
        if isinstance(fields.get(field), str) and not fields[field].startswith("["):
            fields[field] = f"[{other}|{fields[field]}]"


def _joined(draw: Any, data: Data) -> None:
    """Join the rows of two ports that are identical, as sonic-cfggen once wrote them."""
    rows = data.get(draw(st.sampled_from(["QUEUE", "BUFFER_QUEUE", "BUFFER_PG"])), {})
    identical: dict[tuple[str, str], list[str]] = {}
    for key, fields in rows.items():
        port, _, number = key.partition("|")
        if "," not in port:
            identical.setdefault((number, str(fields)), []).append(port)
    pairs = [(number, ports[:2]) for (number, _), ports in identical.items() if len(ports) > 1]
    if pairs:
        number, (one, two) = pairs[0]
        rows[f"{one},{two}|{number}"] = rows.pop(f"{one}|{number}")
        del rows[f"{two}|{number}"]


SPELLINGS = (_integers, _brackets, _joined)
CHANGES = (_set_value, _drop_field, _drop_row, _drop_table, _stale_row)


@st.composite
def drifted(draw: Any, data: Data, changes: Any = (*SPELLINGS, *CHANGES)) -> Data:
    """Draw a configuration that is ``data`` after a few of these changes."""
    found = copy.deepcopy(data)
    for change in draw(st.lists(st.sampled_from(changes), max_size=4)):
        if _rows(found):
            change(draw, found)
    return {table: rows for table, rows in found.items() if rows or table not in OWNED}


def references(data: Data) -> set[tuple[str, str]]:
    """Return the table and the name of every row of the referred tables that some field names."""
    fields = {
        "profile": "BUFFER_PROFILE",
        "profile_list": "BUFFER_PROFILE",
        "pool": "BUFFER_POOL",
        "scheduler": "SCHEDULER",
        "wred_profile": "WRED_PROFILE",
        "dscp_to_tc_map": "DSCP_TO_TC_MAP",
        "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
        "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
        "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    }
    assert {*fields.values()} <= {*REFERRED}
    return {
        (fields[field], name.removeprefix(f"[{fields[field]}|").removesuffix("]"))
        for table in OWNED
        for row in data.get(table, {}).values()
        for field, value in row.items()
        if field in fields
        for name in str(value).split(",")
        if name != "NULL"
    }


def dangling(data: Data) -> set[tuple[str, str]]:
    """Return the names that no row has."""
    return {(table, name) for table, name in references(data) if name not in data.get(table, {})}

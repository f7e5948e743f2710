"""A switch's file: complete on its base, honest without one, and what it says is what was meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import load_fabrics
from lossless.formats.device_files.environment import render_template
from lossless.formats.device_files.switches import TEMPLATE, switch_file
from lossless.formats.sonic.from_model import OWNED
from lossless.ground.basics.errors import RenderError
from lossless.ground.documents import load, load_text
from lossless.ground.documents.text import Document
from lossless.model.fabric.model import Fabric
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    (found,) = load_fabrics([load(EXAMPLE / "fabric.yaml")]).fabrics
    return found


def base(name: str, **changes: Any) -> Document:
    data = json.loads((EXAMPLE / "base" / name / "config_db.json").read_text())
    for table, rows in changes.items():
        data[table] = {**data.get(table, {}), **rows}
    return load_text(json.dumps(data), f"base/{name}/config_db.json")


def rendered(fabric: Fabric, document: Document | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(switch_file(fabric.switches[0], document).text)
    return found


def test_without_a_base_only_owned_tables_are_written_and_not_called_a_configuration(fabric: Fabric) -> None:
    file = switch_file(fabric.switches[0], None)
    assert file.path == "leaf1/qos.json"
    assert set(json.loads(file.text)) <= {*OWNED, "FLEX_COUNTER_TABLE"}


def test_on_a_base_everything_else_is_kept(fabric: Fabric) -> None:
    document = base("leaf1", TACPLUS={"global": {"passkey": "x", "nested": [1, {"a": None}]}})
    found = rendered(fabric, document)
    kept = {table: rows for table, rows in document.data.items() if table not in OWNED}
    kept.pop("FLEX_COUNTER_TABLE")
    assert {table: found[table] for table in kept} == kept


HOSTILE = 'a "quoted" \\ value,\n{{ 7 * 7 }} {% raw %}\t</x>\u2028\x00 é \U0001f600'


def test_no_text_of_a_base_changes_what_is_written(fabric: Fabric) -> None:
    """Every key and value of the file passes through the one filter ``json``."""
    document = base("leaf1", BANNER_MESSAGE={HOSTILE: {HOSTILE: HOSTILE, "motd": [HOSTILE, {HOSTILE: 1}]}})
    document.data[HOSTILE] = {"row": {"field": HOSTILE}}
    found = rendered(fabric, document)
    assert found["BANNER_MESSAGE"] == document.data["BANNER_MESSAGE"]
    assert found[HOSTILE] == {"row": {"field": HOSTILE}}


def test_stale_rows_of_owned_tables_go(fabric: Fabric) -> None:
    stale = {"Ethernet0|3-4": {"profile": "gone"}}
    found = rendered(fabric, base("leaf1", BUFFER_PG=stale, DSCP_TO_TC_MAP={"OLD": {"26": "1"}}))
    assert "Ethernet0|3-4" not in found["BUFFER_PG"]
    assert set(found["DSCP_TO_TC_MAP"]) == {"AZURE"}


def test_counter_groups_of_the_device_stay(fabric: Fabric) -> None:
    counters = rendered(fabric, base("leaf1"))["FLEX_COUNTER_TABLE"]
    assert counters["PORT_RATES"] == {"FLEX_COUNTER_STATUS": "enable"}
    assert counters["PORT"] == {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "1000"}
    assert counters["PFCWD"] == {"FLEX_COUNTER_STATUS": "enable"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": "ACS-MSN4700"}}},
            "base/leaf1/config_db.json: is for HWSKU ACS-MSN4700; the intent makes leaf1 a ACS-SN5600",
        ),
        (
            {"DEVICE_METADATA": {"localhost": {"hostname": "leaf2", "hwsku": "ACS-SN5600"}}},
            "base/leaf1/config_db.json: is the file of leaf2, not of leaf1",
        ),
        (
            {"DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "buffer_model": "dynamic"}}},
            "base/leaf1/config_db.json: sets buffer_model dynamic, and the intent has the traditional "
            "model; state buffers.model: dynamic, or make the device traditional first",
        ),
        (
            {"PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}}},
            "base/leaf1/config_db.json: PORT: speed is 100000 on Ethernet0, Ethernet4; the intent makes it 400000",
        ),
        (
            {
                "PORT": {
                    "Ethernet0": {"mtu": "1500"},
                    "Ethernet4": {"mtu": 1500},
                    "Ethernet8": {"mtu": "9216"},
                }
            },
            "base/leaf1/config_db.json: PORT: mtu is 1500 on Ethernet0, Ethernet4; the intent makes it 9100",
        ),
    ],
)
def test_a_base_that_does_not_fit_is_refused(fabric: Fabric, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RenderError) as refused:
        switch_file(fabric.switches[0], base("leaf1", **changes))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("table", "value", "message"),
    [
        ("PORT", ["Ethernet0"], "PORT is not a table of rows"),
        ("PORT", None, "PORT is not a table of rows"),
        ("PORT", {"Ethernet0": "up"}, "PORT|Ethernet0 is not a row"),
        ("DEVICE_METADATA", "leaf1", "DEVICE_METADATA is not a table of rows"),
        ("DEVICE_METADATA", {"localhost": ["leaf1"]}, "DEVICE_METADATA|localhost is not a row"),
        ("FLEX_COUNTER_TABLE", [], "FLEX_COUNTER_TABLE is not a table of rows"),
        ("FLEX_COUNTER_TABLE", {"PFCWD": None}, "FLEX_COUNTER_TABLE|PFCWD is not a row"),
    ],
)
def test_a_base_whose_tables_are_none_is_refused(
    fabric: Fabric, table: str, value: object, message: str
) -> None:
    document = load_text(json.dumps({**base("leaf1").data, table: value}), "base.json")
    with pytest.raises(RenderError) as refused:
        switch_file(fabric.switches[0], document)
    assert str(refused.value) == f"base.json: {message}"


def test_a_base_without_the_ports_is_refused(fabric: Fabric) -> None:
    data = {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},
        # A cage that is not broken out has another speed as well, which is the same cause.
        "PORT": {"Ethernet0": {"speed": "800000"}},
    }
    with pytest.raises(RenderError) as refused:
        switch_file(fabric.switches[0], load_text(json.dumps(data), "base.json"))
    assert str(refused.value) == (
        "base.json: PORT has no Ethernet4, Ethernet8, Ethernet12, Ethernet16, Ethernet20 and 42 more; "
        "the intent uses them (break the cages out first)"
    )


def test_what_orchagent_needs_beyond_yang(fabric: Fabric) -> None:
    found = rendered(fabric, base("leaf1"))
    port = found["PORT_QOS_MAP"]["Ethernet0"]
    assert port["pfcwd_sw_enable"] == port["pfc_enable"] == "3"
    wred = found["WRED_PROFILE"]["AZURE_LOSSLESS"]
    assert wred["ecn"] == "ecn_all"
    assert {wred[f"wred_{colour}_enable"] for colour in ("green", "yellow", "red")} == {"true"}
    assert found["CABLE_LENGTH"]["AZURE"]["Ethernet0"] == "5m"
    assert found["BUFFER_PG"]["Ethernet0|3"] == {"profile": "pg_lossless_400000_5m_profile"}
    assert found["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"]["xoff"] == "231424"
    assert all("-" not in key.partition("|")[2] for key in found["QUEUE"])
    assert found["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["6"] == "0"


_TEXT = st.text(max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_TEXT, st.dictionaries(_TEXT, _JSON, max_size=3), max_size=4))
def test_tables_are_laid_out_as_json_would_be(tables: dict[str, Any]) -> None:
    text = render_template(TEMPLATE, {"tables": list(tables.items())})
    assert text == (json.dumps(tables, indent=4, ensure_ascii=False) if tables else "{\n}") + "\n"


def test_lossless_groups_side_by_side_are_one_row_as_the_switch_itself_writes_them() -> None:
    """Rows of other keys would stand beside those of buffermgrd and overlap them."""
    preset = (EXAMPLE / "fabric.yaml").read_text()
    head = preset[: preset.index("classes:")] + "preset: azure\n"
    intent = head + preset[preset.index("hardware:") :]
    (found,) = load_fabrics([load_text(intent, "fabric.yaml")]).fabrics
    groups = [key for key in rendered(found, None)["BUFFER_PG"] if key.startswith("Ethernet0|")]
    assert groups == ["Ethernet0|0", "Ethernet0|3-4"]

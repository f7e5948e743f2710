"""Buffer models and unused ports on the file of a device: what is laid over, what goes, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import RenderError
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from tests.formats.intent.intent_texts import SHAPE
from tools.example_base import base_of

Tables = dict[str, Any]


def fabric(buffers: str) -> Fabric:
    return resolve(load_intent(load_text(f"{SHAPE}buffers: {buffers}\n", "fabric.yaml")))


def base(found: Fabric) -> Tables:
    return base_of(found, found.switches[0])


def rendered(found: Fabric, data: Tables) -> Tables:
    document = load_text(json.dumps(data), "base/leaf1/config_db.json")
    tables: Tables = json.loads(switch_file(found.switches[0], document).text)
    return tables


def refusal(found: Fabric, data: Tables) -> str:
    with pytest.raises(RenderError) as caught:
        rendered(found, data)
    return str(caught.value).removeprefix("base/leaf1/config_db.json: ")


@pytest.mark.parametrize("model", ["dynamic", "traditional", None])
def test_a_dynamic_intent_sets_the_model_of_a_device_and_nothing_else_there(model: str | None) -> None:
    found = fabric("{model: dynamic}")
    data = base(found)
    own = data["DEVICE_METADATA"]["localhost"]
    own.pop("buffer_model")
    if model:
        own["buffer_model"] = model
    assert rendered(found, data)["DEVICE_METADATA"] == {"localhost": {**own, "buffer_model": "dynamic"}}


def test_a_traditional_intent_leaves_the_metadata_of_a_device_alone() -> None:
    found = fabric("{}")
    data = base(found)
    assert rendered(found, data)["DEVICE_METADATA"] == data["DEVICE_METADATA"]


def test_a_traditional_intent_takes_away_what_only_the_dynamic_model_reads() -> None:
    found = fabric("{}")
    stale = {
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
        "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "50"}},
    }
    assert not rendered(found, base(found) | stale).keys() & stale.keys()


def test_a_dynamic_intent_takes_away_the_profiles_of_the_traditional_model() -> None:
    found = fabric("{model: dynamic}")
    old = {
        "BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {"pool": "ingress_lossless_pool", "size": "1"}}
    }
    assert not [
        name for name in rendered(found, base(found) | old)["BUFFER_PROFILE"] if "pg_lossless" in name
    ]


def test_a_dynamic_device_is_refused_where_the_intent_is_traditional() -> None:
    found = fabric("{model: {spine: dynamic}}")
    data = base(found)
    data["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    assert refusal(found, data) == (
        "sets buffer_model dynamic, and the intent has the traditional model; "
        "state buffers.model: dynamic, or make the device traditional first"
    )


def test_an_unused_port_that_is_up_keeps_its_buffer_by_refusal() -> None:
    found = fabric("{unused_ports: reclaim}")
    data = base(found)
    data["PORT"]["Ethernet512"]["admin_status"] = "up"
    assert refusal(found, data) == (
        "PORT: admin_status is up on Ethernet512, whose buffer the intent gives back; "
        "shut them down, give them links, or state buffers.unused_ports: keep"
    )


def test_an_unused_port_that_the_device_does_not_have_is_refused() -> None:
    found = fabric("{unused_ports: reclaim}")
    data = base(found)
    for name in ("Ethernet496", "Ethernet504"):
        del data["PORT"][name]
    assert refusal(found, data) == (
        "PORT has no Ethernet496, Ethernet504, which the intent takes for unused; "
        "state under hardware how its cages are broken out, or buffers.unused_ports: keep"
    )


def test_the_mtu_of_an_unused_port_is_its_own_business() -> None:
    found = fabric("{unused_ports: reclaim}")
    data = base(found)
    data["PORT"]["Ethernet512"]["mtu"] = "1500"
    assert rendered(found, data)["PORT"]["Ethernet512"]["mtu"] == "1500"
    assert rendered(found, data)["BUFFER_PG"]["Ethernet512|0"] == {"profile": "ingress_lossy_pg_zero_profile"}


def test_unused_ports_have_no_row_but_those_of_their_buffers() -> None:
    found = fabric("{unused_ports: reclaim}")
    tables = rendered(found, base(found))
    naming = {
        table
        for table, rows in tables.items()
        if any(key.partition("|")[0] == "Ethernet512" for key in rows) and table != "PORT"
    }
    lists = {"BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"}
    assert naming == {"BUFFER_PG", "BUFFER_QUEUE", *lists}
    assert "Ethernet512" not in tables["CABLE_LENGTH"]["AZURE"]

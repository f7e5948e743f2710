"""Buffers as upstream's own templates render them for the same HWSKU, in both models, with ports that are not used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.sonic.from_model import tables
from tests.strategies import fabric_of

Tables = dict[str, Any]
FILES = {
    ("nvidia-sn2410", "ACS-MSN2410"): "rend-ACS-MSN2410-mellanox-2410-t1",
    ("nvidia-sn4600c", "Mellanox-SN4600C-C64"): "rend-Mellanox-SN4600C-C64-mellanox-4600c-t1",
}
"""One HWSKU with split ingress pools, one with a single one; both files are of a t1, which is a spine here."""


def ours(product: tuple[str, str], buffers: Tables) -> Tables:
    choice = dict(zip(("profile", "hwsku"), product, strict=True))
    links = [{"a": "s", "b": "l", "links": "4 x 100G", "cable": "5m"}]
    data = {
        "lossless": "v1",
        "fabric": "f",
        "transport": "rocev2",
        "preset": "nvidia",
        "hardware": {"leaf": choice, "spine": choice, "nic": "connectx-7"},
        "topology": {"devices": {"s": {"role": "spine"}, "l": {"role": "leaf"}}, "links": links},
        "buffers": buffers,
    }
    return tables(next(switch for switch in fabric_of(data).switches if switch.name == "s"))


def upstream(reference: Path, name: str) -> Tables:
    found: Tables = json.loads((reference / "corpus" / "full" / f"{name}.json").read_text())
    return found


def lists(found: Tables) -> set[tuple[str, str]]:
    return {
        (side, row["profile_list"])
        for side in ("INGRESS", "EGRESS")
        for row in found[f"BUFFER_PORT_{side}_PROFILE_LIST"].values()
    }


def groups(found: Tables) -> set[str]:
    return {row["profile"] for row in found["BUFFER_PG"].values()}


@pytest.mark.parametrize("product", FILES)
def test_the_dynamic_model_has_the_same_pools_profiles_and_parameters(
    reference: Path, product: tuple[str, str]
) -> None:
    theirs, found = upstream(reference, f"{FILES[product]}-dynamic"), ours(product, {"model": "dynamic"})
    for table in ("BUFFER_POOL", "BUFFER_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER"):
        assert found[table] == theirs[table], table
    assert lists(found) == lists(theirs)
    assert groups(found) == groups(theirs) == {"NULL", "ingress_lossy_profile"}
    # Upstream counts on half of the packets being small since 2024-10; here all are, unless an intent says otherwise.
    (pattern,), (own,) = (
        theirs["LOSSLESS_TRAFFIC_PATTERN"].values(),
        found["LOSSLESS_TRAFFIC_PATTERN"].values(),
    )
    assert pattern == {**own, "small_packet_percentage": "50"}
    buffer_model = theirs["DEVICE_METADATA"]["localhost"]["buffer_model"]
    assert found["DEVICE_METADATA"]["localhost"] == {"buffer_model": buffer_model}


@pytest.mark.parametrize("product", FILES)
def test_unused_ports_are_bound_to_the_same_profiles_without_size(
    reference: Path, product: tuple[str, str]
) -> None:
    theirs, found = upstream(reference, FILES[product]), ours(product, {"unused_ports": "reclaim"})

    def zeros(tables: Tables, table: str) -> Tables:
        return {name: row for name, row in tables[table].items() if "_zero_" in name}

    assert zeros(theirs, "BUFFER_PROFILE")
    for table in ("BUFFER_POOL", "BUFFER_PROFILE"):
        assert zeros(found, table) == zeros(theirs, table)
    assert lists(found) == lists(theirs)
    # Upstream leaves groups with headroom to buffermgrd, which writes the same rows.
    assert {name for name in groups(found) if "pg_lossless" not in name} == groups(theirs)
    queues = {row["profile"] for row in found["BUFFER_QUEUE"].values()}
    assert queues == {row["profile"] for row in theirs["BUFFER_QUEUE"].values()}


@pytest.mark.parametrize("product", FILES)
def test_pools_are_of_the_same_kinds_and_modes(reference: Path, product: tuple[str, str]) -> None:
    """Sizes depend on the ports in use, and are not compared."""
    theirs, found = upstream(reference, FILES[product]), ours(product, {"unused_ports": "reclaim"})

    def kinds(tables: Tables) -> dict[str, tuple[str, str, bool]]:
        return {
            name: (row["type"], row["mode"], "xoff" in row) for name, row in tables["BUFFER_POOL"].items()
        }

    assert kinds(found) == kinds(theirs)

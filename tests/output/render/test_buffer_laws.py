"""The law of rendering holds in every buffer model: what is read back is what was declared, value by value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, strategies as st

from lossless.analysis.buffers.dynamic_model import room_left
from lossless.formats.device_files.switches import switch_file
from lossless.formats.sonic.capabilities.releases import release_problems, releases
from lossless.formats.sonic.from_model import tables
from lossless.model.fabric.model import Fabric, Switch
from lossless.model.hardware.load import load_switch
from tests.output.render.test_render_laws import _other, _values, declared, rendered, view
from tests.strategies import fabric_of, intents, with_class_buffers

if TYPE_CHECKING:
    from collections.abc import Sequence

Data = dict[str, Any]
pytestmark = pytest.mark.laws


@st.composite
def policies(draw: st.DrawFn, *, dynamic: bool = False) -> Data:
    """Draw an intent with a buffer policy that its switches can have; with ``dynamic`` one of them computes."""
    data = draw(intents(renderable=True).filter(lambda found: not dynamic or _formulas(found) != {None}))
    profiles = {role: load_switch(name) for role, name in _profiles(data).items()}
    able = sorted(role for role, profile in profiles.items() if profile.asic.formula)
    chosen = draw(st.lists(st.sampled_from(able), min_size=int(dynamic), unique=True)) if able else []
    policy: Data = {}
    if chosen:
        policy["model"] = dict.fromkeys(chosen, "dynamic")
        policy |= draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "lossless_mtu": st.integers(68, 9216),
                    "small_packets": st.integers(0, 100).map("{}%".format),
                },
            )
        )
    ratios: list[float | None] = [None, 2, 65_535]
    if not chosen:
        ratios += [1.5]
    elif any(profiles[role].asic.formula == "barefoot" for role in chosen):
        ratios = [None]
    policy["headroom_oversubscription"] = draw(st.sampled_from(ratios))
    gives = sorted(role for role, profile in profiles.items() if profile.zero_buffers)
    reclaims: bool = draw(st.booleans())
    if gives and reclaims:
        policy["unused_ports"] = dict.fromkeys(gives, "reclaim")
    if draw(st.booleans()):
        computing = [role for role in chosen if profiles[role].asic.formula == "mellanox"]
        policy |= draw(_pools(sorted(profiles), computing))
    data = {**data, "buffers": {key: value for key, value in policy.items() if value is not None}}
    return draw(with_class_buffers(data)) if draw(st.booleans()) else data


@st.composite
def _pools(draw: st.DrawFn, roles: Sequence[str], computing: Sequence[str]) -> Data:
    """Draw sizes of pools; roles whose switches compute them may state a part, which is never 0 % (refused)."""
    size = st.sampled_from(["8 MiB", "10 MB"]).map(lambda text: {"size": text})
    part = st.integers(1, 100).map(lambda percent: {"percentage": f"{percent}%"})

    def sizes(role: str) -> st.SearchStrategy[Data]:
        pool = size | part if role in computing else size
        return pool.map(lambda stated: {"pool_sizes": {"ingress_lossless_pool": stated}})

    by_tier = draw(st.fixed_dictionaries({}, optional={role: sizes(role) for role in roles}))
    everywhere = draw(sizes("")) if draw(st.booleans()) else {}
    return {**everywhere, **({"by_tier": by_tier} if by_tier else {})}


def _profiles(data: Data) -> dict[str, str]:
    """Return the product of each role."""
    found = {role: data["hardware"][role] for role in ("leaf", "spine") if role in data["hardware"]}
    return {role: choice if isinstance(choice, str) else choice["profile"] for role, choice in found.items()}


def _formulas(data: Data) -> set[str | None]:
    return {load_switch(name).asic.formula for name in _profiles(data).values()}


def of_kind(fabric: Fabric, wanted: str) -> Switch:
    """Return a switch of a buffer model, or have another fabric drawn: a topology need not use every role."""
    found = [switch for switch in fabric.switches if switch.qos.buffer_model == wanted]
    assume(found)
    return found[0]


@given(policies())
def test_what_is_read_back_is_what_was_declared(data: Data) -> None:
    fabric = fabric_of(data)
    for switch in fabric.switches:
        assert view(rendered(fabric, switch)) == declared(switch)


@given(policies())
def test_a_planned_pool_is_what_is_left_beside_all_that_ports_reserve(data: Data) -> None:
    """buffer_pool_mellanox.lua @e6b0c5b halves it where there are two ingress pools."""
    for switch in fabric_of(data).switches:
        ingress = [pool for pool in switch.qos.pools if pool.kind == "ingress"]
        room_bytes = room_left(switch)
        if switch.qos.buffer_model == "dynamic" or room_bytes is None or "pool_sizes" in json.dumps(data):
            continue
        sharing = [pool for pool in ingress if "zero" not in pool.name]
        assert {pool.size_bytes for pool in sharing} == {max(0, room_bytes // len(sharing))}


@given(policies(), st.data())
def test_changing_any_rendered_value_is_seen(data: Data, choice: st.DataObject) -> None:
    fabric = fabric_of(data)
    switch = fabric.switches[choice.draw(st.integers(0, len(fabric.switches) - 1))]
    found = rendered(fabric, switch)
    table, key, field = choice.draw(st.sampled_from(_values(found)))
    before = found[table][key][field]
    found[table][key][field] = _other(before)
    assert view(found) != declared(switch), f"{table}|{key}|{field}: {before} -> {_other(before)}"


@given(policies(dynamic=True))
def test_another_buffer_model_is_seen(data: Data) -> None:
    fabric = fabric_of(data)
    switch = of_kind(fabric, "dynamic")
    found = rendered(fabric, switch)
    found["DEVICE_METADATA"]["localhost"]["buffer_model"] = "traditional"
    assert view(found) != declared(switch)


@given(policies(dynamic=True))
def test_in_the_dynamic_model_nothing_is_written_that_the_switch_computes(data: Data) -> None:
    switch = of_kind(fabric_of(data), "dynamic")
    found = tables(switch)
    assert not [name for name in found.get("BUFFER_PROFILE", {}) if name.startswith("pg_lossless_")]
    sized = {name for name, pool in found["BUFFER_POOL"].items() if "size" in pool or "xoff" in pool}
    stated = {"ingress_lossless_pool"} if "pool_sizes" in json.dumps(data) else set()
    asic = load_switch(switch.profile.name).asic if switch.profile else None
    # The script of Barefoot chips reads the sizes that are configured and fails without.
    whole = found["BUFFER_POOL"].keys() if asic and asic.formula == "barefoot" else set()
    assert sized <= {"egress_lossless_pool", *stated, *whole}
    lossless = {
        f"{port.name}|{group.number}"
        for port in switch.ports
        if port.qos
        for group in port.qos.groups
        if group is not None and group.number in port.qos.pfc.priorities and group.buffer is None
    }
    thresholds_alone = {
        name for name, row in found["BUFFER_PROFILE"].items() if row.get("headroom_type") == "dynamic"
    }
    computed = {
        key for key, row in found["BUFFER_PG"].items() if row["profile"] in {"NULL", *thresholds_alone}
    }
    assert {f"{key.rpartition('|')[0]}|{n}" for key in computed for n in _numbers(key)} == lossless


def _numbers(key: str) -> range:
    low, _, high = key.rpartition("|")[2].partition("-")
    return range(int(low), int(high or low) + 1)


@given(policies(), st.sampled_from(releases().names))
def test_the_release_changes_no_row_of_what_all_releases_know(data: Data, release: str) -> None:
    plain, stated = fabric_of(data), fabric_of({**data, "sonic": {"release": release}})
    for one, other in zip(plain.switches, stated.switches, strict=True):
        assert other.release == release
        assume(not list(release_problems(other, tables(other), None)))
        assert switch_file(one, None).text == switch_file(other, None).text

"""From ports to closed forms: which method answers, and what is taken out of a pool."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.ecn_marking import POSSIBLE_PARTS, Trigger, chip_bytes, shared_pool_bytes
from lossless.analysis.buffers.headroom.port import (
    ROW_PATTERNS,
    LinkNeed,
    TrafficPattern,
    asic_inputs,
    dynamic_headroom,
    given_headroom,
    link_need,
    lossless_profile,
    mellanox_formula,
    row_pattern,
    unbacked_bytes,
)
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.model import Cable
from lossless.model.fabric.qos import includes_headroom
from lossless.model.fabric.view import PortSet
from lossless.model.hardware.load import load_switch, switch_names
from tests.analysis.buffers.made import NOWHERE, leaf_ports, pool, profile


def ports() -> PortSet:
    """Return the 400G ports of the leaf base."""
    return leaf_ports()[0]


def over(real_m: int | None, configured_m: int | None = None) -> PortSet:
    return ports()._replace(cable=Cable(UNKNOWN if real_m is None else real_m, configured_m, NOWHERE))


def need(found: PortSet) -> LinkNeed:
    link = link_need(found)
    assert isinstance(link, LinkNeed)
    return link


# --- which method answers ---


@pytest.mark.parametrize(
    ("cable_m", "method", "headroom"),
    [
        (5, "vendor row", 231_424),
        (6, "vendor row", 283_648),
        (40, "vendor row", 283_648),
        (300, "vendor row", 677_888),
        (301, "mellanox formula", 679_936),
    ],
)
def test_rows_cover_up_to_their_length_and_the_formula_what_is_beyond(
    cable_m: int, method: str, headroom: int
) -> None:
    found = need(over(cable_m)).need
    assert found is not None
    assert (found.method, found.headroom_bytes) == (method, headroom)


def test_the_real_length_counts_before_the_configured_one() -> None:
    assert need(over(41, 40)).cable_m == 41
    assert need(over(None, 40)).cable_m == 40


def test_without_a_hwsku_only_the_floor_is_known() -> None:
    bare = over(40)
    stranger = bare._replace(switch=bare.switch._replace(profile=None, hwsku=None))
    link = need(stranger)
    assert link.need == link.floor
    assert link.floor is not None
    assert (link.floor.method, link.floor.headroom_bytes) == ("floor", 113_472)


def test_a_rate_without_pause_quanta_has_no_floor() -> None:
    fast = over(40)._replace(speed_bps=1_600_000_000_000)
    stranger = fast._replace(switch=fast.switch._replace(profile=None, hwsku=None))
    link = need(stranger)
    assert (link.floor, link.need, link.cable_bytes) == (None, None, 80_809)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (over(40)._replace(speed_bps=None), "the speed of the port is unknown"),
        (over(None), "the length of the cable is unknown"),
        (over(None, 0), "the length of the cable is unknown"),
        (over(40)._replace(ports=()), "the MTU of the port is unknown"),
    ],
)
def test_what_is_missing_is_named(found: PortSet, reason: str) -> None:
    assert link_need(found) == MissingInput(reason)


def test_the_widest_port_of_a_kind_decides_how_much_of_the_pipeline_is_reserved() -> None:
    found = over(301, 301)
    first, second = found.ports
    by_lanes = {}
    for lanes in (None, 4, 8):
        mixed = found._replace(ports=(first._replace(lanes=1), second._replace(lanes=lanes)))
        row, computed = need(mixed).need, dynamic_headroom(mixed, 1024, 100, shared_headroom=False)
        assert row is not None
        assert computed is not None
        assert row.xon_bytes == computed.xon_bytes
        by_lanes[lanes] = row.xon_bytes
    assert by_lanes == {None: 19_456, 4: 19_456, 8: 38_912}


def test_frames_larger_than_the_vendor_counts_with_need_more() -> None:
    usual = need(over(301)).need
    ports = [over(301)._replace(ports=(over(301).ports[0]._replace(mtu_bytes=mtu),)) for mtu in (9216, 9999)]
    same, more = (need(found).need for found in ports)
    assert usual is not None
    assert more is not None
    assert same == usual
    # 783 B more, three times over for cells of 192 B
    assert abs(more.headroom_bytes - usual.headroom_bytes - 3 * 783) < 1024


@pytest.mark.parametrize(
    "changed",
    [
        {"speed_bps": None},
        {"cable": Cable(40, None, NOWHERE)},
        {"cable": Cable(40, 0, NOWHERE)},
        {"ports": ()},
        {"switch": ports().switch._replace(profile=None)},
        {"switch": ports().switch._replace(profile=load_switch("arista-7260cx3"))},
    ],
    ids=str,
)
def test_the_dynamic_model_computes_only_where_all_is_known(changed: dict[str, Any]) -> None:
    assert dynamic_headroom(over(40, 40), 1024, 100, shared_headroom=False) is not None
    assert dynamic_headroom(over(40, 40)._replace(**changed), 1024, 100, shared_headroom=False) is None


@given(st.integers(min_value=1, max_value=3000), st.integers(min_value=0, max_value=500))
def test_a_longer_cable_never_needs_less_across_rows_and_formula(cable_m: int, more_m: int) -> None:
    short, long = need(over(cable_m)).need, need(over(cable_m + more_m)).need
    assert short is not None
    assert long is not None
    assert long.headroom_bytes >= short.headroom_bytes


def test_one_pattern_gives_the_rows_of_two_hwskus_of_spectrum_4_and_no_others() -> None:
    profiles = [load_switch(name) for name in switch_names()]
    found = {
        hwsku.name: pattern
        for profile in profiles
        for hwsku in profile.hwskus
        if (pattern := row_pattern(profile.asic, hwsku))
    }
    # Those of SN5640 (Spectrum-5) follow from the second pattern; see test_headroom_rows.py.
    assert (TrafficPattern(9216, 1024, 100), TrafficPattern(9216, 4096, 50)) == ROW_PATTERNS
    assert found == dict.fromkeys(["ACS-SN5600", "Mellanox-SN5600-O128"], ROW_PATTERNS[0])


# --- the group of a priority ---


def group(generated: bool, *, hwsku_name: Any = "Own-Build", **fields: Any) -> Any:
    """Return what is known of a group without a profile."""
    found = over(40)._replace(**fields)
    groups = tuple(one and one._replace(buffer=None, generated=generated) for one in found.qos.groups)
    switch = found.switch._replace(hwsku_name=hwsku_name)
    return lossless_profile(found._replace(qos=found.qos._replace(groups=groups), switch=switch), 3)


def test_a_group_without_a_profile_says_what_is_missing() -> None:
    assert group(False) == MissingInput("the profile of the priority group is not in the file")
    assert group(True) == MissingInput("the headroom rows of HWSKU Own-Build are unknown")
    assert group(True, speed_bps=None) == MissingInput("the speed of the port is unknown")
    for unknown in (None, UNKNOWN):
        reason = "the file does not say which HWSKU the switch is"
        assert group(True, hwsku_name=unknown) == MissingInput(reason)


def test_a_priority_without_a_group_has_no_headroom_where_the_file_has_pools() -> None:
    found = over(40)
    bare = found._replace(qos=found.qos._replace(groups=(None,) * 8))
    assert lossless_profile(bare, 3) is None
    poolless = bare._replace(switch=bare.switch._replace(qos=bare.switch.qos._replace(pools=())))
    assert lossless_profile(poolless, 3) == MissingInput("the file has no buffer pools")


# --- what a profile gives ---


def test_without_a_shared_pool_an_nvidia_chip_gives_what_size_holds_beyond_xon() -> None:
    switch = ports().switch
    full = profile(reserved_bytes=1000, headroom_bytes=1000, xon_bytes=100)
    assert given_headroom(switch, full) == 1000
    assert given_headroom(switch, full._replace(reserved_bytes=999)) == 899
    assert given_headroom(switch, full._replace(reserved_bytes=999, xon_bytes=None)) == 999
    assert given_headroom(switch, full._replace(reserved_bytes=99)) == 0
    elsewhere = full._replace(reserved_bytes=99, pool=pool(1_000_000, 1))
    assert given_headroom(switch, elsewhere) == 1000
    assert given_headroom(switch, full._replace(reserved_bytes=99, pool=None)) == 1000
    assert given_headroom(switch._replace(profile=load_switch("arista-7260cx3")), full) == 1000


def test_rows_of_nvidia_may_fall_short_of_xon_and_xoff_by_1_kib() -> None:
    switch = ports().switch
    short = profile(reserved_bytes=4000, headroom_bytes=4000, xon_bytes=1024)
    assert unbacked_bytes(switch, short) == 0
    assert unbacked_bytes(switch, short._replace(reserved_bytes=3999)) == 1025
    assert unbacked_bytes(switch, short._replace(reserved_bytes=1000, xon_bytes=None)) == 3000
    assert unbacked_bytes(switch, short._replace(reserved_bytes=1000, headroom_bytes=None)) == 0
    need_not = short._replace(reserved_bytes=0)
    assert unbacked_bytes(switch, need_not) == 5024
    assert unbacked_bytes(switch, need_not._replace(pool=pool(1_000_000, 1))) == 0
    assert unbacked_bytes(switch, need_not._replace(pool=None)) == 0
    assert unbacked_bytes(switch._replace(profile=load_switch("arista-7260cx3")), need_not) == 0
    assert unbacked_bytes(switch._replace(profile=None), need_not) == 0


# --- what the switch computes ---


@pytest.mark.parametrize(
    ("release", "version", "formula"),
    [
        (None, "version_202305_01", "202311"),
        (None, "version_202311_03", "202311"),
        (None, "version_202405_01", "202405"),
        (None, "version_202411_01", "202405"),
        # Neither says which release it is.
        (None, "version_4_0_3", "202605"),
        (None, None, "202605"),
        ("202311", None, "202311"),
        ("202511", None, "202405"),
        ("202605", None, "202605"),
        ("master", None, "202605"),
    ],
)
def test_a_release_computes_by_the_formula_of_its_branch(
    release: str | None, version: str | None, formula: str
) -> None:
    switch = ports().switch
    found = switch._replace(release=release, qos=switch.qos._replace(database_version=version))
    assert mellanox_formula(found) == formula


def test_the_release_decides_what_a_switch_makes_of_its_pattern() -> None:
    new = over(40, 40)
    qos = new.switch.qos._replace(database_version="version_202311_01")
    old = new._replace(switch=new.switch._replace(qos=qos))
    found = [dynamic_headroom(one, 1024, 50, shared_headroom=True) for one in (old, new)]
    # 1024 + 2 x (9100 + 19,728.54 + 819.2 + 57,920) = 176,159.5 B, up to 173 KiB
    assert [one and one.headroom_bytes for one in found] == [177_152, 117_760]


def test_a_gearbox_of_the_platform_counts_in_the_formula() -> None:
    tofino = load_switch("accton-as9516").asic._replace(gearbox_delay_ns=365)
    inputs, without = asic_inputs(tofino), asic_inputs(tofino._replace(gearbox_delay_ns=None))
    assert inputs is not None
    assert without is not None
    assert (inputs.gearbox_delay_ns, without.gearbox_delay_ns) == (365, 0)


# --- the pool without headroom ---


def test_what_does_not_fit_beside_its_headroom_counts_it_in() -> None:
    assert includes_headroom(164_619_432, 33_690_560, 164_619_432)
    assert not includes_headroom(33_329_088, 7_827_456, 42_349_632)


def test_the_chip_is_the_lossless_egress_pool_else_the_profile_else_unknown() -> None:
    switch = ports().switch
    assert chip_bytes(switch) == 158_229_504
    poolless = switch._replace(qos=switch.qos._replace(pools=()))
    assert chip_bytes(poolless) == 158_229_504
    assert chip_bytes(poolless._replace(profile=None)) is None


def test_shared_pool() -> None:
    switch = ports().switch
    assert shared_pool_bytes(switch, pool(78_000_000, None)) == 78_000_000
    assert shared_pool_bytes(switch, pool(78_000_000, 10_000_000)) == 78_000_000
    assert shared_pool_bytes(switch, pool(158_229_504, 10_000_000)) == 148_229_504
    assert shared_pool_bytes(switch, pool(None, None)) == MissingInput(
        "the size of ingress_lossless_pool is unknown"
    )
    stranger = switch._replace(profile=None, qos=switch.qos._replace(pools=()))
    assert isinstance(shared_pool_bytes(stranger, pool(78_000_000, 10_000_000)), MissingInput)


POOLS = st.integers(min_value=1_000_000, max_value=200_000_000)
PARTS = st.sampled_from(((1,), (2,), (4,), POSSIBLE_PARTS))
TRIGGERS = st.one_of(
    st.builds(Trigger, POOLS, st.integers(-8, 7).map(lambda n: 2.0**n), st.none(), PARTS),
    st.builds(Trigger, POOLS, st.none(), st.integers(min_value=1, max_value=300_000_000), PARTS),
)


@given(TRIGGERS, st.integers(min_value=1, max_value=511))
def test_more_senders_pause_sooner_each_and_hold_more_together(trigger: Trigger, senders: int) -> None:
    rounding = 1 + 1e-12
    assert trigger.threshold_bytes(senders + 1) <= trigger.threshold_bytes(senders) * rounding
    assert trigger.egress_bytes(senders) <= trigger.egress_bytes(senders + 1) * rounding
    assert trigger.egress_bytes(senders) <= trigger.pool_bytes * rounding


@given(TRIGGERS)
def test_two_senders_hold_between_one_and_two_thresholds_of_a_single_group(trigger: Trigger) -> None:
    alone = trigger.threshold_bytes(1)
    assert alone <= trigger.egress_bytes(2) * (1 + 1e-12)
    assert trigger.egress_bytes(2) <= 2 * alone * (1 + 1e-12)

"""What the dynamic buffer model makes of a switch, beside what is rendered where it is not used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
from lossless.analysis.buffers.headroom.port import computed_headroom
from lossless.analysis.buffers.verdict import fabric_verdict
from lossless.interfaces.api.lint import lint
from lossless.model.fabric.view import View
from lossless.model.hardware.load import load_switch
from tests.analysis.buffers.made import profile
from tests.analysis.simulation.fabrics import checked, declared

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool

DYNAMIC: dict[str, Any] = {"buffers": {"model": "dynamic"}}


def leaf(patch: dict[str, Any]) -> Switch:
    return with_computed_buffers(declared(patch).fabric).switches[0]


def lossless_pool(switch: Switch) -> Pool:
    return next(pool for pool in switch.qos.pools if pool.name == "ingress_lossless_pool")


def profiles(switch: Switch) -> dict[int, BufferProfile]:
    """Return the lossless profile of each port speed in Gb/s."""
    return {
        (port.speed_bps or 0) // 10**9: group.buffer
        for port in switch.ports
        if port.qos is not None
        for group in port.qos.groups
        if group is not None and group.buffer is not None and group.buffer.lossless
    }


def test_a_fabric_without_the_dynamic_model_stays_what_it_is() -> None:
    fabric = declared().fabric
    assert with_computed_buffers(fabric) is fabric


def test_a_pool_of_a_chip_without_a_formula_for_headroom_has_no_size_that_is_known(tmp_path: Path) -> None:
    tables = {
        "DEVICE_METADATA": {"localhost": {"hwsku": "Arista-7050CX3-32S-D48C8", "buffer_model": "dynamic"}},
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
        "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
        "BUFFER_POOL": {
            "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "33004032"},
            "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic"},
        },
        "BUFFER_PROFILE": {
            "p": {
                "pool": "ingress_lossless_pool",
                "xon": "18432",
                "xoff": "55120",
                "size": "1248",
                "dynamic_th": "0",
            }
        },
        "PORT": {"Ethernet0": {"lanes": "1,2,3,4", "speed": "100000", "admin_status": "up"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
        "BUFFER_PG": {"Ethernet0|3-4": {"profile": "p"}},
        "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}},
    }
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(tables))
    report = lint([file])
    assert (report.errors, [finding for finding in report.findings if finding.severity == "error"]) == (
        (),
        [],
    )


def test_pools_are_those_that_are_rendered_but_for_the_headroom_computed_for_the_real_length() -> None:
    dynamic, rendered = leaf(DYNAMIC), leaf({})
    ports = {speed: sum(port.speed_bps == speed * 10**9 for port in dynamic.ports) for speed in (400, 800)}
    own, rows = profiles(dynamic), profiles(rendered)
    saved = sum(n * (rows[speed].reserved_bytes - own[speed].reserved_bytes) for speed, n in ports.items())
    (size, stock) = (lossless_pool(switch).size_bytes or 0 for switch in (dynamic, rendered))
    # Two ingress pools share what is left.
    assert size == pytest.approx(stock + saved / 2, abs=1)


def test_a_stated_ratio_makes_a_shared_headroom_pool() -> None:
    for ratio in (1, 2, 4):
        found = leaf({"buffers": {"model": "dynamic", "headroom_oversubscription": ratio}})
        pool, own = lossless_pool(found), profiles(found)
        ports = {speed: sum(port.speed_bps == speed * 10**9 for port in found.ports) for speed in own}
        claimed = sum(n * (own[speed].headroom_bytes or 0) - n * 10 * 1024 for speed, n in ports.items())
        assert pool.shared_headroom_bytes == -(-claimed // ratio)
        assert all(one.reserved_bytes == one.xon_bytes for one in own.values())


def test_barefoot_pools_have_the_sizes_that_sonic_fixes() -> None:
    """buffer_pool_barefoot.lua @fbc3657: 43,067,728 B, and 0.7 x 2 x 400 cells for each port."""
    found = leaf(DYNAMIC | {
        "hardware": {"leaf": "accton-as9516", "spine": "accton-as9516"},
        "topology": {"leaf_spine": {"uplinks": "2 x 400G"}},
    })  # fmt: skip
    ports = len(found.ports) + len(found.unused)
    assert lossless_pool(found)[3:5] == (43_067_728, int(ports * 2 * 400 * 176 * 0.7))


def test_what_the_switch_is_not_told_is_not_guessed() -> None:
    fabric = declared(DYNAMIC).fabric
    untold = tuple(switch._replace(qos=switch.qos._replace(dynamic=None)) for switch in fabric.switches)
    assert with_computed_buffers(fabric._replace(switches=untold)).switches == untold


# --- one leaf: 8 ports of 400G over 3 m to hosts, 4 of 800G over 30 m to spines ---


def plain(**fields: Any) -> Switch:
    """Return the leaf before it has computed anything."""
    return declared(DYNAMIC).fabric.switches[0]._replace(**fields)


def computed(switch: Switch) -> Switch:
    return with_computed_buffers(declared(DYNAMIC).fabric._replace(switches=(switch,))).switches[0]


def told(**fields: Any) -> Switch:
    """Return the leaf, told something else about its buffers."""
    qos = plain().qos
    assert qos.dynamic is not None
    return plain(qos=qos._replace(dynamic=qos.dynamic._replace(**fields)))


def with_pool(pool_name: str, **fields: Any) -> Switch:
    qos = plain().qos
    pools = tuple(pool._replace(**fields) if pool.name == pool_name else pool for pool in qos.pools)
    return plain(qos=qos._replace(pools=pools))


def with_first_port(**fields: Any) -> Switch:
    first, *others = plain().ports
    return plain(ports=(first._replace(**fields), *others))


def with_first_groups(**fields: Any) -> Switch:
    """Return the leaf with another lossless group at its first port."""
    qos = plain().ports[0].qos
    assert qos is not None
    groups = (group and (group._replace(**fields) if group.generated else group) for group in qos.groups)
    return with_first_port(qos=qos._replace(groups=tuple(groups)))


@pytest.mark.parametrize(
    "switch",
    [
        told(default_dynamic_th=None),
        told(lossless_mtu_bytes=None),
        told(small_packet_percent=None),
        told(lossless_mtu_bytes=10),
        with_first_port(speed_bps=None),
        with_first_groups(generated=False),
        with_pool("ingress_lossless_pool", name="other"),
        plain(profile=None),
        plain(profile=load_switch("arista-7260cx3")),
    ],
    ids=lambda _: "",
)
def test_a_switch_of_which_something_is_unknown_stays_as_it_is(switch: Switch) -> None:
    assert computed(switch) == switch


def test_only_switches_with_the_dynamic_model_compute() -> None:
    fabric = declared(DYNAMIC).fabric
    spine = fabric.switches[-1]
    still = spine._replace(qos=spine.qos._replace(buffer_model="traditional"))
    first, second = with_computed_buffers(fabric._replace(switches=(still, plain()))).switches
    assert first == still
    assert second == computed(plain())


def test_a_pool_with_a_size_keeps_it() -> None:
    found = computed(with_pool("ingress_lossless_pool", size_bytes=7_000_000))
    assert lossless_pool(found).size_bytes == 7_000_000
    assert set(profiles(found)) == {400, 800}
    assert {profile.pool for profile in profiles(found).values()} == {lossless_pool(found)}


@pytest.mark.parametrize("percent", [1, 20, 50, 100])
def test_a_pool_takes_the_percentage_it_states_of_what_is_left(percent: int) -> None:
    """buffer_pool_mellanox.lua @e6b0c5b; without one two ingress pools take half each."""
    left = 2 * (lossless_pool(computed(plain())).size_bytes or 0)
    found = lossless_pool(computed(with_pool("ingress_lossless_pool", percent=percent)))
    assert found.size_bytes == pytest.approx(left * percent / 100, abs=1)


def test_a_percentage_of_a_pool_with_a_size_counts_for_nothing() -> None:
    found = computed(with_pool("ingress_lossless_pool", size_bytes=7_000_000, percent=20))
    assert lossless_pool(found).size_bytes == 7_000_000


def test_a_chip_that_headroom_fills_leaves_a_pool_of_nothing() -> None:
    long = tuple(port._replace(cable=port.cable._replace(configured_m=30_000)) for port in plain().ports)
    assert lossless_pool(computed(plain(ports=long))).size_bytes == 0


def test_a_chip_is_no_smaller_for_what_its_egress_pool_is_told() -> None:
    small = computed(with_pool("egress_lossless_pool", size_bytes=1_000_000))
    assert lossless_pool(small) == lossless_pool(computed(plain()))


def test_a_port_that_is_down_reserves_nothing() -> None:
    all_up, one_down = computed(plain()), computed(with_first_port(admin_up=False))
    assert lossless_pool(computed(with_first_port(admin_up=None))) == lossless_pool(one_down)
    near = profiles(all_up)[400]
    # Lossless group, lossy group, mirror headroom and the queues of the port; two ingress pools share them.
    pipeline_bytes, mirror_bytes, queues_bytes = 19_456, 10_240, 9_216
    freed = near.reserved_bytes + 2 * pipeline_bytes + mirror_bytes + queues_bytes
    sizes = [lossless_pool(switch).size_bytes or 0 for switch in (one_down, all_up)]
    assert sizes[0] - sizes[1] == pytest.approx(freed / 2, abs=1)


@pytest.mark.parametrize(("lanes", "taken_bytes"), [(4, 29_696), (8, 48_128)])
@pytest.mark.parametrize(("admin_up", "times"), [(True, 33), (False, 0), (None, 0)])
def test_ports_that_are_up_and_carry_nothing_take_buffer_too(
    lanes: int, taken_bytes: int, admin_up: bool | None, times: int
) -> None:
    """buffer_pool_mellanox.lua @e6b0c5b: a lossy group and 10 KiB to mirror; two pools share the rest."""
    idle = plain().ports[0]._replace(qos=None, lanes=lanes, admin_up=admin_up)
    found = computed(plain(ports=(*plain().ports, *[idle] * 33)))
    sizes = [lossless_pool(switch).size_bytes or 0 for switch in (computed(plain()), found)]
    assert sizes[0] - sizes[1] == pytest.approx(times * taken_bytes / 2, abs=1)


def test_a_group_with_headroom_of_its_own_takes_what_that_reserves() -> None:
    """buffer_pool_mellanox.lua @e6b0c5b adds up the size of the profile that each group has, whoever made it."""
    own = profile(reserved_bytes=300_000, headroom_bytes=280_000, pool=lossless_pool(plain()))
    usual, found = computed(plain()), computed(with_first_groups(generated=False, buffer=own))
    sizes = [lossless_pool(switch).size_bytes or 0 for switch in (usual, found)]
    assert sizes[0] - sizes[1] == pytest.approx((300_000 - profiles(usual)[400].reserved_bytes) / 2, abs=1)
    qos = found.ports[0].qos
    assert qos is not None
    assert {group.buffer for group in qos.groups if group and group.buffer and group.buffer.lossless} == {
        own._replace(pool=lossless_pool(found))
    }


def test_a_port_without_lossless_groups_needs_none() -> None:
    qos = plain().ports[0].qos
    assert qos is not None
    lossy = qos._replace(groups=tuple(group and (None if group.generated else group) for group in qos.groups))
    found = computed(with_first_port(qos=lossy))
    assert found.ports[0].qos == lossy
    saved = (lossless_pool(found).size_bytes or 0) - (lossless_pool(computed(plain())).size_bytes or 0)
    assert saved == pytest.approx(profiles(found)[400].reserved_bytes / 2, abs=1)


def test_a_shared_headroom_pool_with_a_size_is_no_other() -> None:
    found = computed(with_pool("ingress_lossless_pool", shared_headroom_bytes=1_000_000))
    assert lossless_pool(found).shared_headroom_bytes == 1_000_000
    own = computed(plain())
    # What groups do not hold of their own is in the shared pool, and each port holds 10 KiB beside it.
    moved = sum(
        (8, 4)[speed == 800] * (one.reserved_bytes - (one.xon_bytes or 0))
        for speed, one in profiles(own).items()
    )
    sizes = [lossless_pool(switch).size_bytes or 0 for switch in (found, own)]
    assert sizes[0] - sizes[1] == pytest.approx((moved - 12 * 10_240 - 1_000_000) / 2, abs=1)


def test_a_profile_is_named_for_its_speed_and_cable_and_has_the_default_threshold() -> None:
    near, far = profiles(computed(told(default_dynamic_th=-2))).values()
    assert (near.name, near.dynamic_th) == ("pg_lossless_400000_3m_profile", -2)
    assert (far.name, far.dynamic_th) == ("pg_lossless_800000_30m_profile", -2)
    assert near.static_th_bytes is near.xon_offset_bytes is None


@pytest.mark.parametrize(
    "buffers",
    [{"model": "dynamic"}, {"model": "dynamic", "headroom_oversubscription": 2}],
    ids=["headroom of its own", "shared headroom"],
)
def test_closed_forms_know_the_headroom_that_the_switch_computes(buffers: dict[str, Any]) -> None:
    view = View(declared({"buffers": buffers}).fabric)
    verdict = fabric_verdict(view)
    assert (verdict.overall, verdict.not_checked) == ("safe", ())
    needs = {(ports.speed_bps, ports.cable.known_m): computed_headroom(ports) for ports in view.lossless_sets}
    for line in verdict.lines:
        need = needs[line.speed_bps, line.cable_m]
        assert isinstance(need, HeadroomNeed)
        assert line.headroom is not None
        assert line.headroom.given_bytes == line.headroom.need_bytes == need.headroom_bytes


def test_a_headroom_computed_for_a_shorter_cable_is_unsafe() -> None:
    first = plain().ports[0]
    found = computed(with_first_port(cable=first.cable._replace(configured_m=3, real_m=30)))
    verdict = fabric_verdict(View(declared(DYNAMIC).fabric._replace(switches=(found,))))
    assert verdict.overall == "unsafe"


def test_a_group_that_states_its_threshold_alone_has_the_headroom_of_the_others() -> None:
    """A profile with headroom_type dynamic: the pool is no other, and only that group pauses at another level."""
    override = profile(dynamic_th=2, headroom_bytes=None, reserved_bytes=0)
    found, usual = computed(with_first_groups(override=override)), computed(plain())
    assert lossless_pool(found) == lossless_pool(usual)
    groups = [port.qos.groups[3] for port in (*found.ports[:2], usual.ports[0]) if port.qos is not None]
    stated, other, before = (group.buffer for group in groups if group is not None and group.buffer)
    assert (stated.headroom_bytes, stated.xon_bytes) == (before.headroom_bytes, before.xon_bytes)
    assert (stated.dynamic_th, other.dynamic_th) == (2, before.dynamic_th)


def test_ports_of_one_kind_share_what_is_computed_and_lossy_groups_keep_theirs() -> None:
    before, after = plain(), computed(plain())
    for old, new in zip(before.ports, after.ports, strict=True):
        assert old.qos is not None
        assert new.qos is not None
        for group, other in zip(old.qos.groups, new.qos.groups, strict=True):
            assert group == other or (group is not None and group.generated)
    assert len({id(port.qos) for port in after.ports}) == 2


def test_switches_that_are_identical_still_share_their_ports() -> None:
    found = with_computed_buffers(declared(DYNAMIC).fabric)
    assert len(View(found).identical) == len(View(declared(DYNAMIC).fabric).identical)


def test_the_packet_level_model_follows_it() -> None:
    pytest.importorskip("numba")
    verdict = checked(declared(DYNAMIC), pattern="incast", size_bytes=1 << 20)
    assert (verdict.verdict, verdict.drops.seeds) == ("safe", 0)

"""What rules of subnets share: the lanes of levels, the keys of ports; and what only the model of a subnet shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.checks.rules.base import Violation
from lossless.checks.rules.infiniband import ib004_lanes_insufficient, ib006_link_rate_impossible
from lossless.checks.rules.infiniband.subnet_queries import folding, holds_key, key_tables, sl2vl, vl_of
from lossless.formats.intent.infiniband.document import load_subnet
from lossless.formats.intent.resolve.infiniband.subnet import resolve_subnet
from lossless.ground.basics.records import Unknown
from tests.checks.rules.checking import drawn, only
from tests.checks.rules.infiniband import intent, managed
from tests.subnets import fat_tree, torus

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.subnet import Subnet


# --- lanes


def test_lanes_are_folded_by_a_mask() -> None:
    assert [folding(vls) for vls in (1, 2, 4, 8, 15)] == [1, 2, 4, 8, 16]


def test_a_table_of_lanes_has_sixteen_entries() -> None:
    assert sl2vl(torus((2, 2))) == (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7)
    assert sl2vl(torus((2, 2), qos_sl2vl="1,2,3")) == (1, 2, 3, *[0] * 13)
    assert sl2vl(torus((2, 2), qos_sl2vl=",".join("1" * 17))) == (1,) * 16


@pytest.mark.parametrize(
    ("code", "lanes"), [("1", [0, 0, None]), ("3", [3, 2, None]), ("5", [7, 14, None]), ("6", [7, 14, None])]
)
def test_a_level_uses_its_lane_folded_onto_those_that_are_operational(
    code: str, lanes: list[int | None]
) -> None:
    subnet = torus((2, 2), max_op_vls=code, qos_sl2vl="7,14,15")
    assert [vl_of(subnet, sl) for sl in (0, 1, 2)] == lanes


def test_a_switch_with_fewer_lanes_than_the_others_limits_the_engine() -> None:
    subnet = torus((3, 3), 1, "torus-2QoS", qos="TRUE", max_op_vls="4")
    assert not isinstance(subnet.switches, Unknown)
    first, *others = subnet.switches
    small = first._replace(profile=first.profile._replace(vls=2))
    large = [switch._replace(profile=switch.profile._replace(vls=15)) for switch in others]
    assert list(ib004_lanes_insufficient.check(subnet._replace(switches=tuple(large)))) == []
    (found,) = ib004_lanes_insufficient.check(subnet._replace(switches=(*large, small)))
    assert isinstance(found, Violation)
    assert found.data["lanes"] == 2


# --- keys of ports


def tables(**patch: Any) -> dict[str, list[str]]:
    """Return the tables of keys of an intent's ports, by host."""
    subnet: Subnet = resolve_subnet(load_subnet(intent(jobs=None, **patch)))
    return {
        hca.partition(":")[0]: [f"{key:#06x}" for key in keys] for hca, keys in key_tables(subnet).items()
    }


ONLY_COMPUTE: dict[str, Any] = {"Default": None, "storage": None}
"""A patch of partitions that leaves the one named compute."""


def test_without_a_file_of_partitions_all_ports_are_full_members_of_the_default_one() -> None:
    assert set(map(tuple, tables(partitions=None).values())) == {("0xffff",)}


def test_where_nothing_is_said_of_the_default_partition_the_master_alone_is_a_full_member() -> None:
    found = tables(partitions={**ONLY_COMPUTE, "compute": {"members": {"full": ["host1", "SELF"]}}})
    assert found["sm1"] == ["0xffff", "0x8002"]
    assert found["sm2"] == found["host2"] == ["0x7fff"]
    assert found["host1"] == ["0x7fff", "0x8002"]


def test_a_master_on_a_switch_makes_no_port_of_a_host_a_full_member() -> None:
    managers = {"hosts": [{"on": "leaf1", "priority": 10}, {"on": "sm2", "priority": 5, "standby": True}]}
    parts = {**ONLY_COMPUTE, "compute": {"members": {"full": ["SELF", "host1"]}}}
    found = tables(partitions=parts, subnet_manager=managers, sharp="off")
    assert found["sm1"] == found["sm2"] == ["0x7fff"]
    assert found["host1"] == ["0x7fff", "0x8002"]


def test_keys_are_in_the_order_of_their_low_bytes_behind_the_default_one() -> None:
    parts = {
        **ONLY_COMPUTE,
        "compute": {"pkey": 0x0102, "members": {"full": "host1", "limited": "ALL_CAS"}},
        "other": {"pkey": 0x0201, "members": {"full": "0x506b4b0300000001"}},
    }
    found = tables(partitions=parts, guids={"host1:mlx5_0": "0x506b4b0300000001"})
    assert found["host1"] == ["0x7fff", "0x8201", "0x8102"]
    assert found["host2"] == ["0x7fff", "0x0102"]


@pytest.mark.parametrize(
    ("both", "membership", "keys"),
    [
        ("TRUE", "both", ["0x0003", "0x0002", "0x8002", "0x8003", "0x7fff"]),
        ("TRUE", "full", ["0x8003", "0x0002", "0x8002", "0x7fff"]),
        ("FALSE", "both", ["0x8003", "0x8002", "0x7fff"]),
        ("FALSE", "limited", ["0x0003", "0x8002", "0x7fff"]),
    ],
)
def test_the_partition_that_asks_for_place_0_has_its_limited_key_there_where_a_port_has_both(
    both: str, membership: str, keys: list[str]
) -> None:
    parts = {
        **ONLY_COMPUTE,
        "compute": {"members": {"full": [], "both": "host1"}},
        "asking": {"pkey": 3, "index0": True, "members": {membership: "host1"}},
    }
    found = tables(partitions=parts, subnet_manager={"options": {"allow_both_pkeys": both}})
    assert found["host1"] == keys
    assert found["host2"] == ["0x7fff"]


def test_a_member_of_both_kinds_of_the_default_partition_has_its_full_key_at_place_0() -> None:
    parts = {
        **ONLY_COMPUTE,
        "Default": {"pkey": 0x7FFF, "members": {"full": [], "limited": [], "both": "ALL"}},
    }
    found = tables(partitions=parts, subnet_manager={"options": {"allow_both_pkeys": "TRUE"}})
    assert found["host1"] == ["0xffff", "0x8002", "0x7fff"]
    assert tables(partitions=parts)["host1"] == ["0xffff", "0x8002"]


@pytest.mark.parametrize(
    ("ranges", "key", "held"),
    [
        ("0x0002", 2, True),
        ("0x8002", 2, True),
        ("0x0002", 3, False),
        ("0x0001, 0x0010-0x0020", 0x0F, False),
        ("0x0001, 0x0010-0x0020", 0x10, True),
        ("0x0001,0x0010 - 0x0020", 0x20, True),
        ("0x0001, 0x0010-0x0020", 0x21, False),
        ("key, , 0x0003", 3, True),
        ("0x0001-last, first-0x0009, 0x7fff", 5, False),
        ("", 0, False),
    ],
)
def test_a_key_is_in_a_list_of_keys_and_ranges_whatever_the_membership(
    ranges: str, key: int, *, held: bool
) -> None:
    assert holds_key(ranges, key) is held


# --- links and lines


@pytest.mark.parametrize(
    ("product", "called"),
    [("Q9", "the Q9"), ("House switch", "House switch"), ("switch of 2026", "switch of 2026"), ("", "")],
)
def test_a_product_whose_name_is_a_word_has_no_article(product: str, called: str) -> None:
    subnet = fat_tree(2, 1, 2)
    assert not isinstance(subnet.switches, Unknown)
    spine = subnet.switches[-1]
    own = spine._replace(profile=spine.profile._replace(product=product, ports={"HDR": 40}))
    (found,) = ib006_link_rate_impossible.check(subnet._replace(switches=(*subnet.switches[:-1], own)))
    assert isinstance(found, Violation)
    assert found.message.startswith(called)
    assert found.data == {"rate": "NDR", "product": product, "rates": ["HDR"]}


def test_a_line_of_as_many_bytes_as_opensm_reads_at_once_fits() -> None:
    key = "log_prefix"
    fits = "\u00e9" * ((1022 - len(key) - 1) // 2) + "x" * ((1022 - len(key) - 1) % 2)
    assert drawn("IB022", managed(options={key: fits})) == []
    data = only("IB022", managed(options={key: f"{fits}x", "lmc": 0})).data
    assert data == {"key": key, "bytes": 1023, "most_bytes": 1022}

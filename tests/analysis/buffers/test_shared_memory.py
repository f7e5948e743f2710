"""What is left of a pool once headroom and reserved buffer are taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.ecn_marking import (
    Reserved,
    buffer_parts,
    reserved_of,
    shared_bytes,
    shared_pool_bytes,
)
from lossless.model.hardware.load import load_switch
from tests.analysis.buffers.made import leaf_ports, pool, profile, with_group

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch

SIZES = st.integers(0, 10**9)
CELL = 254


def test_a_pool_that_spans_the_chip_loses_what_128_ports_reserve() -> None:
    """Arista-7060X6-64PE-B-O128: 533,100 cells, twice those that upstream's tests see a group at alpha 1 share twice.

    Recorded: PFC at 133,349 packets, 74 of them reserved (sonic-mgmt tests/qos/files/qos_params.th5.yaml @b4ba9de).
    """
    reserved = Reserved(groups_bytes=128 * 2 * 18_796, queues_bytes=128 * 5 * 1778)
    left = shared_bytes(164_505_640, 22_010_624, 164_505_640, reserved.total_bytes(parts=2))
    assert left // CELL == 533_100 == 4 * (133_349 - 74)


def test_a_pool_that_leaves_room_for_what_is_reserved_is_shared_whole() -> None:
    """Tomahawk: 10,875,072 B of 15,982,720 B, with 4,194,112 B of headroom and 1,248 B for each of 64 groups."""
    assert shared_bytes(10_875_072, 4_194_112, 15_982_720, 64 * 1248) == 10_875_072


def test_a_queue_is_held_in_every_part_a_group_in_one() -> None:
    assert Reserved(1000, 10).total_bytes(1) == 1010
    assert Reserved(1000, 10).total_bytes(4) == 1040


@given(SIZES, SIZES, SIZES, SIZES, SIZES)
def test_reserving_more_never_leaves_more(size: int, headroom: int, chip: int, few: int, more: int) -> None:
    left = shared_bytes(size, headroom, chip, few + more)
    assert 0 <= left <= shared_bytes(size, headroom, chip, few) <= size


def _tomahawk_5() -> Switch:
    """Return a switch with two ports of 400G and one of 800G, each with two lossless groups of 18,796 B."""
    product = load_switch("arista-7060x6-64pe-b")
    return leaf_ports()[0].switch._replace(profile=product, hwsku=product.hwskus[0])


def test_groups_count_in_their_own_pool_and_queues_where_theirs_is_as_large() -> None:
    switch, ingress = _tomahawk_5(), pool(1_000_000)
    others = pool(900_000, name="egress_lossy_pool")
    own = profile(pool=ingress, reserved_bytes=100)
    ports = [port._replace(qos=with_group(found, own).qos) for found in leaf_ports() for port in found.ports]
    queues = {id(port.qos): port.qos for port in ports if port.qos}
    lossy = profile(pool=others, reserved_bytes=7, headroom_bytes=None)
    spanning = lossy._replace(pool=ingress)
    for queue, expected in ((lossy, 0), (spanning, 7)):
        given_ports = []
        for port in ports:
            assert port.qos is not None
            slots = tuple(None if slot is None else slot._replace(buffer=None) for slot in port.qos.queues)
            first = next(number for number, slot in enumerate(slots) if slot is not None)
            slot = slots[first]
            assert slot is not None
            slots = (*slots[:first], slot._replace(buffer=queue), *slots[first + 1 :])
            given_ports.append(port._replace(qos=port.qos._replace(queues=slots)))
        found = reserved_of(switch._replace(ports=tuple(given_ports)), ingress)
        assert found == Reserved(100 * len(ports), expected * len(ports))
    assert len(queues) > 1


def test_pools_of_nvidia_chips_are_sized_without_what_is_reserved() -> None:
    switch = leaf_ports()[0].switch
    ingress = next(found for found in switch.qos.pools if found.name == "ingress_lossless_pool")
    assert reserved_of(switch, ingress) == Reserved()
    assert shared_pool_bytes(switch, ingress) == ingress.size_bytes


@pytest.mark.parametrize(
    ("product", "parts"),
    [("arista-7060x6-64pe", 2), ("arista-7260cx3", 4), ("dell-s6000", 1), ("nvidia-sn5600", 1)],
)
def test_a_buffer_is_one_where_its_parts_are_not_known(product: str, parts: int) -> None:
    assert buffer_parts(leaf_ports()[0].switch._replace(profile=load_switch(product))) == parts
    assert buffer_parts(leaf_ports()[0].switch._replace(profile=None)) == 1

"""What is left of a pool once headroom and reserved buffer are taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.ecn_marking import (
    PARTS_UNKNOWN,
    Reserved,
    Trigger,
    buffer_parts,
    reserved_of,
    shared_bytes,
    shared_pool_bytes,
    whatever_the_parts,
)
from lossless.ground.basics.findings import MissingInput
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
    [
        ("arista-7060x6-64pe", (2,)),
        ("arista-7260cx3", (4,)),
        ("dell-z9332f", (2,)),
        ("dell-s6000", (1,)),
        ("nvidia-sn5600", (1,)),
        ("accton-as9516", (1, 2, 4)),
    ],
)
def test_a_buffer_may_have_any_number_of_parts_where_it_is_not_known(
    product: str, parts: tuple[int, ...]
) -> None:
    assert buffer_parts(leaf_ports()[0].switch._replace(profile=load_switch(product))) == parts
    assert buffer_parts(leaf_ports()[0].switch._replace(profile=None)) == (1, 2, 4)


def test_xoff_is_the_smallest_that_the_parts_allow() -> None:
    start = Trigger(8_000_000, 1.0, None, (1, 2, 4))
    assert (start.part_bytes, start.threshold_bytes(1)) == (2_000_000, 1_000_000)
    assert [one.threshold_bytes(1) for one in start.per_number] == [1_000_000, 2_000_000, 4_000_000]
    assert start.undivided.threshold_bytes(1) == 4_000_000
    # Of two parts, each with half of eight senders.
    assert Trigger(8_000_000, 1.0, None, (2,)).most_egress_bytes(8) == 8 * 4_000_000 / 5


def test_what_depends_on_parts_that_are_not_known_is_a_missing_input() -> None:
    start = Trigger(8_000_000, 1.0, None, (1, 2, 4))
    for limit, expected in (
        (500_000, None),
        (2_500_000, MissingInput(PARTS_UNKNOWN)),
        (5_000_000, 4_000_000),
    ):
        found = whatever_the_parts(start, lambda one: found_below(one, limit))  # noqa: B023
        assert found == expected


def found_below(one: Trigger, limit_bytes: int) -> int | None:
    reach = int(one.threshold_bytes(1))
    return reach if reach < limit_bytes else None


def test_a_pool_that_contains_its_headroom_contains_what_is_reserved() -> None:
    """DellEMC-Z9332f: the pool is smaller than the chip, and groups share what 80 or 32 ports leave of it.

    Recorded: PFC at 22,026 and 15,152 packets, 10 of them reserved, at alpha 1/4 of one of two parts (sonic-mgmt
    tests/qos/files/qos_params.th3.yaml @b4ba9de).
    """
    for ports, headroom, recorded in ((80, 8_644_128, 22_026), (32, 27_200_352, 15_152)):
        reserved = Reserved(groups_bytes=ports * 2 * 2540, queues_bytes=ports * 5 * 1778)
        left = shared_bytes(66_394_076, headroom, 64 * 2**20, reserved.total_bytes(parts=2))
        assert abs(left // CELL // 2 / 5 + 10 - recorded) < 2

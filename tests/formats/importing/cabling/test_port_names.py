"""Ports of one switch by the names that SONiC, its front panel and other systems have for them."""

from __future__ import annotations

import pytest

from lossless.formats.importing.cabling.intent_names import OUT_OF_BAND, PortNames
from lossless.model.hardware.model import PortSpec


def spec(name: str, alias: str, cage: int) -> PortSpec:
    return PortSpec(name, (0,), alias, cage, 100 * 10**9)


WHOLE = [spec("Ethernet0", "fortyGigE0/0", 1)]
HALVES = [spec("Ethernet8", "fortyGigE0/8", 2), spec("Ethernet12", "fortyGigE0/12", 2)]
SWITCH = PortNames([*WHOLE, *HALVES])


@pytest.mark.parametrize(
    ("word", "port"),
    [
        ("Ethernet0", "Ethernet0"),
        ("ETHERNET12", "Ethernet12"),
        ("FortyGigE0/8", "Ethernet8"),
        # The first cage is whole, the second split in two.
        ("etp1", "Ethernet0"),
        ("swp1", "Ethernet0"),
        ("Eth1/1", "Ethernet0"),
        ("etp2a", "Ethernet8"),
        ("etp2b", "Ethernet12"),
        ("swp2s0", "Ethernet8"),
        ("swp2s1", "Ethernet12"),
        ("Eth1/2/1", "Ethernet8"),
        ("Eth1/2/2", "Ethernet12"),
        ("etp2", None),
        ("etp2c", None),
        ("swp2s2", None),
        ("Eth1/2/0", None),
        ("etp1a", None),
        ("etp3", None),
        ("Ethernet1", None),
    ],
)
def test_a_port_is_known_by_its_name_its_alias_and_its_place_on_the_front(
    word: str, port: str | None
) -> None:
    assert SWITCH.find(word) == port


def test_where_cages_are_counted_from_0_nothing_says_which_a_place_on_the_front_means() -> None:
    names = PortNames([spec("Ethernet0", "a", 0), spec("Ethernet4", "b", 1)])
    assert names.find("etp1") is None
    assert names.find("b") == "Ethernet4"


def test_a_name_counts_before_an_alias_of_another_port_and_the_first_of_two_aliases() -> None:
    names = PortNames(
        [spec("Ethernet0", "Ethernet4", 1), spec("Ethernet4", "x", 2), spec("Ethernet8", "x", 3)]
    )
    assert names.find("Ethernet4") == "Ethernet4"
    assert names.find("X") == "Ethernet4"


@pytest.mark.parametrize("name", ["eth0", "mgmt0", "Management0", "iDRAC", "oob-1", "eth1/1"])
def test_ports_for_management_are_known_by_their_names(name: str) -> None:
    assert OUT_OF_BAND.fullmatch(name)


@pytest.mark.parametrize("name", ["Ethernet0", "etp1", "swp1", "uplink-eth0"])
def test_ports_of_the_fabric_are_not_taken_for_those_of_management(name: str) -> None:
    assert not OUT_OF_BAND.fullmatch(name)

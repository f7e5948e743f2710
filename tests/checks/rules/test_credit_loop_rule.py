"""IB020: where routes close a cycle, and the sound subnets on which nothing may be said."""

from __future__ import annotations

import pytest

from lossless.checks.rules.base import MissingInput, Violation
from lossless.checks.rules.infiniband.ib020_credit_loop import check
from lossless.checks.rules.precedence import SUPERSEDES
from lossless.ground.basics.records import Unknown
from lossless.model.fabric.infiniband.subnet import Subnet
from tests.subnets import dragonfly, fat_tree, fat_tree_of_pods, torus


def violations(subnet: Subnet) -> list[Violation]:
    return [found for found in check(subnet) if isinstance(found, Violation)]


def unchecked(subnet: Subnet) -> list[str]:
    return [found.reason for found in check(subnet) if isinstance(found, MissingInput)]


@pytest.mark.parametrize(
    "subnet",
    [
        *(fat_tree(4, 2, 4, engine) for engine in ("updn", "ftree", "minhop", None)),
        *(fat_tree_of_pods(2, 2, 2, engine) for engine in ("updn", "ftree", "minhop")),
        dragonfly(4, 3, 2, "minhop"),
        torus((3, 3), 2, "dor"),
        torus((2, 3, 3), 1, "dor"),
        torus((6, 6), 1, "torus-2QoS", qos="TRUE"),
    ],
)
def test_of_a_sound_subnet_nothing_is_said(subnet: Subnet) -> None:
    assert list(check(subnet)) == []


def test_a_ring_of_six_is_named_hop_by_hop_and_replaces_what_is_said_of_the_engine() -> None:
    (violation,) = violations(torus((6,), 1, "dor"))
    assert violation.data["engine"] == "dor"
    hops = [f"t{n} port {2 if n else 1} -> t{(n + 1) % 6}" for n in range(6)]
    assert violation.data["loop"] == hops
    assert violation.elements == ("t0", "t1", "t2", "t3", "t4", "t5")
    assert violation.conclusive
    assert SUPERSEDES["IB020"] == ("IB002",)


def test_nvidias_opensm_may_choose_other_ports_so_confidence_is_less() -> None:
    subnet = torus((6,), 1, "dor")
    assert [violation.confidence for violation in violations(subnet)] == ["high"]
    assert [violation.confidence for violation in violations(subnet._replace(flavour="nvidia"))] == ["medium"]


@pytest.mark.parametrize("engine", ["lash", "dfsssp", "nue", "ar_dor", "file"])
def test_what_cannot_be_computed_is_unproven_and_never_free(engine: str) -> None:
    subnet = torus((5, 5), 1, engine, qos="TRUE")
    assert violations(subnet) == []
    (reason,) = unchecked(subnet)
    assert reason.startswith("credit loops are neither found nor excluded: ")


def test_an_engine_that_opensm_skips_for_the_shape_is_reported_by_another_rule() -> None:
    assert violations(torus((5, 5), 1, "updn")) == []
    assert violations(torus((5, 5), 1, "torus-2QoS")) == []


def test_switches_that_are_listed_in_a_ring_are_checked_too() -> None:
    ring = torus((5,), 1, "updn")
    assert not isinstance(ring.shape, Unknown)
    listed = ring._replace(shape=ring.shape._replace(kind="explicit"))
    (violation,) = violations(listed)
    assert violation.data["engine"] == "minhop"

"""PFC on chosen tiers, asymmetric PFC, LAGs and roles of three-tier fabrics."""

from __future__ import annotations

import pytest

from lossless.api import lint_documents
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.formats.sonic.from_model import tables
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric, Tier
from tests.formats.intent.intent_texts import NAMED, SHAPE, TOPOLOGY, spoilt

G = 10**9
PODS = """\
topology:
  three_tier:
    pods: 2
    leaves_per_pod: 2
    spines_per_pod: 2
    super_spines: 2
    hosts_per_leaf: 4
    host_links: 2 x 400G
    uplinks: 2 x 800G
    spine_uplinks: 2 x 800G
    cables: {host: 3m, uplink: 30m, spine_uplink: 200m}
"""
THREE = spoilt(
    SHAPE,
    (TOPOLOGY, PODS),
    ("spine: nvidia-sn5600, nic", "spine: nvidia-sn5600, super-spine: nvidia-sn5600, nic"),
)


def fabric(text: str) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def with_pfc(text: str, stated: str) -> str:
    return spoilt(text, ("  watchdog:", f"  {stated}\n  watchdog:"))


def masks(found: Fabric, tier: Tier) -> dict[tuple[str | None, int], set[tuple[int, ...]]]:
    """Return the PFC masks of a tier's ports, by what is at the other end and the real cable."""
    by_kind: dict[tuple[str | None, int], set[tuple[int, ...]]] = {}
    for switch in found.switches:
        for port in switch.ports if switch.tier is tier else ():
            assert port.qos is not None
            assert isinstance(port.cable.real_m, int)
            by_kind.setdefault((port.leads_to, port.cable.real_m), set()).add(port.qos.pfc.priorities)
    return by_kind


ON, OFF = {(3,)}, {()}
CASES = {
    "hosts": (ON, OFF, OFF),
    "hosts, uplinks": (ON, ON, OFF),
    "hosts, uplinks, spine_uplinks": (ON, ON, ON),
    "uplinks": (OFF, ON, OFF),
    "spine_uplinks": (OFF, OFF, ON),
}


@pytest.mark.parametrize("tiers", CASES)
def test_only_links_of_the_stated_tiers_pause_at_both_ends(tiers: str) -> None:
    found, (hosts, up, top) = fabric(with_pfc(THREE, f"tiers: [{tiers}]")), CASES[tiers]
    assert masks(found, Tier.LEAF) == {("host", 3): hosts, ("switch", 30): up}
    assert masks(found, Tier.SPINE) == {("switch", 30): up, ("switch", 200): top}
    assert masks(found, Tier.SUPER_SPINE) == {("switch", 200): top}
    assert {host.qos.pfc_priorities for host in found.hosts} == hosts


@pytest.mark.parametrize("tiers", CASES)
def test_of_a_fabric_with_pfc_on_some_tiers_lint_says_no_more_than_that_others_lack_it(tiers: str) -> None:
    report = lint_documents([load_text(with_pfc(THREE, f"tiers: [{tiers}]"), "fabric.yaml")])
    whole = tiers == "hosts, uplinks, spine_uplinks"
    assert [finding.code for finding in report.findings] == ([] if whole else ["PFC017"])
    assert report.errors == ()


def test_a_port_without_pfc_keeps_its_lossless_queue_and_has_no_headroom() -> None:
    found = fabric(with_pfc(SHAPE, "tiers: [hosts]"))
    with_it, without = (
        next(p for p in found.switches[0].ports if p.leads_to == kind) for kind in ("host", "switch")
    )
    assert with_it.qos is not None
    assert without.qos is not None
    assert without.pfc_unwanted
    group, queue, other = without.qos.groups[3], without.qos.queues[3], with_it.qos.queues[3]
    assert group is not None
    assert group.buffer is not None
    assert (group.buffer.name, group.buffer.lossless) == ("ingress_lossy_profile", False)
    assert queue is not None
    assert other is not None
    assert (queue.buffer, queue.scheduler, queue.wred) == (other.buffer, other.scheduler, other.wred)
    assert (without.qos.watchdog, without.qos.watchdog_mask) == (None, None)


def test_headroom_is_not_kept_for_ports_without_pfc() -> None:
    def pool(text: str) -> int:
        pools = fabric(text).switches[0].qos.pools
        return next(pool.size_bytes or 0 for pool in pools if pool.name == "ingress_lossless_pool")

    assert pool(with_pfc(SHAPE, "tiers: [hosts]")) > pool(SHAPE)


def test_a_switch_none_of_whose_ports_pause_has_no_watchdog() -> None:
    found = fabric(with_pfc(THREE, "tiers: [hosts, uplinks]"))
    top = next(switch for switch in found.switches if switch.tier is Tier.SUPER_SPINE)
    assert "PFC_WD" not in tables(top)
    assert all("pfc_enable" not in row for row in tables(top)["PORT_QOS_MAP"].values())


def test_asymmetric_pfc_is_set_on_ports_that_pause_and_nowhere_else() -> None:
    found = fabric(with_pfc(SHAPE, "tiers: [hosts]\n  asymmetric: on"))
    leaf = found.switches[0]
    paused = {port.name for port in leaf.ports if port.leads_to == "host"}
    assert tables(leaf)["PORT"] == {name: {"pfc_asym": "on"} for name in paused}
    assert "PORT" not in tables(fabric(SHAPE).switches[0])


def test_each_pair_of_switches_has_a_lag_of_its_own_counted_on_each_switch() -> None:
    found = fabric(spoilt(SHAPE, ("leaves: 2", "lag: on\n    leaves: 2")))
    for switch in found.switches:
        lags = [port.lag for port in switch.ports if port.leads_to == "switch"]
        assert lags == ["PortChannel1", "PortChannel1", "PortChannel2", "PortChannel2"]
    assert all(
        port.lag is None for switch in found.switches for port in switch.ports if port.leads_to == "host"
    )


def test_links_of_one_name_are_one_lag_and_others_stand_alone() -> None:
    line = "    - {a: leaf1, b: leaf2, links: 1 x 800G, cable: 30m}\n"
    more = "".join(line.replace("}", f", lag: {lag}}}") for lag in ("left", "right", "left", "on", "off"))
    found = fabric(spoilt(NAMED, (line, line + more)))
    ports = [port for port in found.switches[0].ports if port.leads_to == "switch"]
    assert [port.lag for port in ports] == [
        None,
        "PortChannel1",
        "PortChannel2",
        "PortChannel1",
        "PortChannel3",
        None,
    ]


def test_members_of_a_lag_have_rows_and_the_lag_has_none() -> None:
    found = tables(fabric(spoilt(SHAPE, ("leaves: 2", "lag: on\n    leaves: 2"))).switches[0])
    assert not any("PortChannel" in key for rows in found.values() for key in rows)
    assert not any("PortChannel" in port for port in found["CABLE_LENGTH"]["AZURE"])


def test_members_of_a_lag_have_the_headroom_of_their_own_cables() -> None:
    line = "    - {a: leaf1, b: leaf2, links: 1 x 800G, cable: 30m}\n"
    pair = line.replace("}", ", lag: x}") + line.replace("30m}", "200m, lag: x}")
    found = fabric(spoilt(NAMED, (line, pair)))
    lengths = [port.cable.configured_m for port in found.switches[0].ports if port.lag]
    assert lengths == [40, 300]


def test_capacity_of_spines_is_counted_in_a_fabric_of_pods() -> None:
    leaf, spine = fabric(THREE).capacities
    assert (leaf.tier, leaf.leaves) == (Tier.LEAF, ("leaf1", "leaf2", "leaf3", "leaf4"))
    assert (spine.tier, spine.leaves) == (Tier.SPINE, ("spine1", "spine2", "spine3", "spine4"))
    assert spine.note == (
        "2 leaves x 2 x 800G = 3.2 Tb/s down, 2 super-spines x 2 x 800G = 3.2 Tb/s up, each counted one way"
    )


def test_an_oversubscribed_spine_is_reported_as_a_leaf_is() -> None:
    text = with_pfc(
        spoilt(THREE, ("spine_uplinks: 2 x", "spine_uplinks: 1 x")), "tiers: [hosts, uplinks, spine_uplinks]"
    )
    (found,) = lint_documents([load_text(text, "fabric.yaml")]).findings
    assert (found.code, found.origin.path) == ("TOP001", ("topology", "three_tier", "spine_uplinks"))
    assert found.data == {"ratio": 2.0, "down_bps": 3200 * 10**9, "up_bps": 1600 * 10**9}


def test_thousands_of_hosts_in_pods_share_what_is_identical() -> None:
    text = spoilt(
        THREE,
        ("pods: 2", "pods: 16"),
        ("leaves_per_pod: 2", "leaves_per_pod: 8"),
        ("hosts_per_leaf: 4", "hosts_per_leaf: 32"),
    )
    found = fabric(spoilt(text, ("host_links: 2 x", "host_links: 1 x")))
    assert (len(found.switches), len(found.hosts)) == (128 + 32 + 2, 4096)
    assert len({id(switch.ports) for switch in found.switches}) == 3
    assert len({id(port.qos) for switch in found.switches for port in switch.ports}) == 5

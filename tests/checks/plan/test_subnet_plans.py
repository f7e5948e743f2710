"""Plans of InfiniBand subnets: orders that an expert would give, and every state on the way by the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lossless import api
from lossless.checks.plan.assemble import NoPlan
from lossless.ground.basics.errors import InputError
from tests.checks.plan.made_subnets import BASE, Intent, changed, planned, told, two_tenants, write
from tests.paths import ROOT

ONE_MANAGER = ("subnet_manager.hosts", [{"on": "sm1", "priority": 14}])


def swapped(first: str, second: str) -> list[dict[str, Any]]:
    return [{"on": first, "priority": 14}, {"on": second, "priority": 13, "standby": True}]


def test_nothing_to_change_is_a_plan_without_steps(tmp_path: Path) -> None:
    assert planned(tmp_path, BASE).steps == ()


def test_a_level_gets_another_sl_while_both_are_served(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed(("qos.levels.rdma.sl", 2), ("qos.levels.rdma.vl", 2)))
    tables = "qos_vlarb_high qos_vlarb_low qos_sl2vl"
    assert told(plan.steps) == [
        f"change: sm2 hup opensm.conf({tables}) qos-policy.conf",
        f"change: sm1 hup opensm.conf({tables}) qos-policy.conf",
        "change: hosts nothing nccl.conf",
        "jobs",
        f"change: sm2 hup opensm.conf({tables})",
        f"change: sm1 hup opensm.conf({tables})",
    ]
    assert [step.in_use for step in plan.steps] == [(0, 1), (0, 1), (0, 1, 2), (0, 1, 2), (0, 2), (0, 2)]
    assert plan.steps[3].by_hand == (
        "restart every job that began before this step: its queue pairs keep SL 1",
    )


def test_the_rollback_of_a_new_sl_takes_jobs_off_it_before_its_lane_goes(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed(("qos.levels.rdma.sl", 2), ("qos.levels.rdma.vl", 2)))
    # The standby alone has its files after step 1, both have after step 2, and jobs may send on SL 2 after step 3.
    assert [step.kind for step in plan.rollback[0]] == ["change"]
    assert [step.kind for step in plan.rollback[1]] == ["change", "change"]
    assert [step.kind for step in plan.rollback[2]] == ["change", "jobs", "change", "change"]
    assert plan.rollback[2][1].by_hand == (
        "restart every job that began before this step: its queue pairs keep SL 2",
    )
    assert [step.kind for step in plan.rollback[5]] == [
        "change",
        "change",
        "change",
        "jobs",
        "change",
        "change",
    ]


def test_an_sl_that_goes_keeps_its_lane_until_its_jobs_have_ended(tmp_path: Path) -> None:
    # The target has SL 1 on VL 0 with all the rest: served, but not as its jobs are used to.
    plan = planned(tmp_path, changed(("qos.levels.rdma.sl", 2)))
    assert [step.kind for step in plan.steps] == ["change", "change", "change", "jobs", "change", "change"]


def test_a_level_moves_to_another_lane_under_traffic_by_three_sweeps(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed(("qos.levels.rdma.vl", 2)))
    weights, lanes = "opensm.conf(qos_vlarb_high qos_vlarb_low)", "opensm.conf(qos_sl2vl)"
    assert told(plan.steps) == [
        f"change: {host} hup {what}" for what in (weights, lanes, weights) for host in ("sm2", "sm1")
    ]


def test_the_routing_engine_restarts_managers_the_standby_first(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed(("subnet_manager.routing.engine", "ftree")))
    assert told(plan.steps) == [
        "change: sm2 restart opensm.conf(routing_engine)",
        "change: sm1 restart opensm.conf(routing_engine)",
    ]
    assert [group.states for step in plan.steps for group in step.files] == [
        ("standby", "standby"),
        ("master", "master"),
    ]
    assert "whether packets under way are lost or overtake each other is not known" in " ".join(
        plan.steps[1].interrupts
    )


def test_one_manager_alone_restarts_and_says_what_waits(tmp_path: Path) -> None:
    plan = planned(
        tmp_path, changed(("subnet_manager.routing.engine", "ftree"), ONE_MANAGER), changed(ONE_MANAGER)
    )
    assert told(plan.steps) == ["change: sm1 restart opensm.conf(routing_engine)"]
    assert plan.steps[0].interrupts[0] == (
        "sm1 is the only manager: paths and joins are not answered until its first sweep has ended "
        "(opensm/osm_sa_mad_ctrl.c @fa74b98); traffic on the paths that there are goes on, from its stop on"
    )


def test_managers_change_places_by_their_priorities(tmp_path: Path) -> None:
    plan = planned(tmp_path, changed(("subnet_manager.hosts", [*swapped("sm2", "sm1")[::-1]])))
    assert told(plan.steps) == [
        "change: sm2 hup opensm.conf(sm_priority)",
        "change: sm1 hup opensm.conf(sm_priority)",
    ]
    # At the same priority the lower GUID stays master, which is that of sm1.
    assert [group.states for step in plan.steps for group in step.files] == [
        ("standby", "standby"),
        ("master", "standby"),
    ]


def test_a_standby_that_becomes_master_by_its_priority_says_so(tmp_path: Path) -> None:
    hosts = [{"on": "sm1", "priority": 14, "standby": True}, {"on": "sm2", "priority": 15}]
    plan = planned(tmp_path, changed(("subnet_manager.hosts", hosts)))
    assert [group.states for step in plan.steps for group in step.files] == [("standby", "master")]
    assert plan.steps[0].interrupts[1].startswith("sm2 becomes the master by its priority")


def test_a_key_that_goes_from_the_file_needs_a_restart_and_one_of_qos_does_not(tmp_path: Path) -> None:
    swept = changed(("subnet_manager.options", {"sweep_interval": "20"}))
    plan = planned(tmp_path, BASE, swept)
    assert [group.how for step in plan.steps for group in step.files] == ["restart", "restart"]
    assert plan.steps[0].files[0].why == (
        "sweep_interval goes from the file, and SIGHUP leaves it as it was",
    )
    assert [group.how for step in plan.rollback[1] for group in step.files] == ["hup", "hup"]
    assert {
        g.how for s in planned(tmp_path / "q", changed(("qos.high_limit", None))).steps for g in s.files
    } == {"hup"}


def test_which_keys_nvidias_opensm_takes_in_is_not_known(tmp_path: Path) -> None:
    own = ("flavour", "nvidia")
    swept = changed(own, ("subnet_manager.options", {"sweep_interval": "20"}))
    plan = planned(tmp_path, swept, changed(own))
    assert [group.how for step in plan.steps for group in step.files] == ["restart", "restart"]
    assert plan.steps[0].files[0].why == ("whether SIGHUP takes sweep_interval in is not known",)


def test_a_partition_that_comes_is_one_sweep(tmp_path: Path) -> None:
    extra = ("partitions.extra", {"pkey": 2, "members": {"full": ["host1", "host2"]}})
    plan = planned(tmp_path, changed(extra))
    assert told(plan.steps) == ["change: sm2 hup partitions.conf", "change: sm1 hup partitions.conf"]
    back = planned(tmp_path / "back", BASE, changed(extra))
    assert [step.kind for step in back.steps] == ["jobs", "change", "change"]
    assert back.steps[0].by_hand == (
        "end or restart what uses P_Key 0x8002 on host1:mlx5_0, host2:mlx5_0: they lose it next",
    )


def test_a_limited_member_that_becomes_a_full_one_keeps_its_key(tmp_path: Path) -> None:
    full, limited = (
        changed(("partitions.extra", {"pkey": 2, "members": {"full": "@management", how: "@compute"}}))
        for how in ("full", "limited")
    )
    full["partitions"]["extra"]["members"] = {"full": ["@management", "@compute"]}
    assert [step.kind for step in planned(tmp_path, full, limited).steps] == ["change", "change"]
    assert [step.kind for step in planned(tmp_path / "b", limited, full).steps] == [
        "jobs",
        "change",
        "change",
    ]


def ring(root: str) -> Intent:
    """Return a ring of five switches, routed up and down from one of them."""
    names = "abcde"
    topology = {
        "switches": {name: {"role": "leaf"} for name in names},
        "links": [
            {"a": name, "b": after, "links": "1 x NDR"}
            for name, after in zip(names, names[1:] + names[0], strict=True)
        ],
        "hosts": {
            **{f"host{n}": {"at": name, "links": "1 x NDR"} for n, name in enumerate(names, 1)},
            **{
                f"sm{n}": {"at": name, "links": "1 x NDR", "role": "management"}
                for n, name in enumerate("ab", 1)
            },
        },
    }
    guids = {
        **{f"host{n}:mlx5_0": f"0x{0x100 + n:016x}" for n in range(1, 6)},
        **{f"sm{n}:mlx5_0": f"0x{0x200 + n:016x}" for n in (1, 2)},
        **{name: f"0x{0x300 + n:016x}" for n, name in enumerate(names)},
    }
    return changed(
        ("topology", topology),
        ("guids", guids),
        ("subnet_manager.routing", {"engine": "updn", "roots": [root]}),
    )


def test_routes_that_deadlock_with_the_old_ones_are_changed_with_all_jobs_stopped(tmp_path: Path) -> None:
    plan = planned(tmp_path, ring("c"), ring("a"))
    assert [step.kind for step in plan.steps] == ["stop", "change", "change", "start"]
    assert (
        "old and new routes together have a cycle of waits, so jobs could deadlock"
        in plan.steps[0].by_hand[1]
    )
    # Roots are read at each sweep, so no manager restarts.
    assert told(plan.steps[1:3]) == ["change: sm2 hup root_guid.conf", "change: sm1 hup root_guid.conf"]


def test_hosts_that_never_share_a_tenant_never_talk_on_the_way(tmp_path: Path) -> None:
    # host2 leaves and host3 comes: a table of both sides would let them talk.
    plan = planned(
        tmp_path, two_tenants(["host1", "host3"], ["host4"]), two_tenants(["host1", "host2"], ["host4"])
    )
    assert [step.kind for step in plan.steps] == ["stop", "change", "change", "start"]


def test_jobs_whose_key_would_get_another_place_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NoPlan, match="0x0002 gets place 2 on host1:mlx5_0, and NCCL_IB_PKEY is 1"):
        planned(tmp_path, changed(("partitions.train.pkey", 2)))
    moved = changed(("partitions.train.pkey", 2), ("subnet_manager.options", {"keep_pkey_indexes": "FALSE"}))
    assert [step.kind for step in planned(tmp_path / "again", moved).steps] == [
        "stop",
        "change",
        "change",
        "start",
    ]


def test_another_key_in_the_first_place_moves_the_one_that_is_there(tmp_path: Path) -> None:
    plan = planned(
        tmp_path, changed(("partitions.train.index0", True), ("jobs.environment", {"NCCL_IB_PKEY": 0}))
    )
    assert plan.steps[0].kind == "stop"
    assert "another P_Key takes place 0 of P_Key tables" in " ".join(plan.steps[0].by_hand)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("subnet_manager.prefix", "0xfec0000000000002"), "subnet_prefix changes: GIDs change"),
        (("subnet_manager.options", {"lmc": "1"}), "lmc changes: LIDs change"),
        (("subnet_manager.routing.engine", "lash"), "lash keeps cycles apart by lanes"),
        (("subnet_manager.options", {"qos_ca_vlarb_high": "0:64,1:64"}), "QoS tables of their own"),
    ],
)
def test_what_no_job_survives_is_done_with_all_jobs_stopped(
    tmp_path: Path, change: tuple[str, object], why: str
) -> None:
    plan = planned(tmp_path, changed(change))
    assert [step.kind for step in plan.steps] == ["stop", "change", "change", "start"]
    assert why in " ".join(plan.steps[0].by_hand)
    assert [step.in_use for step in plan.steps[1:3]] == [(), ()]
    assert [step.kind for step in plan.rollback[1]] == ["change", "start"]
    assert [step.kind for step in plan.rollback[3]] == ["stop", "change", "change", "start"]


def test_qos_that_comes_on_finds_tables_that_nobody_knows(tmp_path: Path) -> None:
    off = changed(("qos", "off"), ("jobs.level", None))
    plan = planned(tmp_path, BASE, off)
    assert plan.steps[0].kind == "stop"
    assert "while qos is FALSE is not known" in " ".join(plan.steps[0].by_hand)


SHARP = ("sharp", {"manager": "sm1", "settings": {"log_verbosity": 3}})
NVIDIA = ("flavour", "nvidia")


def test_sharp_comes_before_jobs_use_it_and_goes_after(tmp_path: Path) -> None:
    on = planned(tmp_path, changed(NVIDIA, SHARP), changed(NVIDIA, ("sharp", "off")))
    assert told(on.steps) == [
        "change: sm2 restart opensm.conf(sharp_enabled)",
        "change: sm1 restart opensm.conf(sharp_enabled)",
        "change: sm1-sharp nothing sharp_am.cfg",
        "change",
        "change: hosts nothing nccl.conf",
    ]
    assert on.steps[3].by_hand == ("restart sharp_am on sm1: it reads its file when it starts",)
    off = planned(tmp_path / "off", changed(NVIDIA, ("sharp", "off")), changed(NVIDIA, SHARP))
    assert told(off.steps) == [
        "change: hosts nothing nccl.conf",
        "jobs",
        "change: sm1-sharp nothing sharp_am.cfg",
        "change",
        "change: sm2 restart opensm.conf(sharp_enabled)",
        "change: sm1 restart opensm.conf(sharp_enabled)",
    ]
    assert off.steps[3].by_hand == ("stop sharp_am on sm1",)


def test_sharp_goes_from_a_manager_without_other_options(tmp_path: Path) -> None:
    """Where the target sets no option, what serves both still has that of SHARP, and no job stops."""
    bare = (NVIDIA, ("subnet_manager.routing", None), ("qos", None), ("jobs.level", None))
    gone = planned(tmp_path, changed(*bare), changed(*bare, SHARP))
    assert told(gone.steps) == [
        "change: hosts nothing nccl.conf",
        "jobs",
        "change: sm1-sharp nothing sharp_am.cfg",
        "change",
        "change: sm2 restart opensm.conf(sharp_enabled)",
        "change: sm1 restart opensm.conf(sharp_enabled)",
    ]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([("topology.fat_tree.spines", 1), ("guids.spine2", None)], "switches differ (spine2)"),
        ([ONE_MANAGER], "subnet managers differ (sm2)"),
        ([("flavour", "nvidia")], "flavour: upstream becomes nvidia"),
        (
            [("flavour", "nvidia"), ("subnet_manager.manager", "ufm")],
            "subnet_manager.manager: ufm",
        ),
        ([("subnet_manager.keys", {"m_key": "M_KEY"})], "subnet_manager.keys differ"),
    ],
)
def test_what_is_no_change_of_one_subnet_is_refused(
    tmp_path: Path, changes: list[tuple[str, object]], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        planned(tmp_path, changed(*changes))
    assert says in str(refused.value)


def test_limits_of_ports_and_dscps_are_refused_and_so_is_a_fabric_on_one_side(tmp_path: Path) -> None:
    before, after = write(tmp_path, "now", BASE), write(tmp_path, "then", BASE)
    with pytest.raises(InputError, match="an InfiniBand subnet has no"):
        api.plan([before], after, limits=api.PlanLimits(ports_down=1))
    with pytest.raises(InputError, match="an InfiniBand subnet has no"):
        api.plan([before], after, options=api.Options(rdma_dscps=(3,)))
    fabric = ROOT / "examples" / "roce-256"
    with pytest.raises(InputError, match="this is an InfiniBand subnet, and the target is none"):
        api.plan([before], fabric)
    with pytest.raises(InputError, match="what is in service has to be an intent of it"):
        api.plan([fabric], after)

"""What the config updater permits: by release and HWSKU, and never guessed."""

from __future__ import annotations

from typing import Any

import pytest

from lossless.formats.sonic.capabilities.updater_sorting import TimeRange, patch_time, updater_table
from lossless.formats.sonic.capabilities.updater_verdict import Update, releases, update
from lossless.formats.sonic.from_model import OWNED, SHARED
from lossless.model.hardware.load import switch_for_hwsku

Data = dict[str, Any]
RUNNING: Data = {
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"size": "1000", "xoff": "100", "type": "ingress", "mode": "dynamic"}
    },
    "BUFFER_PROFILE": {
        "egress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"},
        "pg_lossless_400000_5m_profile": {
            "pool": "ingress_lossless_pool",
            "size": "19456",
            "xoff": "231424",
            "dynamic_th": "0",
        },
    },
    "WRED_PROFILE": {
        "AZURE_LOSSLESS": {"ecn": "ecn_all", "green_min_threshold": "1", "red_min_threshold": "1"}
    },
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": {"detection_time": "200"}},
    "SCHEDULER": {"scheduler.0": {"weight": "1"}},
    "QUEUE": {"Ethernet0|3": {"scheduler": "scheduler.0"}},
    "PORT": {"Ethernet0": {"admin_status": "up"}, "Ethernet4": {"admin_status": "down"}},
}
OLD = ("202305", "202311", "202405", "202411")
LOSSLESS_PROFILE = ("BUFFER_PROFILE", "pg_lossless_400000_5m_profile")


def changed(*path: str, to: Any) -> Data:
    """Return the running configuration with one value changed, or gone where it is None."""
    found: Data = {table: {key: dict(row) for key, row in rows.items()} for table, rows in RUNNING.items()}
    at = found
    for key in path[:-1]:
        at = at.setdefault(key, {})
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return found


def rules_only(found: Update) -> list[str]:
    """Return what the updater's own rules refuse; what models say of these few tables is another matter."""
    return [refusal.why for refusal in found.refusals if refusal.op != "check"]


def permitted(release: str | None, *path: str, to: Any, hwsku: str = "ACS-SN5600") -> bool:
    return not rules_only(update(RUNNING, changed(*path, to=to), release, hwsku))


@pytest.mark.parametrize("release", OLD)
def test_releases_up_to_202411_permit_sizes_of_pools_and_the_green_curve_of_azure(release: str) -> None:
    assert permitted(release, "BUFFER_POOL", "ingress_lossless_pool", "size", to="2000")
    assert permitted(release, "BUFFER_POOL", "ingress_lossless_pool", "xoff", to="2000")
    assert permitted(release, "WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold", to="2")
    assert permitted(release, *LOSSLESS_PROFILE, "xoff", to="2")
    assert permitted(release, *LOSSLESS_PROFILE, "dynamic_th", to="1")
    assert permitted(release, "PFC_WD", "Ethernet0", "detection_time", to="400")
    assert permitted(release, "PFC_WD", "GLOBAL", "POLL_INTERVAL", to="400")


@pytest.mark.parametrize("release", OLD)
def test_and_nothing_else_of_those_tables(release: str) -> None:
    assert not permitted(release, "BUFFER_POOL", "ingress_lossless_pool", "mode", to="static")
    assert not permitted(release, "BUFFER_POOL", "other", to={"size": "1"})
    assert not permitted(release, "WRED_PROFILE", "AZURE_LOSSLESS", "red_min_threshold", to="2")
    assert not permitted(release, "WRED_PROFILE", "RDMA", to={"ecn": "ecn_all"})
    assert not permitted(release, *LOSSLESS_PROFILE, "size", to="2")
    assert not permitted(release, *LOSSLESS_PROFILE, "xoff", to=None)
    assert not permitted(release, *LOSSLESS_PROFILE, to=None)
    # A profile without a digit in its name is not taken for a port, and its fields match no rule.
    assert not permitted(release, "BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", to="2")


def test_master_refuses_pools_and_permits_curves_and_whole_profiles() -> None:
    assert not permitted("master", "BUFFER_POOL", "ingress_lossless_pool", "size", to="2000")
    assert permitted("master", "WRED_PROFILE", "AZURE_LOSSLESS", "red_min_threshold", to="2")
    assert permitted("master", "WRED_PROFILE", "RDMA", to={"ecn": "ecn_all"})
    assert permitted("master", *LOSSLESS_PROFILE, to=None)
    assert permitted("master", "BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", to="2")
    assert not permitted("master", *LOSSLESS_PROFILE, "size", to="2")


def test_202505_permits_pools_and_each_green_curve_and_no_trimming() -> None:
    assert permitted("202505", "BUFFER_POOL", "ingress_lossless_pool", "size", to="2000")
    assert permitted("202505", "WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold", to="2")
    assert not permitted("202505", "WRED_PROFILE", "AZURE_LOSSLESS", "red_min_threshold", to="2")
    assert not permitted("202505", "WRED_PROFILE", "RDMA", to={"ecn": "ecn_all"})
    assert not permitted("202505", *LOSSLESS_PROFILE, to=None)
    assert not permitted(
        "202505", "BUFFER_PROFILE", "egress_lossy_profile", "packet_discard_action", to="trim"
    )


@pytest.mark.parametrize("release", ["202511", "202605", "master"])
def test_from_202511_on_lossy_profiles_may_begin_to_trim(release: str) -> None:
    action = ("BUFFER_PROFILE", "egress_lossy_profile", "packet_discard_action")
    assert permitted(release, *action, to="trim")
    assert permitted(release, *LOSSLESS_PROFILE, to=None)
    assert not permitted(release, "BUFFER_POOL", "ingress_lossless_pool", "size", to="2000")
    assert not permitted(release, *action, to="trim", hwsku="ACS-MSN2700")


def test_a_chip_that_the_code_of_a_release_does_not_look_for_is_not_listed() -> None:
    for release, known in (("202511", False), ("202605", False), ("master", True)):
        action = ("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th")
        assert permitted(release, *action, to="2", hwsku="ACS-SN6600_LD") is known


@pytest.mark.parametrize("release", releases())
def test_the_poll_interval_is_never_removed_and_its_row_never_added(release: str) -> None:
    assert not permitted(release, "PFC_WD", "GLOBAL", "POLL_INTERVAL", to=None)
    assert not permitted(release, "PFC_WD", "GLOBAL", to=None)
    without = changed("PFC_WD", "GLOBAL", to=None)
    assert rules_only(update(without, RUNNING, release, "ACS-SN5600"))


@pytest.mark.parametrize("release", releases())
def test_rows_that_move_from_port_to_port_are_refused(release: str) -> None:
    """A removal and an addition of the same value is a move to the updater, and no rule permits moves."""
    target = changed("PFC_WD", "Ethernet4", to={"detection_time": "200"})
    assert not rules_only(update(RUNNING, target, release, "ACS-SN5600"))
    del target["PFC_WD"]["Ethernet0"]
    assert rules_only(update(RUNNING, target, release, "ACS-SN5600")) == [
        "the updater sees it as moved from a row that goes, and permits no moves"
    ]


def test_tables_without_rules_are_free() -> None:
    for release in releases():
        assert permitted(release, "SCHEDULER", "scheduler.0", "weight", to="2", hwsku="newport")
        assert permitted(release, "QUEUE", "Ethernet0|4", to={"scheduler": "scheduler.0"}, hwsku="newport")


@pytest.mark.parametrize("hwsku", ["DellEMC-Z9664f-O64", "newport", "No-Such-Switch"])
def test_a_hwsku_that_the_updater_does_not_list_is_refused(hwsku: str) -> None:
    target = changed("PFC_WD", "Ethernet0", "detection_time", to="400")
    assert rules_only(update(RUNNING, target, "202411", hwsku)) == [
        f"the updater of 202411 does not list HWSKU {hwsku}"
    ]


def test_broadcom_products_are_known_by_a_part_of_their_name() -> None:
    for hwsku in ("Arista-7260CX3-C64", "prefix-arista-7260cx3-c64-suffix"):
        assert permitted("202411", "PFC_WD", "Ethernet0", "detection_time", to="400", hwsku=hwsku)
    assert not permitted(
        "202411", "PFC_WD", "Ethernet0", "detection_time", to="400", hwsku="Mellanox-ACS-SN5600-x"
    )


@pytest.mark.parametrize("release", [None, "202612", "202205"])
def test_a_release_whose_rules_are_not_known_is_not_guessed_at(release: str | None) -> None:
    assert not permitted(release, "SCHEDULER", "scheduler.0", "weight", to="2")


def test_the_buffer_model_is_read_when_services_start() -> None:
    target = changed("DEVICE_METADATA", "localhost", to={"buffer_model": "dynamic"})
    running = changed("DEVICE_METADATA", "localhost", to={"buffer_model": "traditional"})
    assert rules_only(update(running, target, "202411", "ACS-SN5600")) == [
        "it is read only when the services start"
    ]


def test_ports_that_are_up_go_down_while_their_rows_change() -> None:
    found = update(
        RUNNING, changed("QUEUE", "Ethernet0|3", "scheduler", to="scheduler.1"), "202411", "ACS-SN5600"
    )
    assert found.ports_down == ("Ethernet0",)
    found = update(RUNNING, changed("QUEUE", "Ethernet4|3", to={}), "202411", "ACS-SN5600")
    assert found.ports_down == ()
    gone = update(RUNNING, changed("QUEUE", to=None), "202411", "ACS-SN5600")
    assert gone.ports_down == ("Ethernet0",)
    assert (
        update(RUNNING, changed("SCHEDULER", "scheduler.0", "weight", to="2"), "202411", "x").ports_down == ()
    )


def test_no_owned_table_makes_the_updater_restart_a_service() -> None:
    assert set(OWNED).isdisjoint(updater_table()["services"]["tables"])
    assert set(SHARED) & set(updater_table()["services"]["tables"]) <= {"DEVICE_METADATA", "PORT"}


def test_a_number_that_is_text_in_the_database_changes_nothing_there() -> None:
    running = changed("BUFFER_POOL", "ingress_lossless_pool", "mode", to=5)
    target = changed("BUFFER_POOL", "ingress_lossless_pool", "mode", to="5")
    found = update(running, target, "master", "ACS-SN5600")
    assert (len(found.operations), rules_only(found)) == (1, [])


def test_what_the_models_refuse_in_the_whole_file_stops_every_patch() -> None:
    target = changed("SCHEDULER", "scheduler.0", "weight", to="101")
    assert any(
        "models" in refusal.why for refusal in update(RUNNING, target, "202411", "ACS-SN5600").refusals
    )


@pytest.mark.parametrize("hwsku", ["ACS-SN5600", "ACS-MSN4700", "ACS-MSN3700", "Arista-7260CX3-C64"])
def test_shipped_hardware_that_every_release_lists(hwsku: str) -> None:
    assert switch_for_hwsku(hwsku) is not None
    for release in releases():
        assert permitted(release, "PFC_WD", "Ethernet0", "detection_time", to="400", hwsku=hwsku)


@pytest.mark.parametrize(
    ("release", "operations", "measured_s"),
    [
        ("202405", 48, 535),
        ("202405", 0, 10),
        ("master", 59, 76.4),
        ("master", 34, 50.3),
        ("master", 170, 232),
        ("master", 312, 456.8),
    ],
)
def test_the_time_of_a_patch_covers_what_was_measured_in_public(
    release: str, operations: int, measured_s: float
) -> None:
    # sonic-utilities#4592, sonic-buildimage-msft#2733, sonic-mgmt#26271 and #26274.
    time = patch_time(release).of(operations, operations)
    assert time.least_s <= measured_s <= time.most_s


def test_every_release_has_a_time_of_patches_that_grows_with_them() -> None:
    for release in releases():
        time = patch_time(release)
        assert time.of(0, 0) == TimeRange(0, 10)
        assert time.of(2, 10).most_s < time.of(2, 11).most_s
        assert time.of(2, 2).least_s < time.of(4, 4).least_s
    assert patch_time("202511") != patch_time("202605") == patch_time("master")

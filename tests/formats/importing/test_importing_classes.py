"""What ports do with packets becomes classes; what most have is declared, what differs is listed with its reason."""

from __future__ import annotations

import json

import pytest

from lossless.ground.basics.errors import InputError
from tests.formats.importing.imports import imported, intent, lines, named, ports, telling
from tests.formats.sonic.devices import base, patched


def test_a_clean_device_comes_back_whole() -> None:
    found = imported(base())
    assert (telling(found), found.refused) == ([], ())


def test_rdma_and_cnp_are_known_by_their_dscps() -> None:
    classes = intent(imported(base()))["classes"]
    assert {
        name: (cls["dscp"], cls["priority"]) for name, cls in classes.items() if cls["dscp"] != "off"
    } == {
        "default": ("rest", 0),
        "rdma": (26, 3),
        "cnp": (48, 6),
    }


def test_a_queue_that_is_served_and_that_no_dscp_leads_to_is_a_class_without_one() -> None:
    classes = intent(imported(base()))["classes"]
    assert [name for name, cls in classes.items() if cls["dscp"] == "off"] == [
        "priority-1",
        "priority-2",
        "priority-4",
        "priority-5",
    ]


def test_a_lossless_class_of_another_dscp_is_called_by_its_priority() -> None:
    dscps = base()["DSCP_TO_TC_MAP"]["AZURE"] | {"26": "0", "12": "3"}
    classes = intent(imported(patched(base(), DSCP_TO_TC_MAP={"AZURE": dscps})))["classes"]
    assert classes["priority-3"]["dscp"] == 12
    assert "rdma" not in classes


def test_a_priority_that_pauses_without_a_dscp_is_a_class_without_one() -> None:
    dscps = base()["DSCP_TO_TC_MAP"]["AZURE"] | {"26": "0"}
    found = imported(patched(base(), DSCP_TO_TC_MAP={"AZURE": dscps}))
    assert intent(found)["classes"]["priority-3"]["dscp"] == "off"
    assert telling(found) == []


def test_names_of_maps_and_profiles_do_not_count_and_their_values_do() -> None:
    text = json.dumps(base())
    renamed = json.loads(text.replace('"AZURE_LOSSLESS"', '"MY_WRED"').replace('"scheduler.rdma"', '"fast"'))
    assert telling(imported(renamed)) == []
    wred = base()["WRED_PROFILE"]["AZURE_LOSSLESS"] | {"red_max_threshold": str(2**31)}
    found = imported(patched(base(), WRED_PROFILE={"AZURE_LOSSLESS": wred}))
    assert telling(found) == [("colours", "red_max_threshold")]


def test_colours_with_a_curve_of_their_own_or_none_are_declared() -> None:
    wred = base()["WRED_PROFILE"]["AZURE_LOSSLESS"]
    wred |= {"yellow_max_threshold": "9000000", "wred_red_enable": "false", "ecn": "ecn_green_yellow"}
    kept = {field: value for field, value in wred.items() if not field.startswith("red_")}
    config = base()
    config["WRED_PROFILE"] = {"AZURE_LOSSLESS": kept}
    found = imported(config)
    assert telling(found) == []
    ecn = intent(found)["classes"]["rdma"]["ecn"]
    assert ecn["yellow"] == {"min": "800 KiB", "max": "9 MB", "probability": "20%"}
    assert ecn["red"] == "off"


def test_forms_of_keys_and_references_do_not_count() -> None:
    config = base()
    references = {"profile": "BUFFER_PROFILE", "scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"}
    for table in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG"):
        for row in config[table].values():
            row.update({f: f"[{references[f]}|{name}]" for f, name in row.items()})
    assert telling(imported(config)) == []


def test_what_most_ports_have_is_declared_and_the_others_are_listed() -> None:
    rows = {"Ethernet8": {**base()["PORT_QOS_MAP"]["Ethernet8"], "pfc_enable": "4"}}
    found = imported(patched(base(), PORT_QOS_MAP=rows))
    assert intent(found)["classes"]["rdma"]["lossless"] is True
    assert "# PFC: 2 of 3 ports have it so, 1 differ\n" in found.text
    assert [d.kind for d in found.differences if d.cell.field == "pfc_enable"] == ["unlike most"]


def test_a_switch_without_pfc_has_it_off() -> None:
    rows = ports("PORT_QOS_MAP", pfc_enable="", pfcwd_sw_enable="")
    data = intent(imported(patched(base(), PORT_QOS_MAP=rows, PFC_WD=None)))
    assert data["pfc"] == "off"
    assert not any(cls.get("lossless") for cls in data["classes"].values())


def test_a_switch_without_a_watchdog_says_so() -> None:
    found = imported(patched(base(), PFC_WD=None))
    assert intent(found)["pfc"] == {"watchdog": "off"}
    assert "# no port has a watchdog\n" in found.text


def test_weights_beyond_a_hundred_are_brought_to_percent_in_their_proportion() -> None:
    schedulers = {
        name: {**row, "weight": "200"} for name, row in base()["SCHEDULER"].items() if "weight" in row
    }
    found = imported(patched(base(), SCHEDULER=schedulers))
    shares = [cls["bandwidth"] for cls in intent(found)["classes"].values() if "bandwidth" in cls]
    assert shares == ["1%"] * 6
    assert {kind for kind, _ in telling(found)} == {"scheduler"}


@pytest.mark.parametrize(
    ("lossy", "rdma", "shares"),
    [
        # They add up to 100 or less; have a common divisor; have none.
        (14, 15, (14, 15)),
        (17, 15, (17, 15)),
        (20, 10, (2, 1)),
        (21, 11, (18, 9)),
        (500, 1, (19, 1)),
    ],
)
def test_shares_of_bandwidth_are_the_weights_where_they_fit_and_else_in_their_proportion(
    lossy: int, rdma: int, shares: tuple[int, int]
) -> None:
    weights = {"scheduler.0": str(lossy), "scheduler.1": str(rdma)}
    rows = {name: {"type": "DWRR", "weight": weight} for name, weight in weights.items()}
    found = imported(patched(base(), SCHEDULER=rows))
    classes = intent(found)["classes"]
    assert (classes["default"]["bandwidth"], classes["rdma"]["bandwidth"]) == tuple(
        f"{share}%" for share in shares
    )
    assert bool(lines(found, "# bandwidth: DWRR weights brought to percent")) is (shares != (lossy, rdma))


def test_queues_that_are_served_strictly_have_no_share() -> None:
    classes = intent(imported(patched(base(), SCHEDULER={"scheduler.0": {"type": "STRICT"}})))["classes"]
    assert {name for name, cls in classes.items() if cls.get("scheduling") == "strict"} == classes.keys() - {
        "rdma"
    }
    assert {name for name, cls in classes.items() if "bandwidth" in cls} == {"rdma"}


def test_how_most_ports_serve_a_queue_is_declared() -> None:
    config = patched(base(), SCHEDULER={"other": {"type": "DWRR", "weight": "30"}})
    config["QUEUE"]["Ethernet0|3"] = {**config["QUEUE"]["Ethernet0|3"], "scheduler": "other"}
    found = imported(config)
    assert intent(found)["classes"]["rdma"]["bandwidth"] == "15%"
    assert lines(found, "# how") == ["# how queue 3 is served: 2 of 3 ports have it so, 1 differ"]


@pytest.mark.parametrize(("gone", "declared"), [(1, True), (2, False)])
def test_a_queue_without_a_dscp_is_a_class_where_most_ports_serve_it(gone: int, declared: bool) -> None:
    config = base()
    for port in ("Ethernet0", "Ethernet4")[:gone]:
        del config["QUEUE"][f"{port}|5"]
    assert ("priority-5" in intent(imported(config))["classes"]) is declared


def test_the_class_of_all_other_dscps_is_the_largest_that_may_drop() -> None:
    dscps = base()["DSCP_TO_TC_MAP"]["AZURE"]
    halves = {dscp: tc if tc != "0" or int(dscp) < 31 else "1" for dscp, tc in dscps.items()}
    classes = intent(imported(patched(base(), DSCP_TO_TC_MAP={"AZURE": halves})))["classes"]
    assert classes["default"]["priority"] == 1
    assert classes["priority-0"]["dscp"] == [dscp for dscp in range(31) if dscp != 26]
    # Of two that have as many it is that of the lower TC, and never one that pauses.
    even = {str(dscp): "1" if dscp % 2 else "0" for dscp in range(64)}
    assert (
        intent(imported(patched(base(), DSCP_TO_TC_MAP={"AZURE": even})))["classes"]["default"]["priority"]
        == 0
    )
    most = {str(dscp): "3" for dscp in range(60)} | {str(dscp): "1" for dscp in range(60, 64)}
    assert (
        intent(imported(patched(base(), DSCP_TO_TC_MAP={"AZURE": most})))["classes"]["default"]["priority"]
        == 1
    )


def test_a_class_that_all_dscps_lead_to_is_the_only_one() -> None:
    config = base()
    config["DSCP_TO_TC_MAP"] = {"AZURE": {str(dscp): "3" for dscp in range(64)}}
    config["QUEUE"] = {key: row for key, row in config["QUEUE"].items() if key.endswith("|3")}
    classes = intent(imported(config))["classes"]
    assert {name: (cls["dscp"], cls["priority"]) for name, cls in classes.items()} == {"default": ("rest", 3)}


def test_the_dscp_of_cnps_is_the_first_of_their_class() -> None:
    dscps = base()["DSCP_TO_TC_MAP"]["AZURE"] | {"40": "6", "56": "6"}
    classes = intent(imported(patched(base(), DSCP_TO_TC_MAP={"AZURE": dscps})))["classes"]
    assert classes["cnp"]["dscp"] == [48, 40, 56]


def test_a_second_lossless_class_of_rdma_is_called_by_its_priority() -> None:
    config = patched(base(), DSCP_TO_TC_MAP={"AZURE": base()["DSCP_TO_TC_MAP"]["AZURE"] | {"24": "4"}})
    config["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["4"] = "4"
    config["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"]["4"] = "4"
    for port in ("Ethernet0", "Ethernet4", "Ethernet8"):
        config["PORT_QOS_MAP"][port] |= {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}
        config["BUFFER_PG"][f"{port}|4"] = config["BUFFER_PG"][f"{port}|3"]
        config["BUFFER_QUEUE"][f"{port}|4"] = config["BUFFER_QUEUE"][f"{port}|3"]
    found = imported(config)
    lossless = {name: cls["dscp"] for name, cls in intent(found)["classes"].items() if "lossless" in cls}
    assert lossless == {"rdma": 26, "priority-4": 24}
    assert telling(found) == []


@pytest.mark.parametrize(
    ("tc", "group", "with_row", "declared"),
    [
        # Of a class that packets reach the group is declared, of one they do not only where the ports have it.
        ("6", "6", (), 6),
        ("6", "6", ("Ethernet0", "Ethernet4", "Ethernet8"), 6),
        ("5", "5", (), None),
        ("5", "5", ("Ethernet0",), None),
        ("5", "5", ("Ethernet0", "Ethernet4"), 5),
        ("3", "4", (), 4),
        ("6", "0", (), None),
    ],
)
def test_a_group_is_declared_where_it_is_another_than_that_of_its_class(
    tc: str, group: str, with_row: tuple[str, ...], declared: int | None
) -> None:
    config = base()
    config["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"][tc] = group
    for port in with_row:
        config["BUFFER_PG"][f"{port}|{group}"] = {"profile": "ingress_lossy_profile"}
    classes = intent(imported(config))["classes"].values()
    assert next(cls.get("pg") for cls in classes if cls["priority"] == int(tc)) == declared


def test_dscps_that_lead_beyond_tc_7_are_named() -> None:
    dscps = base()["DSCP_TO_TC_MAP"]["AZURE"] | {"11": "8", "12": "9"}
    found = imported(patched(base(), DSCP_TO_TC_MAP={"AZURE": dscps}))
    assert lines(found, "beyond 7") == [
        "# DSCP 11, 12 leads to a TC beyond 7, which an intent has no class for"
    ]


def test_a_curve_that_drops_is_no_ecn() -> None:
    wred = base()["WRED_PROFILE"]["AZURE_LOSSLESS"] | {"ecn": "ecn_none"}
    found = imported(patched(base(), WRED_PROFILE={"AZURE_LOSSLESS": wred}))
    assert "ecn" not in intent(found)["classes"]["rdma"]
    assert intent(found)["congestion_control"] == "pfc-only"


@pytest.mark.parametrize(
    ("changed", "declared"),
    [
        ({}, ("800 KiB", "3200 KiB", "20%")),
        ({"green_drop_probability": "0"}, ("800 KiB", "3200 KiB", "0%")),
        ({"green_drop_probability": "100"}, ("800 KiB", "3200 KiB", "100%")),
        ({"green_drop_probability": "101"}, None),
        ({"green_min_threshold": "0"}, ("0 B", "3200 KiB", "20%")),
        ({"green_min_threshold": "3276800"}, ("3200 KiB", "3200 KiB", "20%")),
        ({"green_min_threshold": "3276801"}, None),
        ({"green_max_threshold": "2147483647"}, ("800 KiB", "2147483647 B", "20%")),
        ({"green_max_threshold": "2147483648"}, None),
        ({"green_max_threshold": "many"}, None),
    ],
)
def test_a_curve_is_declared_where_it_can_be(
    changed: dict[str, str], declared: tuple[str, str, str] | None
) -> None:
    wred = base()["WRED_PROFILE"]["AZURE_LOSSLESS"] | changed
    ecn = intent(imported(patched(base(), WRED_PROFILE={"AZURE_LOSSLESS": wred})))["classes"]["rdma"].get(
        "ecn"
    )
    assert (None if ecn is None else (ecn["min"], ecn["max"], ecn["probability"])) == declared


def test_classes_are_those_of_dscps_and_pauses_where_no_queue_is_served() -> None:
    classes = intent(imported(patched(base(), QUEUE=None)))["classes"]
    assert {name: cls["priority"] for name, cls in classes.items()} == {"default": 0, "rdma": 3, "cnp": 6}


def test_a_port_that_alone_has_a_watchdog_is_outvoted_and_counted() -> None:
    rows = {key: row for key, row in base()["PFC_WD"].items() if key in ("GLOBAL", "Ethernet0")}
    found = imported(base() | {"PFC_WD": rows})
    assert intent(found)["pfc"] == {"watchdog": "off"}
    assert "# no port has a watchdog" not in lines(found, "watchdog")
    assert lines(found, "# watchdog") == ["# watchdog: 2 of 3 ports have it so, 1 differ"]


def test_only_devices_with_a_watchdog_have_a_say_in_how_often_it_polls() -> None:
    poll = {"GLOBAL": {"POLL_INTERVAL": "200"}}
    without = named(base(), "leaf3") | {"PFC_WD": poll}
    found = imported(base(), named(base(), "leaf2"), without)
    assert lines(found, "# poll") == []
    assert intent(found)["pfc"]["watchdog"]["poll"] == "400ms"
    other = patched(named(base(), "leaf3"), PFC_WD=poll)
    found = imported(base(), named(base(), "leaf2"), other)
    assert lines(found, "# poll") == ["# poll: 2 of 3 devices have it so"]


def test_a_device_with_a_port_that_has_no_watchdog_still_has_a_say_in_how_often_it_polls() -> None:
    rows = {key: row for key, row in base()["PFC_WD"].items() if key != "Ethernet0"}
    found = imported(base() | {"PFC_WD": rows})
    assert intent(found)["pfc"]["watchdog"]["poll"] == "400ms"


def test_a_tier_without_pfc_is_stated() -> None:
    silent = {"pfc_enable": "", "pfcwd_sw_enable": ""}
    up = base()["PORT_QOS_MAP"]["Ethernet8"] | silent
    there = {"Ethernet8": {"name": "spine1", "port": "Ethernet8"}}
    leaf = patched(base(), PORT_QOS_MAP={"Ethernet8": up}, DEVICE_NEIGHBOR=there)
    spine = patched(base(), DEVICE_NEIGHBOR={})
    spine["PORT_QOS_MAP"] = {"Ethernet8": up}
    spine["DEVICE_METADATA"]["localhost"] |= {"hostname": "spine1", "type": "LeafRouter"}
    found = imported(leaf, spine)
    assert intent(found)["pfc"]["tiers"] == ["hosts"]
    assert intent(found)["classes"]["rdma"]["lossless"] is True


def test_switches_have_the_roles_of_their_tiers_whatever_operators_call_them() -> None:
    def roles(**types: str | None) -> list[str]:
        up = {f"Ethernet{4 * n}": {"name": f"spine{n}", "port": "Ethernet8"} for n in (1, 2)}
        rows = {"server": {"type": "Server"}} if types.pop("servers", None) else {}
        leaf = patched(base(), DEVICE_NEIGHBOR={"Ethernet0": {"name": "server", "port": "eth0"}, **up})
        leaf["DEVICE_METADATA"]["localhost"]["type"] = types["leaf"]
        leaf["DEVICE_NEIGHBOR_METADATA"] = rows
        spines = [patched(base(), DEVICE_NEIGHBOR={}) for _ in up]
        for number, spine in enumerate(spines, start=1):
            spine["PORT_QOS_MAP"] = {"Ethernet8": base()["PORT_QOS_MAP"]["Ethernet8"]}
            spine["DEVICE_METADATA"]["localhost"] |= {"hostname": f"spine{number}", "type": types["spine"]}
        devices = intent(imported(leaf, *spines))["topology"]["devices"]
        return [devices[name]["role"] for name in ("leaf1", "spine1", "spine2")]

    assert roles(leaf="ToRRouter", spine="LeafRouter") == ["leaf", "spine", "spine"]
    assert roles(leaf="LeafRouter", spine="SpineRouter") == ["spine", "super-spine", "super-spine"]
    assert roles(leaf="LeafRouter", spine="SpineRouter", servers="yes") == ["leaf", "spine", "spine"]
    assert roles(leaf="ToRRouter", spine="SpineRouter") == ["leaf", "spine", "spine"]
    assert roles(leaf="ToRRouter", spine="Undefined") == ["leaf", "spine", "spine"]


def test_what_is_not_above_leaves_alone_keeps_the_tier_of_its_type_else_it_is_a_leaf() -> None:
    def role(own: str, *neighbors: str) -> str:
        names = [f"other{number}" for number in range(len(neighbors))]
        up = {f"Ethernet{4 * n}": {"name": name, "port": "Ethernet8"} for n, name in enumerate(names)}
        switch = patched(base(), DEVICE_NEIGHBOR=up)
        switch["DEVICE_METADATA"]["localhost"]["type"] = own
        others = [patched(base(), DEVICE_NEIGHBOR={}) for _ in names]
        for name, kind, other in zip(names, neighbors, others, strict=True):
            other["PORT_QOS_MAP"] = {"Ethernet8": base()["PORT_QOS_MAP"]["Ethernet8"]}
            other["DEVICE_METADATA"]["localhost"] |= {"hostname": name, "type": kind}
        found: str = intent(imported(switch, *others))["topology"]["devices"]["leaf1"]["role"]
        return found

    assert role("SpineRouter", "ToRRouter", "LeafRouter") == "super-spine"
    assert role("Undefined", "ToRRouter", "LeafRouter") == "leaf"
    assert (
        role("Undefined", "ToRRouter", "ToRRouter") == "leaf"
    )  # a port in use leads to what nothing is known of
    assert role("ToRRouter", "ToRRouter", "ToRRouter", "ToRRouter") == "leaf"
    assert role("Undefined", "ToRRouter", "ToRRouter", "ToRRouter") == "spine"


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.raises(InputError) as error:
        imported(base(), base())
    (problem,) = error.value.problems
    assert problem.message == (
        "is called leaf1, as sw0/config_db.json is; an intent tells devices apart by name"
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"hwsku": "Unheard-Of"},
            "no profile knows the HWSKU Unheard-Of; `lossless profiles` lists those that are known, "
            "--profiles adds your own",
        ),
        (
            {"hwsku": ""},
            "DEVICE_METADATA|localhost|hwsku is missing: which hardware this is decides its buffers",
        ),
        (
            {"hostname": "a/../b"},
            "'a/../b' cannot name a device; expected letters, digits, '.', '_' and '-', at most 63, "
            "beginning with a letter or digit",
        ),
    ],
)
def test_a_device_that_cannot_be_declared_is_refused_where_it_says_so(
    changed: dict[str, str], message: str
) -> None:
    config = base()
    config["DEVICE_METADATA"]["localhost"] |= changed
    with pytest.raises(InputError) as error:
        imported(config)
    assert [problem.message for problem in error.value.problems] == [message]
    assert error.value.problems[0].line == 1


def test_a_device_that_says_nothing_of_traffic_is_refused() -> None:
    with pytest.raises(
        InputError, match="no port has a row in PORT_QOS_MAP: nothing says which traffic is which class"
    ):
        imported(patched(base(), PORT_QOS_MAP=None))

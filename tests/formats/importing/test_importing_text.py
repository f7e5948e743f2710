"""The text of an imported intent: the units people use, a comment where something was chosen."""

from __future__ import annotations

import pytest

from lossless.formats.importing.differences import Figures
from lossless.output.report.changes_text import figures_text
from tests.formats.importing.imports import imported, intent, lines, named, ports, telling, with_ports
from tests.formats.sonic.devices import base, patched

TEXT = """\
# Imported from what is deployed on leaf1. What most ports have is declared here.
lossless: v1
fabric: imported
transport: rocev2

classes:
  default:    {dscp: rest, priority: 0, bandwidth: 14%}
  priority-1: {dscp: off, priority: 1, bandwidth: 14%}
  priority-2: {dscp: off, priority: 2, bandwidth: 14%}
  rdma:       {dscp: 26, priority: 3, lossless: true, bandwidth: 15%, \
ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}
  priority-4: {dscp: off, priority: 4, bandwidth: 14%}
  priority-5: {dscp: off, priority: 5, bandwidth: 14%}
  cnp:        {dscp: 48, priority: 6, scheduling: strict}

pfc: {watchdog: {poll: 400ms, detection: 800ms, restoration: 800ms, action: drop}}
congestion_control: dcqcn  # the lossless queues mark; what senders make of it, no switch knows

# pool sizes are as deployed; left out, they are computed for the ports that are up
buffers: {pool_sizes: {egress_lossy_pool: {size: 78 MB}, ingress_lossless_pool: {size: 78 MB}, \
ingress_lossy_pool: {size: 78 MB}}}

hardware:
  leaf: {profile: nvidia-sn5600, hwsku: ACS-SN5600}
  # no switch knows the adapters of its hosts: state yours
  nic: connectx-7

topology:
  devices:
    leaf1: {role: leaf}
    # a Server by DEVICE_NEIGHBOR; no file was given for it
    gpu1: {role: host}
    # what is at these ports, nothing says
    leaf1-outside: {role: host}
    # by DEVICE_NEIGHBOR; no file was given for it
    spine1: {role: spine, outside: true}
  links:
    - {a: "leaf1:Ethernet0", b: "gpu1:eth0", links: 1 x 400G, cable: 5m}
    - {a: "leaf1:Ethernet4", b: leaf1-outside, links: 1 x 400G, cable: 5m}
    - {a: "leaf1:Ethernet8", b: "spine1:Ethernet0", links: 1 x 800G, cable: 40m}
"""


def test_one_leaf_is_this_intent() -> None:
    neighbors = {
        "Ethernet0": {"name": "gpu1", "port": "eth0"},
        "Ethernet8": {"name": "spine1", "port": "Ethernet0"},
    }
    kinds = {"gpu1": {"type": "Server"}}
    leaf = patched(base(), DEVICE_NEIGHBOR=neighbors, DEVICE_NEIGHBOR_METADATA=kinds)
    assert imported(leaf).text == TEXT


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (1, "leaf1"),
        (5, "leaf1, leaf2, leaf3, leaf4, leaf5"),
        (6, "leaf1, leaf2, leaf3, leaf4, leaf5 and 1 more"),
        (7, "leaf1, leaf2, leaf3, leaf4, leaf5 and 2 more"),
    ],
)
def test_the_first_line_names_a_few_devices(count: int, names: str) -> None:
    found = imported(*(named(base(), f"leaf{number}") for number in range(1, count + 1)))
    expected = f"# Imported from what is deployed on {names}. What most ports have is declared here."
    assert found.text.splitlines()[0] == expected


@pytest.mark.parametrize(
    ("mtus", "expected"),
    [
        (("9100", "9100", "9100"), []),
        (("9216", "9216", "9216"), ["mtu: 9216"]),
        (("9000", "9000", "9000"), ["mtu: 9000"]),
        (
            ("8999", "8999", "8999"),
            [
                "mtu: 8999",
                "hosts: {mtu: 8999}  # no switch knows it: as large as the switches let through",
            ],
        ),
        (
            ("9216", "9000", "9216"),
            [
                "# mtu 9216: 2 of 3 ports have it so, 1 differ",
                "mtu: 9216",
                '"leaf1:Ethernet4": {mtu: 9000}',
            ],
        ),
        (
            ("1500", "9100", "9100"),
            ["# mtu 9100: 2 of 3 ports have it so, 1 differ", '"leaf1:Ethernet0": {mtu: 1500}'],
        ),
        (("unreadable",) * 3, []),
    ],
)
def test_the_mtu_is_declared_where_it_is_not_the_usual_one(
    mtus: tuple[str, ...], expected: list[str]
) -> None:
    assert lines(imported(with_ports("PORT", *({"mtu": mtu} for mtu in mtus))), "mtu") == expected


@pytest.mark.parametrize(
    ("low", "high", "curve"),
    [
        (2 * 2**20, 3 * 2**20, "min: 2 MiB, max: 3 MiB"),
        (3 * 2**10, 5 * 10**6, "min: 3 KiB, max: 5 MB"),
        (3000, 3001, "min: 3 kB, max: 3001 B"),
        (0, 2**31 - 1, "min: 0 B, max: 2147483647 B"),
    ],
)
def test_thresholds_are_written_in_the_largest_unit_that_gives_whole_numbers(
    low: int, high: int, curve: str
) -> None:
    row = base()["WRED_PROFILE"]["AZURE_LOSSLESS"]
    for colour in ("green", "yellow", "red"):
        row |= {f"{colour}_min_threshold": str(low), f"{colour}_max_threshold": str(high)}
    (line,) = lines(imported(patched(base(), WRED_PROFILE={"AZURE_LOSSLESS": row})), "ecn")
    assert f"ecn: {{{curve}, probability: 20%}}" in line


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("green_min_threshold", "3276801"),
        ("green_max_threshold", str(2**31)),
        ("green_max_threshold", "many"),
        ("green_drop_probability", "101"),
    ],
)
def test_a_curve_that_no_intent_can_declare_is_left_out(field: str, value: str) -> None:
    row = base()["WRED_PROFILE"]["AZURE_LOSSLESS"] | {field: value}
    assert lines(imported(patched(base(), WRED_PROFILE={"AZURE_LOSSLESS": row})), "ecn") == []


def test_a_curve_without_a_probability_has_that_of_orchagent() -> None:
    row = base()["WRED_PROFILE"]["AZURE_LOSSLESS"]
    del row["green_drop_probability"]
    config = base()
    config["WRED_PROFILE"] = {"AZURE_LOSSLESS": row}
    assert intent(imported(config))["classes"]["rdma"]["ecn"]["probability"] == "100%"


def test_ports_of_another_speed_that_mark_otherwise_have_a_curve_of_their_own() -> None:
    lower = {f"{colour}_min_threshold": "409600" for colour in ("green", "yellow", "red")}
    slow = base()["WRED_PROFILE"]["AZURE_LOSSLESS"] | lower
    config = patched(base(), WRED_PROFILE={"SLOW": slow})
    config["QUEUE"]["Ethernet8|3"] = {**config["QUEUE"]["Ethernet8|3"], "wred_profile": "SLOW"}
    ecn = intent(imported(config))["classes"]["rdma"]["ecn"]
    curve = {"max": "3200 KiB", "probability": "20%"}
    assert ecn == {"min": "800 KiB", **curve, "by_speed": {"800G": {"min": "400 KiB", **curve}}}


def test_a_speed_that_marks_nothing_is_said_so() -> None:
    config = base()
    del config["QUEUE"]["Ethernet8|3"]["wred_profile"]
    ecn = intent(imported(config))["classes"]["rdma"]["ecn"]
    assert ecn["by_speed"] == {"800G": "off"}
    assert ecn["min"] == "800 KiB"


def test_a_port_of_one_speed_that_marks_otherwise_is_noted() -> None:
    config = base()
    del config["QUEUE"]["Ethernet0|3"]["wred_profile"]
    assert lines(imported(config), "# ecn") == ["# ecn: 1 of 2 ports have it so, 1 differ"]


@pytest.mark.parametrize(
    ("name", "quoted"), [("gpu-1", "gpu-1"), ("on", '"on"'), ("1st", '"1st"'), ("Null", '"Null"')]
)
def test_a_name_that_yaml_would_take_for_something_else_is_quoted(name: str, quoted: str) -> None:
    found = imported(patched(base(), DEVICE_NEIGHBOR={"Ethernet0": {"name": name, "port": ""}}))
    assert f"{quoted}: {{role: host}}" in lines(found, "role: host")
    assert lines(found, f"b: {quoted}, ")


def test_asymmetric_pfc_is_declared_where_most_ports_have_it() -> None:
    on, off = {"pfc_asym": "on"}, {"pfc_asym": "off"}
    assert intent(imported(with_ports("PORT", on, on, off)))["pfc"]["asymmetric"] == "on"
    assert "asymmetric" not in intent(imported(with_ports("PORT", on, off, off)))["pfc"]


def test_a_watchdog_without_a_restoration_time_has_none() -> None:
    config = base()
    for port in ports("PFC_WD"):
        config["PFC_WD"][port].pop("restoration_time", None)
    found = imported(config)
    assert intent(found)["pfc"]["watchdog"] == {"poll": "400ms", "detection": "800ms", "action": "drop"}
    assert telling(found) == []


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"GLOBAL": {"POLL_INTERVAL": "200"}}, ["pfc: {watchdog: {poll: 200ms"]),
        (
            {"GLOBAL": {}},
            ["# poll: not configured; 100 ms is what orchagent takes", "pfc: {watchdog: {poll: 100ms"],
        ),
    ],
)
def test_the_poll_interval_is_that_of_the_device_or_of_orchagent(
    rows: dict[str, dict[str, str]], expected: list[str]
) -> None:
    found = [
        line.partition(", detection")[0] for line in lines(imported(patched(base(), PFC_WD=rows)), "poll")
    ]
    assert found == expected


def test_the_poll_interval_that_most_devices_have_is_declared() -> None:
    fast = patched(base(), PFC_WD={"GLOBAL": {"POLL_INTERVAL": "200"}})
    found = imported(named(base(), "leaf1"), named(base(), "leaf2"), named(fast, "leaf3"))
    assert lines(found, "# poll") == ["# poll: 2 of 3 devices have it so"]
    assert intent(found)["pfc"]["watchdog"]["poll"] == "400ms"


@pytest.mark.parametrize(
    "row",
    [
        {"detection_time": "never"},
        {"detection_time": "-1"},
        {"restoration_time": "-1"},
        {"action": "shout"},
    ],
)
def test_a_watchdog_that_no_intent_can_declare_is_none(row: dict[str, str]) -> None:
    config = patched(
        base(),
        PFC_WD={port: {**fields, **row} for port, fields in ports("PFC_WD").items() if port != "GLOBAL"},
    )
    assert intent(imported(config))["pfc"] == {"watchdog": "off"}


@pytest.mark.parametrize("action", ["drop", "forward", "alert"])
def test_every_action_of_a_watchdog_comes_back(action: str) -> None:
    rows = {port: {**row, "action": action} for port, row in ports("PFC_WD").items() if port != "GLOBAL"}
    found = imported(patched(base(), PFC_WD=rows))
    assert intent(found)["pfc"]["watchdog"]["action"] == action
    assert telling(found) == []


def test_what_most_ports_with_pfc_have_of_a_watchdog_is_declared() -> None:
    config = base()
    config["PFC_WD"]["Ethernet4"] = {**config["PFC_WD"]["Ethernet4"], "action": "alert"}
    found = imported(config)
    assert intent(found)["pfc"]["watchdog"]["action"] == "drop"
    assert lines(found, "# watchdog") == ["# watchdog: 2 of 3 ports have it so, 1 differ"]
    assert intent(found)["exceptions"] == {"leaf1:Ethernet4": {"watchdog": {"action": "alert"}}}
    assert telling(found) == []


@pytest.mark.parametrize(
    ("table", "row", "exception"),
    [
        ("PORT", {"mtu": "1500"}, {"mtu": 1500}),
        ("PORT", {"pfc_asym": "on"}, {"asymmetric": "on"}),
        ("PFC_WD", {"detection_time": "400"}, {"watchdog": {"detection": "400ms"}}),
        (
            "PFC_WD",
            {"detection_time": "400", "restoration_time": "900", "action": "forward"},
            {"watchdog": {"detection": "400ms", "restoration": "900ms", "action": "forward"}},
        ),
    ],
)
def test_a_port_that_differs_is_an_exception_that_renders_back(
    table: str, row: dict[str, str], exception: dict[str, object]
) -> None:
    own = base()[table]["Ethernet0"]
    found = imported(patched(base(), **{table: {"Ethernet0": {**own, **row}}}))
    assert intent(found)["exceptions"] == {"leaf1:Ethernet0": exception}
    assert (telling(found), found.refused) == ([], ())


@pytest.mark.parametrize("field", [None, "restoration_time"])
def test_a_port_without_a_watchdog_or_without_restoration_is_an_exception(field: str | None) -> None:
    config = base()
    own = config["PFC_WD"]["Ethernet0"] if field else config["PFC_WD"]
    del own[field or "Ethernet0"]
    found = imported(config)
    expected = {"restoration": "never"} if field else "off"
    assert intent(found)["exceptions"] == {"leaf1:Ethernet0": {"watchdog": expected}}
    assert telling(found) == []


def test_a_field_that_only_the_render_has_takes_from_the_share() -> None:
    figures = Figures(tables=1, tables_same=1, rows=9, rows_same=9, fields=2999, fields_same=2999, added=1)
    assert "2,999 of 3,000 fields the same (99.9 %)" in figures_text(figures)

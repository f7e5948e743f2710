"""Devices that were given, those that only their neighbors name, and what joins them."""

from __future__ import annotations

import json

import pytest

from lossless.formats.inputs.collect import split
from lossless.ground.basics.errors import InputError, LosslessError
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import import_documents
from tests.formats.importing.imports import imported, intent, lines, named, telling
from tests.formats.sonic.devices import Config, base, patched


def wired(name: str, kind: str = "ToRRouter", **ports: tuple[str, str]) -> Config:
    """Return a device with neighbors by port: the name of each, and of its port."""
    rows = {port: {"name": far, "port": far_port} for port, (far, far_port) in ports.items()}
    return named(patched(base(), DEVICE_NEIGHBOR=rows), name, kind)


def without(config: Config, *ports: str) -> Config:
    """Return a device of which some ports are not in use."""
    rows = {port: row for port, row in config["PORT_QOS_MAP"].items() if port not in ports}
    return {**config, "PORT_QOS_MAP": rows}


def links(*configs: Config) -> list[str]:
    """Return both ends of each link."""
    found = intent(imported(*configs))["topology"]["links"]
    return [f"{link['a']} {link['b']} {link['cable']}" for link in found]


def devices(*configs: Config) -> dict[str, str]:
    """Return the role of each device; that of one outside with a word of it."""
    found = intent(imported(*configs))["topology"]["devices"]
    return {
        name: device["role"] + (" outside" if "outside" in device else "") for name, device in found.items()
    }


def test_a_port_of_which_nothing_is_said_leads_to_a_switch_where_no_nic_is_so_fast() -> None:
    """800GbE on one port: no NIC profile has it (ConnectX-8 firmware release notes 40.44.1036)."""
    assert devices(base()) == {
        "leaf1": "leaf",
        "leaf1-outside-switch": "spine outside",
        "leaf1-outside": "host",
    }
    assert imported(base()).refused == ()
    spine = devices(named(base(), "spine1", "LeafRouter"))
    assert spine["spine1-outside-switch"] == "leaf outside"


def test_what_render_refuses_is_named() -> None:
    """A host that is named at a port of 800G is declared with a NIC that it cannot be."""
    config = wired("leaf1", Ethernet8=("gpu1", "eth0"))
    assert [problem.message for problem in imported(config).refused] == [
        "TOP003 connectx-7 has no port of 800G; its fastest is 400G"
    ]


def test_a_link_that_both_ends_name_is_one() -> None:
    leaf = without(wired("leaf1", Ethernet8=("spine1", "Ethernet8")), "Ethernet0", "Ethernet4")
    spine = without(wired("spine1", "LeafRouter", Ethernet8=("leaf1", "Ethernet8")), "Ethernet0", "Ethernet4")
    assert links(leaf, spine) == ["leaf1:Ethernet8 spine1:Ethernet8 40m"]
    assert imported(leaf, spine).text == imported(spine, leaf).text


@pytest.mark.parametrize("port", ["Ethernet8", "etp2"])
def test_a_port_of_a_device_that_was_given_is_known_by_its_name_and_its_alias(port: str) -> None:
    leaf = without(wired("leaf1", Ethernet8=("spine1", port)), "Ethernet0", "Ethernet4")
    spine = without(named(base(), "spine1", "LeafRouter"), "Ethernet0", "Ethernet4")
    assert links(leaf, spine) == ["leaf1:Ethernet8 spine1:Ethernet8 40m"]


@pytest.mark.parametrize(
    ("far", "why"),
    [
        (
            ("leaf2", "Ethernet99"),
            "leaf1 Ethernet8: DEVICE_NEIGHBOR says leaf2 Ethernet99, which is no port that a link can have",
        ),
        (
            ("leaf1", "Ethernet4"),
            "leaf1 Ethernet8: DEVICE_NEIGHBOR says leaf1 Ethernet4, which is in use already",
        ),
    ],
)
def test_a_port_that_no_link_can_lead_to_is_said_and_what_is_there_stays_open(
    far: tuple[str, str], why: str
) -> None:
    leaf = without(wired("leaf1", Ethernet8=far), "Ethernet0", *(() if far[0] == "leaf1" else ("Ethernet4",)))
    found = imported(leaf, without(named(base(), "leaf2"), "Ethernet0", "Ethernet4", "Ethernet8"))
    assert f"# {why}" in lines(found, "#")
    assert "# a switch whose port cannot be told" in lines(found, "#")
    assert lines(found, "leaf1-outside-switch:") == ["leaf1-outside-switch: {role: spine, outside: true}"]
    assert '- {a: "leaf1:Ethernet8", b: leaf1-outside-switch, links: 1 x 800G, cable: 40m}' in lines(
        found, "Ethernet8"
    )


@pytest.mark.parametrize("says", ["leaf1", "spine1"])
def test_a_device_whose_port_carries_no_classes_is_the_end_of_its_link_all_the_same(says: str) -> None:
    far, near = ("spine1", "Ethernet8"), ("leaf1", "Ethernet8")
    leaf = wired("leaf1", Ethernet8=far) if says == "leaf1" else named(base(), "leaf1")
    spine = without(
        wired("spine1", Ethernet8=near) if says == "spine1" else named(base(), "spine1"), "Ethernet8"
    )
    spine = named(spine, "spine1", "LeafRouter")
    found = imported(leaf, spine)
    assert "leaf1:Ethernet8 spine1:Ethernet8 40m" in links(leaf, spine)
    assert {d.cell.state for d in found.differences if d.kind == "one end"} == {"new"}
    assert [name for name in intent(found)["topology"]["devices"] if "outside" in name] == [
        "leaf1-outside",
        "spine1-outside",
    ]


def test_the_speed_of_the_other_end_of_a_link_is_compared() -> None:
    leaf = without(wired("leaf1", Ethernet8=("spine1", "Ethernet8")), "Ethernet0", "Ethernet4")
    spine = without(named(base(), "spine1", "LeafRouter"), "Ethernet0", "Ethernet4")
    spine["PORT"]["Ethernet8"]["speed"] = "400000"
    found = imported(leaf, spine)
    assert ("no such port", "speed", "400000") in {
        (d.kind, d.cell.field, d.cell.deployed) for d in found.differences if d.device == "spine1"
    }


def test_a_port_that_two_devices_say_they_lead_to_has_the_first() -> None:
    leaves = [
        without(wired(name, Ethernet8=("spine1", "Ethernet8")), "Ethernet0", "Ethernet4")
        for name in ("leaf1", "leaf2")
    ]
    spine = without(named(base(), "spine1", "LeafRouter"), "Ethernet0", "Ethernet4")
    found = imported(*leaves, spine)
    assert "# leaf2 Ethernet8: DEVICE_NEIGHBOR says spine1 Ethernet8, which is in use already" in lines(
        found, "#"
    )
    assert links(*leaves, spine) == [
        "leaf1:Ethernet8 spine1:Ethernet8 40m",
        "leaf2:Ethernet8 leaf2-outside-switch 40m",
    ]


def test_a_port_whose_name_no_intent_can_have_is_left_out() -> None:
    config = json.loads(json.dumps(base()).replace("Ethernet4", "Ethernet 4"))
    found = imported(config)
    assert "# leaf1 Ethernet 4: no name that an intent can give a port; left out" in lines(found, "#")
    assert links(config) == ["leaf1:Ethernet0 leaf1-outside 5m", "leaf1:Ethernet8 leaf1-outside-switch 40m"]
    assert {kind for kind, _ in telling(found)} == {"no such port"}


def test_neighbors_whose_names_no_intent_can_have_are_told_apart_by_numbers() -> None:
    config = wired("leaf1", Ethernet0=("a b", "e0"), Ethernet4=("a-b", "e0"), Ethernet8=("..a/b", "e0"))
    assert devices(config) == {"leaf1": "leaf", "a-b": "host", "a-b-2": "host", "a-b-3": "host"}
    assert [end.split()[1] for end in links(config)] == ["a-b:e0", "a-b-2:e0", "a-b-3:e0"]


def test_two_ports_cannot_lead_to_one_port_of_a_neighbor() -> None:
    config = wired(
        "leaf1", Ethernet0=("gpu1", "eth0"), Ethernet4=("gpu1", "eth0"), Ethernet8=("gpu1", "eth 1")
    )
    assert [end.split()[1] for end in links(config)] == ["gpu1:eth0", "gpu1", "gpu1"]


def test_a_name_is_cut_to_what_an_intent_can_have() -> None:
    config = wired("leaf1", Ethernet0=("x" * 70, "e"), Ethernet4=("...", "e"))
    assert [end.split()[1] for end in links(config)][:2] == [f"{'x' * 60}:e", "outside:e"]


@pytest.mark.parametrize(
    ("kind", "across"), [("ToRRouter", "spine"), ("LeafRouter", "leaf"), ("SpineRouter", "spine")]
)
@pytest.mark.parametrize("port", ["Ethernet7", "Ethernet1/3"])
def test_a_switch_outside_is_told_by_the_name_of_its_port(kind: str, across: str, port: str) -> None:
    rows = {"Ethernet0": {"name": "unsaid", "port": port}, "Ethernet8": {"name": "gpu1", "port": "eth0"}}
    config = named({**base(), "DEVICE_NEIGHBOR": rows}, "sw1", kind)
    cabling = {"unsaid": f"{across} outside", "gpu1": "host"}
    found = devices(without(config, "Ethernet4"))
    assert {name: found[name] for name in cabling} == cabling


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("ToRRouter", "leaf outside"),
        ("LeafRouter", "spine outside"),
        ("SpineRouter", "super-spine outside"),
        ("Server", "host"),
    ],
)
def test_the_type_of_a_neighbor_counts_before_the_name_of_its_port(kind: str, role: str) -> None:
    config = wired("leaf1", Ethernet8=("sw9", "Ethernet0"))
    assert devices(patched(config, DEVICE_NEIGHBOR_METADATA={"sw9": {"type": kind}}))["sw9"] == role


@pytest.mark.parametrize(
    "broken", [{"sw9": "LeafRouter"}, {"sw9": {"type": 3}}, {"other": {"type": "LeafRouter"}}]
)
def test_a_row_that_says_no_type_is_none(broken: dict[str, object]) -> None:
    config = wired("leaf1", Ethernet8=("sw9", "swp1"))
    assert devices({**config, "DEVICE_NEIGHBOR_METADATA": broken})["sw9"] == "host"


def joined_to(*names: str) -> Config:
    """Return a device without a type that has a port for each of some others."""
    ports = dict(zip(("Ethernet0", "Ethernet4", "Ethernet8"), names, strict=False))
    config = wired("sw9", "", **{port: (name, "Ethernet8") for port, name in ports.items()})
    return without(config, *({"Ethernet0", "Ethernet4", "Ethernet8"} - ports.keys()))


def test_a_device_without_a_type_is_a_spine_where_all_it_is_joined_to_are_leaves() -> None:
    leaf1, leaf2 = named(base(), "leaf1"), named(base(), "leaf2")
    spine = named(base(), "spine1", "LeafRouter")
    assert devices(leaf1, leaf2, joined_to("leaf1", "leaf2"))["sw9"] == "spine"
    assert devices(leaf1, leaf2, spine, joined_to("leaf1", "leaf2", "spine1"))["sw9"] == "leaf"
    assert devices(leaf1, joined_to("leaf1", "gpu1"))["sw9"] == "leaf"


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        # 400G up, 1200G down; 800G up and down; all up; nothing up.
        ({"Ethernet0": ("spine1", "Ethernet0"), "Ethernet8": ("gpu1", "eth0")}, 3),
        ({"Ethernet8": ("spine1", "Ethernet0")}, None),
        ({f"Ethernet{n}": ("spine1", f"Ethernet{n}") for n in (0, 4, 8)}, None),
        ({}, None),
    ],
)
def test_oversubscription_is_declared_as_it_is_wired(
    ports: dict[str, tuple[str, str]], expected: int | None
) -> None:
    assert (
        intent(imported(wired("leaf1", "ToRRouter", **ports)))["topology"].get("oversubscription") == expected
    )


def test_the_highest_oversubscription_of_all_switches_is_rounded_up_to_hundredths() -> None:
    config = wired("leaf1", Ethernet0=("spine1", "Ethernet0"))
    config["PORT"]["Ethernet8"] = {**config["PORT"]["Ethernet8"], "speed": "200000"}
    other = wired("leaf2", Ethernet0=("spine1", "Ethernet4"), Ethernet4=("spine1", "Ethernet8"))
    other["PORT"] = {**base()["PORT"], "Ethernet8": {**base()["PORT"]["Ethernet8"], "speed": "10000"}}
    assert intent(imported(config, other))["topology"]["oversubscription"] == 1.5
    third = wired("leaf3", Ethernet8=("spine1", "Ethernet0"), Ethernet4=("spine1", "Ethernet4"))
    third["PORT"] = {
        **third["PORT"],
        "Ethernet0": {**third["PORT"]["Ethernet0"], "speed": "400000"},
        "Ethernet4": {**third["PORT"]["Ethernet4"], "speed": "100000"},
        "Ethernet8": {**third["PORT"]["Ethernet8"], "speed": "200000"},
    }
    assert intent(imported(third))["topology"]["oversubscription"] == 1.34


LENGTHS = {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "40m"}


@pytest.mark.parametrize(
    ("there", "length", "note"),
    [
        ("40m", "40m", ""),
        # 5 m at 800G is configured as 5 m on both: the ends contradict each other.
        ("5m", "40m", "configured as 5 m and 40 m: the longer"),
        ("300m", "300m", "configured as 40 m and 300 m: the longer"),
        ("", "40m", ""),
    ],
)
def test_a_cable_is_as_long_as_its_ends_are_configured_for(there: str, length: str, note: str) -> None:
    leaf = without(wired("leaf1", Ethernet8=("spine1", "Ethernet8")), "Ethernet0", "Ethernet4")
    spine = without(named(base(), "spine1", "LeafRouter"), "Ethernet0", "Ethernet4")
    rows = {port: cable for port, cable in {**LENGTHS, "Ethernet8": there}.items() if cable}
    (line,) = lines(imported(leaf, {**spine, "CABLE_LENGTH": {"AZURE": rows}}), "links: 1 x")
    assert line == (
        f'- {{a: "leaf1:Ethernet8", b: "spine1:Ethernet8", links: 1 x 800G, cable: {length}}}'
        + (f"  # {note}" if note else "")
    )


def test_a_cable_of_which_nothing_is_configured_is_as_long_as_most() -> None:
    config = patched(base(), CABLE_LENGTH={"AZURE": {"Ethernet0": "40m", "Ethernet4": "40m"}})
    config["CABLE_LENGTH"] = {"AZURE": {"Ethernet0": "40m", "Ethernet4": "40m"}}
    (line,) = lines(imported(config), "no length")
    assert line.endswith("links: 1 x 800G, cable: 40m}  # no length is configured: what most ports have")
    (first, *_) = lines(imported(patched(base(), CABLE_LENGTH=None)), "no length")
    assert first.endswith("links: 1 x 400G, cable: 5m}  # no length is configured: what most ports have")


def test_a_port_without_a_speed_has_that_of_the_hwsku() -> None:
    config = base()
    for port in ("Ethernet4", "Ethernet8"):
        del config["PORT"][port]["speed"]
    assert [line.partition("links: ")[2] for line in lines(imported(config), "no speed")] == [
        "1 x 800G, cable: 5m}  # no speed is configured: that of the HWSKU",
        "1 x 800G, cable: 40m}  # no speed is configured: that of the HWSKU",
    ]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("config_db.json", "config_db"),
        ("rack1/tor7/config_db.json", "tor7"),
        ("rack1/tor7.json", "tor7"),
    ],
)
def test_a_device_without_a_hostname_is_called_as_its_folder_or_its_file(file: str, name: str) -> None:
    config = base()
    del config["DEVICE_METADATA"]["localhost"]["hostname"]
    found = import_documents([load_text(json.dumps(config), file)])
    assert found.devices == (name,)


@pytest.mark.parametrize("name", ["a/b", "", "-x", "x" * 64])
def test_a_fabric_needs_a_name_that_an_intent_can_have(name: str) -> None:
    with pytest.raises(LosslessError, match="cannot name a fabric; expected letters, digits"):
        import_documents([load_text(json.dumps(base()), "leaf1.json")], name=name)
    found = import_documents([load_text(json.dumps(base()), "leaf1.json")], name="x" * 63)
    assert f"fabric: {'x' * 63}" in found.text.splitlines()


def test_all_that_is_wrong_with_several_files_is_said_at_once() -> None:
    unknown = named(base(), "leaf1", hwsku="Unheard-Of")
    nameless = named(base(), "leaf2", hwsku="")
    with pytest.raises(InputError) as error:
        imported(unknown, nameless, {**base(), "PORT": 3})
    assert [problem.file for problem in error.value.problems] == [f"sw{n}/config_db.json" for n in range(3)]


def test_an_asic_of_several_is_no_device_that_an_intent_can_name() -> None:
    asics = {f"asic{n}": named(base(), "leaf1", asic_name=f"asic{n}") for n in (0, 1)}
    whole = load_text(json.dumps({"localhost": base(), **asics}), "config_db.json")
    with pytest.raises(InputError) as error:
        import_documents(split([whole]))
    messages = [problem.message.partition(";")[0] for problem in error.value.problems]
    assert messages == [f"'leaf1:asic{n}' cannot name a device" for n in (0, 1)]


def test_adapters_are_those_that_have_the_speeds_of_the_links_to_hosts() -> None:
    assert lines(imported(base()), "nic:") == ["nic: connectx-7"]
    config = base()
    config["PORT"]["Ethernet8"] = {**config["PORT"]["Ethernet8"], "speed": "400000"}
    assert lines(imported(config), "nic:") == ["nic: connectx-7"]

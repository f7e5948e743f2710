"""Files that say how devices are cabled: what they have in common becomes links, what they contradict is located."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.importing.cabling.cables import parse_cable_length, parse_speed
from lossless.formats.importing.cabling.sheets import interface_bps
from lossless.formats.importing.cabling.topology import (
    CablingOptions,
    CablingTopology,
    read_topology,
    topology_yaml,
)
from lossless.ground.basics.errors import InputError, QuantityError
from tests.strategies import fabric_of

ROLES = (("leaf*", "leaf"), ("spine*", "spine"), ("gpu*", "host"))
ALL = CablingOptions(
    ROLES,
    speeds={"hosts": 400 * 10**9, "uplinks": 800 * 10**9},
    cables={"hosts": 3, "uplinks": 30},
)
ONLY_ROLES = CablingOptions(ROLES)
HEADS = "a device,a port,b device,b port,speed,length\n"
SHEET = f"""\
{HEADS}leaf1,Ethernet0,gpu1,eth0,400G,3m
leaf1,Ethernet256,spine1,Ethernet0,800G,30m
"""
LINKS = [
    '- {a: "leaf1:Ethernet0", b: "gpu1:eth0", links: 1 x 400G, cable: 3m}',
    '- {a: "leaf1:Ethernet256", b: "spine1:Ethernet0", links: 1 x 800G, cable: 30m}',
]
TABLE = """\
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet256  spine1          etp1               BR            Ethernet0
Ethernet0    gpu1            0c:42:a1:5e:10:20                eth0
eth0         mgmt-sw         17                 BR            17
             gpu7            17                 BR            17
Ethernet8                    17                 BR            17
--------------------------------------------------
Total entries displayed:  3
"""


def links(wired: CablingTopology) -> list[str]:
    return [line.strip() for line in topology_yaml(wired).splitlines() if "links: 1" in line]


def read(*files: str, stated: CablingOptions = ONLY_ROLES, **named: str) -> list[str]:
    texts = {f"file{number}.csv": text for number, text in enumerate(files, 1)}
    return links(read_topology({**texts, **named}, stated))


def refused(stated: CablingOptions = ONLY_ROLES, **files: str) -> list[str]:
    texts = {name.replace("_", "."): text for name, text in files.items()}
    with pytest.raises(InputError) as error:
        read_topology(texts, stated)
    return [str(problem) for problem in error.value.problems]


@pytest.mark.parametrize(
    "heads",
    [
        "a device,a port,b device,b port,speed,length",
        "From Device,From Port,To Device,To Port,Speed,Length",
        "Source host,Source interface,Destination host,Destination interface,Rate,Cable length",
        "local_switch,local_port,remote_switch,remote_port,speed,length",
        "device,port,device,port,speed,length",
        "Device A,Termination A,Device B,Termination B,Speed,Length",
        "# the whole line is a comment\na device,a port,b device,b port,speed,length",
    ],
)
def test_columns_are_found_by_their_names(heads: str) -> None:
    assert read(SHEET.replace(HEADS, f"{heads}\n")) == LINKS


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_may_stand_in_any_order_and_be_separated_otherwise(separator: str) -> None:
    text = (
        "Length (m),b port,b device,a port,a device,Speed (Gb/s),Remarks\n"
        "3,eth0,gpu1,Ethernet0,leaf1,400,\n29.5,Ethernet0,spine1,Ethernet256,leaf1,800,row 7\n"
    )
    assert read(text.replace(",", separator)) == LINKS


def test_without_headings_columns_are_in_the_order_of_import() -> None:
    text = "leaf1, Ethernet0, gpu1, eth0, 3m\nspine1, Ethernet0, leaf1, Ethernet256, 30m\n"
    assert read(text, stated=ALL) == LINKS


def test_the_import_form_of_netbox_is_read() -> None:
    text = (
        "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,length,length_unit\n"
        "leaf1,dcim.interface,Ethernet0,gpu1,dcim.interface,eth0,dac-passive,connected,9.5,ft\n"
        "leaf1,dcim.interface,Ethernet8,gpu2,dcim.interface,eth0,dac-passive,decommissioning,3,m\n"
        "leaf1,dcim.interface,Ethernet256,spine1,dcim.interface,Ethernet0,smf,planned,3000,cm\n"
    )
    assert read(text, stated=ALL) == LINKS


def test_exports_of_netbox_as_csv_are_read_together() -> None:
    cables = (
        "ID,Label,Termination A,Termination B,Device A,Device B,Status,Type,Length\n"
        "1,,Ethernet0,eth0,leaf1,gpu1,Connected,DAC,3.00 Meters\n"
        "2,,Ethernet256,Ethernet0,leaf1,spine1,Connected,SMF,98 ft\n"
    )
    interfaces = (
        "Device,Name,Enabled,Type,Speed (Kbps)\nleaf1,Ethernet0,True,OSFP (800GE),400000000\n"
        "gpu1,eth0,True,OSFP (400GE),\nleaf1,Ethernet256,True,OSFP (800GE),—\nspine1,mgmt0,True,Virtual,\n"
    )
    devices = "Name,Status,Role,Type\nleaf1,Active,Leaf,SN5600\nspine1,Active,spine,SN5600\ngpu1,Active,GPU,XE9680\n"
    stated = CablingOptions(roles=(("role:gpu", "host"),))
    assert read(cables, interfaces, devices, stated=stated) == LINKS


def netbox(*cables: Any, interfaces: bool = True) -> str:
    def of(*items: Any) -> Any:
        return {"count": len(items), "next": None, "previous": None, "results": list(items)}

    data: dict[str, Any] = {
        "devices": of(
            {
                "id": 1,
                "name": "leaf1",
                "device_type": {"slug": "sn5600"},
                "role": {"name": "Leaf", "slug": "leaf"},
            },
            {"id": 2, "name": "spine1", "device_type": {"slug": "sn5600"}, "role": {"slug": "spine"}},
            {"id": 3, "name": "gpu1", "device_type": {"slug": "x"}, "device_role": {"slug": "gpu-server"}},
        ),
        "cables": of(*cables),
    }
    if interfaces:
        data["interfaces"] = of(
            interface("leaf1", "Ethernet0", "800gbase-x-osfp", 400_000_000),
            interface("leaf1", "Ethernet256", "800gbase-x-osfp", None),
            interface("spine1", "Ethernet0", "800gbase-x-osfp", None),
            interface("gpu1", "eth0", "400gbase-x-osfp", None),
        )
    return json.dumps(data, indent=1)


def interface(device: str, name: str, kind: str, kbps: int | None) -> Any:
    return {"id": 9, "device": {"name": device}, "name": name, "type": {"value": kind}, "speed": kbps}


def termination(device: str, port: str, kind: str = "dcim.interface") -> Any:
    return {
        "object_type": kind,
        "object_id": 7,
        "object": {"name": port, "device": {"id": 1, "name": device}},
    }


def cable(a: Any, b: Any, length: float | None = 3, unit: str | None = "m", **fields: Any) -> Any:
    ends = {
        "a_terminations": a if isinstance(a, list) else [a],
        "b_terminations": b if isinstance(b, list) else [b],
    }
    unit_of = {"value": unit, "label": "?"} if unit else None
    status = {"value": "connected", "label": "Connected"}
    return {
        "id": 4,
        "label": "F-4",
        "status": status,
        "length": length,
        "length_unit": unit_of,
        **ends,
        **fields,
    }


HOST = cable(termination("gpu1", "eth0"), termination("leaf1", "Ethernet0"))
UPLINK = cable(termination("leaf1", "Ethernet256"), termination("spine1", "Ethernet0"), 98, "ft")
GPU = CablingOptions(roles=(("role:gpu-server", "host"),))


def test_the_api_of_netbox_gives_devices_interfaces_and_cables() -> None:
    power = cable(termination("leaf1", "PSU1", "dcim.powerport"), termination("pdu", "1", "dcim.poweroutlet"))
    gone = cable(
        termination("leaf1", "Ethernet8"), termination("gpu1", "eth1"), status={"value": "decommissioning"}
    )
    assert read(netbox(HOST, UPLINK, power, gone), stated=GPU) == LINKS


def test_lists_of_netbox_may_stand_in_files_of_their_own() -> None:
    whole = json.loads(netbox(HOST, UPLINK))
    bare = {f"{name}.json": json.dumps(part["results"]) for name, part in whole.items()}
    paged = {f"{name}.json": json.dumps(part) for name, part in whole.items()}
    assert links(read_topology(bare, GPU)) == links(read_topology(paged, GPU)) == LINKS


def test_ends_of_cables_before_netbox_3_3_are_read() -> None:
    old = {
        "id": 4,
        "status": {"value": "connected"},
        "length": 3.0,
        "length_unit": {"value": "m"},
        "termination_a_type": "dcim.interface",
        "termination_b_type": "dcim.interface",
        "termination_a": {"name": "Ethernet0", "device": {"name": "leaf1"}},
        "termination_b": {"name": "eth0", "device": {"name": "gpu1"}},
    }
    assert read(netbox(old), stated=GPU) == LINKS[:1]


NETBOX: dict[str, tuple[str, str]] = {
    "panel": (
        netbox(cable(termination("leaf1", "Ethernet0"), termination("panel", "7", "dcim.frontport"))),
        "cable F-4: it ends at a patch panel; the link goes on there, and its whole length is not said here",
    ),
    "breakout": (
        netbox(
            cable(termination("leaf1", "Ethernet0"), [termination("gpu1", "a"), termination("gpu1", "b")])
        ),
        "cable F-4: it has several ends on one side; write each link of a breakout as a cable of its own",
    ),
    "open": (netbox(cable(termination("leaf1", "Ethernet0"), [])), "cable F-4: one end is not connected"),
    "no-unit": (
        netbox(cable(termination("leaf1", "Ethernet0"), termination("gpu1", "eth0"), 3, None)),
        "cable F-4: '3' has no unit; write it like 3m (units: km, m, cm, mi, ft, in)",
    ),
    "nowhere": (
        netbox(cable(termination("leaf1", "Ethernet0"), termination("", "eth0"))),
        "cable F-4: an end names no device and interface",
    ),
    "nothing": (
        netbox(cable(termination("leaf1", "Ethernet0"), {"object_type": "dcim.interface", "object": None})),
        "cable F-4: an end names no device and interface",
    ),
    "two-kinds": (
        netbox(
            cable(termination("leaf1", "Ethernet0"), termination("x", "y", "circuits.circuittermination"))
        ),
        "cable F-4: it joins an interface to circuits.circuittermination",
    ),
}


@pytest.mark.parametrize("case", NETBOX)
def test_what_cannot_be_taken_as_one_link_of_netbox_is_reported_at_its_place(case: str) -> None:
    text, message = NETBOX[case]
    line = next(n for n, words in enumerate(text.splitlines(), 1) if '"label": "F-4"' in words) - 2
    (said,) = refused(GPU, export_json=text)
    assert said == f"export.json:{line}:1: {message}"


def test_devices_and_interfaces_without_a_name_say_nothing() -> None:
    whole = json.loads(netbox(HOST, UPLINK))
    for nameless in (interface("", "Ethernet0", "1000base-t", 7), interface("leaf1", "", "1000base-t", 7)):
        whole["interfaces"]["results"].insert(0, nameless)
    whole["devices"]["results"] += [
        {"name": None, "device_type": {}, "role": {"slug": "leaf"}},
        {"name": "leaf1", "device_type": {}},
    ]
    assert read(json.dumps(whole), stated=GPU) == LINKS


def test_speeds_of_the_two_interfaces_of_a_cable_must_agree() -> None:
    text = netbox(cable(termination("leaf1", "Ethernet256"), termination("gpu1", "eth0")))
    (said,) = refused(GPU, export_json=text)
    assert said.endswith("gpu1 eth0 to leaf1 Ethernet256: 400G and 800G for one link")


def seen(device: str, *words: str) -> Any:
    port = {"id": {"type": "local", "value": words[0]}, "descr": words[-1]}
    return {"chassis": {device: {"id": {"type": "mac", "value": "00:11"}}}, "port": port}


def lldp(**ports: Any) -> str:
    return json.dumps({"lldp": {"interface": [{name: value} for name, value in ports.items()]}}, indent=1)


LLDP = CablingOptions(ROLES, ALL.speeds, ALL.cables, exclude=("mgmt*",))


def test_the_far_end_tells_what_it_calls_its_own_port() -> None:
    """Of ``etp1`` and ``Ethernet0`` the second is a port of spine1: SONiC calls its ports so, and so does spine1."""
    spine = lldp(Ethernet0=seen("leaf1", "etp33", "Ethernet256"))
    assert links(read_topology({"leaf1.txt": TABLE}, LLDP)) == LINKS
    assert links(read_topology({"leaf1.txt": TABLE, "spine1.json": spine}, LLDP)) == LINKS
    assert links(read_topology({"leaf1/lldp.txt": TABLE, "spine1/lldp.json": spine}, LLDP)) == LINKS


def test_a_port_that_has_two_names_is_not_guessed() -> None:
    text = lldp(Ethernet256=seen("spine1", "swp1", "uplink-7"))
    (said,) = refused(LLDP, leaf1_json=text)
    assert (
        said
        == "leaf1.json:5:1: spine1 has a port that it calls swp1 or uplink-7: its own output of LLDP tells which"
    )
    # A sheet tells as well, at whichever end it has the port.
    uplink = '- {a: "leaf1:Ethernet256", b: "spine1:swp1", links: 1 x 800G, cable: 30m}'
    for row in ("leaf1,Ethernet256,spine1,swp1", "spine1,swp1,leaf1,Ethernet256"):
        assert links(read_topology({"leaf1.json": text, "cables.csv": f"{row}\n"}, LLDP)) == [uplink]


def test_what_the_two_ends_say_against_each_other_is_located_at_both() -> None:
    spine = lldp(Ethernet0=seen("leaf2", "Ethernet256", "Ethernet256"))
    (said,) = refused(LLDP, leaf1_txt=TABLE, spine1_json=spine)
    assert said == (
        "spine1.json:5:1: spine1 Ethernet0 is joined to leaf2 Ethernet256 here, "
        "and to leaf1 Ethernet256 in leaf1.txt:4"
    )


def test_lengths_come_from_the_sheet_where_lldp_has_none() -> None:
    assert read(SHEET, stated=CablingOptions(ROLES, exclude=("mgmt*",)), **{"leaf1.txt": TABLE}) == LINKS


def test_what_is_no_interface_or_no_neighbor_in_lldp_is_skipped() -> None:
    interfaces = [
        "lo",
        {"Ethernet8": "down"},
        {"Ethernet16": {"chassis": {"id": {"type": "mac"}}, "port": {}}},
        {"Ethernet0": seen("gpu1", "00:11", "eth0")},
    ]
    text = json.dumps({"lldp": {"interface": interfaces}})
    assert read(SHEET, stated=LLDP, **{"leaf1.json": text}) == LINKS


INTERFACES = "Device,Name,Type,Speed (Kbps)\n"


def test_interfaces_without_a_device_or_a_name_say_no_speed() -> None:
    cables = SHEET.replace(",400G,", ",,").replace(",800G,", ",,")
    others = ",Ethernet0,OSFP (100GE),\nleaf1,,OSFP (100GE),\nleaf1,Ethernet256,OSFP (800GE),\n"
    assert read(cables, f"{INTERFACES}{others}gpu1,eth0,OSFP (400GE),\n") == LINKS


def test_a_speed_of_an_interface_that_is_none_is_located() -> None:
    text = f"{INTERFACES}leaf1,Ethernet256,OSFP (800GE),\nleaf1,Ethernet0,OSFP (800GE),fast\n"
    assert refused(cables_csv=SHEET, interfaces_csv=text) == [
        "interfaces.csv:3:1: 'fast' is not a rate; write it like 400G or 1.6T (units: M, G, T)"
    ]


FAULTS: dict[str, tuple[str, list[str]]] = {
    "port-twice": (
        SHEET + "leaf1,Ethernet0,gpu2,eth0,400G,3m\ngpu1,eth0,leaf1,Ethernet8,400G,3m\n",
        [
            "4:1: leaf1 Ethernet0 is joined to gpu2 eth0 here, and to gpu1 eth0 in cables.csv:2",
            "5:1: gpu1 eth0 is joined to leaf1 Ethernet8 here, and to leaf1 Ethernet0 in cables.csv:2",
        ],
    ),
    "cable-twice": (
        SHEET + "leaf1,Ethernet0,gpu1,eth0,400G,3m\nleaf1,Ethernet0,gpu1,eth0,400G,3m\n",
        [f"{line}:1: gpu1 eth0 already has a cable in line 2" for line in (4, 5)],
    ),
    "to-itself": (
        SHEET + "leaf1,Ethernet8,leaf1,Ethernet8,400G,3m\nspine1,Ethernet8,spine1,Ethernet8,400G,3m\n",
        ["4:1: leaf1 Ethernet8 is joined to itself", "5:1: spine1 Ethernet8 is joined to itself"],
    ),
    "to-its-own-device": (
        SHEET + "leaf1,Ethernet8,leaf1,Ethernet16,400G,3m\nleaf1,Ethernet24,leaf1,Ethernet32,400G,3m\n",
        [
            "4:1: leaf1 Ethernet16 and leaf1 Ethernet8: a link leads back to its own device",
            "5:1: leaf1 Ethernet24 and leaf1 Ethernet32: a link leads back to its own device",
        ],
    ),
    "two-hosts": (
        SHEET + "gpu7,eth0,gpu8,eth0,400G,3m\ngpu5,eth0,gpu6,eth0,400G,3m\n",
        [
            "4:1: gpu8 eth0 and gpu7 eth0: a link of two hosts",
            "5:1: gpu6 eth0 and gpu5 eth0: a link of two hosts",
        ],
    ),
    "no-length": (
        SHEET + "leaf1,Ethernet8,gpu2,eth0,400G,\nleaf1,Ethernet16,gpu3,eth0,400G,\n",
        [
            "4:1: gpu2 eth0 to leaf1 Ethernet8 and 1 more of hosts: no length, which headroom needs; add a column "
            "of it, or state it: --cable hosts=LENGTH"
        ],
    ),
    "no-speed": (
        SHEET + "leaf1,Ethernet264,spine1,Ethernet8,,30m\n",
        [
            "4:1: leaf1 Ethernet264 to spine1 Ethernet8: no speed; add a column of it, or state it: "
            "--speed uplinks=RATE"
        ],
    ),
    "no-unit": (
        SHEET + "leaf1,Ethernet8,gpu2,eth0,400G,3\n",
        ["4:1: '3' has no unit; write it like 3m (units: km, m, cm, mi, ft, in)"],
    ),
    "no-rate": (
        SHEET + "leaf1,Ethernet8,gpu2,eth0,400,3m\n",
        ["4:1: '400' has no unit; write it like 400G or 1.6T (units: M, G, T)"],
    ),
    "no-cable": (
        SHEET + "leaf1,Ethernet8,gpu2\n",
        ["4:1: 'leaf1, Ethernet8, gpu2' is no cable; expected a device, a port, b device, b port, length"],
    ),
    "every-line": (
        SHEET + 2 * ("leaf1,Ethernet8\n" + 'leaf1,"Ethernet16,Ethernet24",gpu2,eth0,400G,3m\n'),
        [
            message
            for line in (4, 6)
            for message in (
                f"{line}:1: 'leaf1, Ethernet8' is no cable; expected a device, a port, b device, b port, length",
                f"{line + 1}:1: 'Ethernet16,Ethernet24' are several ends; write a line for each link",
            )
        ],
    ),
    "port-of-no-name": (
        SHEET + "leaf1,Ethernet1/9,gpu2,eth0,400G,3m\n",
        [
            "4:1: leaf1 Ethernet1/9: no name that an intent can give a port of a switch; write it as SONiC calls "
            "it, Ethernet0"
        ],
    ),
    "port-of-no-name-at-the-second-switch": (
        SHEET + "leaf1,Ethernet8,spine2,Ethernet1/9,800G,30m\n",
        [
            "4:1: spine2 Ethernet1/9: no name that an intent can give a port of a switch; write it as SONiC calls "
            "it, Ethernet0"
        ],
    ),
    "lag-at-the-second-switch": (
        SHEET + "leaf1,Ethernet8,spine2,PortChannel7,800G,30m\n",
        ["4:1: spine2 PortChannel7 is made of ports, and no port; write a line for each of its members"],
    ),
    "device-of-no-name": (
        SHEET + "leaf 7,Ethernet0,gpu2,eth0,400G,3m\n",
        ["4:1: 'leaf 7' is no name that an intent can give a device"],
    ),
    "unknown-device": (
        SHEET + "leaf1,Ethernet8,storage1,eth0,400G,3m\nleaf1,Ethernet16,storage2,eth0,400G,3m\n",
        [
            "4:1: nothing says what storage1, storage2 are; state it: --role ROLE='storage*', with one of leaf, "
            "spine, super-spine, switch, host"
        ],
    ),
    "several-at-once": (
        SHEET + "leaf1,Ethernet0,gpu2,eth0,400G,3m\nleaf1,Ethernet8,gpu3,eth0,fast,3m\n",
        [
            "4:1: leaf1 Ethernet0 is joined to gpu2 eth0 here, and to gpu1 eth0 in cables.csv:2",
            "5:1: 'fast' is not a rate; write it like 400G or 1.6T (units: M, G, T)",
        ],
    ),
    "columns-of-no-kind": (
        "this,that,other,more,row 7\nleaf1,Ethernet0,gpu1,eth0,3m\n",
        ["1:1: no column for a device, a port, b device, b port; found this, that, other, more, row 7"],
    ),
    "a-column-too-few": (
        "a device,a port,b device,length\nleaf1,Ethernet0,gpu1,3m\n",
        ["1:1: no column for b port; found a device, a port, b device, length"],
    ),
    "nothing": ("# only a remark\n", ["1:1: no line with anything in it"]),
    "open-quote": (SHEET + 'leaf1,"Ethernet8,gpu2\n', ["4:1: not CSV: unexpected end of data"]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_a_sheet_are_located(case: str) -> None:
    text, said = FAULTS[case]
    assert refused(cables_csv=text) == [f"cables.csv:{one}" for one in said]


def test_files_that_differ_about_one_cable_are_told_apart() -> None:
    other = SHEET.replace("30m", "20m").replace(",400G,3m", ",200G,3m")
    assert refused(one_csv=SHEET, two_csv=other) == [
        "two.csv:2:1: gpu1 eth0 to leaf1 Ethernet0: 200G here, 400G in one.csv:2",
        "two.csv:3:1: leaf1 Ethernet256 to spine1 Ethernet0: 20 m here, 30 m in one.csv:3",
    ]


@pytest.mark.parametrize("lacking", ["device", "type"])
def test_objects_of_netbox_that_are_no_interface_are_skipped(lacking: str) -> None:
    whole = json.loads(netbox(HOST, UPLINK))
    other = interface("leaf1", "Ethernet0", "1000base-t", 7)
    del other[lacking]
    whole["interfaces"]["results"].insert(0, other)
    assert read(json.dumps(whole), stated=GPU) == LINKS


@pytest.mark.parametrize("text", ['{"a": 1}', '{"results": {}}'])
def test_json_of_another_kind_is_said(text: str) -> None:
    message = "JSON of no kind that is known here: expected that of lldpctl, or of NetBox's API"
    assert refused(x_json=text) == [f"x.json:1:1: {message}"]


def test_what_is_written_is_a_topology_that_resolves() -> None:
    from lossless.ground.documents import load_text

    text = topology_yaml(read_topology({"cables.csv": SHEET}, ONLY_ROLES))
    data = {"lossless": "v1", "fabric": "f", "transport": "rocev2", "preset": "nvidia"}
    hardware = {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": "connectx-7"}
    found = fabric_of({**data, "hardware": hardware, **load_text(text, "topology.yaml").data})
    assert [tuple(link)[:4] for link in found.links] == [
        ("leaf1", "Ethernet0", "gpu1", "eth0"),
        ("leaf1", "Ethernet256", "spine1", "Ethernet0"),
    ]


def test_names_that_yaml_would_take_for_something_else_are_quoted() -> None:
    text = "leaf1,Ethernet0,on,eth0,3m\nleaf1,Ethernet4,7,eth0,3m\n"
    stated = CablingOptions((("leaf*", "leaf"), ("*", "host")), speeds=ALL.speeds)
    lines = topology_yaml(read_topology({"c.csv": text}, stated)).splitlines()
    assert '    "on": {role: host}' in lines
    assert '    "7": {role: host}' in lines


@given(st.permutations(SHEET.removeprefix(HEADS).splitlines()), st.booleans())
def test_no_order_of_lines_or_ends_changes_what_is_written(lines: list[str], turned: bool) -> None:
    rows = [line.split(",") for line in lines]
    rows = [[*row[2:4], *row[:2], *row[4:]] for row in rows] if turned else rows
    assert read(HEADS + "\n".join(",".join(row) for row in rows)) == LINKS


@given(st.integers(1, 10_000), st.sampled_from(["m", "cm", "km", "ft", "in", "mi", "Meters", "Feet"]))
def test_a_length_is_never_shorter_than_it_is_and_less_than_a_metre_longer(number: int, unit: str) -> None:
    metres = {"m": 1.0, "cm": 0.01, "km": 1000.0, "ft": 0.3048, "in": 0.0254, "mi": 1609.344}
    real_m = number * metres[{"Meters": "m", "Feet": "ft"}.get(unit, unit)]
    assert real_m - 1e-9 <= parse_cable_length(f"{number} {unit}") < real_m + 1 + 1e-9


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("400G", 400e9),
        ("400GbE", 400e9),
        ("400 Gb/s", 400e9),
        ("1.6T", 1.6e12),
        ("800Gbps", 800e9),
        ("100GE", 1e11),
    ],
)
def test_speeds_are_read_as_people_write_them(text: str, bps: float) -> None:
    assert parse_speed(text) == bps


@pytest.mark.parametrize(
    ("text", "unit", "metres"),
    [
        ("3m", "", 3),
        ("3", "m", 3),
        ("2,5 m", "", 3),
        ("0.1", "feet", 1),
        ("1 mi", "m", 1610),
        ("250cm", "", 3),
    ],
)
def test_a_length_has_its_own_unit_or_that_of_its_column(text: str, unit: str, metres: int) -> None:
    assert parse_cable_length(text, unit) == metres


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0m", "'0m' is no cable; the shortest counts as 1m"),
        (" 0.0 km ", "'0.0 km' is no cable; the shortest counts as 1m"),
        ("7", "'7' has no unit; write it like 3m (units: km, m, cm, mi, ft, in)"),
        ("7 furlongs", "'7 furlongs' is no length; write it like 3m (units: km, m, cm, mi, ft, in)"),
        ("m", "'m' is no length; write it like 3m (units: km, m, cm, mi, ft, in)"),
    ],
)
def test_what_is_no_length_is_refused_with_what_would_be_one(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as error:
        parse_cable_length(text)
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["400", "fast", "", "400K"])
def test_a_speed_without_a_unit_is_none(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_speed(text)


@pytest.mark.parametrize(
    ("kind", "bps"),
    [
        ("400gbase-x-osfp", 400e9),
        ("1.6tbase-cr8", 1.6e12),
        ("1000base-t", 1e9),
        ("2.5gbase-t", 2.5e9),
        ("OSFP (400GE)", 400e9),
        ("virtual", None),
        ("lag", None),
    ],
)
def test_types_of_interfaces_say_their_speed(kind: str, bps: float | None) -> None:
    assert interface_bps(kind) == bps

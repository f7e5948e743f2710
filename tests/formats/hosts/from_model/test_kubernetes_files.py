"""What NVIDIA's NIC configuration operator is told: taken by the server, and in agreement with the switches."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st
from ruamel.yaml import YAML

from lossless.formats.device_files.environment import render_template
from lossless.formats.hosts.from_model.scripts import kubernetes_files, resource_name, unconfigured
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric
from tests.formats.hosts.from_model.nic_configuration_template import (
    Resource,
    refused_by_controller,
    refused_by_server,
    settings_of,
)
from tests.formats.intent.intent_texts import NAMED, SHAPE, said_of, spoilt

CLUSTER = "kubernetes: {namespace: nvidia-network-operator, num_vfs: 0}"


def hosts(*lines: str) -> tuple[str, str]:
    """Return the change that gives an intent hosts."""
    body = "".join(f"  {line}\n" for line in lines)
    return ("hardware:", f"hosts:\n{body}hardware:")


def fabric_of(text: str) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def resources(text: str) -> dict[str, Resource]:
    """Return the resources of an intent, by the names of their files."""
    return {
        file.path: YAML(typ="safe", pure=True).load(render_template(file.template, file.context))
        for file in kubernetes_files(fabric_of(text))
    }


def resource(text: str) -> Resource:
    (found,) = resources(text).values()
    return found


def qos_of(found: Resource) -> dict[str, Any]:
    qos: dict[str, Any] = found["spec"]["template"]["roceOptimized"]["qos"]
    return qos


def test_a_fabric_without_a_cluster_has_none() -> None:
    assert resources(SHAPE) == {}


def test_a_resource_says_what_the_switches_have() -> None:
    found = resource(spoilt(SHAPE, hosts(CLUSTER)))
    assert refused_by_server(found) == []
    assert refused_by_controller(found) == []
    assert found["metadata"] == {"name": "base-connectx-7", "namespace": "nvidia-network-operator"}
    assert found["spec"]["nicSelector"] == {"nicType": "1021"}
    assert qos_of(found) == {
        "trust": "dscp",
        "pfc": "0,0,0,1,0,0,0,0",
        "tos": 106,
        "cableLen": 3,
        "ecn": {"enabled": True, "priority": 3},
        "pauseFrames": {"enabled": False},
    }


@pytest.mark.parametrize("ports", [1, 2])
def test_what_the_operator_would_write_by_itself_is_written_over(ports: int) -> None:
    settings = settings_of(resource(spoilt(SHAPE, hosts(CLUSTER))), ports)
    for port in range(1, ports + 1):
        assert settings[f"CNP_DSCP_P{port}"] == "48"
        assert settings[f"CNP_802P_PRIO_P{port}"] == "6"
        assert settings[f"ROCE_CC_PRIO_MASK_P{port}"] == "8"
        assert settings[f"MIN_TIME_BETWEEN_CNPS_P{port}"] == "4"


def test_without_the_overrides_congestion_notifications_would_leave_their_class() -> None:
    found = resource(spoilt(SHAPE, hosts(CLUSTER)))
    found["spec"]["template"]["rawNvConfig"] = []
    assert settings_of(found, 1)["CNP_DSCP_P1"] == "4"


@given(
    st.permutations(range(64)).map(lambda dscps: dscps[:2]),
    st.permutations(range(1, 8)).map(lambda priorities: priorities[:2]),
    st.sampled_from(["dcqcn: {}", "dcqcn: {cnp_interval: 8us, rpg_ai_rate: 80M}", None]),
)
def test_any_classes_make_a_resource_that_agrees_with_them(
    dscps: list[int], priorities: list[int], control: str | None
) -> None:
    (rdma, cnp), (rdma_priority, cnp_priority) = dscps, priorities
    said = f"congestion_control: {{{control}}}" if control else "congestion_control: pfc-only"
    text = spoilt(
        SHAPE,
        (
            "dscp: 26, priority: 3, lossless: true",
            f"dscp: {rdma}, priority: {rdma_priority}, lossless: true",
        ),
        (
            "dscp: 48, priority: 6, scheduling: strict",
            f"dscp: {cnp}, priority: {cnp_priority}, scheduling: strict",
        ),
        ("congestion_control:\n  dcqcn: {cnp_interval: 4us}", said),
        hosts(CLUSTER),
    )
    found = resource(text)
    assert refused_by_server(found) == []
    assert refused_by_controller(found) == []
    qos = qos_of(found)
    assert qos["tos"] >> 2 == rdma
    assert [p for p, on in enumerate(qos["pfc"].split(",")) if on == "1"] == [rdma_priority]
    assert qos["ecn"] == {"enabled": control is not None, "priority": rdma_priority}
    settings = settings_of(found, 1)
    assert settings["CNP_DSCP_P1"] == str(cnp)
    assert settings["ROCE_CC_PRIO_MASK_P1"] == str(1 << rdma_priority if control else 0)
    assert all(isinstance(value, str) for value in settings.values())


def test_two_priorities_leave_congestion_control_to_the_firmware() -> None:
    text = spoilt(SHAPE, ("{cnp_interval: 4us}", "{cnp_interval: 4us, priorities: [3, 4]}"), hosts(CLUSTER))
    found = resource(text)
    assert "ecn" not in qos_of(found)
    assert settings_of(found, 1)["ROCE_CC_PRIO_MASK_P1"] == "24"


def test_everything_an_operator_may_state_is_in_the_resource() -> None:
    text = spoilt(
        SHAPE,
        hosts(
            "global_pause: on",
            "kubernetes:",
            "  namespace: ops",
            "  num_vfs: 8",
            '  node_selector: {feature.node.kubernetes.io/network-sriov.capable: "true"}',
            '  pci_addresses: ["0000:1a:00.0"]',
            "  ports: 1",
            "  pci_performance: {max_read_request: 4096}",
            "  gpu_direct: on",
            "  firmware: {ADVANCED_PCI_SETTINGS: 1}",
        ),
    )
    found = resource(text)
    assert refused_by_server(found) == []
    assert refused_by_controller(found) == []
    spec = found["spec"]
    assert spec["nodeSelector"] == {"feature.node.kubernetes.io/network-sriov.capable": "true"}
    assert spec["nicSelector"]["pciAddresses"] == ["0000:1a:00.0"]
    template = spec["template"]
    assert template["numVfs"] == 8
    assert template["pciPerformanceOptimized"] == {"enabled": True, "maxReadRequest": 4096}
    assert template["gpuDirectOptimized"] == {"enabled": True, "env": "Baremetal"}
    assert qos_of(found)["pauseFrames"] == {"enabled": True}
    assert {"name": "ADVANCED_PCI_SETTINGS", "value": "1"} in template["rawNvConfig"]
    assert not [one for one in template["rawNvConfig"] if one["name"].endswith("_P2")]


def test_each_kind_of_nic_has_one_resource_with_its_longest_cable() -> None:
    text = spoilt(
        NAMED,
        ("host2: {role: host}", "host2: {role: host}\n    host3: {role: host, nic: connectx-8}"),
        ("b: host2, links: 1 x 400G, cable: 3m", "b: host2, links: 1 x 400G, cable: 20m"),
        hosts(CLUSTER),
    )
    text += "    - {a: leaf2, b: host3, links: 1 x 400G, cable: 5m}\n"
    found = resources(text)
    assert {name: qos_of(one)["cableLen"] for name, one in found.items()} == {
        "nic-configuration-connectx-7.yaml": 20,
        "nic-configuration-connectx-8.yaml": 5,
    }
    assert len({one["spec"]["nicSelector"]["nicType"] for one in found.values()}) == 2


def test_a_nic_of_another_vendor_beside_is_left_out_and_named() -> None:
    text = spoilt(
        NAMED,
        ("dcqcn: {cnp_interval: 4us}", "dcqcn: {}"),
        ("host2: {role: host}", "host2: {role: host, nic: broadcom-thor-2}"),
        hosts(CLUSTER),
    )
    assert list(resources(text)) == ["nic-configuration-connectx-7.yaml"]
    assert unconfigured(fabric_of(text)) == ("broadcom-thor-2",)


BREAKS: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "a number for a text": (("template", "rawNvConfig", 0, "value"), 8),
    "a text for a number": (("template", "numVfs"), "0"),
    "an unknown link type": (("template", "linkType"), "ethernet"),
    "seven priorities": (("template", "roceOptimized", "qos", "pfc"), "0,0,0,1,0,0,0"),
    "a number where the type is a text": (("nicSelector", "nicType"), 1021),
    "an address between curly quotes": (("nicSelector", "pciAddresses"), ["“0000:04:00.0”"]),
    "a field of nobody": (("template", "roceOptimised"), {"enabled": True}),
    "Spectrum-X beside RoCE": (("template", "spectrumXOptimized"), {"enabled": True, "version": "RA2.1"}),
}


@pytest.mark.parametrize("case", BREAKS)
def test_the_check_itself_refuses_what_a_server_refuses(case: str) -> None:
    path, value = BREAKS[case]
    spoiled = copy.deepcopy(resource(spoilt(SHAPE, hosts(CLUSTER))))
    spoiled["spec"]["template"]["numVfs"] = 1
    assert refused_by_server(spoiled) == []
    part: Any = spoiled["spec"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    assert refused_by_server(spoiled) != []


def test_the_check_itself_refuses_what_the_controller_refuses() -> None:
    spoiled = resource(spoilt(SHAPE, hosts(CLUSTER)))
    spoiled["spec"]["template"] |= {
        "linkType": "Infiniband",
        "gpuDirectOptimized": {"enabled": True, "env": "VM"},
    }
    assert refused_by_server(spoiled) == []
    assert len(refused_by_controller(spoiled)) == 3


@given(st.text(max_size=40), st.sampled_from(["connectx-7", "my_NIC.2"]))
def test_any_name_becomes_one_that_a_cluster_takes(text: str, nic: str) -> None:
    found = resource_name(f"a{text}-{nic}")
    assert all(part and part[0] != "-" and part[-1] != "-" for part in found.split("."))
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "infiniband": (
        ("kubernetes: {namespace: n, num_vfs: 0, firmware: {LINK_TYPE_P1: 1}}",),
        "13:53: hosts.kubernetes.firmware: LINK_TYPE_P1 follows from the rest of the intent",
    ),
    "dcqcn-twice": (
        ("kubernetes: {namespace: n, num_vfs: 0, firmware: {RPG_AI_RATE_P1: 9}}",),
        "13:53: hosts.kubernetes.firmware: RPG_AI_RATE_P1 follows from congestion_control.dcqcn; state it there",
    ),
    "gpu-direct-alone": (
        ("kubernetes: {namespace: n, num_vfs: 0, gpu_direct: on}",),
        "13:54: hosts.kubernetes.gpu_direct: the operator refuses it without pci_performance; add "
        "pci_performance: on",
    ),
    "trust": (
        ("trust: pcp", "kubernetes: {namespace: n, num_vfs: 0}"),
        "13:10: hosts.trust: the operator of hosts.kubernetes is only known to set dscp, not pcp",
    ),
    "unset": (
        ("traffic_class: unset", "kubernetes: {namespace: n, num_vfs: 0}"),
        "13:18: hosts.traffic_class: the operator of hosts.kubernetes then writes ToS 0, which is DSCP 0; "
        "expected derived or a number",
    ),
    "vfs-missing": (
        ("kubernetes: {namespace: n}",),
        "13:3: hosts.kubernetes: num_vfs is missing",
    ),
    "vfs": (
        ("kubernetes: {namespace: n, num_vfs: -1}",),
        "13:39: hosts.kubernetes.num_vfs: -1 is not a number of VFs; expected a whole number from 0 to 65535",
    ),
    "namespace": (
        ("kubernetes: {namespace: ../../x, num_vfs: 0}",),
        "13:27: hosts.kubernetes.namespace: '../../x' is not a namespace; expected at most 63 small letters, "
        "digits and '-'",
    ),
    "pci": (
        ('kubernetes: {namespace: n, num_vfs: 0, pci_addresses: ["3b:00.0"]}',),
        "13:58: hosts.kubernetes.pci_addresses.0: '3b:00.0' is not a PCI address; expected one like 0000:1a:00.0",
    ),
    "label": (
        ('kubernetes: {namespace: n, num_vfs: 0, node_selector: {"a b": x}}',),
        "13:58: hosts.kubernetes.node_selector: 'a b' is no label",
    ),
    "label-value": (
        ("kubernetes: {namespace: n, num_vfs: 0, node_selector: {a: true}}",),
        "13:61: hosts.kubernetes.node_selector.a: true is no value of a label; expected text in quotes",
    ),
    "firmware-value": (
        ('kubernetes: {namespace: n, num_vfs: 0, firmware: {KEEP_ETH_LINK_UP_P1: "1; reboot"}}',),
        "13:74: hosts.kubernetes.firmware.KEEP_ETH_LINK_UP_P1: '1; reboot' is no value of a firmware setting; "
        "write a number or a word",
    ),
    "read-request": (
        ("kubernetes: {namespace: n, num_vfs: 0, pci_performance: {max_read_request: 4000}}",),
        "13:78: hosts.kubernetes.pci_performance.max_read_request: 4000 is no size of a read request; expected "
        "128, 256, 512, 1024, 2048 or 4096 bytes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_operator_would_refuse_or_undo_is_refused_at_its_place(case: str) -> None:
    lines, said = REFUSED[case]
    assert said_of(spoilt(SHAPE, hosts(*lines))) == [said]


def test_a_fabric_without_nics_by_nvidia_has_no_use_for_it() -> None:
    text = spoilt(
        SHAPE,
        ("dcqcn: {cnp_interval: 4us}", "dcqcn: {}"),
        ("nic: connectx-7", "nic: broadcom-thor-2"),
        hosts(CLUSTER),
    )
    assert said_of(text) == [
        "13:3: hosts.kubernetes: the operator sets NICs by NVIDIA; broadcom-thor-2 is none"
    ]


def test_a_fabric_without_a_lossless_class_must_say_its_byte() -> None:
    text = spoilt(SHAPE, (", lossless: true", ""), hosts(CLUSTER))
    assert said_of(text) == [
        "13:3: hosts.kubernetes: no lossless class names a DSCP, and the operator would write ToS 0; state "
        "hosts.traffic_class"
    ]


def test_no_device_may_have_the_name_of_the_folder() -> None:
    text = spoilt(NAMED, ("host2: {role", "kubernetes: {role"), ("b: host2", "b: kubernetes"), hosts(CLUSTER))
    assert said_of(text) == [
        "13:3: hosts.kubernetes: its files go to the folder 'kubernetes', which is a device's name here"
    ]

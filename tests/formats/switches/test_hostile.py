"""No configuration is too odd to be read: what has no meaning is named, and the rest is still checked."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from lossless.api import lint_documents
from lossless.formats.inputs.switches import configuration_in, is_structured
from lossless.formats.switches.registry import of_text
from lossless.ground.documents import load_text

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**20),
    st.floats(),
    st.sampled_from(["", "3", "on", "drop", "a\nb", "9-1"]),
)
_EOS = (
    "name id enabled priorities priority no_drop watchdog timer timeout polling_interval recovery_time action "
    "tx_queues bandwidth_percent random_detect ecn threshold units min max max_probability mtu speed qos trust "
    "service_profile switchport trunk allowed_vlan channel_group priority_flow_control shutdown map dscp cos "
    "traffic_class"
)
_NVUE = (
    "roce mode enable state pfc default-global switch-priority tx rx cable-length port-buffer xoff-threshold profile "
    "mapping trust dscp pcp 0 3 26 congestion-control traffic-class ecn min-threshold max-threshold probability "
    "egress-queue-mapping egress-scheduler bw-percent pfc-watchdog polling-interval robustness link mtu bond member"
)


def values(words: str) -> st.SearchStrategy[Any]:
    """Return anything that these words can be arranged to."""
    keys = st.sampled_from(words.split())
    return st.recursive(
        _SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
        max_leaves=20,
    )


def said(data: dict[str, Any]) -> None:
    document = load_text(json.dumps(data), "leaf1.yaml")
    assert is_structured(document)
    assert lint_documents([document]).errors == ()


@given(
    st.lists(st.dictionaries(st.sampled_from(_EOS.split()), values(_EOS)), max_size=3),
    values(_EOS),
    values(_EOS),
)
def test_any_structured_configuration_of_eos_is_read(
    items: list[dict[str, Any]], flow: Any, qos: Any
) -> None:
    ports = [{**item, "name": f"Ethernet{number}"} for number, item in enumerate(items)]
    profiles = [{**item, "name": "ROCE"} for item in items]
    first = {"name": "Ethernet9", "service_profile": "ROCE"}
    said(
        {
            "ethernet_interfaces": [first, *ports],
            "qos_profiles": profiles,
            "priority_flow_control": flow,
            "qos": qos,
        }
    )


@given(st.dictionaries(st.sampled_from(_NVUE.split()), values(_NVUE)), values(_NVUE))
def test_any_tree_of_nvue_is_read(qos: dict[str, Any], port: Any) -> None:
    said({"qos": {"roce": {}, **qos}, "interface": {"swp1": port, "swp2": {"qos": port}, "bond1": port}})


_NXOS = (
    "name id mtu layer adminSt dflt-items queuing-items nw-items c-items p-items name-items CMapInst-list "
    "PMapInst-list matchType dscp-items Dscp-list cos-items Cos-list val cmap-items MatchCMap-list setGrp-items "
    "mtu-items value pause-items pfcCos3 bufferSize pauseThreshold resumeThreshold setBW-items setRemBW-items "
    "prio-items level RandDet-items minThreshold minThresholdUnit dropAvail ecn policy-items in-items out-items "
    "sys-items intf-items pmap-items If-list phys-items PhysIf-list priorflowctrl-items mode "
    "globalpriorflowctrl-items overrideInterface"
)


@given(st.dictionaries(st.sampled_from(_NXOS.split()), values(_NXOS)), values(_NXOS))
def test_any_object_model_of_nxos_is_read(qos: dict[str, Any], policy: Any) -> None:
    maps = {"p-items": {"name-items": {"PMapInst-list": [{"name": "P", "cmap-items": policy}, policy]}}}
    data = {"ipqos-items": {"nw-items": maps, "queuing-items": maps, **qos}, "intf-items": policy}
    # What is no number of JSON is no document at all.
    written = (
        json.dumps({"Cisco-NX-OS-device:System": data}).replace("-Infinity", "0").replace("Infinity", "0")
    )
    document = load_text(written.replace("NaN", "0"), "leaf1.json")
    assert is_structured(document)
    assert lint_documents([document]).errors == ()


LINES = {
    "eos": (
        "interface Ethernet1",
        "interface Ethernet1-99999",
        "qos profile ROCE",
        "   service-profile ROCE",
        "   tx-queue 9",
        "tx-queue 3",
        "      bandwidth percent 999",
        "   priority-flow-control on",
        "   priority-flow-control priority 9 no-drop",
        "   priority-flow-control priority 0 no-drop",
        "qos map dscp 0-99 to traffic-class 3",
        "qos map cos 3 to traffic-class 9",
        "qos map dscp 63-0 to traffic-class 1",
        "priority-flow-control pause watchdog default timeout 1e9",
        "   speed 0g",
        "exit",
        "end",
        "!",
        "   random-detect ecn minimum-threshold 9 segments maximum-threshold 1 bytes max-mark-probability 999",
        "   no switchport",
    ),
    "nvue": (
        "nv set qos roce",
        "nv set qos roce mode what",
        "nv set qos pfc a switch-priority 3-1,9,x",
        "nv set interface swp1-99999 qos pfc profile a",
        "nv set interface swp1 qos pfc profile b",
        "nv set qos",
        "nv set interface",
        "nv set qos mapping default-global dscp 0-99 switch-priority 8",
        "nv set interface swp1,,swp2- qos pfc-watchdog",
        "nv set qos congestion-control default-global traffic-class 3 min-threshold x",
        "nv set interface swp1",
        "nv set interface bond1 bond member swp1-2",
        "nv set qos pfc-watchdog robustness 0",
        "nv set qos pfc a port-buffer 0",
        "nv unset qos roce",
        "nv unset interface swp1",
    ),
    "nxos": (
        "interface Ethernet1/1",
        "interface e1/1-99999,,1/2-1,x",
        "interface port-channel1",
        "  channel-group 1 mode active",
        "port-profile type ethernet A",
        "  inherit port-profile A",
        "inherit port-profile missing",
        "class-map type qos match-all A",
        "class-map type network-qos B",
        "  match dscp 0-99,x",
        "  match dscp 63-0",
        "match qos-group 3,4",
        "  match access-group name x",
        "policy-map type qos P",
        "policy-map type network-qos P",
        "policy-map type queuing P",
        "  class A",
        "  class type queuing c-out-8q-q3",
        "  class type network-qos c-8q-nq3",
        "class class-default",
        "    set qos-group 99",
        "    set qos-group 3",
        "    pause pfc-cos 3-1",
        "    pause pfc-cos 0-7 receive",
        "    pause buffer-size 9999 pause-threshold 99999 resume-threshold 999999",
        "    bandwidth remaining percent 100",
        "    priority level 1",
        "    random-detect minimum-threshold 9 us maximum-threshold 1 bytes drop-probability 100 weight 0",
        "system qos",
        "  service-policy type network-qos P",
        "  service-policy type qos input P",
        "service-policy type queuing output P",
        "  priority-flow-control mode on",
        "priority-flow-control watch-dog-interval on",
        "priority-flow-control override-interface mode off",
        "  storm-control unicast level 0",
        "leaf1(config)# ",
        "exit",
        "end",
        "!",
        "#",
    ),
}


@given(st.sampled_from(sorted(LINES)), st.data())
def test_any_lines_in_any_order_are_read(name: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(LINES[name]), min_size=1, max_size=25))
    text = "\n".join(lines)
    if of_text(text) != name:
        return
    document = configuration_in(text, "leaf1.cfg")
    assert document is not None
    assert lint_documents([document]).errors == ()


def test_a_text_of_blank_lines_is_nothing_and_is_not_searched_once_per_line() -> None:
    assert configuration_in("\n" * 200_000 + "x", "blank.cfg") is None

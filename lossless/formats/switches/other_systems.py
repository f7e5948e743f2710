"""Switch systems whose configurations are not read: each is recognized by commands that no supported system has.

Texts of different vendors share lines (``priority-flow-control priority 3 no-drop``, ``class-map type network-qos``):
these systems are checked before EOS, NX-OS and NVUE. Their texts are not read; a sign decides the name in a message
alone. Source for H3C: S9825 and S9855 command references, release 913x, "PFC commands"; the other signs are the first
lines of running configurations of these systems, or their port names, without a published source.
"""

from __future__ import annotations

import re
from functools import cache

_SIGNS = (
    (
        "the Enterprise SONiC command line",
        r"[ \t]*(?:qos (?:map (?:dscp|dot1p|tc|pfc)-|(?:scheduler|wred)-policy )|scheduler-policy |roce enable"
        r"|queue [0-7] wred-policy |priority-flow-control asymmetric\b)|interface Eth[0-9]+/[0-9]",
    ),
    (
        "Dell OS10",
        r"[ \t]*(?:qos-map (?:dscp|dot1p|tc|traffic-class|pfc)|trust-map |trust (?:dot1p|dscp)-map |pfc-cos [0-7]"
        r"|ets mode |wred (?:ecn|ecn-profile)\b|wred-profile |queue qos-group |match queue [0-7]"
        r"|dcbx (?:enable|version )|policy-map type application )|interface (?:range )?ethernet[0-9]+/"
        r"[0-9]+/[0-9]+(?::[0-9])?[ \t]*(?:[-,].*)?\r?$",
    ),
    (
        "Dell OS9",
        r"[ \t]*(?:dcb-map |dcb enable|dcb-buffer-threshold |priority-pgid |priority-group [0-7] bandwidth "
        r"|service-class dot1p-mapping)",
    ),
    (
        "H3C Comware",
        r"[ \t]*(?:priority-flow-control (?:enable|no-drop dot1p|dot1p )|qos wred (?:queue|table|apply))"
        r"|interface (?:Ten-GigabitEthernet|Twenty-FiveGigE|FortyGigE|TwoHundredGigE)[0-9]+/[0-9]+/[0-9]+\r?$",
    ),
    (
        "Huawei VRP",
        r"[ \t]*(?:dcb pfc\b|drop-profile |qos queue [0-7] (?:wred|ecn)|qos buffer )"
        r"|interface (?:10|25|40|50|100|200|400)GE[0-9]+/",
    ),
    (
        "Juniper Junos",
        r"[ \t]*(?:class-of-service \{|congestion-notification-profile )"
        r"|set (?:class-of-service |interfaces (?:et-|xe-|ge-|ae)[0-9]|system host-name |chassis )"
        r"|[ \t]*(?:et|xe|ge)-[0-9]+/[0-9]+/[0-9]+ \{",
    ),
    (
        "Nokia SR Linux",
        r"[ \t]*interface ethernet-[0-9]+/[0-9]+ \{|set / (?:interface|qos|system|network-instance) ",
    ),
    (
        "MikroTik RouterOS",
        r"#.*\bRouterOS\b|/interface (?:ethernet|bridge|vlan)\b|/system (?:identity|package)\b",
    ),
    (
        "NVIDIA Onyx",
        r"[ \t]*(?:dcb priority-flow-control|traffic pool |interface ethernet [0-9]+/[0-9]+ (?:qos|dcb|traffic-class) )"
        r"|## Running database|roce lossless\r?$",
    ),
    (
        "Cisco IOS XR",
        r"!! IOS XR|interface (?:Hundred|FourHundred|TwentyFive|Ten)GigE[0-9]+/[0-9]+/[0-9]+/[0-9]",
    ),
    (
        "Cisco IOS XE",
        r"boot-start-marker|platform punt-keepalive|interface (?:FortyGigabit|TenGigabit|TwentyFive)"
        r"(?:GigE|Ethernet)[0-9]+/[0-9]+(?:/[0-9]+)?\r?$",
    ),
    (
        "H3C Comware or Cisco IOS XE",
        r"interface (?:Hundred|FourHundred)GigE[0-9]+/[0-9]+/[0-9]+\r?$",
    ),
    ("ArubaOS-CX", r"!Version ArubaOS-CX|[ \t]*(?:flow-control (?:priority|rxtx)|qos dcbp trust)"),
    ("ExtremeXOS", r"(?:create|configure) qosprofile "),
    (
        "Cumulus Linux before NVUE",
        r"(?:pfc|link_pause|ecn_red|flow_control)\.[\w-]+\.(?:port_set|cos_list) *=",
    ),
)
"""The systems, and a command of each at the beginning of a line."""


def other_system(text: str) -> str:
    """Return the unsupported system whose configuration a text is, empty if it is none of these."""
    match = _signs().search(text)
    return "" if match is None else _SIGNS[int(str(match.lastgroup)[1:])][0]


@cache
def _signs() -> re.Pattern[str]:
    alternatives = "|".join(f"(?P<s{number}>{sign})" for number, (_, sign) in enumerate(_SIGNS))
    return re.compile(f"^(?:{alternatives})", re.MULTILINE)


_INTERFACE = re.compile(r"^interface (?:range )?[A-Za-z]+[-A-Za-z]* ?[0-9]", re.MULTILINE)
_OF_QOS = re.compile(
    r"^[ \t]*(?:[a-z]+ )?(?:priority-flow-control|flow-control|pfc|wred|dcb|dcbx|qos|ecn)\b", re.MULTILINE
)


def seems_of_switch(text: str) -> bool:
    """Return whether a text has interfaces and commands of QoS, as switches of any system have."""
    return _INTERFACE.search(text) is not None and _OF_QOS.search(text) is not None

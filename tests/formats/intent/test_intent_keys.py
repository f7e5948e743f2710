"""Keys and kinds of values: each mistake in an intent, and exactly what is said of it."""

from __future__ import annotations

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.policy import PfcIntent
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from tests.formats.intent.intent_texts import CLASSES, ECN, SHAPE, TOPOLOGY, WATCHDOG, said_of, spoilt

KEYS: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "top": (
        [("fabric: base", "fabrik: base")],
        ["2:1: unknown key 'fabrik'; did you mean fabric?"],
    ),
    "class": (
        [("priority: 3", "prioriti: 3")],
        ["5:20: unknown key 'prioriti'; did you mean priority?"],
    ),
    "class-optional": (
        [("lossless: true", "losless: true")],
        ["5:33: unknown key 'losless'; did you mean lossless?"],
    ),
    "ecn": (
        [("min: 8", "mim: 8")],
        ["5:71: unknown key 'mim'; did you mean min?"],
    ),
    "ecn-by-speeds": (
        [
            (
                "probability: 9%}",
                "probability: 9%, by_speeds: {400G: {min: 1 MiB, max: 2 MiB, probability: 5%}}}",
            )
        ],
        ["5:111: unknown key 'by_speeds'; did you mean by_speed?"],
    ),
    "by-speed-entry": (
        [
            (
                "probability: 9%}",
                "probability: 9%, by_speed: {400G: {min: 1 MiB, max: 2 MiB, probabilty: 5%}}}",
            )
        ],
        ["5:153: unknown key 'probabilty'; did you mean probability?"],
    ),
    "watchdog": (
        [("poll:", "pol:")],
        ["9:14: unknown key 'pol'; did you mean poll?"],
    ),
    "pfc": (
        [("watchdog:", "watchdogs:")],
        ["9:3: unknown key 'watchdogs'; did you mean watchdog?"],
    ),
    "dcqcn": (
        [("cnp_interval", "cnp_intervall")],
        ["11:11: unknown key 'cnp_intervall'; did you mean cnp_interval?"],
    ),
    "congestion-control": ([("dcqcn: {", "dcqn: {")], ["11:3: unknown key 'dcqn'; there is only dcqcn"]),
    "hardware": (
        [("nic: connectx-7", "nick: connectx-7")],
        ["12:55: unknown key 'nick'; did you mean nic?"],
    ),
    "hwsku": (
        [("leaf: nvidia-sn5600", "leaf: {profile: nvidia-sn5600, hwsk: ACS-SN5600}")],
        ["12:43: unknown key 'hwsk'; did you mean hwsku?"],
    ),
    "leaf-spine": (
        [("leaves: 2", "leafs: 2")],
        ["15:5: unknown key 'leafs'; did you mean leaves?"],
    ),
    "cables": ([("{host: 3m", "{hosts: 3m")], ["20:14: unknown key 'hosts'; did you mean host?"]),
    "topology": (
        [("topology:", "topology:\n  oversubscribtion: 2")],
        ["14:3: unknown key 'oversubscribtion'; did you mean oversubscription?"],
    ),
    "networks": (
        [("on: separate", "in: separate")],
        ["22:13: unknown key 'in'; did you mean on?"],
    ),
    "hosts": (
        [("networks:", "hosts: {mtuu: 9000}\nnetworks:")],
        ["21:9: unknown key 'mtuu'; did you mean mtu?"],
    ),
    "nccl": (
        [("networks:", "hosts: {nccl: {ib_timout: 3}}\nnetworks:")],
        ["21:16: unknown key 'ib_timout'; did you mean ib_timeout?"],
    ),
    "ucx": (
        [("networks:", "hosts: {ucx: {trafic_class: 106}}\nnetworks:")],
        ["21:15: unknown key 'trafic_class'; did you mean traffic_class?"],
    ),
    "telemetry": (
        [("networks:", "telemetry: {intervall: 5s}\nnetworks:")],
        ["21:13: unknown key 'intervall'; did you mean interval?"],
    ),
    "buffers": (
        [("networks:", "buffers: {headroom: 2}\nnetworks:")],
        [
            "21:11: unknown key 'headroom'; there are headroom_oversubscription, pools, unused_ports, "
            "pool_sizes, model, lossless_mtu, small_packets, by_tier, by_device"
        ],
    ),
    "nothing-like-it": (
        [("fabric: base", "fabric: base\nrubbish: {a: [1]}")],
        [
            "3:1: unknown key 'rubbish'; there are preset, trimming, hosts, buffers, sonic, mtu, exceptions, "
            "telemetry, cluster, workloads, failures"
        ],
    ),
    "beside-one-that-is-there": (
        [("topology:\n", "topology:\n  routing: {policy: up-down, hashing: crc}\n")],
        ["14:30: unknown key 'hashing'; there are load_balancing, extra_hops, bounce"],
    ),
    "number": ([("fabric: base", "fabric: base\n5: 3")], ["3:1: a key is text, found 5"]),
    "empty": ([("fabric: base", "fabric: base\n~: 3")], ["3:1: a key is text, found nothing"]),
    "class-named-by-number": ([("cnp: {", "5: {")], ["6:3: a key is text, found 5"]),
    "twice": (
        [("fabric: base", "fabric: base\nfabric: base")],
        ["3:1: duplicate key 'fabric'; first on line 2"],
    ),
    "known-and-unknown": (
        [("poll: 600ms, ", "pol: 600ms, poll: 700ms, by_tier: {leaf: {poll: 100ms}}, ")],
        [
            "9:14: unknown key 'pol'; every key that is known here is stated already: poll, detection, "
            "restoration, action, by_tier"
        ],
    ),
}


@pytest.mark.parametrize("case", KEYS)
def test_a_wrong_key_is_one_mistake_and_names_the_right_one(case: str) -> None:
    changes, said = KEYS[case]
    assert said_of(spoilt(SHAPE, *changes)) == said


def test_a_wrong_key_is_answered_with_the_other_keys_of_its_mapping() -> None:
    with pytest.raises(InputError) as error:
        load_intent(load_text(spoilt(SHAPE, ("watchdog:", "watchdogs:")), "fabric.yaml"))
    (problem,) = error.value.problems
    said, _, others = problem.message.partition(" (others: ")
    assert said == "unknown key 'watchdogs'; did you mean watchdog?"
    assert set(others.removesuffix(")").split(", ")) == PfcIntent.model_fields.keys() - {"watchdog"}


MISSING: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "transport": ([("transport: rocev2\n", "")], ["1:1: transport is missing"]),
    "topology": ([(TOPOLOGY, "")], ["1:1: topology is missing"]),
    "poll": ([("poll: 600ms, ", "")], ["9:3: pfc.watchdog: poll is missing"]),
    "probability": ([(", probability: 9%", "")], ["5:65: classes.rdma.ecn: probability is missing"]),
    "by-speed": (
        [("probability: 9%}", "probability: 9%, by_speed: {400G: {min: 1 MiB}}}")],
        [
            "5:122: classes.rdma.ecn.by_speed.400G: max is missing",
            "5:122: classes.rdma.ecn.by_speed.400G: probability is missing",
        ],
    ),
    "profile": (
        [("leaf: nvidia-sn5600", "leaf: {hwsku: ACS-SN5600}")],
        ["12:12: hardware.leaf: profile is missing"],
    ),
    "cable": ([("host: 3m, ", "")], ["20:5: topology.leaf_spine.cables: host is missing"]),
    "spine": ([(", spine: nvidia-sn5600", "")], ["12:1: hardware: spine is missing; spine1 is a spine"]),
    "leaves-of-class": (
        [("cnp: {dscp: 48, priority: 6, scheduling: strict}", "cnp: {}")],
        ["6:3: classes.cnp: dscp is missing", "6:3: classes.cnp: priority is missing"],
    ),
}


@pytest.mark.parametrize("case", MISSING)
def test_what_is_missing_is_said_of_where_it_belongs(case: str) -> None:
    changes, said = MISSING[case]
    assert said_of(spoilt(SHAPE, *changes)) == said


KINDS: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "classes-list": ([(CLASSES, "classes: [a]\n")], ["4:10: classes: expected a mapping, found a list"]),
    "classes-nothing": ([(CLASSES, "classes:\n")], ["4:9: classes: expected a mapping, found nothing"]),
    "classes-empty": (
        [(CLASSES, "classes: {}\n")],
        ["4:10: classes: expected at least one entry, found an empty mapping"],
    ),
    "class-number": (
        [("cnp: {dscp: 48, priority: 6, scheduling: strict}", "cnp: 3")],
        ["6:8: classes.cnp: expected a mapping, found 3"],
    ),
    "hosts-nothing": (
        [("networks:", "hosts:\nnetworks:")],
        ["21:7: hosts: expected a mapping, found nothing"],
    ),
    "topology-nothing": ([(TOPOLOGY, "topology:\n")], ["13:10: topology: expected a mapping, found nothing"]),
    "leaf-list": (
        [("leaf: nvidia-sn5600", "leaf: [a]")],
        [("12:18: hardware.leaf: expected the name of a switch profile, or a mapping of it; found a list")],
    ),
    "nic-number": ([("nic: connectx-7", "nic: 7")], ["12:60: hardware.nic: expected text, found 7"]),
    "fabric-number": ([("fabric: base", "fabric: 3")], ["2:9: fabric: expected text, found 3"]),
    "lossless-yes": (
        [("lossless: true", "lossless: yes")],
        ["5:43: classes.rdma.lossless: expected true or false, found 'yes'"],
    ),
    "by-speed-number": (
        [("probability: 9%}", "probability: 9%, by_speed: 3}")],
        ["5:121: classes.rdma.ecn.by_speed: expected a mapping, found 3"],
    ),
    "by-speed-empty": (
        [("probability: 9%}", "probability: 9%, by_speed: {}}")],
        [("5:121: classes.rdma.ecn.by_speed: expected at least one entry, found an empty mapping")],
    ),
    "by-speed-nothing": (
        [("probability: 9%}", "probability: 9%, by_speed: ~}")],
        ["5:121: classes.rdma.ecn.by_speed: expected a mapping, found nothing"],
    ),
    "by-speed-word": (
        [("probability: 9%}", "probability: 9%, by_speed: {400G: on}}")],
        ["5:128: classes.rdma.ecn.by_speed.400G: expected off or a mapping, found 'on'"],
    ),
    "by-tier-number": (
        [("probability: 9%}", "probability: 9%, by_tier: {leaf: 3}}")],
        ["5:127: classes.rdma.ecn.by_tier.leaf: expected off or a mapping, found 3"],
    ),
    "pg-word": (
        [("priority: 6,", "priority: 6, pg: six,")],
        ["6:36: classes.cnp.pg: expected a whole number from 0 to 7 or a mapping, found 'six'"],
    ),
    "pg-empty": (
        [("priority: 6,", "priority: 6, pg: {},")],
        ["6:36: classes.cnp.pg: expected a whole number from 0 to 7 or a mapping, found an empty mapping"],
    ),
    "pg-true": (
        [("priority: 6,", "priority: 6, pg: true,")],
        ["6:36: classes.cnp.pg: expected a whole number from 0 to 7 or a mapping, found true"],
    ),
    "pg-by-tier-off": (
        [("priority: 6,", "priority: 6, pg: {by_tier: {spine: off}},")],
        [
            "6:54: classes.cnp.pg.by_tier.spine: expected a whole number from 0 to 7 or a mapping, found 'off'",
        ],
    ),
    "pg-by-speed-empty": (
        [("priority: 6,", "priority: 6, pg: {by_speed: {}},")],
        ["6:47: classes.cnp.pg.by_speed: expected at least one entry, found an empty mapping"],
    ),
    "pg-unknown-key": (
        [("priority: 6,", "priority: 6, pg: {nummer: 1},")],
        ["6:37: unknown key 'nummer'; did you mean number?"],
    ),
    "ecn-no": ([(ECN, "no")], ["5:70: classes.rdma.ecn: expected off or a mapping, found 'no'"]),
    "ecn-empty": (
        [(ECN, "{}")],
        ["5:70: classes.rdma.ecn: expected off or a mapping, found an empty mapping"],
    ),
    "ecn-true": ([(ECN, "true")], ["5:70: classes.rdma.ecn: expected off or a mapping, found true"]),
    "ecn-number": ([(ECN, "3")], ["5:70: classes.rdma.ecn: expected off or a mapping, found 3"]),
    "watchdog-on": ([(WATCHDOG, "on")], ["9:13: pfc.watchdog: expected off or a mapping, found 'on'"]),
    "watchdog-empty": (
        [(WATCHDOG, "{}")],
        ["9:13: pfc.watchdog: expected off or a mapping, found an empty mapping"],
    ),
    "watchdog-list": ([(WATCHDOG, "[a]")], ["9:13: pfc.watchdog: expected off or a mapping, found a list"]),
    "dcqcn-list": (
        [("{cnp_interval: 4us}", "[a]")],
        ["11:10: congestion_control.dcqcn: expected a mapping, found a list"],
    ),
    "congestion-control-word": (
        [("\n  dcqcn: {cnp_interval: 4us}", " dcqn")],
        [
            (
                "10:21: congestion_control: expected dcqcn, a mapping with the one key dcqcn, pfc-only, or "
                "with transport uec nscc, rccc or both; found 'dcqn'"
            )
        ],
    ),
    "congestion-control-empty": (
        [("\n  dcqcn: {cnp_interval: 4us}", " {}")],
        [
            (
                "10:21: congestion_control: expected dcqcn, a mapping with the one key dcqcn, pfc-only, or "
                "with transport uec nscc, rccc or both; found an empty mapping"
            )
        ],
    ),
    "congestion-control-list": (
        [("\n  dcqcn: {cnp_interval: 4us}", " [dcqcn]")],
        [
            (
                "10:21: congestion_control: expected dcqcn, a mapping with the one key dcqcn, pfc-only, or "
                "with transport uec nscc, rccc or both; found a list"
            )
        ],
    ),
    "pfc-on": (
        [(f"pfc:\n  watchdog: {WATCHDOG}", "pfc: on")],
        ["8:6: pfc: expected off or a mapping, found 'on'"],
    ),
    "telemetry-on": (
        [("networks:", "telemetry: on\nnetworks:")],
        ["21:12: telemetry: expected off or a mapping, found 'on'"],
    ),
    "alerts-word": (
        [("networks:", "telemetry: {alerts: watchdog}\nnetworks:")],
        ["21:21: telemetry.alerts: expected a list, found 'watchdog'"],
    ),
    "global-pause-word": (
        [("networks:", "hosts: {global_pause: maybe}\nnetworks:")],
        ["21:23: hosts.global_pause: expected true or false, found 'maybe'"],
    ),
    "prefix-text": (
        [("[10.20.0.0/16]", "10.20.0.0/16")],
        ["22:37: networks.storage.prefixes: expected a list, found '10.20.0.0/16'"],
    ),
    "prefix-number": (
        [("[10.20.0.0/16]", "[10]")],
        ["22:38: networks.storage.prefixes.0: expected text, found 10"],
    ),
    "host-pfc-number": (
        [("networks:", "hosts: {pfc: 3}\nnetworks:")],
        ["21:14: hosts.pfc: expected a list, found 3"],
    ),
}


@pytest.mark.parametrize("case", KINDS)
def test_a_value_of_the_wrong_kind_is_met_in_words_of_yaml(case: str) -> None:
    changes, said = KINDS[case]
    assert said_of(spoilt(SHAPE, *changes)) == said

"""Values: each mistake in an intent, and exactly what is said of it."""

from __future__ import annotations

import pytest

from tests.formats.intent.intent_texts import SHAPE, said_of, spoilt

QUANTITIES: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "size-without-unit": (
        [("8 KiB", "800")],
        [
            (
                "5:76: classes.rdma.ecn.min: '800' has no unit; write it "
                "like 800 KiB or 150 kB (units: B, kB, KB, MB, GB, KiB, MiB, GiB)"
            )
        ],
    ),
    "size-in-time": (
        [("8 KiB", "800 ms")],
        [
            (
                "5:76: classes.rdma.ecn.min: '800 ms' is not a size; write it like 800 KiB or "
                "150 kB (units: B, kB, KB, MB, GB, KiB, MiB, GiB)"
            )
        ],
    ),
    "ecn-beyond-what-a-switch-reads": (
        [("max: 2 MB", "max: 2 GiB")],
        [
            (
                "5:88: classes.rdma.ecn.max: 2,147,483,648 B is no ECN threshold; "
                "switches hold at most 2,147,483,647 B"
            )
        ],
    ),
    "size-list": ([("8 KiB", "[800]")], ["5:76: classes.rdma.ecn.min: expected a size, found a list"]),
    "size-too-fine": (
        [("8 KiB", "0.3 B")],
        [
            (
                "5:76: classes.rdma.ecn.min: '0.3 B' is finer than this size can be; the "
                "smallest step is 1 of the base unit"
            )
        ],
    ),
    "duration-without-unit": (
        [("poll: 600ms", "poll: 600")],
        [
            (
                "9:20: pfc.watchdog.poll: '600' has no unit; write it "
                "like 200ms or 4us (units: ns, us, µs, ms, s)"
            )
        ],
    ),
    "duration-in-bytes": (
        [("poll: 600ms", "poll: 600 B")],
        [
            (
                "9:20: pfc.watchdog.poll: '600 B' is not a duration; write it like 200ms or 4us "
                "(units: ns, us, µs, ms, s)"
            )
        ],
    ),
    "prevention-without-unit": (
        [("networks:", "hosts: {pfc_prevention: 200}\nnetworks:")],
        [
            (
                "21:25: hosts.pfc_prevention: '200' has no unit; write it "
                "like 200ms or 4us (units: ns, us, µs, ms, s)"
            )
        ],
    ),
    "prevention-too-fine": (
        [("networks:", "hosts: {pfc_prevention: 200us}\nnetworks:")],
        ["21:25: hosts.pfc_prevention: NICs count in whole milliseconds"],
    ),
    "prevention-of-nothing": (
        [("networks:", "hosts: {pfc_prevention: 0ms}\nnetworks:")],
        ["21:25: hosts.pfc_prevention: 0 switches it off; write off"],
    ),
    "prevention-beyond-the-adapter": (
        [("networks:", "hosts: {pfc_prevention: 79ms}\nnetworks:")],
        ["21:25: hosts.pfc_prevention: connectx-7 takes 80 to 8,000 ms, not 79"],
    ),
    "prevention-the-adapter-does-not-have": (
        [
            ("networks:", "hosts: {pfc_prevention: 200ms}\nnetworks:"),
            ("{cnp_interval: 4us}", "{}"),
            ("connectx-7", "broadcom-thor-2"),
        ],
        ["21:25: hosts.pfc_prevention: broadcom-thor-2 has no such setting that is known"],
    ),
    "part-of-a-millisecond": (
        [("poll: 600ms", "poll: 600us")],
        ["9:20: pfc.watchdog.poll: switches count in whole milliseconds"],
    ),
    "rate-without-unit": (
        [("2 x 400G", "2 x 400")],
        [
            (
                "18:17: topology.leaf_spine.host_links: '400' has no unit; "
                "write it like 400G or 1.6T (units: M, G, T)"
            )
        ],
    ),
    "links-without-rate": (
        [("2 x 400G", "2")],
        [
            (
                "18:17: topology.leaf_spine.host_links: '2' does not say how many links of which "
                "rate; write it like 2 x 400G"
            )
        ],
    ),
    "links-of-no-rate": (
        [("2 x 400G", "2 x 0G")],
        ["18:17: topology.leaf_spine.host_links: '2 x 0G' is no link: its rate is 0"],
    ),
    "no-links": (
        [("2 x 800G", "0 x 800G")],
        [
            (
                "19:14: topology.leaf_spine.uplinks: '0 x 800G' does not say how many links of "
                "which rate; write it like 2 x 400G"
            )
        ],
    ),
    "links-beyond-reason": (
        [("2 x 800G", "99999999999 x 800G")],
        [("19:14: topology.leaf_spine.uplinks: 99,999,999,999 links in one bundle; the most is 1,024")],
    ),
    "length-without-unit": (
        [("host: 3m", "host: 3")],
        [
            (
                "20:20: topology.leaf_spine.cables.host: '3' has no unit; "
                "write it like 3m or 30m (units: m, cm, km)"
            )
        ],
    ),
    "length-of-nothing": (
        [("host: 3m", "host: 0m")],
        ["20:20: topology.leaf_spine.cables.host: '0m' is no cable; the shortest counts as 1m"],
    ),
    "length-in-inches": (
        [("host: 3m", "host: 3in")],
        [
            (
                "20:20: topology.leaf_spine.cables.host: '3in' is not a length; write it like 3m "
                "or 30m (units: m, cm, km)"
            )
        ],
    ),
    "length-true": (
        [("host: 3m", "host: true")],
        ["20:20: topology.leaf_spine.cables.host: expected a length, found true"],
    ),
    "length-of-many-digits": (
        [("host: 3m", "host: 99999999999999999999999999999999999999999999999999m")],
        [
            (
                "20:20: topology.leaf_spine.cables.host: "
                "'99999999999999999999999999999999999999999999999999m' is too long for a length"
            )
        ],
    ),
    "percent-without-sign": (
        [("bandwidth: 50%", "bandwidth: 50")],
        [("5:60: classes.rdma.bandwidth: '50' is not a percentage; write a whole number from 0% to 100%")],
    ),
    "percent-beyond-100": (
        [("bandwidth: 50%", "bandwidth: 101%")],
        [("5:60: classes.rdma.bandwidth: '101%' is not a percentage; write a whole number from 0% to 100%")],
    ),
    "percent-of-probability": (
        [("9%}", "0.5%}")],
        [
            (
                "5:107: classes.rdma.ecn.probability: '0.5%' is not a percentage; write a whole "
                "number from 0% to 100%"
            )
        ],
    ),
    "speed-without-unit": (
        [
            (
                "probability: 9%}",
                "probability: 9%, by_speed: {400: {min: 1 MiB, max: 2 MiB, probability: 5%}}}",
            )
        ],
        [
            (
                "5:122: classes.rdma.ecn.by_speed.400: '400' has no unit; "
                "write it like 400G or 1.6T (units: M, G, T)"
            )
        ],
    ),
    "mtu-word": (
        [("networks:", "mtu: big\nnetworks:")],
        [
            (
                "21:6: mtu: 'big' is not a size; write it like 800 KiB or 150 kB (units: B, kB, "
                "KB, MB, GB, KiB, MiB, GiB)"
            )
        ],
    ),
    "mtu-too-small": (
        [("networks:", "mtu: 67\nnetworks:")],
        ["21:6: mtu: '67' is no MTU; IP packets have 68 to 65,535 bytes"],
    ),
    "mtu-of-hosts-too-large": (
        [("networks:", "hosts: {mtu: 64 KiB}\nnetworks:")],
        ["21:14: hosts.mtu: '64 KiB' is no MTU; IP packets have 68 to 65,535 bytes"],
    ),
    "mtu-negative": (
        [("networks:", "mtu: -1\nnetworks:")],
        [
            (
                "21:6: mtu: '-1' is not a size; write it like 800 KiB or 150 kB (units: B, kB, "
                "KB, MB, GB, KiB, MiB, GiB)"
            )
        ],
    ),
    "mtu-fraction": (
        [("networks:", "mtu: 9000.5\nnetworks:")],
        [
            (
                "21:6: mtu: '9000.5' has no unit; write it like 800 KiB or 150 "
                "kB (units: B, kB, KB, MB, GB, KiB, MiB, GiB)"
            )
        ],
    ),
    "alpha-period-beyond-the-nic": (
        [("cnp_interval: 4us", "dce_tcp_rtt: 1s")],
        ["11:24: congestion_control.dcqcn.dce_tcp_rtt: connectx-7 takes 1 to 131,071 us, not 1,000,000"],
    ),
    "rate-below-the-nic": (
        [("cnp_interval: 4us", "rpg_ai_rate: 0M")],
        ["11:24: congestion_control.dcqcn.rpg_ai_rate: connectx-7 takes 1 Mb/s or more, not 0"],
    ),
    "shift-beyond-the-nic": (
        [("cnp_interval: 4us", "rpg_gd: 15")],
        ["11:19: congestion_control.dcqcn.rpg_gd: connectx-7 takes 10 to 11, not 15"],
    ),
    "cnp-interval-finer-than-the-nic": (
        [("4us", "4500ns")],
        ["11:25: congestion_control.dcqcn.cnp_interval: connectx-7 counts in whole us"],
    ),
}


@pytest.mark.parametrize("case", QUANTITIES)
def test_quantities_need_their_unit(case: str) -> None:
    changes, said = QUANTITIES[case]
    assert said_of(spoilt(SHAPE, *changes)) == said


NUMBERS: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "dscp-64": (
        [("dscp: 26", "dscp: 64")],
        ["5:16: classes.rdma.dscp: 64 is not a DSCP; expected a whole number from 0 to 63"],
    ),
    "dscp-64-in-a-list": (
        [("dscp: 26", "dscp: [26, 64]")],
        ["5:21: classes.rdma.dscp.1: 64 is not a DSCP; expected a whole number from 0 to 63"],
    ),
    "two-in-a-list": (
        [("dscp: 26", "dscp: [-1, 26, 64]")],
        [
            "5:17: classes.rdma.dscp.0: -1 is not a DSCP; expected a whole number from 0 to 63",
            "5:25: classes.rdma.dscp.2: 64 is not a DSCP; expected a whole number from 0 to 63",
        ],
    ),
    "dscp-true": (
        [("dscp: 26", "dscp: true")],
        [
            (
                "5:16: classes.rdma.dscp: true is not a DSCP; expected a number from 0 to 63, a "
                "name as AF31, a list of them, rest or off"
            )
        ],
    ),
    "no-dscp": (
        [("dscp: 26", "dscp: []")],
        [
            (
                "5:16: classes.rdma.dscp: an empty list is not a DSCP; expected a number from 0 "
                "to 63, a name as AF31, a list of them, rest or off"
            )
        ],
    ),
    "dscp-word": (
        [("dscp: 26", "dscp: gold")],
        [
            (
                "5:16: classes.rdma.dscp: 'gold' is not a DSCP; expected a number from 0 to 63, a "
                "name as AF31, a list of them, rest or off"
            )
        ],
    ),
    "dscp-mapping": (
        [("dscp: 26", "dscp: {a: 1}")],
        [("5:17: 'a' is no name of a DSCP; expected CS0 to CS7, AF11 to AF43, EF, VOICE-ADMIT or LE")],
    ),
    "dscp-the-wrong-way-round": ([("dscp: 26", "dscp: {26: af31}")], ["5:17: a key is text, found 26"]),
    "dscp-word-in-list": (
        [("dscp: 26", "dscp: [26, af44]")],
        ["5:21: classes.rdma.dscp.1: 'af44' is not a DSCP; expected a whole number from 0 to 63"],
    ),
    "dscp-names-in-one-entry": (
        [("dscp: 26", "dscp: [{af31: 26, cs3: 24}]")],
        ["5:17: classes.rdma.dscp.0: expected one name and its number, found several; each is an entry"],
    ),
    "dscp-named-beyond-six-bits": (
        [("dscp: 26", "dscp: {af31: 104}")],
        ["5:16: classes.rdma.dscp: 104 is not a DSCP; expected a whole number from 0 to 63"],
    ),
    "dscp-by-name-twice": (
        [("dscp: 26", "dscp: [af31, 26]")],
        ["5:23: classes.rdma.dscp: DSCP 26 occurs twice in the list"],
    ),
    "queue-pairs": (
        [("networks:", "hosts: {nccl: {ib_qps_per_connection: 0}}\nnetworks:")],
        [
            (
                "21:39: hosts.nccl.ib_qps_per_connection: 0 is not a value of "
                "NCCL_IB_QPS_PER_CONNECTION; expected a whole number from 1 to 128"
            )
        ],
    ),
    "dcqcn-priority": (
        [("cnp_interval: 4us", "priorities: [3, 8]")],
        [
            "11:27: congestion_control.dcqcn.priorities.1: 8 is not a priority; expected a whole number from 0 to 7"
        ],
    ),
    "dscp-fraction": (
        [("dscp: 26", "dscp: 26.5")],
        [
            (
                "5:16: classes.rdma.dscp: 26.5 is not a DSCP; expected a number from 0 to 63, a "
                "name as AF31, a list of them, rest or off"
            )
        ],
    ),
    "priority-8": (
        [("priority: 3", "priority: 8")],
        [("5:30: classes.rdma.priority: 8 is not a priority; expected a whole number from 0 to 7")],
    ),
    "pg-9": (
        [("priority: 6", "priority: 6, pg: 9")],
        ["6:36: classes.cnp.pg: 9 is not a priority group; expected a whole number from 0 to 7"],
    ),
    "pg-by-tier-9": (
        [("priority: 6", "priority: 6, pg: {by_tier: {spine: 9}}")],
        [
            "6:54: classes.cnp.pg.by_tier.spine: 9 is not a priority group; expected a whole number from 0 to 7"
        ],
    ),
    "pg-number-9": (
        [("priority: 6", "priority: 6, pg: {number: 9}")],
        ["6:45: classes.cnp.pg.number: 9 is not a priority group; expected a whole number from 0 to 7"],
    ),
    "pg-by-speed-minus": (
        [("priority: 6", "priority: 6, pg: {by_speed: {400G: -1}}")],
        [
            "6:54: classes.cnp.pg.by_speed.400G: -1 is not a priority group; expected a whole number from 0 to 7"
        ],
    ),
    "leaves-0": (
        [("leaves: 2", "leaves: 0")],
        [("15:13: topology.leaf_spine.leaves: 0 is not a count; expected a whole number from 1 to 1000000")],
    ),
    "leaves-word": (
        [("leaves: 2", "leaves: two")],
        [
            (
                "15:13: topology.leaf_spine.leaves: 'two' is not a count; expected a whole "
                "number from 1 to 1000000"
            )
        ],
    ),
    "rpg-gd": (
        [("cnp_interval: 4us", "rpg_gd: 16")],
        ["11:19: congestion_control.dcqcn.rpg_gd: expected at most 15, found 16"],
    ),
    "rpg-threshold": (
        [("cnp_interval: 4us", "rpg_threshold: 0")],
        ["11:26: congestion_control.dcqcn.rpg_threshold: expected at least 1, found 0"],
    ),
    "dcqcn-word": (
        [("cnp_interval: 4us", "rpg_gd: x")],
        ["11:19: congestion_control.dcqcn.rpg_gd: expected a whole number, found 'x'"],
    ),
    "dcqcn-fraction": (
        [("cnp_interval: 4us", "rpg_gd: 1.5")],
        ["11:19: congestion_control.dcqcn.rpg_gd: expected a whole number, found 1.5"],
    ),
    "dcqcn-flag": (
        [("cnp_interval: 4us", "clamp_tgt_rate: 1")],
        ["11:27: congestion_control.dcqcn.clamp_tgt_rate: expected true or false, found 1"],
    ),
    "cnp-dscp": (
        [("cnp_interval: 4us", "cnp_dscp: 64")],
        [
            (
                "11:21: congestion_control.dcqcn.cnp_dscp: 64 is not a DSCP; expected a whole "
                "number from 0 to 63"
            )
        ],
    ),
    "ratio-below-1": (
        [("leaves: 2", "oversubscription: 0.5\n    leaves: 2")],
        [
            (
                "15:23: topology.leaf_spine.oversubscription: 0.5 is not an oversubscription "
                "ratio; write 1 or more, as in 1.5 for 1.5:1"
            )
        ],
    ),
    "ratio-written-out": (
        [("leaves: 2", 'oversubscription: "2:1"\n    leaves: 2')],
        [
            (
                "15:23: topology.leaf_spine.oversubscription: '2:1' is not an oversubscription "
                "ratio; write 1 or more, as in 1.5 for 1.5:1"
            )
        ],
    ),
    "headroom-ratio": (
        [("networks:", "buffers: {headroom_oversubscription: 0}\nnetworks:")],
        [
            (
                "21:38: buffers.headroom_oversubscription: 0 is not an oversubscription ratio; "
                "write 1 or more, as in 1.5 for 1.5:1"
            )
        ],
    ),
    "tos-256": (
        [("networks:", "hosts: {traffic_class: 256}\nnetworks:")],
        [
            (
                "21:24: hosts.traffic_class: 256 is not a ToS byte; expected a number from 0 to "
                "255, derived or unset"
            )
        ],
    ),
    "tos-list": (
        [("networks:", "hosts: {traffic_class: [1]}\nnetworks:")],
        [
            (
                "21:24: hosts.traffic_class: a list is not a ToS byte; expected a number from 0 "
                "to 255, derived or unset"
            )
        ],
    ),
    "nccl-tc": (
        [("networks:", "hosts: {nccl: {ib_tc: 300}}\nnetworks:")],
        [("21:23: hosts.nccl.ib_tc: 300 is not a ToS byte; expected a whole number from 0 to 255")],
    ),
    "nccl-timeout": (
        [("networks:", "hosts: {nccl: {ib_timeout: 32}}\nnetworks:")],
        [
            (
                "21:28: hosts.nccl.ib_timeout: 32 is not a value of NCCL_IB_TIMEOUT; expected a "
                "whole number from 0 to 31"
            )
        ],
    ),
    "host-pfc-9": (
        [("networks:", "hosts: {pfc: [9]}\nnetworks:")],
        ["21:15: hosts.pfc.0: 9 is not a priority; expected a whole number from 0 to 7"],
    ),
    "more-links-than-are-laid-out": (
        [("leaves: 2", "leaves: 1000000")],
        ["15:5: topology.leaf_spine: 12,000,000 links; the most that is laid out is 2,000,000"],
    ),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_stay_within_what_their_field_holds(case: str) -> None:
    changes, said = NUMBERS[case]
    assert said_of(spoilt(SHAPE, *changes)) == said

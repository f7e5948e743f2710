"""Values that do not go together: each mistake in an intent, and exactly what is said of it."""

from __future__ import annotations

import pytest

from tests.formats.intent.intent_texts import DEVICES, LINKS, NAMED, PRESET, SHAPE, TOPOLOGY, said_of, spoilt

TOGETHER: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "priority-twice": (
        [("priority: 6", "priority: 3")],
        ["6:29: classes.cnp.priority: 3 is already the priority of class rdma"],
    ),
    "dscp-twice": (
        [("dscp: 48", "dscp: 26")],
        ["6:15: classes.cnp.dscp: DSCP 26 already belongs to class rdma"],
    ),
    "dscp-twice-in-lists": (
        [("dscp: 26", "dscp: [26, 27]"), ("dscp: 48", "dscp: [48, 27]")],
        ["6:20: classes.cnp.dscp: DSCP 27 already belongs to class rdma"],
    ),
    "dscp-twice-in-a-list": (
        [("dscp: 26", "dscp: [26, 26]")],
        ["5:21: classes.rdma.dscp: DSCP 26 occurs twice in the list"],
    ),
    "no-rest": (
        [("dscp: rest", "dscp: 0")],
        ["4:1: exactly one class takes the rest of the DSCPs (dscp: rest); there is none"],
    ),
    "two-rests": (
        [("dscp: 48", "dscp: rest")],
        [("7:19: exactly one class takes the rest of the DSCPs (dscp: rest); there are cnp, default")],
    ),
    "three-rests": (
        [("dscp: 26", "dscp: rest"), ("dscp: 48", "dscp: rest")],
        [("6:15: exactly one class takes the rest of the DSCPs (dscp: rest); there are rdma, cnp, default")],
    ),
    "bandwidth-beyond-100": (
        [("bandwidth: 50%", "bandwidth: 60%")],
        ["4:1: bandwidth adds up to 110%, and all classes share 100%: rdma 60%, default 50%"],
    ),
    "bandwidth-0": (
        [("bandwidth: 50%", "bandwidth: 0%")],
        [("5:60: classes.rdma.bandwidth: 0% would starve the class; give it a share or leave it out")],
    ),
    "strict-with-bandwidth": (
        [("scheduling: strict", "scheduling: strict, bandwidth: 5%")],
        [
            (
                "6:63: classes.cnp.bandwidth: a strict class takes what it needs; leave out "
                "bandwidth, or scheduling: strict"
            )
        ],
    ),
    "min-above-max": (
        [("8 KiB", "8000 KiB")],
        [
            (
                "5:76: classes.rdma.ecn.min: min (8,192,000 B) is above max (2,000,000 B); "
                "marking would never start"
            )
        ],
    ),
    "min-above-max-by-speed": (
        [
            (
                "probability: 9%}",
                "probability: 9%, by_speed: {400G: {min: 3 MiB, max: 2 MiB, probability: 5%}}}",
            )
        ],
        [
            (
                "5:134: classes.rdma.ecn.by_speed.400G.min: min (3,145,728 B) is above max "
                "(2,097,152 B); marking would never start"
            )
        ],
    ),
    "one-speed-twice": (
        [
            (
                "probability: 9%}",
                (
                    "probability: 9%, by_speed: {400G: {min: 1 MiB, max: 2 MiB, probability: 5%}, "
                    "400 Gb/s: {min: 1 MiB, max: 2 MiB, probability: 6%}}}"
                ),
            )
        ],
        ["5:171: classes.rdma.ecn.by_speed: 400 Gb/s is the same speed as 400G"],
    ),
    "name-of-a-wred-profile": (
        [
            (
                "probability: 9%}",
                "probability: 9%, by_speed: {400G: {min: 1 MiB, max: 2 MiB, probability: 5%}}}",
            ),
            ("cnp: {", "rdma_400000: {"),
        ],
        ["6:3: classes: rdma_400000 is the name of the WRED profile of class rdma at 400G"],
    ),
    "both-forms": (
        [("topology:\n", "topology:\n  devices: {}\n  links: []\n")],
        ["14:3: topology: give either leaf_spine, or devices and links, not both"],
    ),
    "form-and-a-half": (
        [("topology:\n", "topology:\n  devices: {}\n")],
        ["14:3: topology: give either leaf_spine, or devices and links, not both"],
    ),
    "neither-form": (
        [(TOPOLOGY, "topology: {oversubscription: 2}\n")],
        [
            "13:11: topology: give one of leaf_spine, three_tier, rail_optimised, "
            "dragonfly, dragonfly_plus, torus, or both devices and links"
        ],
    ),
    "half-a-form": (
        [(TOPOLOGY, "topology: {devices: {}}\n")],
        [
            "13:11: topology: give one of leaf_spine, three_tier, rail_optimised, "
            "dragonfly, dragonfly_plus, torus, or both devices and links"
        ],
    ),
}


@pytest.mark.parametrize("case", TOGETHER)
def test_values_that_contradict_each_other(case: str) -> None:
    changes, said = TOGETHER[case]
    assert said_of(spoilt(SHAPE, *changes)) == said


SEVERAL: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "values-and-keys": (
        [
            ("dscp: 26", "dscp: 64"),
            ("priority: 6", "priority: 9"),
            ("poll: 600ms", "poll: 600"),
            ("leaves: 2", "leafs: 2"),
        ],
        [
            "5:16: classes.rdma.dscp: 64 is not a DSCP; expected a whole number from 0 to 63",
            "6:29: classes.cnp.priority: 9 is not a priority; expected a whole number from 0 to 7",
            (
                "9:20: pfc.watchdog.poll: '600' has no unit; write it "
                "like 200ms or 4us (units: ns, us, µs, ms, s)"
            ),
            "15:5: unknown key 'leafs'; did you mean leaves?",
        ],
    ),
    "contradictions": (
        [("priority: 6", "priority: 3"), ("dscp: 48", "dscp: 26"), ("bandwidth: 50%", "bandwidth: 60%")],
        [
            "4:1: bandwidth adds up to 110%, and all classes share 100%: rdma 60%, default 50%",
            "6:15: classes.cnp.dscp: DSCP 26 already belongs to class rdma",
            "6:29: classes.cnp.priority: 3 is already the priority of class rdma",
        ],
    ),
    "hardware": (
        [
            (
                "leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7",
                "leaf: nvidia-sn5601, spine: {profile: nvidia-sn5600, hwsku: V64}, nic: connectx-9",
            )
        ],
        [
            (
                "12:18: hardware.leaf: no switch profile is called 'nvidia-sn5601'; did you mean nvidia-sn5"
                "640? (others: nvidia-sn5600, nvidia-sn4600c, nvidia-sn2410, nvidia-sn2700, nvidia-sn3700 a"
                "nd 19 more, see lossless profiles)"
            ),
            (
                "12:72: hardware.spine: nvidia-sn5600 has no HWSKU 'V64'; there are ACS-SN5600, "
                "Mellanox-SN5600-C224O8, Mellanox-SN5600-C256S1, Mellanox-SN5600-O128, "
                "Mellanox-SN5600-V256"
            ),
            (
                "12:83: hardware.nic: no network adapter profile is called 'connectx-9'; did you "
                "mean connectx-8? (others: connectx-7, connectx-6-dx, amd-pollara-400, bluefield-3, broadcom-thor-2)"
            ),
        ],
    ),
    "keys-of-one-mapping": (
        [("poll: 600ms, detection: 1200ms", "pol: 600ms, detectio: 1200ms")],
        [
            "9:14: unknown key 'pol'; did you mean poll?",
            "9:26: unknown key 'detectio'; did you mean detection?",
        ],
    ),
    "numbers-as-keys-and-a-value": (
        [("dscp: 26", "dscp: 64"), ("fabric: base", "fabric: base\n5: 3")],
        [
            "3:1: a key is text, found 5",
            "6:16: classes.rdma.dscp: 64 is not a DSCP; expected a whole number from 0 to 63",
        ],
    ),
}


@pytest.mark.parametrize("case", SEVERAL)
def test_all_mistakes_are_reported_in_the_order_of_the_file(case: str) -> None:
    changes, said = SEVERAL[case]
    assert said_of(spoilt(SHAPE, *changes)) == said


NAMED_DEVICES: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "unknown-device": (
        [("b: leaf2", "b: leaf3")],
        ["20:21: topology.links.0.b: no device 'leaf3'; did you mean leaf2? (others: leaf1, host1, host2)"],
    ),
    "unlike-any-device": (
        [("b: leaf2", "b: zzz")],
        ["20:21: topology.links.0.b: no device 'zzz'; there are leaf1, leaf2, host1, host2"],
    ),
    "two-unknown": (
        [("b: leaf2", "b: leaf3"), ("b: host1", "b: host3")],
        [
            "20:21: topology.links.0.b: no device 'leaf3'; did you mean leaf2? (others: leaf1, host1, host2)",
            "21:21: topology.links.1.b: no device 'host3'; did you mean host2? (others: host1, leaf1, leaf2)",
        ],
    ),
    "two-hosts": (
        [("a: leaf1, b: host1", "a: host2, b: host1")],
        ["21:7: topology.links.1: the link joins two hosts; one end must be a switch"],
    ),
    "itself": ([("b: leaf2", "b: leaf1")], ["20:7: topology.links.0: the link leads back to its own device"]),
    "one-port-of-several-links": (
        [("a: leaf1, b: leaf2, links: 1", 'a: "leaf1:Ethernet0", b: leaf2, links: 2')],
        ["20:11: topology.links.0.a: leaf1:Ethernet0 is one port; 2 links need as many lines"],
    ),
    "one-port-twice": (
        [
            ("a: leaf1, b: leaf2", 'a: "leaf1:Ethernet0", b: leaf2'),
            ("a: leaf1, b: host1", 'a: "leaf1:Ethernet0", b: host1'),
        ],
        ["21:11: topology.links.1.a: leaf1:Ethernet0 already has a link"],
    ),
    "host-port-twice": (
        [("b: host1", 'b: "host1:p0"'), ("a: leaf2, b: host2", 'a: leaf2, b: "host1:p0"')],
        ["22:21: topology.links.2.b: host1:p0 already has a link"],
    ),
    "port-without-name": (
        [("a: leaf1, b: leaf2", 'a: "leaf1:", b: leaf2')],
        [
            (
                "20:11: topology.links.0.a: '' is not the name of a port; expected one like "
                "Ethernet8, swp1s0 or Ethernet1/1"
            )
        ],
    ),
    "port-that-leads-out": (
        [("a: leaf1, b: host1", 'a: leaf1, b: "host1:../x"')],
        [
            (
                "21:21: topology.links.1.b: '../x' is not the name of a port; expected one like "
                "Ethernet8, swp1s0 or Ethernet1/1"
            )
        ],
    ),
    "link-key": (
        [("cable: 30m", "cables: 30m")],
        ["20:45: unknown key 'cables'; did you mean cable?"],
    ),
    "link-that-is-a-word": (
        [("{a: leaf1, b: leaf2, links: 1 x 800G, cable: 30m}", "leaf1")],
        ["20:7: topology.links.0: expected a mapping, found 'leaf1'"],
    ),
    "links-mapping": (
        [(LINKS, "  links: {}\n")],
        ["19:10: topology.links: expected a list, found an empty mapping"],
    ),
    "links-nothing": (
        [(LINKS, "  links: ~\n")],
        [
            "14:3: topology: give one of leaf_spine, three_tier, rail_optimised, "
            "dragonfly, dragonfly_plus, torus, or both devices and links"
        ],
    ),
    "role": (
        [("role: host", "role: hots")],
        [
            (
                "17:19: topology.devices.host1.role: 'hots' is not one of leaf, spine, super-spine, switch or host; "
                "did you mean host?"
            )
        ],
    ),
    "device-name": (
        [("host2:", '"../x":')],
        [
            (
                "18:5: topology.devices.../x: '../x' is not a name; expected at most 63 letters, "
                "digits, '.', '_' and '-', beginning with a letter or digit"
            )
        ],
    ),
    "device-hardware": (
        [("leaf2: {role: leaf}", "leaf2: {role: leaf, hardware: nvidia-sn56}")],
        [
            (
                "16:35: topology.devices.leaf2.hardware: no switch profile is called "
                "'nvidia-sn56'; did you mean nvidia-sn5640? (others: nvidia-sn5600, nvidia-sn4600c, "
                "nvidia-sn2410, nvidia-sn2700, nvidia-sn3700 and 19 more, see lossless profiles)"
            )
        ],
    ),
    "device-hwsku": (
        [("leaf2: {role: leaf}", "leaf2: {role: leaf, hardware: {profile: nvidia-sn5600, hwsku: zzz}}")],
        [
            (
                "16:67: topology.devices.leaf2.hardware: nvidia-sn5600 has no HWSKU 'zzz'; there "
                "are ACS-SN5600, Mellanox-SN5600-C224O8, Mellanox-SN5600-C256S1, "
                "Mellanox-SN5600-O128, Mellanox-SN5600-V256"
            )
        ],
    ),
    "host-with-switch-hardware": (
        [("host2: {role: host}", "host2: {role: host, hardware: nvidia-sn5600}")],
        [
            (
                "18:35: topology.devices.host2.hardware: a host is no switch; its adapter is nic, "
                "or hardware.nic for all"
            )
        ],
    ),
    "switch-with-an-adapter": (
        [("leaf1: {role: leaf}", "leaf1: {role: leaf, nic: connectx-7}")],
        ["15:30: topology.devices.leaf1.nic: a leaf is a switch; its product is hardware"],
    ),
    "host-with-an-adapter-that-does-not-exist": (
        [("host2: {role: host}", "host2: {role: host, nic: connectx-9}")],
        [
            (
                "18:30: topology.devices.host2.nic: no network adapter profile is called "
                "'connectx-9'; did you mean connectx-8? (others: connectx-7, connectx-6-dx, "
                "amd-pollara-400, bluefield-3, broadcom-thor-2)"
            )
        ],
    ),
    "host-with-an-adapter-that-cannot-be-set-so": (
        [("host2: {role: host}", "host2: {role: host, nic: broadcom-thor-2}")],
        [
            (
                "11:25: congestion_control.dcqcn.cnp_interval: broadcom-thor-2 has no such "
                "parameter that is known"
            )
        ],
    ),
    "cable-without-unit": (
        [("cable: 30m", "cable: 30")],
        [("20:52: topology.links.0.cable: '30' has no unit; write it like 3m or 30m (units: m, cm, km)")],
    ),
    "link-of-many": (
        [("1 x 800G", "2000 x 800G")],
        ["20:35: topology.links.0.links: 2,000 links in one bundle; the most is 1,024"],
    ),
    "no-devices": (
        [(DEVICES, "  devices: {}\n")],
        [
            "16:11: topology.links.0.a: no device 'leaf1'; none is declared",
            "16:21: topology.links.0.b: no device 'leaf2'; none is declared",
            "17:11: topology.links.1.a: no device 'leaf1'; none is declared",
            "17:21: topology.links.1.b: no device 'host1'; none is declared",
            "18:11: topology.links.2.a: no device 'leaf2'; none is declared",
            "18:21: topology.links.2.b: no device 'host2'; none is declared",
        ],
    ),
}


@pytest.mark.parametrize("case", NAMED_DEVICES)
def test_devices_and_links_that_cannot_be(case: str) -> None:
    changes, said = NAMED_DEVICES[case]
    assert said_of(spoilt(NAMED, *changes)) == said


PRESETS: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "min-above-the-preset-max": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {ecn: {min: 5 MB}}}")],
        [
            (
                "4:29: classes.rdma.ecn.min: min (5,000,000 B) is above max (1,500,000 B); "
                "marking would never start"
            )
        ],
    ),
    "max-below-the-preset-min": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {ecn: {max: 5 kB}}}")],
        [
            (
                "4:23: classes.rdma.ecn.min: min (150,000 B) is above max (5,000 B); marking "
                "would never start (preset nvidia gives min)"
            )
        ],
    ),
    "strict-over-the-preset-bandwidth": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {scheduling: strict}}")],
        [
            (
                "4:17: classes.rdma.bandwidth: a strict class takes what it needs; leave out "
                "bandwidth, or scheduling: strict (preset nvidia gives bandwidth)"
            )
        ],
    ),
    "priority-and-dscp-of-the-preset": (
        [("fabric: base", "fabric: base\nclasses: {other: {dscp: 26, priority: 3}}")],
        [
            "4:25: classes.other.dscp: DSCP 26 already belongs to class rdma",
            "4:39: classes.other.priority: 3 is already the priority of class rdma",
        ],
    ),
    "preset-class-moved-onto-another": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {priority: 6}}")],
        ["4:28: classes.rdma.priority: 6 is already the priority of class cnp"],
    ),
    "second-rest": (
        [("fabric: base", "fabric: base\nclasses: {other: {dscp: rest, priority: 1}}")],
        [("4:25: exactly one class takes the rest of the DSCPs (dscp: rest); there are default, other")],
    ),
    "rest-given-away": (
        [("fabric: base", "fabric: base\nclasses: {default: {dscp: 1}}")],
        ["4:1: exactly one class takes the rest of the DSCPs (dscp: rest); there is none"],
    ),
    "bandwidth": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {bandwidth: 60%}}")],
        ["4:1: bandwidth adds up to 110%, and all classes share 100%: rdma 60%, default 50% (preset)"],
    ),
    "ecn-number": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {ecn: 3}}")],
        ["4:23: classes.rdma.ecn: expected off or a mapping, found 3"],
    ),
    "ecn-key": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {ecn: {mim: 5 MB}}}")],
        ["4:24: unknown key 'mim'; did you mean min?"],
    ),
    "class-nothing": (
        [("fabric: base", "fabric: base\nclasses: {rdma: ~}")],
        ["4:17: classes.rdma: expected a mapping, found nothing"],
    ),
    "class-key": (
        [("fabric: base", "fabric: base\nclasses: {rdma: {dcsp: 26}}")],
        ["4:18: unknown key 'dcsp'; did you mean dscp?"],
    ),
    "classes-nothing": (
        [("fabric: base", "fabric: base\nclasses:")],
        ["4:9: classes: expected a mapping, found nothing"],
    ),
    "incomplete-new-class": (
        [("fabric: base", "fabric: base\nclasses: {other: {priority: 1}}")],
        ["4:11: classes.other: dscp is missing"],
    ),
    "watchdog-below-a-millisecond": (
        [("fabric: base", "fabric: base\npfc: {watchdog: {poll: 1us}}")],
        ["4:24: pfc.watchdog.poll: switches count in whole milliseconds"],
    ),
}


@pytest.mark.parametrize("case", PRESETS)
def test_mistakes_over_a_preset_stand_where_the_operator_wrote(case: str) -> None:
    changes, said = PRESETS[case]
    assert said_of(spoilt(PRESET, *changes)) == said

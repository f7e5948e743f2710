"""What the keys of an intent mean: hardware, topology, networks, buffers and hosts."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

_SWITCH_BUFFERS = {
    "headroom_oversubscription": KeyDoc(
        "How much more headroom all groups may ask for than the shared headroom pool holds: 1.5 means 1.5:1. "
        "Left out: 1, or what the vendor ships where 1 took over half of the chip.",
        (1.5,),
    ),
    "pool_sizes": KeyDoc(
        "Sizes of buffer pools by their names in CONFIG_DB. Left out: all are computed.",
        ({"ingress_lossless_pool": {"size": "40 MiB"}},),
    ),
}
_POOL = {"size": "40 MiB"}
_OF_POOL = {
    "size": KeyDoc("Size of the pool in bytes. Has a unit. Left out: it is computed.", ("40 MiB",)),
    "percentage": KeyDoc(
        "In the dynamic buffer model: the part of the pool, in whole percent, of what headroom and reserved buffer "
        "leave of the chip. Left out: an equal share.",
        ("60%",),
    ),
    "xoff": KeyDoc(
        "Size in bytes of the shared headroom beside the pool, instead of `headroom_oversubscription`. Has a unit. "
        "Left out: as that ratio says.",
        ("8 MiB",),
    ),
}
_TOS = (106,)

WIRING: dict[str, dict[str, KeyDoc]] = {
    "Hardware": {
        "leaf": KeyDoc(
            "Switch profile of the leaves, or a mapping with its HWSKU; `lossless profiles` lists what is known. "
            "Left out: that of `switch`.",
            ("nvidia-sn5600", {"profile": "nvidia-sn5600", "hwsku": "Mellanox-SN5600-O128"}),
        ),
        "spine": KeyDoc(
            "Switch profile of the spines. Left out: that of `switch`, if any.", ("nvidia-sn5600",)
        ),
        "nic": KeyDoc("NIC profile of every host that names none of its own.", ("connectx-7",)),
    },
    "SwitchChoice": {
        "profile": KeyDoc("Name of a switch profile.", ("nvidia-sn5600",)),
        "hwsku": KeyDoc("One of its HWSKUs. Left out: the first of the profile.", ("Mellanox-SN5600-O128",)),
        "format": KeyDoc(
            "The system that it runs, which its files are written for: `sonic`, or another one that its profile has, "
            "as `eos` and `nvue`; `lossless profiles NAME` lists them. Left out: the first of that list.",
            ("sonic",),
        ),
    },
    "Topology": {
        "leaf_spine": KeyDoc("A two-tier Clos by its numbers. Left out: another form is given."),
        "devices": KeyDoc(
            "Devices by name, where the fabric has no plain shape. Left out: a shape makes them.",
            ({"leaf1": {"role": "leaf"}, "host1": {"role": "host"}},),
        ),
        "links": KeyDoc(
            "Bundles of links between the devices. Left out: a shape makes them.",
            ([{"a": "leaf1", "b": "host1", "links": "2 x 400G", "cable": "3m"}],),
        ),
        "oversubscription": KeyDoc(
            "Accepted ratio of the bandwidth below a switch to that of its uplinks: 2 means 2:1. One number for all "
            "tiers, or one for each. Left out: 1.",
            (2, {"leaf": 1, "spine": 7}),
        ),
    },
    "LeafSpine": {
        "leaves": KeyDoc("How many leaf switches.", (4,)),
        "spines": KeyDoc("How many spine switches.", (4,)),
        "hosts_per_leaf": KeyDoc("How many hosts at every leaf.", (16,)),
        "host_links": KeyDoc("Links from each host to its leaf: how many, of which rate.", ("2 x 400G",)),
        "uplinks": KeyDoc("Links from each leaf to each spine: how many, of which rate.", ("8 x 800G",)),
        "cables": KeyDoc("Real cable lengths by tier.", ({"host": "3m", "uplink": "30m"},)),
        "oversubscription": KeyDoc(
            "Accepted ratio of the bandwidth below a switch to that of its uplinks: 2 means 2:1. One number for all "
            "tiers, or one for each. Left out: 1.",
            (2, {"leaf": 1, "spine": 7}),
        ),
    },
    "Cables": {
        "host": KeyDoc("Length of the cables from hosts to leaves, in meters, with its unit.", ("3m",)),
        "uplink": KeyDoc("Length of the cables from leaves to spines, in meters, with its unit.", ("30m",)),
    },
    "DeviceChoice": {
        "role": KeyDoc("What the device is."),
        "hardware": KeyDoc(
            "Switch profile of this switch. Left out: that of its role under `hardware`.", ("nvidia-sn4700",)
        ),
        "nic": KeyDoc("NIC profile of this host. Left out: `hardware.nic`.", ("connectx-8",)),
    },
    "LinkChoice": {
        "a": KeyDoc(
            "One end: a device, or DEVICE:PORT. A port that is not named is placed by the front panel.",
            ("leaf1",),
        ),
        "b": KeyDoc("The other end: a device, or DEVICE:PORT.", ("host1", "spine1:Ethernet0")),
        "links": KeyDoc("How many links, of which rate.", ("4 x 400G",)),
        "cable": KeyDoc("Real length of the cables, in meters, with its unit.", ("30m",)),
    },
    "NetworkChoice": {
        "on": KeyDoc("`separate`: on switches of its own; `fabric`: shares the fabric, in a class."),
        "prefixes": KeyDoc(
            "IP prefixes of the network. Left out: none are known.", (["10.20.0.0/16", "2001:db8::/48"],)
        ),
        "class": KeyDoc("Traffic class it uses on the fabric. Left out: none is named.", ("default",)),
    },
    "Buffers": {
        **_SWITCH_BUFFERS,
        "by_tier": KeyDoc(
            "Pools and shared headroom of the switches of one role. Left out: none differ.",
            ({"spine": {"headroom_oversubscription": 1}},),
        ),
        "by_device": KeyDoc(
            "Pools and shared headroom of single switches by name; they come before those of `by_tier`. Left out: none "
            "differ.",
            ({"leaf1": {"pool_sizes": {"ingress_lossless_pool": {"size": "40 MiB"}}}},),
        ),
    },
    "SwitchBuffers": _SWITCH_BUFFERS,
    "PoolSizes": {
        "ingress_lossless_pool": KeyDoc(
            "The pool that groups of lossless classes take from. Left out: what is left once all ports have their own.",
            ({"size": "40 MiB", "xoff": "8 MiB"}, {"percentage": "60%"}),
        ),
        "ingress_lossy_pool": KeyDoc(
            "The pool of all other groups, where the HWSKU has one. Left out: it is computed.", (_POOL,)
        ),
        "egress_lossless_pool": KeyDoc(
            "The pool of lossless queues, which spans the whole buffer. Left out: as the vendor ships it.",
            (_POOL,),
        ),
        "egress_lossy_pool": KeyDoc("The pool of all other queues. Left out: it is computed.", (_POOL,)),
    },
    **dict.fromkeys(("WholePool", "SharedPool", "LosslessPool"), _OF_POOL),
    "Hosts": {
        "mtu": KeyDoc(
            "MTU of the hosts in bytes, without the Ethernet header; at most that of the switches.", (9000,)
        ),
        "traffic_class": KeyDoc(
            "ToS byte of all RDMA traffic, 0 to 255 (DSCP x 4, plus 2 for ECN). `derived`: from the lossless class; "
            "`unset`: jobs set it themselves.",
            _TOS,
        ),
        "trust": KeyDoc("What a NIC sorts packets by: `dscp`, or the VLAN tag (`pcp`)."),
        "pfc": KeyDoc("Priorities with PFC on the NICs. Left out: those of the lossless classes.", ([3],)),
        "pfc_prevention": KeyDoc(
            "When a NIC with a stuck receiver stops pausing its switch, in whole milliseconds, with its unit. `auto`: "
            "as the NIC profile says; `off`: never.",
            ("100ms",),
        ),
        "dcbx": KeyDoc("Who speaks DCBX: the operating system (`os`) or the NIC's `firmware`."),
        "global_pause": KeyDoc("Whether IEEE 802.3x global pause is on beside PFC."),
        "applied_by": KeyDoc(
            "Who sets the NICs after a reboot: the rendered `unit`, something `other`, or a `hand`."
        ),
        "reorder": KeyDoc(
            "How many frames NICs take ahead of the one that is due, `any` or `none`; set on NVIDIA NICs (`mlxreg`). "
            "Left out: not known.",
            ("any", 64),
        ),
        "retransmission": KeyDoc(
            "What RoCE NICs send again where a packet is lost: all from it on (`go-back-n`) or it alone (`selective`); "
            "set on NVIDIA NICs (`mlxreg`). Left out: go-back-n is simulated."
        ),
        "tool": KeyDoc(
            "What sets trust, DSCP map and PFC of the NICs: `mlnx_qos` (NVIDIA), `niccli` (Broadcom), or Linux's `dcb` "
            "for any NIC. `auto`: mlnx_qos for NVIDIA, else dcb."
        ),
        "interfaces": KeyDoc(
            "Network interfaces that carry RDMA. Left out: every Ethernet port of such a NIC.",
            (["eth0", "eth1"],),
        ),
        "rdma_devices": KeyDoc(
            "Their RDMA devices. Left out: those that belong to the interfaces.", (["mlx5_0"],)
        ),
        "nccl": KeyDoc("What the job environment tells NCCL. Left out: NCCL's own defaults."),
        "ucx": KeyDoc(
            "Given where jobs use UCX; `{}` where it is told nothing. Left out: they do not.",
            ({"traffic_class": 106},),
        ),
        "mori": KeyDoc(
            "Given where jobs use MORI; `{}` where it is told nothing. Left out: they do not.",
            ({"traffic_class": 104},),
        ),
        "job_timeout": KeyDoc(
            "After how long a job that hangs ends itself, with its unit. Left out: nothing is said.",
            ("600s",),
        ),
        "loopback_rdma": KeyDoc("Whether processes of one host talk over its NIC."),
    },
    "Nccl": {
        "ib_tc": KeyDoc("ToS byte of its traffic, 0 to 255 (NCCL_IB_TC). Left out: the hosts' own.", _TOS),
        "ib_fifo_tc": KeyDoc(
            "ToS byte of its control messages, 0 to 255 (NCCL_IB_FIFO_TC). Left out: that of the traffic.",
            (192,),
        ),
        "ib_timeout": KeyDoc(
            "Transport timeout, as a power of two times 4.096 us, 0 to 31 (NCCL_IB_TIMEOUT).", (20,)
        ),
        "ib_retry_count": KeyDoc("How often the transport tries again, 0 to 7 (NCCL_IB_RETRY_CNT).", (7,)),
        "ib_qps_per_connection": KeyDoc(
            "Queue pairs of a connection, 1 to 128 (NCCL_IB_QPS_PER_CONNECTION). Left out: nothing is said.",
            (4,),
        ),
        "gin": KeyDoc(
            "Whether jobs use GPU-initiated networking, which the hosts' `traffic_class` does not reach."
        ),
        "gin_ib_tc": KeyDoc(
            "ToS byte of GPU-initiated networking, 0 to 255 (NCCL_GIN_IB_TC). Left out: `ib_tc`.", _TOS
        ),
    },
    "Library": {
        "traffic_class": KeyDoc("ToS byte the library is told, 0 to 255. Left out: it is told none.", _TOS),
    },
}

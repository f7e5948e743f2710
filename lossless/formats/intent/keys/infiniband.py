"""What the keys of the intent of an InfiniBand subnet mean."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

_HOST_LINKS = KeyDoc(
    "Links from each host: how many, of which rate (HDR100, HDR, NDR200, NDR, XDR); each is an HCA of its own.",
    ("2 x NDR",),
)
_MEMBERS = (["host[1-16]", "host17:mlx5_0"], "@compute", ["ALL_CAS", "SELF"])
_RATE = "how many, of which rate"

INFINIBAND: dict[str, dict[str, KeyDoc]] = {
    "InfiniBand intent": {
        "lossless": KeyDoc("Version of this format. Every intent begins with it."),
        "fabric": KeyDoc(
            "Name of the subnet: at most 63 letters, digits, '.', '_' and '-'.", ("infiniband-256", "pod-7")
        ),
        "transport": KeyDoc("How RDMA travels: InfiniBand, by the routes of a subnet manager."),
        "flavour": KeyDoc(
            "Whose opensm runs: `upstream`, that of Linux distributions, or `nvidia`, that of MLNX_OFED, DOCA, UFM "
            "and switches. They know different keys."
        ),
        "hardware": KeyDoc("Which product fills which role, by the names of InfiniBand profiles."),
        "topology": KeyDoc(
            "A shape (`fat_tree`, `dragonfly_plus`, `torus`), or `switches` and `links` by name, and further `hosts`."
        ),
        "guids": KeyDoc(
            "Node GUIDs of switches and port GUIDs of HCAs, by name. Left out: none is known, and files that hold "
            "GUIDs cannot be written.",
            ({"leaf1": "0x0002c90300a1b2c3", "host1:mlx5_0": "0x0002c90300d4e5f6"},),
        ),
        "guid_file": KeyDoc(
            "File beside the intent with a name and its GUID on each line. Left out: `guids` has them all.",
            ("guids.txt",),
        ),
        "subnet_manager": KeyDoc("Which subnet manager runs, where, and what it is told."),
        "qos": KeyDoc(
            "Levels of service, each with its SL and VL; `off` states that there are none. Left out: nothing is said "
            "of them, and opensm has QoS off."
        ),
        "partitions": KeyDoc(
            "Partitions by name. Left out: opensm gets no file of them and makes every port a full member of the "
            "default one.",
            ({"Default": {"pkey": 0x7FFF, "members": {"full": "SELF", "limited": "ALL"}}},),
        ),
        "sharp": KeyDoc(
            "Reductions in the switches; `off` states that there are none. Left out: nothing is said of them."
        ),
        "jobs": KeyDoc("What jobs are told of the subnet. Left out: nothing is written for them."),
    },
    "SubnetHardware": {
        "switch": KeyDoc(
            "Switch profile of every role that names none of its own. Left out: each role names its own.",
            ("nvidia-qm9700",),
        ),
        "leaf": KeyDoc("Switch profile of the leaves. Left out: that of `switch`.", ("nvidia-qm9700",)),
        "spine": KeyDoc("Switch profile of the spines. Left out: that of `switch`.", ("nvidia-qm9700",)),
        "core": KeyDoc("Switch profile of the cores. Left out: that of `switch`.", ("nvidia-qm9700",)),
        "hca": KeyDoc("Adapter profile of every host that names none of its own.", ("connectx-7",)),
    },
    "SubnetTopology": {
        "fat_tree": KeyDoc("A fat tree by its numbers. Left out: the subnet has another shape."),
        "dragonfly_plus": KeyDoc("A dragonfly+ by its numbers. Left out: the subnet has another shape."),
        "torus": KeyDoc("A torus by its numbers. Left out: the subnet has another shape."),
        "switches": KeyDoc(
            "Switches by name, where the subnet has no plain shape. Left out: a shape makes them.",
            ({"leaf1": {"role": "leaf"}, "spine1": {"role": "spine"}},),
        ),
        "links": KeyDoc(
            "Bundles of links between the switches that are listed. Left out: there are none.",
            ([{"a": "leaf1", "b": "spine1", "links": "4 x NDR"}],),
        ),
        "hosts": KeyDoc(
            "Hosts that no shape makes, by name. Left out: there are none.",
            ({"sm1": {"at": "leaf1", "links": "1 x NDR", "role": "management"}},),
        ),
        "oversubscription": KeyDoc(
            "Accepted ratio of host to uplink bandwidth of a leaf: 2 means 2:1.", (2,)
        ),
    },
    "FatTree": {
        "pods": KeyDoc("How many pods. More than one needs `cores`.", (4,)),
        "leaves": KeyDoc("How many leaf switches; with several pods, in each.", (4,)),
        "spines": KeyDoc("How many spine switches; with several pods, in each.", (4,)),
        "cores": KeyDoc("How many core switches join the pods. Left out: the tree has two levels.", (16,)),
        "planes": KeyDoc("Into how many planes cores and spines are parted.", (4,)),
        "rails": KeyDoc(
            "Among how many leaves that follow each other the links of a host are shared out: 2 puts every other "
            "HCA at a second leaf.",
            (2,),
        ),
        "hosts_per_leaf": KeyDoc(
            "How many hosts at every leaf; with several rails, at every leaf that shares them.", (16,)
        ),
        "host_links": _HOST_LINKS,
        "uplinks": KeyDoc(f"Links from each leaf to each spine: {_RATE}.", ("4 x NDR",)),
        "core_links": KeyDoc(
            f"Links from each spine to each core of its plane: {_RATE}. Left out: there are no cores.",
            ("1 x NDR",),
        ),
    },
    "SubnetDragonflyPlus": {
        "groups": KeyDoc("How many groups.", (8,)),
        "leaves": KeyDoc("How many leaf switches in each group.", (4,)),
        "spines": KeyDoc("How many spine switches in each group.", (4,)),
        "hosts_per_leaf": KeyDoc("How many hosts at every leaf.", (16,)),
        "host_links": _HOST_LINKS,
        "uplinks": KeyDoc(f"Links from each leaf to each spine of its group: {_RATE}.", ("4 x NDR",)),
        "global_links": KeyDoc(
            f"Links between every two groups, shared out among their spines: {_RATE}.", ("4 x NDR",)
        ),
    },
    "SubnetTorus": {
        "sides": KeyDoc("How many switches along each of two or three sides.", ([4, 4, 4],)),
        "links": KeyDoc(f"Links between every two neighbors: {_RATE}.", ("2 x HDR",)),
        "hosts_per_switch": KeyDoc("How many hosts at every switch.", (4,)),
        "host_links": _HOST_LINKS,
    },
    "SwitchNode": {
        "role": KeyDoc("What the switch is; leaves, spines and cores make up the tiers of a tree."),
        "hardware": KeyDoc(
            "Switch profile of this switch. Left out: that of its role under `hardware`.", ("nvidia-qm8700",)
        ),
    },
    "SwitchLink": {
        "a": KeyDoc("One end: a switch, or SWITCH:PORT for a single link.", ("leaf1", "leaf1:17")),
        "b": KeyDoc("The other end: a switch, or SWITCH:PORT.", ("spine1",)),
        "links": KeyDoc(f"Links of this bundle: {_RATE}.", ("4 x NDR",)),
    },
    "HostChoice": {
        "at": KeyDoc(
            "The switch its links go to, or several that take them in turn.", ("leaf1", ["leaf1", "leaf2"])
        ),
        "links": KeyDoc(f"Links of this host: {_RATE}; each is an HCA of its own.", ("1 x NDR",)),
        "role": KeyDoc("What the host is for."),
        "hca": KeyDoc("Adapter profile of this host. Left out: `hardware.hca`.", ("connectx-7",)),
    },
    "SubnetManager": {
        "manager": KeyDoc("Which program manages the subnet: opensm by itself, or UFM."),
        "hosts": KeyDoc(
            "Where subnet managers run: the master and the standby ones.",
            ([{"on": "sm1", "priority": 14}, {"on": "sm2", "priority": 13, "standby": True}],),
        ),
        "prefix": KeyDoc(
            "Subnet prefix, 64 bits, another one for every subnet that hosts or routers join. "
            "Left out: opensm's own, 0xfe80000000000000.",
            ("0xfec0000000000001",),
        ),
        "routing": KeyDoc("How packets are routed. Left out: opensm takes minhop."),
        "options": KeyDoc(
            "Further keys of opensm.conf, as that file spells them. Left out: opensm's own defaults hold.",
            ({"max_wire_smps": 16},),
        ),
        "keys": KeyDoc(
            "The environment variables that hold the keys of the subnet when its files are written. "
            "Left out: opensm's own, which protect nothing.",
            ({"m_key": "FABRIC_M_KEY"},),
        ),
        "ufm": KeyDoc(
            "Keys of UFM's gv.cfg by section, as that file spells them. Left out: only what SHARP needs is written.",
            ({"Sharp": {"enable_sharp_allocation": "true"}},),
        ),
    },
    "SubnetKeys": {
        key: KeyDoc(
            f"Environment variable that holds {what}. Left out: opensm's own.", (f"FABRIC_{key.upper()}",)
        )
        for key, what in (
            ("m_key", "the management key"),
            ("sm_key", "the key that subnet managers show each other"),
            ("sa_key", "the key of trusted queries"),
            ("cc_key", "the key of congestion control"),
        )
    },
    "ManagerChoice": {
        "on": KeyDoc(
            "A host, one of its HCAs, or a managed switch that runs a subnet manager.",
            ("sm1", "sm1:mlx5_1", "leaf1"),
        ),
        "priority": KeyDoc("Its priority, 0 to 15; the highest is master. Left out: opensm's own, 0.", (14,)),
        "standby": KeyDoc("Whether it is a standby until the master fails."),
    },
    "SubnetRouting": {
        "engine": KeyDoc(
            "Routing engine, or several that are tried in order: ftree and updn for fat trees, torus-2QoS for tori.",
            ("ftree", ["ftree", "updn"], "torus-2QoS"),
        ),
        "fallback": KeyDoc(
            "Whether opensm takes minhop where no engine can route; off, it gives up instead."
        ),
        "roots": KeyDoc(
            "Switches that are written as roots: `top` is the top tier, or a list of names. Left out: no such file.",
            ("top", ["spine1", "spine2"]),
        ),
        "compute_nodes": KeyDoc("Whether HCAs of compute hosts are written into a file for ftree."),
    },
    "SubnetQos": {
        "vls": KeyDoc("How many data VLs ports use. Left out: opensm's own, as many as they have.", (4,)),
        "levels": KeyDoc(
            "Levels of service by name.", ({"compute": {"sl": 0, "vl": 0, "high": 192, "low": 64}},)
        ),
        "rest": KeyDoc(
            "The level whose VL is used by SLs that no level names. Left out: that of SL 0; without one they are "
            "dropped.",
            ("compute",),
        ),
        "high_limit": KeyDoc(
            "How much of the high table is sent before the low one has its turn, 0 to 255; 255 is no limit. "
            "Left out: opensm's own.",
            (255,),
        ),
    },
    "QosLevel": {
        "sl": KeyDoc("Service level of its packets, 0 to 15.", (1,)),
        "vl": KeyDoc("Virtual lane that they use, 0 to 14.", (1,)),
        "high": KeyDoc(
            "Weight of the lane in the high table, in steps of 64 bytes. Left out: it is not in that table.",
            (64,),
        ),
        "low": KeyDoc(
            "Weight of the lane in the low table, in steps of 64 bytes. Left out: it is not in that table.",
            (64,),
        ),
    },
    "PartitionChoice": {
        "pkey": KeyDoc("P_Key; opensm uses its low 15 bits. 0x7fff is the default partition.", (0x7FFF, 1)),
        "members": KeyDoc(
            "Who belongs to it, by membership.", ({"full": "@storage", "limited": "@compute"},)
        ),
        "ipoib": KeyDoc("Whether IP over InfiniBand has a broadcast group in it."),
        "rate": KeyDoc("Rate of its multicast group. Left out: opensm's own.", ("HDR",)),
        "mtu": KeyDoc("MTU of its multicast group, in bytes. Left out: opensm's own.", (4096,)),
        "level": KeyDoc("Level of service of its traffic, by name. Left out: `sl`, else SL 0.", ("storage",)),
        "sl": KeyDoc(
            "Service level of its traffic by number, 0 to 15. Left out: that of `level`, else 0.", (1,)
        ),
        "index0": KeyDoc(
            "Whether it takes index 0 of the P_Key tables of ports, which is that of the default partition."
        ),
        "default": KeyDoc("Membership of whoever states none."),
    },
    "PartitionMembers": {
        membership: KeyDoc(
            f"{what}: hosts, HCAs, `@` and a role, GUIDs, or opensm's words. Left out: none.",
            _MEMBERS,
        )
        for membership, what in (
            ("full", "Full members, which talk to all"),
            ("limited", "Limited members, which talk to full members alone"),
            ("both", "Members with both memberships"),
        )
    },
    "SharpChoice": {
        "manager": KeyDoc("The host or switch on which the aggregation manager runs.", ("sm1",)),
        "trees": KeyDoc("How many trees are meant. Left out: nothing is said of them.", (8,)),
        "jobs": KeyDoc(
            "How many jobs are meant to use it at a time. Left out: nothing is said of them.", (4,)
        ),
        "hosts": KeyDoc("Hosts that take part. Left out: all compute hosts.", ("@compute",)),
        "exclude": KeyDoc("Hosts that do not take part, storage for example. Left out: none.", ("@storage",)),
        "needs": KeyDoc("Generation of SHARP that jobs need, 1 to 4. Left out: any will do.", (3,)),
        "settings": KeyDoc(
            "Keys of sharp_am.cfg, as that file spells them. Left out: the aggregation manager's own defaults hold.",
            ({"max_trees_to_build": 126},),
        ),
    },
    "Jobs": {
        "level": KeyDoc(
            "Level of service that jobs use, by name. Left out: they are not told.", ("compute",)
        ),
        "partition": KeyDoc("Partition that jobs use, by name. Left out: they are not told.", ("compute",)),
        "environment": KeyDoc(
            "Variables of their environment, as jobs read them. Left out: only what follows from the rest.",
            ({"NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1"},),
        ),
    },
}

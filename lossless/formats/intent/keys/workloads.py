"""What the keys of an intent mean: workloads."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

WORKLOADS: dict[str, dict[str, KeyDoc]] = {
    "Intent": {
        "workloads": KeyDoc(
            "The traffic that `lossless tune` chooses thresholds for, by name; it changes nothing on any device. "
            "Left out: an incast of 16 NIC ports into one.",
            ({"checkpoint": {"pattern": "incast", "nics": 17, "size": "8 MiB"}},),
        ),
    },
    "Workload": {
        "pattern": KeyDoc(
            "Which NIC ports send to which, all at once. Left out: a collective is stated.", ("incast",)
        ),
        "collective": KeyDoc("What GPUs run together. Left out: a pattern is stated.", ("all-reduce",)),
        "size": KeyDoc(
            "Of a pattern what each NIC port sends in one step, of a collective its buffer, with its unit. "
            "Left out: 8 MiB, and 1 GiB.",
            ("8 MiB",),
        ),
        "class": KeyDoc("The lossless class that it rides. Left out: the first.", ("rdma",)),
        "nics": KeyDoc(
            "How many NIC ports take part at most. Left out: up to 513 in an incast, 64 in other patterns.",
            (17,),
        ),
        "target": KeyDoc(
            "NIC port that an incast goes to, and that is slow or dead. Left out: the first of the fabric.",
            ("host1:port1",),
        ),
        "storage": KeyDoc(
            "Which part of each NIC port's traffic is storage, in its own class, in percent. Left out: none.",
            ("30%",),
        ),
        "link_down": KeyDoc(
            "Ports whose links are down, each as `switch:port`. Left out: none.", (["leaf1:Ethernet0"],)
        ),
        "slow_nic": KeyDoc(
            "What the target takes in at most, with its unit. Left out: line rate.", ("100G",)
        ),
        "dead_nic": KeyDoc(
            "Whether the target pauses its switch permanently. Left out: it does not.", (True,)
        ),
        "gpus": KeyDoc("How many GPUs take part. Left out: all.", (64,)),
        "algorithm": KeyDoc(
            "Algorithm of the collective. Left out: ring, and hierarchical where NVLink or UALink joins GPUs.",
            ("ring",),
        ),
        "sources": KeyDoc("Storage servers that each GPU reads from, or writes to. Left out: one.", (4,)),
    },
}

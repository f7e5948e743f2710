"""What the keys of an intent mean: GPUs, and failures."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

CLUSTER: dict[str, dict[str, KeyDoc]] = {
    "Intent": {
        "cluster": KeyDoc(
            "The GPUs behind the hosts. Left out: bandwidth is given per host alone.",
            ({"gpus_per_host": 8, "nvlink": {"generation": 5, "domain": 72}},),
        ),
        "failures": KeyDoc(
            "Failures to tolerate. Left out: any one link, or any one switch.",
            ({"links": 2, "switches": 1, "oversubscription": 2},),
        ),
    },
    "NetworkChoice": {
        "purpose": KeyDoc("What the network is for. Left out: what its name says, as in storage or mgmt."),
        "marking": KeyDoc(
            "Who decides on the DSCPs of its packets: you (`trusted`), whoever sends them (`untrusted`), or a rule "
            "where its hosts attach (`rewritten`). Left out: you, and on a `tenant` network whoever sends them."
        ),
    },
    "Cluster": {
        "gpus_per_host": KeyDoc("How many GPUs every host has.", (8,)),
        "nics_per_host": KeyDoc(
            "How many RDMA NICs every host has on this fabric. Left out: as many as it has links.", (8,)
        ),
        "gpus": KeyDoc(
            "How many GPUs there are in all, to be checked. Left out: what hosts have is counted.", (256,)
        ),
        "rails": KeyDoc("How many rails the NICs of a host are spread over. Left out: none are meant.", (8,)),
        "bandwidth_per_gpu": KeyDoc(
            "What each GPU must have on the fabric, one way, with its unit: checked. Left out: what links carry.",
            ("400G",),
        ),
        "nvlink": KeyDoc(
            "Given where NVLink joins the GPUs. Left out: it does not.", ({"generation": 4, "domain": 8},)
        ),
        "ualink": KeyDoc(
            "Given where UALink joins the GPUs. Left out: it does not.", ({"rate": "3.2T", "domain": 64},)
        ),
    },
    "NvLink": {
        "generation": KeyDoc("Generation of NVLink: 4 (450 GB/s per GPU, one way) or 5 (900 GB/s).", (5,)),
        "domain": KeyDoc("How many GPUs reach each other by NVLink: 8 in one host, 72 in an NVL72.", (8, 72)),
    },
    "UaLink": {
        "rate": KeyDoc("What each GPU sends into its pod, one way, with its unit.", ("3.2T",)),
        "domain": KeyDoc("How many GPUs are one pod.", (64,)),
    },
    "Failures": {
        "links": KeyDoc("How many links may fail at once, while all switches work.", (2,)),
        "switches": KeyDoc("How many switches may fail at once, while all other links work.", (1,)),
        "oversubscription": KeyDoc(
            "Accepted ratio of bandwidth below a switch to what such failures leave above it. Left out: any.",
            (2,),
        ),
        "out_of_service": KeyDoc(
            "What has failed already, or is under repair: switches, and links by their two ends. Left out: nothing.",
            (["spine2", ["leaf1", "spine1"]],),
        ),
    },
}

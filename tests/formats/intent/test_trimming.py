"""Trimming and the congestion control of Ultra Ethernet in intents: what has no meaning is refused in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text

EXAMPLE = (Path(__file__).parents[3] / "examples/ultra-ethernet-128/fabric.yaml").read_text()


def changed(old: str, new: str) -> str:
    assert old in EXAMPLE
    return EXAMPLE.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("of: [rdma]", "of: [rmda]", ":12:17: trimming.of: no class 'rmda'; did you mean rdma?"),
        ("into: trimmed", "into: trimmd", ":12:30: trimming.into: no class 'trimmd'; did you mean trimmed?"),
        ("into: trimmed", "into: rdma", "trimming.into: packets of class rdma are trimmed themselves"),
        (
            "into: trimmed",
            "into: default",
            "trimming.into: class default has 0 DSCPs; a trimmed packet gets one",
        ),
        (
            "dscp: 10,",
            "dscp: [10, 12],",
            "trimming.into: class trimmed has 2 DSCPs; a trimmed packet gets one",
        ),
        ("size: 206 B", "size: 20 B", "trimming.size: 20 B is no frame; the shortest has 64 B"),
        (
            "size: 206 B",
            "size: 9101 B",
            "trimming.size: 9,101 B cuts no packet; none has more than 9,100 B (mtu)",
        ),
        ("of: [rdma]", "of: []", "trimming.of"),
        (
            "transport: uec",
            "transport: rocev2",
            "congestion_control: nscc is that of transport uec; RoCEv2 has dcqcn",
        ),
        (
            "transport: uec",
            "transport: uec\nhosts: {retransmission: selective}",
            ":5:25: hosts.retransmission is of RoCE NICs",
        ),
        ("control: nscc", "control: nsc", "with transport uec nscc, rccc or both; found 'nsc'"),
    ],
)
def test_what_has_no_meaning_is_refused_where_it_is_written(old: str, new: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        load_intent(load_text(changed(old, new), "fabric.yaml"))
    assert len(refused.value.problems) == 1
    assert said in str(refused.value)


def test_lossless_classes_are_neither_trimmed_nor_carry_what_is() -> None:
    for name, said in (("rdma", "its packets are paused"), ("trimmed", "trimmed packets must not pause")):
        line = next(line for line in EXAMPLE.splitlines() if line.strip().startswith(f"{name}:"))
        lossless = line.replace("lossless: false", "lossless: true").replace(
            "dscp: 10,", "dscp: 10, lossless: true,"
        )
        with pytest.raises(InputError, match=said):
            load_intent(load_text(EXAMPLE.replace(line, lossless).replace("pfc: off\n", ""), "fabric.yaml"))


def test_an_intent_without_trimming_has_none() -> None:
    text = "\n".join(line for line in EXAMPLE.splitlines() if not line.startswith("trimming:"))
    assert resolve(load_intent(load_text(text, "fabric.yaml"))).trimming is None
    fabric = resolve(load_intent(load_text(EXAMPLE, "fabric.yaml")))
    assert fabric.ultra_ethernet
    assert fabric.trimming is not None
    assert (fabric.trimming.classes, fabric.trimming.into, fabric.trimming.size_bytes) == (
        ("rdma",),
        "trimmed",
        206,
    )

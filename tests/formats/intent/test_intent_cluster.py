"""GPUs, failures and the purpose of networks: each mistake, and exactly what is said of it."""

from __future__ import annotations

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.model.fabric.view import bare
from tests.formats.intent import subnet_texts
from tests.formats.intent.intent_texts import SHAPE, said_of

MISTAKES = {
    "cluster: {}": "23:1: cluster: gpus_per_host is missing",
    "cluster: {gpus_per_host: 0}": (
        "23:26: cluster.gpus_per_host: 0 is not a number of GPUs in one host; expected a whole number from 1 to 256"
    ),
    "cluster: {gpus_per_host: 8, nics_per_host: 300}": (
        "23:44: cluster.nics_per_host: 300 is not a number of NICs in one host; expected a whole number from 1 to 256"
    ),
    "cluster: {gpus_per_host: 8, nvlink: {generation: 7, domain: 8}}": (
        "23:50: cluster.nvlink.generation: 7 is not one of 1, 2, 3, 4, 5 or 6"
    ),
    "cluster: {gpus_per_host: 8, nvlink: {generation: 5, domain: 72}, ualink: {rate: 800G, domain: 8}}": (
        "23:10: cluster: give either nvlink or ualink, not both"
    ),
    "cluster: {gpus_per_host: 8, ualink: {rate: 0G, domain: 8}}": (
        "23:44: cluster.ualink.rate: a GPU that sends nothing needs no fabric; state its rate, as in 400G"
    ),
    "cluster: {gpus_per_host: 8, bandwidth_per_gpu: 400}": (
        "23:48: cluster.bandwidth_per_gpu: '400' has no unit; write it like 400G or 1.6T (units: M, G, T)"
    ),
    "failures: {links: -1, oversubscription: 2}": (
        "23:19: failures.links: -1 is not a number of links; expected a whole number from 0 to 1024"
    ),
    "failures: {switches: 1, oversubscription: 0.5}": (
        "23:43: failures.oversubscription: 0.5 is not an oversubscription ratio; write 1 or more, as in 1.5 for 1.5:1"
    ),
    "failures: off": "23:11: failures: expected a mapping, found 'off'",
}


@pytest.mark.parametrize(("line", "told"), MISTAKES.items(), ids=str)
def test_what_has_no_meaning_is_reported_at_its_place(line: str, told: str) -> None:
    assert said_of(f"{SHAPE}{line}\n") == [told]


@pytest.mark.parametrize(
    ("line", "told"), [(line, told) for line, told in MISTAKES.items() if line.startswith("cluster")], ids=str
)
def test_a_subnet_states_a_cluster_with_the_same_keys(line: str, told: str) -> None:
    text = subnet_texts.TREE
    last = len(text.splitlines()) + 1
    assert subnet_texts.said_of(f"{text}{line}\n") == [f"{last}:{told.partition(':')[2]}"]
    sound = "cluster: {gpus_per_host: 4, nics_per_host: 2, rails: 2, ualink: {rate: 3.2T, domain: 64}}"
    of_fabric = resolve(load_intent(load_text(f"{SHAPE}{sound}\n", "fabric.yaml"))).cluster
    assert of_fabric is not None
    assert bare(subnet_texts.subnet_of(f"{text}{sound}\n").cluster) == bare(of_fabric)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            "marking: none",
            "22:50: networks.storage.marking: 'none' is not one of trusted, untrusted or rewritten",
        ),
        (
            "purpose: stoarge",
            "22:50: networks.storage.purpose: 'stoarge' is not one of compute, storage, management or tenant; "
            "did you mean storage?",
        ),
    ],
)
def test_a_network_has_one_of_a_few_purposes(keys: str, told: str) -> None:
    text = SHAPE.replace(
        "{on: separate, prefixes: [10.20.0.0/16]}", f"{{on: fabric, class: default, {keys}}}"
    )
    assert said_of(text) == [told]


def test_what_has_a_meaning_is_taken() -> None:
    cluster = "cluster: {gpus_per_host: 4, nics_per_host: 2, rails: 2, ualink: {rate: 3.2T, domain: 64}}"
    assert said_of(f"{SHAPE}{cluster}\nfailures: {{links: 2, switches: 1, oversubscription: 1.5}}\n") == []


@pytest.mark.parametrize(
    ("generation", "gigabytes_s"), [(1, 80), (2, 150), (3, 300), (4, 450), (5, 900), (6, 1800)]
)
def test_a_gpu_sends_into_its_domain_at_the_rate_of_its_nvlink(generation: int, gigabytes_s: int) -> None:
    text = f"{SHAPE}cluster: {{gpus_per_host: 8, nvlink: {{generation: {generation}, domain: 8}}}}\n"
    cluster = resolve(load_intent(load_text(text, "fabric.yaml"))).cluster
    assert cluster is not None
    assert cluster.scale_up is not None
    assert cluster.scale_up.rate_bps == gigabytes_s * 8 * 10**9

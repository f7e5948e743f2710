"""Intents of InfiniBand subnets that tests change, and what is said of them."""

from __future__ import annotations

from lossless.formats.intent.infiniband.document import load_subnet
from lossless.formats.intent.resolve.infiniband.subnet import resolve_subnet
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.model.fabric.infiniband.subnet import Subnet
from tests.refused import refused_intent_as_json

TREE = """\
lossless: v1
fabric: tree
transport: infiniband
flavour: upstream
hardware: {switch: nvidia-qm9700, hca: connectx-7}
topology:
  fat_tree: {leaves: 4, spines: 2, rails: 2, hosts_per_leaf: 4, host_links: 2 x NDR, uplinks: 4 x NDR}
  hosts:
    sm1: {at: leaf1, links: 1 x NDR, role: management}
    store1: {at: [leaf1, leaf2], links: 2 x NDR, role: storage}
guids: {spine1: 0x0002c90300000001, "sm1:mlx5_0": "0002:c903:0000:0002"}
subnet_manager:
  manager: opensm
  hosts: [{on: sm1, priority: 14}, {on: leaf1, priority: 13, standby: true}]
  prefix: 0xfec0000000000001
  routing: {engine: ftree, roots: top}
  options: {max_wire_smps: 16, use_ucast_cache: true}
  keys: {m_key: FABRIC_M_KEY}
qos:
  vls: 4
  levels:
    compute: {sl: 0, vl: 0, high: 192, low: 64}
    storage: {sl: 3, vl: 1, low: 32}
  high_limit: 255
partitions:
  Default: {pkey: 0x7fff, members: {full: ALL, limited: "@storage"}}
  storage: {pkey: 0x0002, level: storage, rate: HDR, mtu: 4096, members: {full: "@storage", limited: "host[1-4]"}}
sharp: {manager: sm1, trees: 4, exclude: "@storage", settings: {max_trees_to_build: 126}}
jobs: {level: compute, partition: storage, environment: {NCCL_IB_PKEY: 1}}
"""
"""A fat tree with everything that an intent can say of it."""

LISTED = """\
lossless: v1
fabric: listed
transport: infiniband
flavour: nvidia
hardware: {hca: connectx-6}
topology:
  switches:
    a: {hardware: nvidia-qm8700}
    b: {hardware: nvidia-qm8790}
  links:
    - {a: "a:40", b: b, links: 1 x HDR}
    - {a: a, b: b, links: 2 x HDR}
  hosts:
    h1: {at: a, links: 1 x HDR100}
    h2: {at: b, links: 1 x HDR}
subnet_manager: {manager: ufm, hosts: [{on: h1}], ufm: {Sharp: {enable_sharp_allocation: "true"}}}
"""
"""Switches and links by name."""


def subnet_of(text: str) -> Subnet:
    """Return the subnet of an intent."""
    return resolve_subnet(load_subnet(load_text(text, "fabric.yaml")))


def said_of(text: str) -> list[str]:
    """Return what loading and resolving an intent says, without the name of the file."""
    try:
        subnet_of(text)
    except InputError as error:
        refused_intent_as_json(text)
        return [str(problem).removeprefix("fabric.yaml:") for problem in error.problems]
    return []

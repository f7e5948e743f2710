"""Intents as text, to be spoilt by the tests of messages; and what is said of a text."""

from __future__ import annotations

import re

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from tests.refused import refused_intent_as_json

_OTHER_KEYS = re.compile(r"(unknown key [^;]*; did you mean [^?]+\?) \(others: [^)]*\)")
SHAPE = """\
lossless: v1
fabric: base
transport: rocev2
classes:
  rdma: {dscp: 26, priority: 3, lossless: true, bandwidth: 50%, ecn: {min: 8 KiB, max: 2 MB, probability: 9%}}
  cnp: {dscp: 48, priority: 6, scheduling: strict}
  default: {dscp: rest, priority: 0, bandwidth: 50%}
pfc:
  watchdog: {poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}
congestion_control:
  dcqcn: {cnp_interval: 4us}
hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}
topology:
  leaf_spine:
    leaves: 2
    spines: 2
    hosts_per_leaf: 4
    host_links: 2 x 400G
    uplinks: 2 x 800G
    cables: {host: 3m, uplink: 30m}
networks:
  storage: {on: separate, prefixes: [10.20.0.0/16]}
"""
"""A fabric by its shape."""
_HEAD = SHAPE[: SHAPE.index("topology:")]
NAMED = f"""\
{_HEAD}topology:
  devices:
    leaf1: {{role: leaf}}
    leaf2: {{role: leaf}}
    host1: {{role: host}}
    host2: {{role: host}}
  links:
    - {{a: leaf1, b: leaf2, links: 1 x 800G, cable: 30m}}
    - {{a: leaf1, b: host1, links: 1 x 400G, cable: 3m}}
    - {{a: leaf2, b: host2, links: 1 x 400G, cable: 3m}}
"""
"""A fabric by its devices and links."""
PRESET = f"""\
lossless: v1
preset: nvidia
fabric: base
transport: rocev2
{SHAPE[SHAPE.index("hardware:") :]}"""
"""A fabric whose classes, watchdog and congestion control come from a preset."""

CLASSES = SHAPE[SHAPE.index("classes:") : SHAPE.index("pfc:")]
TOPOLOGY = SHAPE[SHAPE.index("topology:") : SHAPE.index("networks:")]
DEVICES = NAMED[NAMED.index("  devices:") : NAMED.index("  links:")]
LINKS = NAMED[NAMED.index("  links:") :]
ECN = "{min: 8 KiB, max: 2 MB, probability: 9%}"
WATCHDOG = "{poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}"


def spoilt(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with the first occurrence of each first half replaced by the second."""
    for old, new in changes:
        assert old in text, f"{old!r} is not in the text"
        text = text.replace(old, new, 1)
    return text


def said_of(text: str) -> list[str]:
    """Return what loading and resolving an intent says, without the file's name and the list of other keys.

    What is refused is also checked by the command line, as JSON.
    """
    try:
        resolve(load_intent(load_text(text, "fabric.yaml")))
    except InputError as error:
        refused_intent_as_json(text)
        said = [str(problem).removeprefix("fabric.yaml:") for problem in error.problems]
        return [_OTHER_KEYS.sub(r"\1", line) for line in said]
    return []

"""What an editor shows beside a text."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from lossless.checks.rules.registry import RULES
from lossless.interfaces.lsp.hover_and_completion import Cursor, completions, of_key, of_rule, transport_in
from tests.interfaces.cli.conftest import Cli, cli as cli, wide as wide


@pytest.mark.parametrize("code", sorted(RULES))
def test_every_rule_is_explained_as_the_command_does(code: str, wide: Cli) -> None:
    assert f"{of_rule(code)}\n" == wide("rule", code).out


def test_what_is_no_rule_and_no_key_is_not_explained() -> None:
    assert (of_rule("XYZ001"), of_key(()), of_key(("hots",)), of_key(("hosts", "mtu", "x"))) == (None,) * 4


def test_a_key_says_its_meaning_its_default_and_its_words() -> None:
    assert of_key(("pfc", "watchdog", "action")) == snapshot("""\
**pfc.watchdog.action**

Action on packets of a stormed queue: `drop` or `forward` them, or only raise an `alert`.

Default: `drop`

One of: `drop`, `forward`, `alert`\
""")
    assert of_key(("topology", "links", 3, "cable")) == snapshot("""\
**topology.links.cable**

Real length of the cables, in meters, with its unit.

Example: `30m`\
""")


def test_a_name_says_what_is_named() -> None:
    assert of_key(("classes", "storage")) == of_key(("classes",))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("hosts", "dcbx"), ["os", "firmware"]),
        (
            ("congestion_control",),
            ["dcqcn", "pfc-only", "nscc", "rccc", "both", "{dcqcn: {cnp_interval: 4us}}"],
        ),
        (("classes", "x", "lossless"), ["true", "false"]),
        (("classes", "x", "priority"), ["3"]),
        (("topology", "links", 0, "links"), ["4 x 400G"]),
        (("telemetry", "alerts", 0), ["watchdog", "pauses"]),
        (("nonsense",), []),
    ],
)
def test_values_are_offered_by_their_key(path: tuple[str | int, ...], words: list[str]) -> None:
    assert [item.label for item in completions(Cursor(path, "", in_value=True), "rocev2")] == words


def test_keys_are_offered_with_their_meaning() -> None:
    offered = completions(Cursor(("topology", "leaf_spine", "cables"), "", in_value=False))
    assert [(item.label, item.insert_text) for item in offered] == [
        ("host", "host: "),
        ("uplink", "uplink: "),
    ]
    assert all(item.documentation for item in offered)


def test_keys_are_those_of_the_transport_that_the_intent_names() -> None:
    offered = {
        transport: {item.label for item in completions(Cursor((), "", in_value=False), transport)}
        for transport in (None, "rocev2", "infiniband", "efa")
    }
    assert "pfc" in offered["rocev2"] - offered["infiniband"]
    assert "partitions" in offered["infiniband"] - offered["rocev2"]
    assert "machine" in offered["efa"] - offered["rocev2"] - offered["infiniband"]
    assert offered[None] == offered["rocev2"] | offered["infiniband"] | offered["efa"]
    transports = completions(Cursor(("transport",), "", in_value=True), "infiniband")
    assert [item.label for item in transports] == ["rocev2", "uec", "infiniband", "efa", "gcp", "azure"]


@pytest.mark.parametrize(
    ("text", "transport"),
    [
        ("transport: infiniband  # NDR\n", "infiniband"),
        ("fabric: x\ntransport : rocev2", "rocev2"),
        ("tran", None),
    ],
)
def test_the_transport_is_read_from_a_text_that_is_being_typed(text: str, transport: str | None) -> None:
    assert transport_in(text) == transport

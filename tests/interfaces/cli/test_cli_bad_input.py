"""Bad input, and exactly what is said of it: exit code 2, nothing on standard output, never a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import click
import pytest

from lossless.ground.basics.errors import InputError
from lossless.interfaces.cli.app import COMMANDS, group
from lossless.interfaces.cli.options import WholeNumber
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import DUPLICATED, INTENT, LEAF, intent_with

UNITS = "(units: ns, us, \u00b5s, ms, s)"
PAIRS = {
    "empty": ("fabric.yaml", b"", "fabric.yaml: the file is empty"),
    "blank": ("config_db.json", b" \n", "config_db.json: the file is blank"),
    "binary": (
        "fabric.yaml",
        b"lossless: v1\nfabric: \x00\x01\n",
        "fabric.yaml:2:9: is binary: a NUL byte at byte 22; expected text in UTF-8",
    ),
    "utf-16": (
        "fabric.yaml",
        INTENT.encode("utf-16"),
        "fabric.yaml:1:1: is encoded as UTF-16; expected UTF-8",
    ),
    "utf-16-json": (
        "config_db.json",
        LEAF.encode("utf-16"),
        "config_db.json:1:1: is encoded as UTF-16; expected UTF-8",
    ),
    "latin-1": (
        "fabric.yaml",
        b"lossless: v1\nfabric: caf\xe9\n",
        "fabric.yaml:2:12: is not UTF-8: byte 0xE9 at byte 25 of the file",
    ),
    "tab": (
        "fabric.yaml",
        b"lossless: v1\npfc:\n\twatchdog: off\n",
        "fabric.yaml:3:1: tab used for indentation; YAML allows only spaces\n"
        "  |\n"
        "3 |     watchdog: off\n"
        "  | ^^^^",
    ),
    "duplicate-key": (
        "fabric.yaml",
        (INTENT + "mtu: 9100\nmtu: 9200\n").encode(),
        "fabric.yaml:24:1: duplicate key 'mtu'; first on line 23\n   |\n24 | mtu: 9200\n   | ^^^",
    ),
    "unknown-key": (
        "fabric.yaml",
        intent_with("networks:", "netwroks:").encode(),
        "fabric.yaml:21:1: unknown key 'netwroks'; did you mean networks? (others: workloads, "
        "exceptions, buffers, telemetry, hosts, preset, trimming, sonic, mtu, cluster, failures)\n"
        "   |\n"
        "21 | netwroks:\n"
        "   | ^^^^^^^^",
    ),
    "wrong-unit": (
        "fabric.yaml",
        intent_with("host_links: 2 x 400G", "host_links: 2 x 400 KiB").encode(),
        "fabric.yaml:18:17: topology.leaf_spine.host_links: '400 KiB' is not a rate; "
        "write it like 400G or 1.6T (units: M, G, T)\n"
        "   |\n"
        "18 |     host_links: 2 x 400 KiB\n"
        "   |                 ^",
    ),
    "dscp-64": (
        "fabric.yaml",
        intent_with("dscp: 48", "dscp: 64").encode(),
        "fabric.yaml:6:15: classes.cnp.dscp: 64 is not a DSCP; expected a whole number from 0 to 63\n"
        "  |\n"
        "6 |   cnp: {dscp: 64, priority: 6, scheduling: strict}\n"
        "  |               ^^",
    ),
    "priority-8": (
        "fabric.yaml",
        intent_with("priority: 6", "priority: 8").encode(),
        "fabric.yaml:6:29: classes.cnp.priority: 8 is not a priority; expected a whole number from 0 to 7\n"
        "  |\n"
        "6 |   cnp: {dscp: 48, priority: 8, scheduling: strict}\n"
        "  |                             ^",
    ),
    "two-classes-on-one-priority": (
        "fabric.yaml",
        intent_with("priority: 6", "priority: 3").encode(),
        "fabric.yaml:6:29: classes.cnp.priority: 3 is already the priority of class rdma\n"
        "  |\n"
        "6 |   cnp: {dscp: 48, priority: 3, scheduling: strict}\n"
        "  |                             ^",
    ),
    "no-such-switch": (
        "fabric.yaml",
        intent_with("leaf: nvidia-sn5600", "leaf: nvidia-sn5610").encode(),
        "fabric.yaml:12:18: hardware.leaf: no switch profile is called 'nvidia-sn5610'; "
        "did you mean nvidia-sn5640? (others: nvidia-sn5600, nvidia-sn2410, nvidia-sn4600c, nvidia-sn2700, "
        "nvidia-sn3700 and 19 more, see lossless profiles)\n"
        "   |\n"
        "12 | hardware: {leaf: nvidia-sn5610, spine: nvidia-sn5600, nic: connectx-7}\n"
        "   |                  ^^^^^^^^^^^^^",
    ),
    "no-such-nic": (
        "fabric.yaml",
        intent_with("nic: connectx-7", "nic: connectx7").encode(),
        "fabric.yaml:12:60: hardware.nic: no network adapter profile is called 'connectx7'; "
        "did you mean connectx-7? (others: connectx-8, connectx-6-dx, amd-pollara-400, bluefield-3, broadcom-thor-2)\n"
        "   |\n"
        "12 | hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx7}\n"
        "   |                                                            ^^^^^^^^^",
    ),
    "bare-duration": (
        "fabric.yaml",
        intent_with("poll: 600ms", "poll: 600").encode(),
        "fabric.yaml:9:20: pfc.watchdog.poll: '600' has no unit; "
        f"write it like 200ms or 4us {UNITS}\n"
        "  |\n"
        "9 |   watchdog: {poll: 600, detection: 1200ms, restoration: 1200ms, action: drop}\n"
        "  |                    ^^^",
    ),
    "bare-length": (
        "fabric.yaml",
        intent_with("host: 3m", "host: 3").encode(),
        "fabric.yaml:20:20: topology.leaf_spine.cables.host: '3' has no unit; "
        "write it like 3m or 30m (units: m, cm, km)\n"
        "   |\n"
        "20 |     cables: {host: 3, uplink: 30m}\n"
        "   |                    ^",
    ),
    "cut-off": (
        "config_db.json",
        b'{\n  "PORT": {\n    "Ethernet0": ',
        "config_db.json:3:17: the file ends too early; is it cut off?\n"
        "  |\n"
        '3 |     "Ethernet0":\n'
        "  |                 ^",
    ),
    "not-a-table": (
        "config_db.json",
        b'{"PORT": [1, 2]}',
        "config_db.json:1:10: PORT is a list, not a table of rows; it is not read\n"
        "  |\n"
        '1 | {"PORT": [1, 2]}\n'
        "  |          ^",
    ),
    "foreign-json": (
        "package.json",
        b'{"name": "x"}',
        "package.json:1:1: not a CONFIG_DB: it has none of the tables that this tool reads\n"
        "  |\n"
        '1 | {"name": "x"}\n'
        "  | ^",
    ),
    "foreign-yaml": (
        "values.yaml",
        b"replicas: 1\n",
        "values.yaml:1:1: not an intent: it does not begin with lossless: v1\n"
        "  |\n"
        "1 | replicas: 1\n"
        "  | ^^^^^^^^",
    ),
    "other-kind": (
        "fabric.txt",
        b"lossless: v1\n",
        "fabric.txt: unknown kind of file; expected .json, .yaml or .yml, a configuration of Arista EOS, "
        "NVIDIA NVUE or Cisco NX-OS, a file of a subnet manager, or facts of a host (docs/guides/host-facts.md)",
    ),
}


@pytest.fixture(autouse=True)
def _wide(wide: Cli) -> None:
    """Compare whole lines."""


@pytest.mark.parametrize("case", PAIRS)
def test_bad_input_and_what_is_said_of_it(case: str, cli: Cli) -> None:
    name, content, message = PAIRS[case]
    Path(name).write_bytes(content)
    outcome = cli("lint", name)
    blocks = outcome.err.removesuffix("\n").split("\n\n")
    assert blocks[0] == message
    assert len(blocks) == 2, "one mistake draws one message, then the summary"
    assert blocks[1].startswith("check incomplete (1 problem in the input); the rest: 0 errors, ")
    assert (outcome.code, outcome.out) == (2, "")


def test_a_missing_file(cli: Cli) -> None:
    outcome = cli("lint", "fabric.yaml")
    assert outcome.err.splitlines()[0] == "fabric.yaml: no such file"
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize("arguments", [(), (".",), ("site",), ("site/",)])
def test_a_folder_without_anything_to_check(arguments: tuple[str, ...], cli: Cli) -> None:
    Path("site").mkdir()
    Path("site/notes.txt").write_text("nothing")
    outcome = cli("lint", *arguments)
    folder = (*arguments, ".")[0]
    assert outcome.err.splitlines()[0] == (
        f"{folder}: nothing to check here: no intent (YAML with lossless: v1), no config_db.json or other switch "
        "configuration"
    )
    assert (outcome.code, outcome.out) == (2, "")


def test_an_empty_folder_is_named_beside_one_that_is_not(cli: Cli) -> None:
    for folder in ("site", "empty"):
        Path(folder).mkdir()
    Path("site/fabric.yaml").write_text(INTENT)
    outcome = cli("lint", "site", "empty")
    assert outcome.err.startswith("empty: nothing to check here")
    counts = "check incomplete (1 problem in the input); the rest: 0 errors, 0 warnings, 0 infos in 1 file ("
    assert outcome.err.splitlines()[-1].startswith(counts)
    assert outcome.code == 2


def test_a_duplicate_key_in_json_is_a_finding(cli: Cli) -> None:
    Path("config_db.json").write_text(DUPLICATED)
    outcome = cli("lint", "config_db.json")
    assert outcome.out == (
        "config_db.json:15:7: CFG005 repeated-key: VERSIONS|DATABASE|VERSION: 'VERSION' occurs twice in one "
        "object; SONiC uses the last and drops the first [warning]\n"
        "   |\n"
        '15 |       "VERSION": "version_202411_01"\n'
        "   |       ^^^^^^^^^\n"
        "   = note: the first is on line 14\n"
        "   = help: remove one of the two\n\n"
    )
    assert outcome.code == 0


def test_a_broken_file_does_not_hide_what_is_wrong_in_another(cli: Cli) -> None:
    Path("a.yaml").write_text("lossless: v1\nlossless: v1\n")
    Path("b.yaml").write_text(intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G"))
    outcome = cli("lint", "a.yaml", "b.yaml")
    assert outcome.out.startswith("b.yaml:19:")
    assert outcome.err.startswith("a.yaml:2:1: duplicate key 'lossless'; first on line 1")
    assert outcome.code == 2


def test_a_broken_profile_of_the_users_is_named(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    Path("own/switches").mkdir(parents=True)
    Path("own/switches/mine.toml").write_text('name = ["ACS-SN5600"')
    outcome = cli("lint", "--profiles", "own", "config_db.json")
    assert outcome.err.startswith("config_db.json: own/switches/mine.toml: not TOML: ")
    assert (outcome.code, outcome.out) == (2, "")


WRITTEN = (
    *("4", "0", "4,5", "400G", "4KiB", "9100", "30m", "4us", "4h", "30min", "40%", ":9100", "dynamic_th=4"),
    *("kmin=100KiB..200KiB/20", "uplinks=400G", "hosts=30m"),
)
"""A text of each form that options of numbers take."""
OTHER_DIGITS = str.maketrans("0123456789", "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669")


def numeric(name: str) -> Iterable[tuple[click.Parameter, click.Context, str]]:
    """Yield the options of a command that make a number of a text, each with a text that it takes."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    with click.Context(command) as context:
        for option in command.params:
            for text in WRITTEN if not isinstance(option.type, click.Path | click.Choice) else ():
                try:
                    value = option.process_value(context, [text] if option.multiple else text)
                except (click.BadParameter, InputError):
                    continue  # InputError: no number is the name of a plugin
                if not isinstance(value, str | bool) and any(is_number(part) for part in parts_of(value)):
                    yield option, context, text


def parts_of(value: object) -> Iterable[object]:
    """Return the values in what an option is made into."""
    inside: Iterable[object] = (
        value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    )
    parts = [*inside]
    return [value, *(deeper for part in parts for deeper in parts_of(part))]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@pytest.mark.parametrize("name", COMMANDS)
def test_numbers_of_options_are_of_ascii_digits_and_of_few(name: str) -> None:
    for option, context, text in numeric(name):
        for wrong in (
            text.translate(OTHER_DIGITS),
            re.sub("[0-9]", "\N{SUPERSCRIPT TWO}", text),
            re.sub("[0-9]", "\N{FULLWIDTH DIGIT FOUR}", text),
            re.sub("([0-9])", r"1_\1", text),
            re.sub("[0-9]+", "9" * 5_000, text),
            f"{text}\n",
        ):
            with pytest.raises(click.BadParameter):
                option.process_value(context, [wrong] if option.multiple else wrong)


def test_options_of_numbers_are_found() -> None:
    """All types of click that read a number are ours, and options of every form are among those that are tried."""
    found = {option.opts[0] for name in COMMANDS for option, _, _ in numeric(name)}
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        for option in command.params:
            counted = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType) and not (
                isinstance(option, click.Option) and (option.is_flag or option.count)
            )
            assert isinstance(option.type, WholeNumber) or not counted, (name, option.opts)
            assert not counted or option.opts[0] in found
    assert found >= {
        "--dscp",
        "--rdma-dscp",
        "--speed",
        "--listen",
        "--vary",
        "--reorder",
        "--write",
        "--cable",
    }

"""The other commands, and what the help says of all of them."""

from __future__ import annotations

import json
import tomllib

import click
import pytest

from lossless import __version__
from lossless.checks.rules.documentation import rule_of
from lossless.checks.rules.registry import RULES
from lossless.ground.basics.files import build_version
from lossless.interfaces.cli.app import COMMANDS, GROUPS, group
from lossless.model.hardware.infiniband import hca_names, infiniband_switch_names
from lossless.model.hardware.load import nic_names, switch_names
from tests.interfaces.cli.conftest import Cli
from tests.paths import ROOT


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_its_line_in_the_list(name: str, cli: Cli) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    assert command.help is not None
    assert command.help.splitlines()[0] == COMMANDS[name]
    outcome = cli(name, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"Usage: lossless {name} ")


def test_the_help_lists_every_command(cli: Cli) -> None:
    outcome = cli("--help")
    assert outcome.code == 0
    for name, line in COMMANDS.items():
        assert f"  {name.ljust(max(map(len, COMMANDS)))}  {line}" in outcome.out.splitlines()
    headings = [line.removesuffix(":") for line in outcome.out.splitlines() if line.endswith(":")]
    assert headings == ["Options", *GROUPS]


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cli("--version") == (0, f"lossless {build_version()}\n", "")
    assert project["version"] == __version__


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "lnit",
            "no command 'lnit'; did you mean lint? (others: plan, import, simulate, "
            "baseline, collector and 20 more, see lossless --help)",
        ),
        (
            "x",
            "no command 'x'; there are lint, render, plan, verify, diff and 21 more, see lossless --help",
        ),
    ],
)
def test_an_unknown_command_draws_the_nearest(name: str, message: str, cli: Cli) -> None:
    outcome = cli(name)
    assert outcome.err.splitlines()[-1] == f"Error: {message}"
    assert (outcome.code, outcome.out) == (2, "")


def test_an_unknown_option_is_refused(cli: Cli) -> None:
    outcome = cli("lint", "--formt", "json")
    assert outcome.err.splitlines()[-1].startswith("Error: No such option")
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize("word", ["WD001", "wd001", "watchdog-missing"])
def test_a_rule_is_explained_by_code_and_by_name(word: str, wide: Cli) -> None:
    text = rule_of("WD001").text
    assert wide("rule", word) == (0, f"# WD001 watchdog-missing (error)\n\n{text}\n", "")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (
            "WDD001",
            "lossless: no rule 'WDD001'; did you mean WD001 (watchdog-missing)? (lossless rules lists all)",
        ),
        (
            "watchdog-mising",
            "lossless: no rule 'watchdog-mising'; did you mean WD001 (watchdog-missing)? (lossless rules lists all)",
        ),
        ("?", "lossless: no rule '?'; lossless rules lists all"),
    ],
)
def test_an_unknown_rule_draws_the_nearest(word: str, message: str, cli: Cli) -> None:
    assert cli("rule", word) == (2, "", f"{message}\n")


def test_the_list_of_rules_is_whole(wide: Cli) -> None:
    text = wide("rules")
    assert [line.split()[0] for line in text.out.splitlines()] == sorted(RULES)
    entries = json.loads(wide("rules", "--format", "json").out)
    assert [entry["code"] for entry in entries] == sorted(RULES)
    for entry, line in zip(entries, text.out.splitlines(), strict=True):
        assert line.split(maxsplit=3) == [
            entry["code"],
            entry["name"],
            entry["severity"],
            entry["summary"],
        ]
        assert entry["sources"]
    heads, _, *rows = wide("rules", "--format", "md").out.splitlines()
    assert heads == "| code | name | severity | checks | what it says |"
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == sorted(RULES)


def test_all_hardware_is_listed(wide: Cli) -> None:
    outcome = wide("profiles")
    names = [line.split()[0] for line in outcome.out.splitlines() if line.startswith("  ")]
    assert names == [*switch_names(), *nic_names(), *infiniband_switch_names(), *hca_names()]
    assert (outcome.code, outcome.err) == (0, "")


def test_a_switch_is_shown_with_sources(wide: Cli) -> None:
    out = wide("profiles", "nvidia-sn5600").out.splitlines()
    assert out[0] == "nvidia-sn5600: NVIDIA SN5600"
    assert "  packet buffer    158,229,504 B" in out
    assert "  load balancing   nvue: ecmp, adaptive at 200G, 400G" in out
    start = out.index("HWSKU ACS-SN5600 (default)")
    assert out[start + 1 : start + 5] == [
        "  ports            65 at 25G, 800G",
        "  headroom rows    10G, 25G, 40G, 50G, 100G, 200G, 400G, 800G; cables 5m, 40m, 300m",
        "  buffer defaults  t0, t1",
        "  source           sonic-buildimage "
        "device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/port_config.ini @086b03b",
    ]
    assert any(line.startswith("  ASIC           sonic-buildimage platform/mellanox") for line in out)
    assert any(line.startswith("  balancing      NVIDIA Cumulus Linux") for line in out)


def test_what_an_adapter_takes_out_of_order_is_shown_or_unknown(wide: Cli) -> None:
    setting = "adaptive_routing_forced_en=1 in register ROCE_ACCL (mlxreg)"
    assert (
        f"  out of order      yes, how many is unknown; by {setting}"
        in wide("profiles", "connectx-7").out.splitlines()
    )
    assert "  out of order      unknown" in wide("profiles", "broadcom-thor-2").out.splitlines()


@pytest.mark.parametrize(
    "name", [*dict.fromkeys((*switch_names(), *nic_names(), *infiniband_switch_names(), *hca_names()))]
)
def test_every_profile_can_be_shown(name: str, cli: Cli) -> None:
    outcome = cli("profiles", name)
    assert outcome.out.startswith(f"{name}: ")
    assert "\nsources\n" in outcome.out
    assert (outcome.code, outcome.err) == (0, "")


def test_an_unknown_profile_draws_the_nearest(cli: Cli) -> None:
    message = (
        "lossless: no profile is called 'connectx7'; did you mean connectx-7? (others: connectx-8, connectx-6, "
        "connectx-6-dx, accton-as9516, arista-7050cx3 and 31 more, see lossless profiles)\n"
    )
    assert cli("profiles", "connectx7") == (2, "", message)
    assert cli("profiles", "??").err.endswith(" and 32 more, see lossless profiles\n")


def test_the_schema_is_that_of_an_intent(cli: Cli) -> None:
    from jsonschema import Draft202012Validator

    from lossless.ground.documents import load_text
    from tests.interfaces.cli.inputs import INTENT

    outcome = cli("schema")
    schema = json.loads(outcome.out)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid(load_text(INTENT, "fabric.yaml").data)
    assert not validator.is_valid({"lossless": "v2"})
    assert (outcome.code, outcome.err) == (0, "")

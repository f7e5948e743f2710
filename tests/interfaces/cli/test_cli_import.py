"""``lossless import``: what a person sees, and what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import LEAF, leaf_with
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"


@pytest.fixture
def deployed(cli: Cli) -> Cli:
    """Lay the example fabric below ``deployed``, as it is rendered onto its base."""
    assert cli("render", str(EXAMPLE), "-o", "deployed", "--base", str(EXAMPLE / "base")).code == 0
    return cli


def test_a_deployed_fabric_is_imported_and_rendered_back_to_the_byte(deployed: Cli) -> None:
    outcome = deployed("import", "deployed", "-o", "fabric.yaml", "--base", "base")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == snapshot("""\
imported 4 devices to fabric.yaml
rendered again: 3,646 of 3,646 fields the same (100.0 %), 1,878 of 1,878 rows, 72 of 72 tables; 0
  fields are added
""")
    assert deployed("lint", "fabric.yaml").code == 0
    assert deployed("render", "fabric.yaml", "-o", "again", "--base", "base").code == 0
    for name in ("leaf1", "leaf2", "spine1", "spine2"):
        file = f"{name}/config_db.json"
        assert Path("again", file).read_bytes() == Path("deployed", file).read_bytes()


def test_without_an_output_the_intent_is_printed_and_nothing_is_written(cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    outcome = cli("import", "leaf1.json")
    assert outcome.code == 0
    assert outcome.out.startswith(
        "# Imported from what is deployed on leaf1. What most ports have is declared here.\n"
    )
    assert [path.name for path in Path().iterdir()] == ["leaf1.json"]


def test_what_differs_is_listed_with_its_reason(cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf_with("PFC_WD", "GLOBAL", BIG_RED_SWITCH="enable"))
    outcome = cli("import", "leaf1.json", "-o", "fabric.yaml")
    assert (outcome.code, outcome.err) == (
        0,
        snapshot("""\
imported 1 device to fabric.yaml
rendered again: 221 of 243 fields the same (90.9 %), 68 of 87 rows, 15 of 18 tables; 3 fields are
  added
what differs:
  fields  devices  kind            why
      21        1  vendor profile  rendered from the HWSKU's own template; the device has other
                                   values, or others
       1        1  watchdog        no intent can state this watchdog, or other switches poll at
                                   another interval
one of each kind:
  vendor profile: BUFFER_PROFILE|q_lossy_profile|dynamic_th: absent, rendered 3
  watchdog: PFC_WD|GLOBAL|BIG_RED_SWITCH: enable, left out
"""),
    )


def test_an_unknown_hwsku_is_refused_where_it_stands_and_nothing_is_written(cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf_with("DEVICE_METADATA", "localhost", hwsku="Mystery-64"))
    outcome = cli("import", "leaf1.json", "-o", "fabric.yaml", "--base", "base")
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        snapshot(
            "leaf1.json:5:16: no profile knows the HWSKU Mystery-64; `lossless profiles` lists those that are "
            "known, --profiles adds your own\n"
        ),
    )
    assert sorted(path.name for path in Path().iterdir()) == ["leaf1.json"]


def test_a_file_that_says_something_else_is_not_overwritten(cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    Path("fabric.yaml").write_text("mine\n")
    outcome = cli("import", "leaf1.json", "-o", "fabric.yaml", "--base", "base")
    assert (outcome.code, outcome.err) == (
        2,
        snapshot("fabric.yaml: is there already and says something else; it is not overwritten\n"),
    )
    assert Path("fabric.yaml").read_text() == "mine\n"
    assert not Path("base").exists()


def test_a_link_that_leads_out_of_the_bases_is_not_followed_and_nothing_is_written(cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    Path("elsewhere").mkdir()
    Path("base").mkdir()
    Path("base", "leaf1").symlink_to(Path("elsewhere").absolute())
    outcome = cli("import", "leaf1.json", "-o", "fabric.yaml", "--base", "base")
    assert (outcome.code, outcome.err) == (
        2,
        snapshot("lossless: base/leaf1: is a link; below a folder that is written no link is followed\n"),
    )
    assert not Path("fabric.yaml").exists()
    assert not any(Path("elsewhere").iterdir())


def test_a_link_to_nothing_is_not_written_through(cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    Path("fabric.yaml").symlink_to("victim")
    assert cli("import", "leaf1.json", "-o", "fabric.yaml").code == 2
    assert not Path("victim").exists()


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (
            ("--cabling", "cables.csv"),
            "leaf1, Ethernet0\n",
            "cables.csv:1:1: 'leaf1, Ethernet0' is no cable; expected device, port, device, port, length\n",
        ),
        (("--cabling", "absent.csv"), "", "absent.csv: no such file\n"),
        (
            ("--lldp", "cables.csv"),
            "leaf1\n",
            "cables.csv:1:1: not what `show lldp table` prints: no line with LocalPort, RemoteDevice, "
            "RemotePortID, Capability, RemotePortDescr, nor JSON of lldpctl\n",
        ),
        (
            ("--nic", "connectx-77"),
            "",
            "lossless: no network adapter profile is called 'connectx-77'; did you mean "
            "connectx-7? (others: connectx-8, connectx-6-dx, amd-pollara-400, bluefield-3, broadcom-thor-2)\n",
        ),
        (
            ("--name", "a b"),
            "",
            "lossless: 'a b' cannot name a fabric; expected letters, digits, '.', '_' and '-', at most 63, "
            "beginning with a letter or digit\n",
        ),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_written(
    cli: Cli, arguments: tuple[str, ...], text: str, message: str
) -> None:
    Path("leaf1.json").write_text(LEAF)
    Path("cables.csv").write_text(text or "\n")
    outcome = cli("import", "leaf1.json", "-o", "fabric.yaml", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.endswith(message)
    assert not Path("fabric.yaml").exists()


def test_an_intent_is_not_imported(cli: Cli) -> None:
    Path("fabric.yaml").write_text("lossless: v1\n")
    outcome = cli("import", "fabric.yaml")
    assert (outcome.code, outcome.err) == (2, "fabric.yaml:1:1: is an intent already\n")


def test_cables_and_adapters_are_taken_from_what_is_given(cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    Path("cables.csv").write_text("leaf1, Ethernet0, gpu7, eth1, 2m\n")
    Path("leaf1.txt").write_text(
        json.dumps({"lldp": {"interface": {"Ethernet4": {"chassis": {"gpu8": {}}, "port": {}}}}})
    )
    outcome = cli(
        "import", "leaf1.json", "--cabling", "cables.csv", "--lldp", "leaf1.txt", "--nic", "connectx-8"
    )
    assert '    - {a: "leaf1:Ethernet0", b: "gpu7:eth1", links: 1 x 400G, cable: 2m}\n' in outcome.out
    assert '    - {a: "leaf1:Ethernet4", b: gpu8, links: 1 x 400G, cable: 5m}\n' in outcome.out
    assert "  nic: connectx-8\n" in outcome.out

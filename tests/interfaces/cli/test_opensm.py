"""What a person sees of the verdict of a real opensm, and the exit codes."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from lossless.interfaces.cli import main
from tests.analysis.opensm.test_traps import engine, intent_with, torus
from tests.checks.rules.snippets import merge
from tests.paths import ROOT


@pytest.fixture
def installed() -> None:
    """Tests that run opensm are marked by it (tests/real_tools.py)."""


def shown(path: Path, change: dict[str, object], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and what is printed of an intent, without the time that it took."""
    path.write_text(intent_with(change).text, encoding="utf-8")
    code = main(["opensm", str(path)])
    return code, timeless(capsys.readouterr().out.replace(str(path), "fabric.yaml"))


def timeless(printed: str) -> str:
    return re.sub(r"up in [\d.]+ s", "up in _ s", printed)


@pytest.mark.usefixtures("installed")
def test_the_guide_shows_what_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (ROOT / "docs" / "guides" / "infiniband.md").read_text(encoding="utf-8")
    ((command, answer),) = re.findall(r"^    \$ lossless (.*)\n((?:    .*\n)+)", guide, re.MULTILINE)
    monkeypatch.chdir(ROOT / "examples")
    assert main(command.split()) == 0
    assert timeless(textwrap.dedent(answer)) == timeless(capsys.readouterr().out)


@pytest.mark.usefixtures("installed")
def test_a_subnet_that_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = shown(tmp_path / "fabric.yaml", {}, capsys)
    assert code == 0
    assert printed == snapshot("""\
fabric.yaml: subnet subnet
  opensm accepts it as intended
  configuration     12 keys read, 0 read with another value
  simulated subnet  4 switches, 11 HCAs: up in _ s
  routing engine    ftree
  partitions        3 from the file
  credit loops      none: the tables that opensm's ftree wrote, 110 paths; no credit loop even on
                    one VL
""")


@pytest.mark.usefixtures("installed")
def test_an_engine_that_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = shown(tmp_path / "fabric.yaml", engine("fatfree"), capsys)
    assert code == 1
    assert printed == snapshot("""\
fabric.yaml: subnet subnet
  not as intended:
    the routing engine is minhop; fatfree is meant
    opensm: setup_routing_engine: cannot find or setup routing engine 'fatfree'
    opensm: setup_routing_engines: Failed to setup routing engine 'fatfree'
  configuration     12 keys read, 0 read with another value
  simulated subnet  4 switches, 11 HCAs: up in _ s
  routing engine    minhop, a fallback; fatfree is intended
  partitions        3 from the file
  credit loops      none: the tables that opensm's minhop wrote, 110 paths; no credit loop even on
                    one VL
""")


@pytest.mark.usefixtures("installed")
def test_a_credit_loop_is_shown_hop_by_hop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    single = merge(torus("dor"), {"topology": {"torus": {"links": "1 x NDR"}}})
    code, printed = shown(tmp_path / "fabric.yaml", single, capsys)
    assert code == 1
    assert printed == snapshot("""\
fabric.yaml: subnet subnet
  not as intended:
    credit loop of 5 hops
  configuration     3 keys read, 0 read with another value
  simulated subnet  25 switches, 25 HCAs: up in _ s
  routing engine    dor
  partitions        no file: every port is a full member of 0x7fff
  credit loops      found: the tables that opensm's dor wrote, 600 paths, with the VLs of each
                    sw-0-0 port 1 -> sw-1-0
                    sw-1-0 port 1 -> sw-2-0
                    sw-2-0 port 1 -> sw-3-0
                    sw-3-0 port 1 -> sw-4-0
                    sw-4-0 port 1 -> sw-0-0
""")


@pytest.mark.usefixtures("installed")
def test_the_json_form_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(intent_with(torus("dor")).text, encoding="utf-8")
    assert main(["opensm", "--format", "json", str(path)]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["version"], data["accepted"], data["intended_engine"]) == (1, False, "dor")
    assert (data["simulated"]["up"], data["simulated"]["engine"]) == (True, "dor")
    assert (data["credit_loops"]["state"], len(data["credit_loops"]["loop"])) == ("loop", 10)


def test_without_opensm_a_plain_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lossless.analysis.opensm.run.find_program", lambda _name: None)
    path = tmp_path / "fabric.yaml"
    path.write_text(intent_with({}).text, encoding="utf-8")
    assert main(["opensm", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("lossless: not installed: opensm, ibsim")
    assert "apt-get install" in captured.err


def test_an_intent_of_another_transport_is_no_subnet(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opensm", str(ROOT / "examples" / "roce-256")]) == 2
    assert "opensm checks InfiniBand subnets" in capsys.readouterr().err


def test_an_intent_with_mistakes_is_located(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(intent_with({"flavour": "debian"}).text, encoding="utf-8")
    assert main(["opensm", str(path)]) == 2
    assert "flavour" in capsys.readouterr().err


@pytest.mark.usefixtures("installed")
def test_a_deployed_configuration_is_read_with_no_fabric_and_its_keys_stay_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "opensm.conf"
    path.write_text("qos yes\nm_key 0x12345#7\nsa_key geheim\nsm_prioritee 3\nlmc 0\n", encoding="utf-8")
    assert main(["opensm", str(path)]) == 1
    assert capsys.readouterr().out.replace(str(path), "opensm.conf") == snapshot("""\
opensm.conf
  not as intended:
    opensm does not know the key sm_prioritee
    opensm complains of the value of sa_key
    opensm takes qos as FALSE, written is yes
    opensm takes m_key otherwise than written
    opensm takes sa_key otherwise than written
  configuration  4 keys read, 3 read with another value
  credit loops   unproven: the configuration of a subnet manager does not say how the fabric is
                 cabled
""")


@pytest.mark.usefixtures("installed")
def test_an_adaptive_engine_of_nvidias_is_left_out_and_reported_and_decided_by_all_routes_that_it_allows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    adaptive = merge(engine("ar_updn"), {"flavour": "nvidia"})
    code, printed = shown(tmp_path / "fabric.yaml", adaptive, capsys)
    assert code == 0
    assert printed == snapshot("""\
fabric.yaml: subnet subnet
  opensm accepts every option that it was given
  configuration     11 keys read, 0 read with another value
  not checked       2 options
                    routing_engine ar_updn, sharp_enabled: only NVIDIA's opensm knows it
  simulated subnet  4 switches, 11 HCAs: up in _ s
  routing engine    minhop here; ar_updn is intended
  partitions        3 from the file
  credit loops      none: no cycle among all paths that go up and then down
""")

"""Switches of other systems are imported, and what is rendered of their intent does the same again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from lossless.formats.switches.registry import TITLES
from lossless.ground.basics.errors import InputError
from lossless.interfaces.api.import_ import ImportResult, import_configs
from lossless.interfaces.api.render import render
from tests.formats.importing.imports import intent, kinds

EXAMPLES = Path(__file__).parents[3] / "examples"
SONIC_LEAF = Path(__file__).parents[2] / "checks/rules/bases/rendered-leaf.json"
SWITCHES = ("cisco-9332d-gx2b", "nvidia-sn5600")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rendered")
    for name in ("roce-256-mixed", "nexus-128"):
        render(EXAMPLES / name, out / name)
        # The other forms of a switch say the same, or a part of it.
        for other in [*(out / name).glob("*/*.dme.json"), *(out / name).glob("*/*.y*ml")]:
            other.unlink()
    return out


def brought_in(*paths: Path, cable: str | None = "30m") -> ImportResult:
    return import_configs(paths, switches=SWITCHES, cable=cable)


def refusal(*paths: Path, switches: tuple[str, ...] = SWITCHES, cable: str | None = "30m") -> str:
    with pytest.raises(InputError) as caught:
        import_configs(paths, switches=switches, cable=cable)
    return str(caught.value)


def test_the_times_of_nxos_come_back(rendered: Path) -> None:
    back = brought_in(rendered / "nexus-128")
    assert (back.differences, back.refused) == ((), ())
    assert intent(back)["pfc"]["watchdog"] == {
        "poll": "100ms",
        "detection": "400ms",
        "restoration": "400ms",
        "action": "drop",
    }


def test_a_time_of_restoration_that_no_switch_states_is_said_to_be_unknown(
    rendered: Path, tmp_path: Path
) -> None:
    """By an intent without restoration a stormed queue is never restored, which NX-OS does not say."""
    for path in (rendered / "nexus-128").glob("*/qos.cfg"):
        lines = path.read_text().splitlines(keepends=True)
        kept = [line for line in lines if "auto-restore" not in line]
        assert len(kept) < len(lines)
        (tmp_path / f"{path.parent.name}.cfg").write_text("".join(kept))
    back = brought_in(tmp_path)
    assert "restoration" not in intent(back)["pfc"]["watchdog"]
    said = " ".join(back.text.replace("#", " ").split())
    assert "ports state no time, and what their system then does was found in no source" in said
    assert "state no time" not in brought_in(rendered / "nexus-128").text


def test_a_watchdog_whose_times_nothing_says_is_asked_for(rendered: Path, tmp_path: Path) -> None:
    for path in (rendered / "nexus-128").glob("*/qos.cfg"):
        lines = path.read_text().splitlines(keepends=True)
        times = ("watch-dog interval", "shutdown-multiplier", "auto-restore")
        kept = [line for line in lines if not any(word in line for word in times)]
        (tmp_path / f"{path.parent.name}.cfg").write_text("".join(kept))
    back = brought_in(tmp_path)
    assert kinds(back) == {"watchdog"}
    assert intent(back)["pfc"] == {"watchdog": "off"}
    assert "no switch says its times; state pfc.watchdog" in back.text
    assert intent(back)["classes"]["rdma"]["lossless"]


@pytest.mark.parametrize("which", ["roce-256-mixed", "roce-256-mixed/leaf1", "roce-256-mixed/spine1"])
def test_what_is_rendered_does_the_same(rendered: Path, which: str) -> None:
    back = brought_in(rendered / which)
    assert (back.differences, back.refused) == ((), ())
    assert back.figures.fields == back.figures.fields_same > 0
    classes = intent(back)["classes"]
    assert (classes["rdma"]["dscp"], classes["rdma"]["lossless"], set(classes)) == (
        26,
        True,
        {"default", "rdma", "cnp"},
    )


def test_a_port_unlike_others_is_listed(rendered: Path, tmp_path: Path) -> None:
    text = (rendered / "nexus-128/leaf1/qos.cfg").read_text()
    (tmp_path / "leaf1.cfg").write_text(text.replace("flow-control mode on", "flow-control mode off", 1))
    back = brought_in(tmp_path)
    others = [difference for difference in back.differences if difference.kind != "watchdog"]
    assert {(difference.kind, difference.cell.key) for difference in others} == {
        ("unlike most", "Ethernet1/1")
    }


def test_a_product_that_nothing_says_is_asked_for(rendered: Path) -> None:
    said = refusal(rendered / "roce-256-mixed/leaf1", switches=())
    assert "qos.nv:1:1: does not say which product it is; state its profile: --switch leaf1=PROFILE" in said


def test_a_product_of_another_system_is_refused(rendered: Path) -> None:
    said = refusal(rendered / "roce-256-mixed/leaf1", switches=("leaf1=arista-7060x6-64pe",))
    assert "arista-7060x6-64pe is stated for leaf1, and is not known to run" in said


def test_a_port_that_the_product_lacks_is_refused(rendered: Path, tmp_path: Path) -> None:
    text = (rendered / "nexus-128/leaf1/qos.cfg").read_text()
    (tmp_path / "leaf1.cfg").write_text(text.replace("Ethernet1/32\n", "Ethernet1/99\n"))
    assert "has no port Ethernet1/99" in refusal(tmp_path)


def test_cable_lengths_are_not_made_up(rendered: Path) -> None:
    said = refusal(rendered / "nexus-128/leaf1", cable=None)
    assert "nothing says how long the cables at Ethernet1/1, Ethernet1/2 and 30 more are" in said


def test_two_switches_of_one_name_are_refused(rendered: Path, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / "leaf1").mkdir(parents=True)
        (tmp_path / folder / "leaf1/qos.cfg").write_text((rendered / "nexus-128/leaf1/qos.cfg").read_text())
    assert "is called leaf1, as" in refusal(tmp_path)


def test_switches_of_sonic_and_of_another_system_are_one_intent(rendered: Path, tmp_path: Path) -> None:
    (tmp_path / "leaf1.json").write_text(SONIC_LEAF.read_text())
    (tmp_path / "spine1.cfg").write_text((rendered / "roce-256-mixed/spine1/qos.cfg").read_text())
    back = brought_in(tmp_path)
    assert {*back.devices} == {"leaf1", "spine1"}
    assert kinds(back) <= {"watchdog", "unlike most"}
    assert intent(back)["classes"]["rdma"]["lossless"]
    assert "format: eos" in back.text


def test_real_configurations_import_or_are_refused(reference: Path) -> None:
    products = ("arista-7060x6-64pe", *SWITCHES)
    for name in TITLES:
        for file in sorted((reference / "captures" / "dialects" / name).iterdir()):
            with suppress(InputError):
                assert import_configs([file], switches=products, cable="5m").devices

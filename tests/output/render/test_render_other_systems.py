"""Fabrics whose switches run several systems: each is written in the words of its own, or refused with the reason."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from lossless.api import diff_fabric, lint, lint_documents, render, simulate
from lossless.formats.device_files.switches import other_files, read_back
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError, RenderError
from lossless.ground.documents import load_text
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.model.fabric.model import Fabric

MIXED = ROOT / "examples" / "roce-256-mixed" / "fabric.yaml"


def changed(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = MIXED.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / "fabric.yaml"
    path.write_text(text)
    return path


def test_the_mixed_fabric_is_healthy_and_its_headroom_is_not_checked() -> None:
    report = lint([MIXED])
    assert (report.findings, report.errors) == ((), ())
    assert {left.code for left in report.not_checked} == {"BUF001"}
    assert [verdict.overall for verdict in simulate(MIXED)] == ["not checked"]


def test_each_switch_has_the_files_of_its_system_and_they_are_healthy(tmp_path: Path) -> None:
    result = render(MIXED, tmp_path)
    of_switches = {path for path in result.files if path.startswith(("leaf", "spine"))}
    assert of_switches == {
        *(f"leaf{n}/{name}" for n in (1, 2) for name in ("qos.nv", "qos.yaml")),
        *(f"spine{n}/{name}" for n in (1, 2) for name in ("qos.cfg", "avd.yml")),
    }
    report = lint([tmp_path])
    assert (report.findings, report.errors) == ((), ())


def test_what_no_file_sets_is_said_once_for_each_system(tmp_path: Path) -> None:
    notes = [note for note in render(MIXED, tmp_path).notes if "no file sets" in note]
    assert [note.partition(": no file sets ")[::2][0] for note in notes] == [
        *["leaf1 and leaf2 (NVIDIA NVUE)"] * 3,
        "spine1 and spine2 (Arista EOS)",
    ]


@pytest.mark.parametrize(
    ("title", "change"),
    [
        ("asymmetric PFC", ("pfc:\n", "pfc:\n  asymmetric: on\n")),
        ("the marking curve of red packets", ("probability: 20%", "probability: 20%, red: off")),
        (
            "the marking curve of yellow packets",
            ("probability: 20%", "probability: 20%, yellow: {min: 1 MiB, max: 2 MiB, probability: 5%}"),
        ),
        ("the MTU of ports", ("transport: rocev2\n", "transport: rocev2\nmtu: 9216\n")),
    ],
)
def test_what_is_declared_and_no_file_sets_is_named_by_render_and_diff(
    tmp_path: Path, title: str, change: tuple[str, str]
) -> None:
    assert not any(title in note for note in render(MIXED, tmp_path / "before").notes)
    intent, out = changed(tmp_path, change), tmp_path / "out"
    named = [note.partition(")")[0] for note in render(intent, out).notes if title in note]
    assert named == ["leaf1 and leaf2 (NVIDIA NVUE", "spine1 and spine2 (Arista EOS"]
    for drift in diff_fabric([out], intent).drifts:
        assert drift.rows == ()
        assert title in {left.what for left in drift.not_compared}


def test_the_manifest_says_how_each_file_is_applied(tmp_path: Path) -> None:
    render(MIXED, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    applied = {file["path"]: file["apply"] for file in manifest["files"]}
    assert applied["leaf1/qos.yaml"][0] == "nv config patch qos.yaml"
    assert applied["spine1/qos.cfg"][0] == "configure session lossless"


def test_a_base_is_asked_of_switches_with_sonic_alone(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    assert render(MIXED, tmp_path / "out", base_dir=tmp_path / "base").files


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("detection: 600ms", "detection: 700ms"),
            "leaf1: NVIDIA NVUE has no place for the watchdog's detection time as declared on swp1s0, swp1s1, swp2s0, "
            "swp2s1 and 60 more: 700, its file would say 800",
        ),
        (
            ("action: drop", "action: forward"),
            "spine1: Arista EOS has no place for the watchdog's action as declared on Ethernet1/1, Ethernet1/5, "
            "Ethernet2/1, Ethernet2/5 and 28 more: forward, its file would say not stated",
        ),
        (
            ("poll: 200ms, detection: 600ms", "poll: 400ms, detection: 400ms"),
            "spine1: Arista EOS does not take it: the watchdog's polling interval is 0.4 s, and its shortest timer "
            "0.4 s: the polling interval may be half of the timeout and of the recovery time at most",
        ),
    ],
)
def test_what_a_system_cannot_do_is_refused_and_nothing_is_written(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    with pytest.raises(RenderError) as refused:
        render(changed(tmp_path, change), tmp_path / "out")
    assert said in refused.value.lines
    assert not (tmp_path / "out").exists()


def test_a_format_that_a_product_does_not_run_is_named(tmp_path: Path) -> None:
    path = changed(tmp_path, ("format: nvue", "format: nveu"))
    (problem,) = lint([path]).errors
    assert (problem.line, problem.message) == (
        18,
        "hardware.leaf.format: nvidia-sn5600 is not known to run 'nveu'; did you mean nvue? (others: sonic)",
    )
    with pytest.raises(InputError):
        render(path, tmp_path / "out")


def test_ports_have_the_names_of_the_system(tmp_path: Path) -> None:
    path = changed(
        tmp_path,
        ("format: nvue}", "format: nvue, breakout: {swp1: 2x400G}, down: [swp1s1]}"),
        ("format: eos}", "format: eos, breakout: {Ethernet1/1: 2x400G}}"),
    )
    assert lint([path]).errors == ()
    wrong = changed(tmp_path, ("format: nvue}", "format: nvue, down: [Ethernet0]}"))
    (problem,) = lint([wrong]).errors
    assert problem.message == (
        "hardware.leaf.down.0: nvidia-sn5600 has no port Ethernet0; its ports can be swp1, swp2, swp3, swp4 ... swp64s3"
    )


def test_rules_of_sonic_say_nothing_of_other_systems() -> None:
    """Polling 64 ports every 200 ms is too often for SONiC alone."""
    sonic = MIXED.read_text().replace(", format: nvue", "")
    (finding,) = lint_documents([load_text(sonic, "fabric.yaml")]).findings
    assert finding.code == "WD013"


NEXUS = ROOT / "examples" / "nexus-128" / "fabric.yaml"


def test_a_fabric_of_nexus_switches_is_rendered_and_healthy(tmp_path: Path) -> None:
    report = lint([NEXUS])
    assert (report.findings, report.errors) == ((), ())
    result = render(NEXUS, tmp_path)
    assert {path for path in result.files if path.startswith(("leaf", "spine"))} == {
        f"{tier}{n}/{name}"
        for tier in ("leaf", "spine")
        for n in (1, 2)
        for name in ("qos.cfg", "qos.dme.json")
    }
    report = lint([tmp_path])
    assert (report.findings, report.errors) == ((), ())


def test_what_no_public_source_tells_of_a_switch_is_not_checked() -> None:
    (result,) = simulate(NEXUS)
    assert result.overall == "not checked"


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (
            "buffers: {pool_sizes: {ingress_lossless_pool: {size: 40 MiB}}}\n",
            "buffers.pool_sizes.ingress_lossless_pool.size: cannot be set on cisco-9332d-gx2b: its system computes "
            "buffers; leave it out",
        ),
        (
            "hardware: {switch: {profile: cisco-9332d-gx2b, format: sonic}, nic: connectx-7}\n",
            "hardware.switch.format: cisco-9332d-gx2b is not known to run 'sonic'; there is nxos",
        ),
    ],
)
def test_what_such_a_switch_cannot_be_told_is_refused(added: str, said: str) -> None:
    lines = [
        line for line in NEXUS.read_text().splitlines() if not line.startswith(added.partition(":")[0] + ":")
    ]
    text = "\n".join([*lines, added])
    (problem,) = lint_documents([load_text(text, "fabric.yaml")]).errors
    assert problem.message == said


def test_what_is_watched_are_switches_with_sonic(tmp_path: Path) -> None:
    half = changed(
        tmp_path,
        (", format: nvue", ""),
        ("poll: 200ms, detection: 600ms", "poll: 400ms, detection: 1200ms"),
    )
    result = render(half, tmp_path / "out", extras=["telemetry"])
    assert "spine1 and spine2: no telemetry of switches: it is known of SONiC alone" in result.notes
    texts = [path.read_text() for path in (tmp_path / "out" / "telemetry").rglob("*") if path.is_file()]
    assert any("leaf1" in text for text in texts)
    assert not any("spine1" in text for text in texts)


def test_hosts_of_switches_with_another_system_are_watched(tmp_path: Path) -> None:
    result = render(NEXUS, tmp_path / "out", extras=["telemetry"])
    assert (
        "leaf1, leaf2, spine1 and spine2: no telemetry of switches: it is known of SONiC alone"
        in result.notes
    )
    folder = tmp_path / "out" / "telemetry"
    assert {path.name for path in (folder / "grafana" / "dashboards").glob("*.json")} == {
        "lossless-host.json"
    }
    assert not (folder / "collection" / "gnmic").exists()
    alerts = (folder / "prometheus" / "alerts.rules").read_text()
    assert {"LosslessHostRetransmits", "LosslessHostRdmaOffLosslessPriority"} <= set(
        re.findall(r"alert: (\w+)", alerts)
    )
    assert "lossless_sonic" not in alerts


SPECTRUM_X = ROOT / "examples" / "spectrum-x-256" / "fabric.yaml"


def without_files_for_load_balancing(path: Path, folder: Path) -> list[str]:
    return [note for note in render(path, folder).notes if "load balancing" in note]


def test_links_between_switches_are_routed_adaptively_by_cumulus(tmp_path: Path) -> None:
    """Hosts are behind one port each, so that there is nothing to choose."""
    assert without_files_for_load_balancing(SPECTRUM_X, tmp_path) == []
    for name, first, last in (("leaf1", 17, 32), ("spine1", 1, 16)):
        (own, ports) = [
            line
            for line in (tmp_path / name / "qos.nv").read_text().splitlines()
            if "adaptive-routing" in line
        ]
        assert own == "nv set router adaptive-routing state enabled"
        listed = ",".join(f"swp{n}s0-1" for n in range(first, last + 1))
        assert ports == f"nv set interface {listed} router adaptive-routing state enabled"
    report = lint([tmp_path])
    assert (report.findings, report.errors) == ((), ())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("16 x 400G", "8 x 800G"),
            "leaf1, leaf2, spine1 and spine2: no file sets load balancing adaptive: Spectrum-4 is not known to route "
            "adaptively over links of 800G",
        ),
        (
            ("load_balancing: adaptive", "load_balancing: {leaf: adaptive, spine: spray}"),
            "spine1 and spine2: no file sets load balancing spray: what is rendered for NVIDIA NVUE has no place for "
            "it; configure it beside these files",
        ),
        (
            ("format: nvue", "format: sonic"),
            "leaf1, leaf2, spine1 and spine2: no file sets load balancing adaptive: no SONiC up to 202605 has adaptive "
            "routing (ARS): it is in no model and not in orchagent, as pull requests alone (sonic-buildimage 22264, "
            "sonic-swss 3597); configure it beside these files",
        ),
    ],
)
def test_load_balancing_that_no_file_sets_is_said_with_why(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    text = SPECTRUM_X.read_text()
    assert change[0] in text
    path = tmp_path / "fabric.yaml"
    path.write_text(text.replace(*change))
    assert without_files_for_load_balancing(path, tmp_path / "out") == [said]


WATCHED = """\
lossless: v1
fabric: watched
transport: rocev2
preset: nvidia
pfc:
  watchdog:
    poll: 200ms
    detection: 400ms
    restoration: 400ms
    by_tier: {spine: {poll: 400ms, detection: 1200ms, restoration: 1200ms}}
hardware:
  leaf: {profile: PROFILE, format: SYSTEM}
  spine: {profile: PROFILE, format: SYSTEM}
  nic: connectx-7
topology:
  leaf_spine:
    leaves: 1
    spines: 1
    hosts_per_leaf: 2
    host_links: 2 x 400G
    uplinks: 2 x 400G
    cables: {host: 3m, uplink: 30m}
"""
OWN = 'exceptions:\n  "leaf1:PORT": {watchdog: {detection: 600ms, action: alert}}\n'
SYSTEMS = [
    ("eos", "arista-7060x6-64pe", "Ethernet1/1"),
    ("nvue", "nvidia-sn5600", "swp1s0"),
    ("nxos", "cisco-9332d-gx2b", "Ethernet1/1"),
]


def watched(system: str, profile: str, own: str = "") -> Fabric:
    text = WATCHED.replace("SYSTEM", system).replace("PROFILE", profile) + own
    return resolve(load_intent(load_text(text, "fabric.yaml")))


@pytest.mark.parametrize(("system", "profile", "_port"), SYSTEMS)
def test_watchdog_times_of_a_tier_are_those_of_its_switches_files(
    system: str, profile: str, _port: str
) -> None:
    for switch in watched(system, profile).switches:
        read = read_back(switch)
        expected = 400 if switch.name == "leaf1" else 1200
        assert {port.qos.watchdog.detection_ms for port in read.ports if port.qos and port.qos.watchdog} == {
            expected
        }
        assert read.qos.poll.poll_ms == switch.qos.poll.poll_ms


def test_eos_has_the_times_and_the_action_of_a_single_port() -> None:
    leaf = watched("eos", SYSTEMS[0][1], OWN.replace("PORT", "Ethernet1/1")).switches[0]
    read = read_back(leaf)
    settings = {
        port.name: port.qos.watchdog.settings
        for port in read.ports
        if port.qos is not None and port.qos.watchdog is not None
    }
    assert settings.pop("Ethernet1/1") == (600, 400, "alert")
    assert set(settings.values()) == {(400, 400, "drop")}
    text = next(file.text for file in other_files(leaf) if file.path.endswith("qos.cfg"))
    assert "   priority-flow-control pause watchdog port action notify-only\n" in text
    timer = "port timer timeout 0.6 polling-interval 0.2 recovery-time 0.4"
    assert f"   priority-flow-control pause watchdog {timer}\n" in text


def test_nvue_has_one_time_for_a_switch_and_names_the_port_that_has_another() -> None:
    system, profile, port = SYSTEMS[1]
    leaf = watched(system, profile, OWN.replace("PORT", port)).switches[0]
    with pytest.raises(RenderError) as refused:
        other_files(leaf)
    assert "the watchdog's detection time as declared on swp1s0: 600, its file would say 400" in str(
        refused.value
    )


def test_nxos_has_multiples_of_its_interval_and_one_of_a_single_port() -> None:
    system, profile, port = SYSTEMS[2]
    leaf = watched(system, profile, OWN.replace("PORT", port).replace(", action: alert", "")).switches[0]
    read = read_back(leaf)
    settings = {p.name: p.qos.watchdog.settings[:2] for p in read.ports if p.qos and p.qos.watchdog}
    assert settings.pop(port) == (600, 400)
    assert set(settings.values()) == {(400, 400)}
    text = next(file.text for file in other_files(leaf) if file.path.endswith("qos.cfg"))
    for line in (
        "priority-flow-control watch-dog interval 200",
        "priority-flow-control watch-dog shutdown-multiplier 2",
        "priority-flow-control auto-restore multiplier 2",
        "  priority-flow-control watch-dog-interval on interface-multiplier 3",
    ):
        assert f"{line}\n" in text


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("{detection: 500ms}", "detection time as declared on Ethernet1/1: 500, its file would say 400"),
        ("{detection: 2200ms}", "detection time as declared on Ethernet1/1: 2200, its file would say 400"),
        ("{restoration: 800ms}", "restoration time as declared on Ethernet1/1: 800, its file would say 400"),
    ],
)
def test_a_time_that_is_no_multiple_or_of_one_port_alone_is_refused_for_nxos(own: str, said: str) -> None:
    system, profile, port = SYSTEMS[2]
    exceptions = f'exceptions: {{"leaf1:{port}": {{watchdog: {own}}}}}\n'
    leaf = watched(system, profile, exceptions).switches[0]
    with pytest.raises(RenderError) as refused:
        other_files(leaf)
    assert said in str(refused.value)

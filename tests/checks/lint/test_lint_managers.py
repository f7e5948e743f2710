"""Linting what a subnet manager runs with: files told apart by their content, checked a folder at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from lossless import api
from lossless.api import Options
from lossless.interfaces.cli.app import group

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.ground.basics.findings import Finding

SECRET = "0x00c0ffee00c0ffee"
CONF = f"""\
# the subnet manager of the hall
sm_priority 14
qos yes
max_op_vls 9
m_key {SECRET}
m_key_protection_level 2
m_key_lease_period 60
root_guid_file /etc/opensm/roots.txt
"""


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    folder = tmp_path / "hall"
    folder.mkdir()
    (folder / "opensm.conf").write_text(CONF, encoding="utf-8")
    (folder / "partitions.conf").write_text("Default=0x7fff : ALL=limited, SELF=full ;\n", encoding="utf-8")
    (folder / "roots.txt").write_text("0x10\n0x11\n", encoding="utf-8")
    return folder


def codes(report: api.Report) -> list[tuple[str, str, int | None]]:
    return sorted(
        (one.code, one.origin.file.rpartition("/")[2], line_of(report, one)) for one in report.findings
    )


def line_of(report: api.Report, finding: Finding) -> int:
    shown = report.documents[finding.origin.file]
    return shown.locate_many([finding.origin.path])[finding.origin.path].line


def test_an_option_is_blamed_in_its_line(hall: Path) -> None:
    report = api.lint([hall])
    assert report.errors == ()
    assert ("IB016", "opensm.conf", 3) in codes(report)
    assert ("IB017", "opensm.conf", 4) in codes(report)
    assert report.files == 3


def test_a_folder_a_file_and_all_files_of_it_say_the_same(hall: Path) -> None:
    whole = codes(api.lint([hall]))
    assert codes(api.lint([hall / "opensm.conf"])) == whole
    assert codes(api.lint([hall / "partitions.conf", hall / "opensm.conf", hall])) == whole


def test_what_is_wrong_beside_opensm_conf_is_said_once(hall: Path) -> None:
    (hall / "partitions.conf").write_text("Default=0x7fff : host1 ;\n", encoding="utf-8")
    (hall / "roots.txt").write_text("0x10\nspine2\n", encoding="utf-8")
    for paths in ([hall], [hall / "opensm.conf"], [hall / "partitions.conf", hall / "opensm.conf"]):
        errors = api.lint(paths).errors
        assert sorted((one.file.rpartition("/")[2], one.line, one.column) for one in errors) == [
            ("partitions.conf", 1, 18),
            ("roots.txt", 2, 1),
        ]


def test_a_file_that_no_opensm_conf_names_is_read_and_not_checked(tmp_path: Path) -> None:
    (tmp_path / "partitions.conf").write_text("a=1, foo : ALL ;\n", encoding="utf-8")
    report = api.lint([tmp_path])
    assert [one.line for one in report.errors] == [1]
    assert report.findings == ()
    assert [one.times for one in report.not_checked] == [1]


def test_a_configuration_of_something_else_is_skipped_in_a_folder_and_refused_by_name(
    tmp_path: Path,
) -> None:
    (tmp_path / "nginx.conf").write_text("daemon off;\nworker_processes 4;\n", encoding="utf-8")
    assert api.lint([tmp_path]).errors == ()
    (error,) = api.lint([tmp_path / "nginx.conf"]).errors
    assert error.message.startswith(
        "unknown kind of file; expected .json, .yaml or .yml, a configuration of Arista EOS, "
        "NVIDIA NVUE or Cisco NX-OS, a file of a subnet manager"
    )


def test_an_opensm_conf_may_have_any_name_where_it_is_named(hall: Path) -> None:
    (hall / "opensm.conf").rename(hall / "sm.master")
    assert ("IB016", "sm.master", 3) in codes(api.lint([hall / "sm.master"]))


def test_an_opensm_conf_that_states_nothing_or_nothing_known_is_one_by_its_name(hall: Path) -> None:
    (hall / "opensm.conf").write_text("# all as opensm has it\n", encoding="utf-8")
    report = api.lint([hall])
    assert (report.errors, report.files) == ((), 2)
    (hall / "opensm.conf").write_text("sm_prio 14\n", encoding="utf-8")
    assert ("IB019", "opensm.conf", 1) in codes(api.lint([hall]))


def test_managers_of_several_folders_are_apart(hall: Path) -> None:
    other = hall.parent / "other"
    other.mkdir()
    (other / "opensm.conf").write_text("sm_priority 3\nlmc 9\n", encoding="utf-8")
    report = api.lint([hall.parent])
    assert ("IB016", "opensm.conf", 3) in codes(report)
    assert ("IB017", "opensm.conf", 2) in codes(report)
    assert report.files == 4


def test_a_text_on_standard_input_may_stand_for_an_opensm_conf() -> None:
    report = api.lint_text(CONF.encode(), "opensm.conf")
    assert ("IB017", "opensm.conf", 4) in codes(report)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_no_form_of_report_shows_a_key(hall: Path, form: str) -> None:
    # A finding on the line of the key itself.
    conf = CONF.replace("m_key_lease_period 60", "m_key_lease_period 0")
    (hall / "opensm.conf").write_text(
        conf.replace(f"m_key {SECRET}", f"m_key {SECRET} lmc"), encoding="utf-8"
    )
    done = CliRunner().invoke(group, ["lint", "--format", form, str(hall)])
    assert done.output
    assert "c0ffee" not in done.output


def test_a_suppression_may_stand_in_an_opensm_conf(hall: Path) -> None:
    text = CONF.replace("qos yes", "# lossless: ignore[IB016] -- tried on purpose\nqos yes")
    text = text.replace("max_op_vls 9", "max_op_vls 9 # lossless: ignore[IB017] -- the vendor says so")
    (hall / "opensm.conf").write_text(text, encoding="utf-8")
    report = api.lint([hall])
    assert {"IB016", "IB017"}.isdisjoint(code for code, _, _ in codes(report))
    assert report.suppressed == 2


def test_a_fix_changes_one_line_and_keeps_the_key(hall: Path) -> None:
    fixed = api.fix([hall], Options(), unsafe=True)
    assert "IB016" in {one.code for one in fixed.findings}
    after = (hall / "opensm.conf").read_text(encoding="utf-8")
    assert "\nqos TRUE\n" in after
    assert f"\nm_key {SECRET}\n" in after
    shown = fixed.shown[str(hall / "opensm.conf")]
    assert "c0ffee" not in "".join(shown)
    assert shown[0] != shown[1]


def test_findings_on_an_opensm_conf_name_their_option(hall: Path) -> None:
    done = CliRunner().invoke(group, ["lint", "--format", "json", str(hall)])
    found = {one["object"]: one for one in json.loads(done.output)["findings"]}
    assert found["max_op_vls"]["line"] == 4
    assert found["max_op_vls"]["column"] == 12
    assert found["qos"]["path"] == ["qos"]

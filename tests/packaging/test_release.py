"""What `make release` writes beside the packages."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lossless import __version__
from tests.paths import ROOT
from tools.release import section, sums

CHANGELOG = "# Changelog\n\n## 1.1.0\n\n- c\n\n## 1.0.0 (2026-11-30)\n\n- a\n- b\n\n## 0.9.0\n\n- z\n"


def test_a_section_ends_at_the_next_version() -> None:
    assert section(CHANGELOG, "1.0.0") == "## 1.0.0 (2026-11-30)\n\n- a\n- b\n"
    assert section(CHANGELOG, "0.9.0") == "## 0.9.0\n\n- z\n"
    assert section((ROOT / "CHANGELOG.md").read_text(), __version__).startswith(f"## {__version__} ")


def test_a_version_without_a_section_is_not_released() -> None:
    with pytest.raises(SystemExit, match=r"no section of 1\.0"):
        section(CHANGELOG, "1.0")


def test_sums_are_what_sha256sum_checks(tmp_path: Path) -> None:
    files = {"b.whl": b"wheel", "a.tar.gz": b"source"}
    for name, content in {**files, "SHA256SUMS": sums(files)}.items():
        (tmp_path / name).write_bytes(content)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)

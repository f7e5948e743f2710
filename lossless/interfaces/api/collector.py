"""The script that takes a snapshot of a host for this program to read; it needs a shell and what the host has."""

from __future__ import annotations

from pathlib import Path

from lossless.ground.basics.data_files import data_dir


def collector() -> str:
    """Return the text of the script.

    Raises:
        LosslessError: the installation is damaged.
    """
    return Path(data_dir("templates"), "hosts", "collect", "lossless-collect.sh").read_text(encoding="utf-8")

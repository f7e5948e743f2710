"""Rendered rules on disk, and the programs that read them."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from lossless.formats.telemetry.prometheus.files import fabric_files, subnet_files
from lossless.model.fabric.model import Fabric
from tests.real_tools import program

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.model.fabric.infiniband.subnet import Subnet

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?=[{])")


def written(folder: Path, subject: Fabric | Subnet) -> Path:
    """Write the files of a fabric or a subnet, and return the folder of those for Prometheus."""
    texts = fabric_files(subject) if isinstance(subject, Fabric) else subnet_files(subject)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "prometheus"


def read(text: str) -> Any:
    """Return what a YAML document says, read by somebody else's reader."""
    return YAML(typ="safe").load(text)


def rules(folder: Path, name: str = "alerts.rules") -> list[dict[str, Any]]:
    """Return the rules in a file."""
    groups = read((folder / name).read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def run(folder: Path, name: str, *arguments: str) -> tuple[int, str]:
    """Return the return code of a program, which decides, and what it says."""
    command = [program(name), *arguments]
    # Many processors and much collecting of garbage double the processor time of a short run.
    settings = {"GOMAXPROCS": "1", "GOGC": "400"}
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **settings},
    )
    return done.returncode, done.stdout + done.stderr


def metrics_in(expression: str) -> set[str]:
    """Return the names of metrics in an expression of ours, all of which have matchers."""
    return set(_NAME.findall(expression))

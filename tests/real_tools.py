"""Real programs that tests run, and long runs: ``make test-tools`` runs what is marked so, ``make test`` the rest.

A test says by ``pytest.mark.tools(KIND)`` what it needs; it skips where that is not installed, and may not where
``LOSSLESS_REQUIRE_TOOLS`` is set.
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

from tests.paths import ROOT

REQUIRED = bool(os.environ.get("LOSSLESS_REQUIRE_TOOLS"))
PROGRAMS = {
    "opensm": ("opensm", "ibsim", "smpquery", "saquery"),
    "redis": ("redis-server", "redis-cli"),
    "prometheus": ("promtool", "prometheus-alertmanager", "amtool", "prometheus-node-exporter"),
    "systemd": ("systemd-analyze",),
    "chromium": ("chromium", "node", ROOT / "tests" / "site" / "node_modules"),
    "harper": ("node", ROOT / "tools" / "harper" / "node_modules"),
    "grafana": ("node", ROOT / "tools" / "grafana" / "node_modules" / "typescript" / "bin" / "tsc"),
    "yanglint": ("yanglint", ROOT / "tools" / "nxos-models" / "Cisco-NX-OS-device.yang"),
    "zensical": (Path(sys.prefix, "bin", "zensical"),),
}
"""By kind: programs, and files that are there once it is installed (``make tools``)."""
LONG = {
    "ansible": "playbooks carried out",
    "answers": "what commands print in the documentation",
    "contributing": "additions to copies of the checkout, by the places that CONTRIBUTING lists",
    "cluster": "work on several processes of dask",
    "fuzz": "mutated files",
    "installing": "pip, pre-commit and CI templates, each in an environment of its own",
    "laws": "laws on fabrics that are drawn",
    "records": "every case on record: of simulators, designs, devices, and orders that experts wrote",
    "runs": "long runs of the packet model, searches of many, and renders killed at every call twice",
    "growth": "readers and commands, of inputs of growing size",
    "hostile": "checkouts, editors and texts of an attacker",
    "hanging": "programs that hang until a limit ends them",
    "pictures": "pictures that matplotlib draws",
    "avd": "configurations rendered by pyavd",
    "sources": "the imports of all modules",
    "scripts": "scripts for switches and hosts, carried out in shells",
}
"""Kinds that need no more than the development environment, and take long."""
FIXTURES = {
    ("tests/analysis/opensm", "tools"): "opensm",
    ("tests/interfaces/cli", "installed"): "opensm",
    ("tests/formats/telemetry", "redis"): "redis",
    ("tests/formats/sonic/state", "real_redis"): "redis",
}
"""Fixtures that give a tool, by their folder and name: tests that have one are marked with its kind."""
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")
"""Where Debian puts opensm, and the PATH of users does not lead."""


@cache
def missing(kind: str) -> tuple[str, ...]:
    """Return what is not installed of a kind."""
    folders = os.pathsep.join((os.environ.get("PATH", ""), *SYSTEM_FOLDERS))
    return tuple(
        part.name if isinstance(part, Path) else part
        for part in PROGRAMS.get(kind, ())
        if not (part.exists() if isinstance(part, Path) else shutil.which(part, path=folders))
    )


def kinds_of(item: pytest.Item) -> tuple[str, ...]:
    """Return the kinds of tools that a test is marked with."""
    return tuple(kind for marker in item.iter_markers("tools") for kind in marker.args)


def mark(item: pytest.Item) -> None:
    """Mark a test with the kinds of the fixtures that it has, and a law that is drawn with its kind.

    A file of laws also has tests of fixed cases, which take no longer than those of other files.
    """
    if item.get_closest_marker("laws") and is_hypothesis_test(getattr(item, "obj", None)):
        item.add_marker(pytest.mark.tools("laws"))
    for (folder, fixture), kind in FIXTURES.items():
        if fixture in getattr(item, "fixturenames", ()) and item.nodeid.startswith(f"{folder}/"):
            item.add_marker(pytest.mark.tools(kind))


def require(item: pytest.Item) -> None:
    """Skip a test whose tools are not installed; fail where they have to be."""
    for kind in kinds_of(item):
        if kind not in PROGRAMS and kind not in LONG:
            pytest.fail(f"{kind!r} is no kind of tool (tests/real_tools.py)")
        if missing(kind):
            because = f"{', '.join(missing(kind))} not installed: make tools"
            (pytest.fail if REQUIRED else pytest.skip)(because)


def program(name: str) -> str:
    """Return the path of a program that is there where a test with its mark runs."""
    path = shutil.which(name)
    assert path is not None, f"{name} is not installed, or its test is not marked (tests/real_tools.py)"
    return path


def left_out(counts: dict[str, int]) -> list[str]:
    """Return what to say of tests that were left out, by their kinds."""
    lacking = sorted({name for kind in counts for name in missing(kind)})
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))
    lines = [f"not run here: {sum(counts.values())} tests of real tools and long runs ({kinds})"]
    if lacking:
        lines.append(f"they need {', '.join(lacking)}, which are not installed: make tools installs them")
    return [*lines, "make test-tools runs them"]

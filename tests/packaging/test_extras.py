"""A command that needs an extra names packages that an index has; no text asks an index for this project."""

from __future__ import annotations

import re
import tomllib

import pytest

from lossless.ground.basics.programs import install_command
from tests.paths import ROOT

EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]
FOR_USERS = sorted(EXTRAS.keys() - {"dev", "docs"})
FOLDERS = ("lossless", "docs", "integrations", "templates", "examples", "requirements")
TEXTS = (".py", ".md", ".sh", ".yml", ".yaml", ".j2", ".toml")


def parts(requirement: str) -> tuple[str, frozenset[str]]:
    """Return the package of a requirement and its bounds, which stand in any order."""
    name, bounds = re.fullmatch(r"([\w.\[\]-]+)(.*)", requirement.replace(" ", "")).groups()  # type: ignore[union-attr]
    return name, frozenset(bounds.split(","))


@pytest.mark.parametrize("extra", FOR_USERS)
def test_the_command_installs_the_packages_of_the_extra(extra: str) -> None:
    command = install_command(extra)
    assert command.startswith("pip install '")
    assert {parts(text) for text in re.findall("'([^']+)'", command)} == {
        parts(text) for text in EXTRAS[extra]
    }


def test_no_text_installs_this_project_from_an_index() -> None:
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    texts += (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS)
    asking = re.compile(r"install (?:-\S+ )*['\"]?lossless\b")
    assert [str(path.relative_to(ROOT)) for path in texts if asking.search(path.read_text())] == []


def test_the_guide_to_installing_lists_every_extra_for_users() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "install.md").read_text(), re.MULTILINE)
    assert sorted(rows) == FOR_USERS

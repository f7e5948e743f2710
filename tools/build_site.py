"""The documentation site: docs/, generated pages, and files that pages refer to, built into out/site/html.

python tools/build_site.py       build it; a warning fails

The generator is Zensical, configured by docs/site/zensical.toml. Files outside docs/ that pages refer to become pages.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from tools.site_pages import pages, source_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "out" / "site"
DOCS = ROOT / "docs"
ZENSICAL = Path(sysconfig.get_path("scripts")) / "zensical"
_NO_PAGES = ("site", "retired-phrases.toml")
_LINK = re.compile(r"(?<=\]\()([^)#\s]+)(?=[)#])")
_WORDS_OF_FENCE = re.compile(r"(?<=^```)(\w+) (?!.*=\").+$", re.MULTILINE)
"""What examples of rules have behind the language of a block, for tests; the generator takes no such block as one."""
_FOLDERS = {
    "profiles": "hardware/README.md",
    "profiles/infiniband": "hardware/README.md",
    "docs": "README.md",
}
"""Folders that pages refer to, and the page of the site that has their contents."""
_PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def assemble(pages_dir: Path) -> None:
    """Write the pages of the site into an empty folder."""
    shutil.copytree(DOCS, pages_dir, ignore=lambda folder, _: _NO_PAGES if Path(folder) == DOCS else ())
    shutil.copytree(DOCS / "site" / "assets", pages_dir / "assets")
    for name in _PROJECT:
        _write(pages_dir / "project" / name, _relinked(ROOT / name, Path("project") / name, pages_dir))
    for name, text in pages(DOCS):
        _write(pages_dir / name, text)
    for path in _documents():
        _write(pages_dir / path, _relinked(DOCS / path, path, pages_dir))


def _documents() -> Iterator[Path]:
    """Yield the pages of docs/, below it, that the site takes from there."""
    generated = {Path("adr/README.md")}
    yield from (
        path.relative_to(DOCS) for path in DOCS.rglob("*.md") if path.relative_to(DOCS) not in generated
    )


def _relinked(source: Path, page: Path, pages_dir: Path) -> str:
    """Return a page in which links out of docs/ lead to a page of the site."""

    def target(link: re.Match[str]) -> str:
        if link[1].startswith(("http", "mailto:", "#")):
            return link[1]
        file = (source.parent / link[1]).resolve()
        return _up(page) + (_in_docs(file) or _outside(file, pages_dir))

    text = _WORDS_OF_FENCE.sub(r"\1", source.read_text("utf-8"))
    return _LINK.sub(target, text) if "](" in text else text


def _up(page: Path) -> str:
    return "../" * (len(page.parts) - 1)


def _in_docs(file: Path) -> str | None:
    is_page = file.is_relative_to(DOCS) and file != DOCS
    return file.relative_to(DOCS).as_posix() if is_page else None


def _outside(file: Path, pages_dir: Path) -> str:
    """Return the page of a file or folder outside docs/, which is written if nothing else has it."""
    name = file.relative_to(ROOT).as_posix()
    if name in _PROJECT:
        return f"project/{name}"
    if file.is_dir() and name in _FOLDERS:
        return _FOLDERS[name]
    if file.suffix == ".md":
        return _written(pages_dir, f"files/{name}", file.read_text("utf-8"))
    return _written(pages_dir, f"files/{name}.md", source_page(name, file.read_text("utf-8")))


def _written(pages_dir: Path, name: str, text: str) -> str:
    _write(pages_dir / name, text)
    return name


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def build(site: Path = SITE) -> int:
    """Build the site in a folder, which is emptied first; return the exit code of the generator."""
    shutil.rmtree(site, ignore_errors=True)
    assemble(site / "pages")
    shutil.copy(DOCS / "site" / "zensical.toml", site)
    command = [str(ZENSICAL), "build", "--strict", "--config-file", str(site / "zensical.toml")]
    return subprocess.run(
        command, check=False, cwd=site, env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    ).returncode


def main(arguments: Sequence[str]) -> int:
    """Build the site, and say where it is."""
    if arguments:
        sys.stderr.write("usage: build_site.py\n")
        return 2
    if code := build():
        return code
    sys.stdout.write(f"{(SITE / 'html').relative_to(ROOT)}: open index.html, or serve the folder\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

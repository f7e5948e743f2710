"""The documentation site: built without a warning, no link is dead, and a real browser finds nothing wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.all_cases import ALL_CASES, some
from tools import build_site

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
# Two processes must not build in one folder.
SITE = build_site.SITE.with_name(f"site-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}")
HTML = SITE / "html"
KINDS = [
    "index.html",
    "tutorial.html",
    "faq.html",
    "dialects.html",
    "validation.html",
    "guides/simulate.html",
    "guides/topology.html",
    "rules/index.html",
    "rules/PFC001.html",
    "intent-reference.html",
    "hardware/index.html",
    "hardware/nvidia-sn5600.html",
    "python-api.html",
    "glossary.html",
    "incidents.html",
    "architecture.html",
    "adr/index.html",
    "adr/0020-buffer-cycles-are-searched-in-a-reduced-fabric.html",
    "project/CONTRIBUTING.html",
    "files/examples/efa-train/fabric.yaml.html",
    "404.html",
]
"""One page of every kind at least: axe-core is run on these, and on all pages by ``make audit``."""
AUDIT_ALL = "LOSSLESS_AUDIT_ALL" in os.environ
ONE_OF = 10
"""So many of the further pages are not opened but one, except by ``make audit`` and ``make cases``."""
VIEWS = [(400, "light"), (400, "dark"), (1280, "light"), (1280, "dark")]
pytestmark = [pytest.mark.tools("zensical"), pytest.mark.xdist_group("site")]


class Page(HTMLParser):
    """The links of a page, and what links can lead to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self.entries: set[tuple[str, str]] = set()
        self._link = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of what a tag links to and of its id."""
        found = dict(attrs)
        if tag == "a" and found.get("href"):
            self._link = found["href"] or ""
            self.links.append(self._link)
        elif tag in ("img", "script", "link", "iframe") and (source := found.get("src") or found.get("href")):
            self.loaded.append(source)
        self.ids |= {name for key in ("id", "name") if (name := found.get(key))}

    def handle_data(self, data: str) -> None:
        """Take note of what is shown, and where it leads."""
        self.text += data
        if self._link:
            self.entries.add((self._link, data.strip()))

    def handle_endtag(self, tag: str) -> None:
        """Take note that a link ends."""
        if tag == "a":
            self._link = ""


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """Build the site; return its pages by path."""
    assert build_site.build(SITE) == 0
    return {
        path.relative_to(HTML).as_posix(): Page(path.read_text("utf-8"))
        for path in sorted(HTML.rglob("*.html"))
    }


def leads_nowhere(pages: dict[str, Page], page: str, link: str) -> bool:
    """Return whether a link within the site has no target."""
    url = urlsplit(link)
    if url.scheme or url.netloc or page == "404.html":
        return False
    target = Path(os.path.normpath(HTML / Path(page).parent / unquote(url.path))) if url.path else HTML / page
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return True
    there = pages.get(target.relative_to(HTML).as_posix())
    return bool(url.fragment) and there is not None and unquote(url.fragment) not in there.ids


def test_every_link_leads_somewhere(pages: dict[str, Page]) -> None:
    wrong = [
        f"{name}: {link}"
        for name, page in pages.items()
        for link in (*page.links, *page.loaded)
        if leads_nowhere(pages, name, link)
    ]
    assert wrong == []


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, Page]) -> None:
    loaded = {url for page in pages.values() for url in page.loaded if urlsplit(url).netloc}
    assert loaded == set()


def test_every_page_of_the_repository_is_a_page_of_the_site(pages: dict[str, Page]) -> None:
    documents = {path.relative_to(build_site.DOCS) for path in build_site.DOCS.rglob("*.md")}
    assert {html_of(path) for path in documents} <= set(pages)
    assert set(KINDS) <= set(pages)


def test_no_block_of_code_is_taken_for_prose(pages: dict[str, Page]) -> None:
    assert [name for name, page in pages.items() if "```" in page.text] == []


def test_pages_of_a_section_are_beside_each_other(pages: dict[str, Page]) -> None:
    """Each page of a section of the navigation links to all of that section, by their names there."""
    nav = tomllib.loads((build_site.DOCS / "site" / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    for section in sections(nav):
        wanted = {(html_of(page), title) for title, page in section.items()}
        for name in (html_of(page) for page in section.values()):
            there = {(os.path.normpath(Path(name).parent / to), text) for to, text in pages[name].entries}
            assert {entry for entry in wanted if entry[0] != name} <= there


def sections(nav: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield the titles and pages of each list of the navigation that has pages only."""
    inner = {title: value for entry in nav for title, value in entry.items()}
    if all(isinstance(value, str) for value in inner.values()):
        yield inner
    for value in inner.values():
        if isinstance(value, list):
            yield from sections(value)


def html_of(document: str | Path) -> str:
    """Return the page that a document becomes."""
    path = Path(document)
    page = path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")
    return page.as_posix()


@pytest.mark.usefixtures("pages")
def test_pages_of_every_part_can_be_searched() -> None:
    index = json.loads((HTML / "search.json").read_text("utf-8"))
    found = {item["location"].partition("#")[0] for item in index["items"]}
    assert {"tutorial.html", "faq.html", "rules/PFC001.html", "hardware/connectx-7.html"} <= found


@pytest.fixture(scope="module")
def served(pages: dict[str, Page]) -> Iterator[str]:
    """Serve the site; yield its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    assert pages
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(HTML))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def opened(pages: dict[str, Page]) -> list[str]:
    """Return the pages that the browser is to open."""
    further = [name for name in pages if name not in KINDS]
    return [*KINDS, *(further if AUDIT_ALL else some(further, ONE_OF, "pages"))]


@pytest.fixture(scope="module")
def report(
    served: str, pages: dict[str, Page], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """What is wrong with each page, and with the filter of rules and the search."""
    audited, thorough = [*pages] if AUDIT_ALL else KINDS, AUDIT_ALL or ALL_CASES
    asked = {"opened": opened(pages), "audited": audited, "views": VIEWS, "thorough": thorough}
    chromium = shutil.which("chromium") or "chromium"
    done = subprocess.run(
        ["node", HERE / "browser.mjs", served, chromium, tmp_path_factory.mktemp("profile")],
        input=json.dumps(asked),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.tools("chromium")
def test_a_browser_and_axe_find_nothing_wrong(report: dict[str, list[str]], pages: dict[str, Page]) -> None:
    """In Chromium, at 400 and 1280 pixels; on a page of each kind light and dark."""
    assert {name: problems for name, problems in report.items() if problems} == {}
    assert {*opened(pages), "filter of rules", "search"} == set(report)

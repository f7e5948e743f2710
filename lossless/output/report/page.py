"""One page of HTML for a whole result: verdict first, then evidence, pictures, what was not checked, and inputs.

The page is one file: its style is in it, and it has no script, font or picture from elsewhere. Names and messages
come from files that anyone can propose: the template escapes all of them, control characters are made visible, and
the policy in the page's head forbids scripts and requests. The same result gives the same bytes: no time is in it.

Tables and lists are cut, and say in words how much was left out: a browser opens the page of a fabric of any size.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.records import NamedTuple
from lossless.output.report import drawing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jinja2 import Environment

    from lossless.analysis.topology.summary import Picture

Tone = Literal["bad", "warn", "good", "unknown"]
"""The tone of a verdict or an entry: its color, beside the words that say the same."""

MOST_ENTRIES, MOST_ROWS = 100, 100
"""The most findings, and the most rows of another table or list, of a page (ours): a page of 100 fits 1 MB."""
MOST_PICTURES = 4
"""The most fabrics that a page draws (ours)."""


class Listing(NamedTuple):
    """A list of sentences; ``more`` says how many were left out, empty for none."""

    lines: tuple[str, ...]
    more: str = ""
    kind: str = "list"


class Table(NamedTuple):
    """A table with its caption and heads; ``numbers`` are the columns of numbers, which are aligned to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    more: str = ""
    kind: str = "table"


class Drawing(NamedTuple):
    """A picture as SVG, which escapes its own texts, with its width in pixels, its name and a caption."""

    svg: str
    width_px: int
    name: str
    caption: str = ""
    kind: str = "drawing"


class AlignedLines(NamedTuple):
    """Lines of text whose columns are aligned."""

    text: str
    kind: str = "lines"


class Entry(NamedTuple):
    """A finding or a culprit: a word for its weight, title, code, place, the line of the file, and labeled remarks."""

    tone: Tone
    badge: str
    title: str
    code: str = ""
    place: str = ""
    excerpt: str = ""
    remarks: tuple[tuple[str, str], ...] = ()


class Entries(NamedTuple):
    """Entries one below the other; ``more`` says how many were left out, empty for none."""

    entries: tuple[Entry, ...]
    more: str = ""
    kind: str = "entries"


class PageSection(NamedTuple):
    """A titled part of a page: sentences, then lists, tables, pictures and entries."""

    title: str
    text: tuple[str, ...] = ()
    blocks: tuple[Listing | Table | Drawing | AlignedLines | Entries, ...] = ()


class InputFile(NamedTuple):
    """A file that the result depends on, and the SHA-256 of its content; empty if it could not be read again."""

    file: str
    sha256: str


class Page(NamedTuple):
    """A page: the command that made it, the subject, the verdict with its tone, sentences below it, and counts.

    ``counts`` are pairs of a label and a value. ``inputs`` are all files, sorted by their names.
    """

    command: str
    subject: str
    tone: Tone
    verdict: str
    lead: tuple[str, ...]
    counts: tuple[tuple[str, str], ...]
    sections: tuple[PageSection, ...]
    inputs: tuple[InputFile, ...]


def page_html(page: Page) -> str:
    """Return a page as HTML.

    Raises:
        LosslessError: the installation is damaged.
        RenderError: the template is damaged.
    """
    from jinja2 import TemplateError

    from lossless.ground.basics.errors import RenderError
    from lossless.ground.basics.files import build_version

    sections = tuple(section for section in (*page.sections, *_provenance(page.inputs)) if any(section[1:]))
    try:
        template = _environment().get_template("report/page.html.j2")
        return template.render(page=page, sections=sections, version=build_version(), dark=_DARK).rstrip("\n")
    except TemplateError as error:
        raise RenderError(f"template report/page.html.j2: {error.message or type(error).__name__}") from error


@cache
def _environment() -> Environment:
    """Return the environment of the project's templates that escapes for HTML and makes control characters visible."""
    from markupsafe import Markup

    from lossless.formats.device_files.environment import environment
    from lossless.ground.basics.foreign_text import visible_lines

    def shown(value: Any) -> Any:
        return value if isinstance(value, Markup) else visible_lines(str(value))

    return environment().overlay(autoescape=True, finalize=shown)


def left_out(number: int, of: int, noun: str, where: str = "") -> str:
    """Return in words how many of something a page leaves out, empty for none; ``where`` says where all of them are."""
    if number <= 0:
        return ""
    return f"{number:,} of {of:,} {noun} are left out here{f'; {where}' if where else ''}."


def listing(lines: Iterable[str], noun: str, where: str = "") -> Listing:
    """Return a list of lines, each once, cut after MOST_ROWS."""
    once = [*dict.fromkeys(lines)]
    return Listing(tuple(once[:MOST_ROWS]), left_out(len(once) - MOST_ROWS, len(once), noun, where))


def table_of(
    caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], noun: str, where: str = ""
) -> Table:
    """Return a table cut after MOST_ROWS; columns in which every cell is a number, or unknown, are those of numbers."""
    shown = tuple(tuple(row) for row in rows[:MOST_ROWS])
    numbers = tuple(
        column
        for column in range(len(head))
        if shown and all(_NUMBER.fullmatch(row[column]) for row in shown)
    )
    more = left_out(len(rows) - MOST_ROWS, len(rows), noun, where)
    return Table(caption, tuple(head), shown, numbers, more)


_NUMBER = re.compile(r"[-+]?[0-9][0-9,.]*+%?|-|unknown|none|not captured")


def drawing_of(picture: Picture, meaning: str) -> Drawing:
    """Return the picture of a fabric; ``meaning`` says in a sentence which devices are marked."""
    from lossless.output.report.topology.svg import topology_svg, totals

    svg = topology_svg(picture)
    marked = dict.fromkeys(item.state for item in picture.items if item.state)
    name = f"Fabric {picture.fabric}: {totals(picture)}"
    said = f"{meaning} Marks here, by color and in words: {', '.join(marked) or 'none'}."
    return Drawing(svg, width_px(svg), name, said)


def width_px(svg: str) -> int:
    """Return the width of a picture that this project drew."""
    found = re.search(r"""\bwidth=['"]([0-9]++)""", svg)
    return int(found[1]) if found else 0


def _provenance(inputs: Sequence[InputFile]) -> tuple[PageSection, ...]:
    """Return the section of the files that a result depends on, with the hash of each and of all."""
    if not inputs:
        return ()
    every = "".join(f"{each.sha256}  {each.file}\n" for each in inputs)
    whole = hashlib.sha256(every.encode(errors="backslashreplace")).hexdigest()
    text = (
        f"This page follows from {len(inputs):,} file{'' if len(inputs) == 1 else 's'}. The same files and the same "
        "version of lossless give the same page.",
        f"SHA-256 of the list of all of them, in the form of sha256sum: {whole}",
    )
    rows = [(each.file, each.sha256 or "could not be read again") for each in inputs]
    return (
        PageSection(
            "Inputs", text, (table_of("Files, and the SHA-256 of each", ("file", "SHA-256"), rows, "files"),)
        ),
    )


_DARK = (
    ("fill", drawing.PAPER, "#161c24"),
    ("fill", drawing.INK, "#e6edf3"),
    ("stroke", drawing.INK, "#9fb0c3"),
    ("fill", drawing.GREY, "#aab4c0"),
    ("stroke", drawing.GREY, "#8b97a5"),
    ("stroke", drawing.BLUE, "#58a6e0"),
    ("stroke", drawing.VERMILLION, "#f08a4b"),
    ("stroke", drawing.FAINT, "#30363d"),
    ("fill", drawing.FRAME_FILL, "#1c2430"),
    ("stroke", drawing.FRAME_LINE, "#5a6675"),
    ("fill", drawing.ROLE_FILLS["super-spine"], "#3a2433"),
    ("fill", drawing.ROLE_FILLS["spine"], "#1b3346"),
    ("fill", drawing.ROLE_FILLS["leaf"], "#173a30"),
    ("fill", drawing.ROLE_FILLS["host"], "#3a311c"),
    ("fill", drawing.STATE_FILLS["stalled"], "#4a3020"),
    ("fill", drawing.STATE_FILLS["source"], "#7a3f1d"),
    ("fill", drawing.STATE_FILLS["culprit"], "#8c2f22"),
    ("fill", drawing.STATE_FILLS["error"], "#6e2b23"),
    ("fill", drawing.STATE_FILLS["warning"], "#6b4d0e"),
    ("fill", drawing.STATE_FILLS["changes"], "#3f2f63"),
)
"""The colors of pictures where a browser prefers dark pages: attribute, color on paper, color there."""

"""The words of a finding in every format: its object, its explanation and its fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible, visible_lines
from lossless.output.report.lint.element_ranges import elements_text, name_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.ground.basics.findings import Finding, Origin, Path
    from lossless.output.report.lint.locations import Locations

    Detail = tuple[str, str]
    """A label and what it says."""

_LONGEST_OBJECT = 60
_SHOWN_PLACES = 3


def headline(finding: Finding) -> str:
    """Return the message on one line; in a CONFIG_DB the object comes first, since line numbers mean little there."""
    message = visible(finding.message.replace("\n", " "))
    if finding.object_form == "config_db" and finding.origin.path:
        return f"{object_of(finding.origin.path)}: {message}"
    return message


def object_of(path: Path, *, whole: bool = False) -> str:
    """Return a path as people write it, on one line; unless ``whole``, dozens of ports in a key as their ranges.

    Tables of CONFIG_DB have upper-case names, keys of an intent have not, and commands have blanks.
    """
    first = str(path[0]) if path else ""
    separator = "|" if first.isupper() or " " in first else "."
    text = visible(separator.join(map(str, path)))
    if len(text) > _LONGEST_OBJECT and not whole:
        # A row of CONFIG_DB can name its ports in its key: Ethernet0,Ethernet4,...|3.
        parts = [",".join(name_ranges(part.split(","))) for part in text.split(separator)]
        text = _shortened(separator.join(parts))
    return text


def details(finding: Finding, others: Iterable[Detail] = ()) -> Iterator[Detail]:
    """Yield the lines below a message, each with its label; ``others`` come before the help, which ends it."""
    if finding.elements:
        yield "on", visible(elements_text(finding.elements, finding.places))
    if finding.note:
        yield "note", finding.note
    yield from others
    if finding.help:
        yield "help", finding.help


def other_places(finding: Finding, locations: Locations, name: Callable[[str], str]) -> Iterator[Detail]:
    """Yield the other places of a finding in words; ``name`` returns the shown name of a file."""
    for related in finding.related:
        path = related.origin.path
        # In an intent the line says it all; in a CONFIG_DB of thousands of lines the object does.
        named = f"{object_of(path)}: " if path and str(path[0]).isupper() else ""
        yield "also", f"{_place(related.origin, locations, name)}: {named}{visible(related.message)}"
    if finding.via is not None:
        yield "from", f"{_place(finding.via, locations, name)}: {object_of(finding.via.path)}"


def together(same: Sequence[Finding]) -> Finding:
    """Return the first of the findings of one cause, with the elements of all."""
    elements = tuple(dict.fromkeys(name for finding in same for name in finding.elements))
    return same[0]._replace(elements=elements, places=sum(finding.places for finding in same))


def same_elsewhere(
    same: Sequence[Finding], locations: Locations, name: Callable[[str], str]
) -> Iterator[Detail]:
    """Yield the other places of the findings of one cause; of many the first."""
    if len(same) > 1:
        named = [_place(finding.origin, locations, name) for finding in same[1 : 1 + _SHOWN_PLACES]]
        unnamed = len(same) - 1 - len(named)
        yield "also", ", ".join(named) + (f" and {unnamed} more (--quiet lists each)" if unnamed else "")


def paragraphs(finding: Finding, others: Iterable[Detail] = ()) -> str:
    """Return a finding in words alone, a line for each remark."""
    labelled = details(finding, others)
    return "\n".join([headline(finding), *(f"{label}: {visible_lines(text)}" for label, text in labelled)])


def _place(origin: Origin, locations: Locations, name: Callable[[str], str]) -> str:
    span = locations.span(origin)
    file = visible(name(origin.file))
    return f"{file}:{span.line}:{span.column}" if span else file


def _shortened(text: str) -> str:
    """Return an object, with its middle cut if it is too long for a line."""
    half = (_LONGEST_OBJECT - 3) // 2
    return text if len(text) <= _LONGEST_OBJECT else f"{text[:half]}...{text[-half:]}"

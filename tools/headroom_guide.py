"""What the headroom guide shows and nobody types: ``python tools/headroom_guide.py [--check]``.

The table of the three methods, between two marks in ``docs/guides/headroom.md``, and the picture beside it. Both come
from the program itself.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.api import HeadroomInputs, headroom_of_link  # noqa: E402
from lossless.ground.basics.records import NamedTuple  # noqa: E402
from lossless.ground.basics.units import format_bytes, format_rate  # noqa: E402
from lossless.output.report import drawing as style  # noqa: E402
from lossless.output.report.columns import markdown_table  # noqa: E402
from lossless.output.report.drawing import text_width  # noqa: E402
from tools.generated import between_marks, write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.buffers.headroom.comparison import HeadroomAnswer, HeadroomAnswers
    from lossless.analysis.buffers.headroom.formulas import Term

GUIDE = ROOT / "docs" / "guides" / "headroom.md"
PICTURE = ROOT / "docs" / "guides" / "headroom.svg"

PROFILE = "nvidia-sn5600"
SPEEDS_BPS = tuple(gbps * 10**9 for gbps in (100, 200, 400, 800))
CABLES_M = (3, 40, 300)
STOCK = HeadroomInputs(port_mtu_bytes=9100, lossless_mtu_bytes=1024, small_packet_percent=100)
HALF_SMALL = STOCK._replace(small_packet_percent=50)
SHOWN_BPS = 400 * 10**9
"""The speed of the picture."""


class TermLook(NamedTuple):
    """How a term is drawn: its fill, and the direction of its hatching in degrees (None: none)."""

    fill: str
    hatch: int | None = None


FRAMES = TermLook(style.SKY_BLUE)
LOOKS = {
    "own frame": FRAMES,
    "peer frame": FRAMES,
    "frame ahead of the pause": FRAMES,
    "frame begun": FRAMES,
    "pause frame": FRAMES,
    "cable round trip": TermLook(style.BLUE, 45),
    "MAC and PHY": TermLook(style.YELLOW, 0),
    "tile": TermLook(style.YELLOW, 0),
    "peer response": TermLook(style.ORANGE, 135),
    "small-packet compensation": TermLook(style.PURPLE),
    "rounding": TermLook(style.PAPER),
    "whole frames": TermLook(style.PAPER),
    "vendor row": TermLook(style.GREEN),
}
LEGEND = (
    ("vendor row", "vendor row"),
    ("peer frame", "frames"),
    ("cable round trip", "cable round trip"),
    ("peer response", "peer response"),
    ("tile", "inside the switch"),
    ("small-packet compensation", "small-packet compensation"),
    ("whole frames", "rounding"),
)
WIDTH_PX, TEXT_PX, SPACE_PX = 860, 11, 14
"""Width of the picture, size of its text, and space between two entries of the legend."""


def methods(speed_bps: int, cable_m: int, stated: HeadroomInputs = STOCK) -> HeadroomAnswers:
    """Return what each method asks for on one link."""
    (found,) = headroom_of_link(PROFILE, speed_bps, cable_m, stated=stated).kinds()
    return found.methods


def table() -> str:
    """Return the table of the guide: three methods, four speeds, three lengths."""
    heads = ("speed", "cable", "vendor row", "formula, 100 % small", "formula, 50 % small", "floor")
    return markdown_table(heads, [_row(speed, cable) for speed in SPEEDS_BPS for cable in CABLES_M])


def _row(speed_bps: int, cable_m: int) -> tuple[str, ...]:
    stock, half = methods(speed_bps, cable_m), methods(speed_bps, cable_m, HALF_SMALL)
    length = stock.row.terms[0].formula.split()[-1]
    return (
        format_rate(speed_bps),
        f"{cable_m} m",
        f"{_bytes(stock.row)} ({length})",
        _bytes(stock.formula),
        _bytes(half.formula),
        _bytes(stock.floor),
    )


def _bytes(answer: HeadroomAnswer) -> str:
    assert answer.headroom_bytes is not None
    return format_bytes(answer.headroom_bytes)


def picture() -> str:
    """Return the picture: the terms of each method, one bar each, for three lengths."""
    bars = list(_bars())
    title = f"{PROFILE}, {format_rate(SHOWN_BPS)}: the terms of each method"
    height = 40 + 26 * len(bars) + 10 * len(CABLES_M) + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH_PX}" height="{height}" '
        f'viewBox="0 0 {WIDTH_PX} {height}" role="img" '
        f'font-family="{style.FONT_FAMILY}" font-size="{TEXT_PX}" fill="{style.INK}">',
        f"  <title>{title}</title>",
        *_hatchings(),
        f'  <rect width="{WIDTH_PX}" height="{height}" fill="{style.PAPER}"/>',
        f'  <text x="20" y="24" font-size="14" font-weight="bold">{title}</text>',
        *_legend(height - 16),
    ]
    most = max(sum(term.bytes for term in terms) for _, terms in bars)
    top = 40
    for number, (label, terms) in enumerate(bars):
        lines += _bar(label, terms, top + 26 * number + 10 * (number // 4), 560 / most)
    return "\n".join([*lines, "</svg>\n"])


def _bars() -> Iterator[tuple[str, tuple[Term, ...]]]:
    for cable_m in CABLES_M:
        stock, half = (methods(SHOWN_BPS, cable_m, stated) for stated in (STOCK, HALF_SMALL))
        yield f"{cable_m} m: vendor row", stock.row.terms
        yield "formula, 100 % small", stock.formula.terms
        yield "formula, 50 % small", half.formula.terms
        yield "floor", stock.floor.terms


def _bar(label: str, terms: Sequence[Term], top: int, scale: float) -> Iterator[str]:
    yield f'  <text x="170" y="{top + 14}" text-anchor="end">{label}</text>'
    left = 180.0
    for term in terms:
        width = term.bytes * scale
        yield from _bar_part(f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="18"', LOOKS[term.name])
        left += width
    total = sum(term.bytes for term in terms)
    yield f'  <text x="{left + 6:.1f}" y="{top + 14}">{format_bytes(round(total))}</text>'


def _bar_part(box: str, look: TermLook) -> Iterator[str]:
    """Yield a rectangle in its fill, and its hatching over it."""
    yield f'  <rect {box} fill="{look.fill}" stroke="{style.INK}" stroke-width="0.8"/>'
    if look.hatch is not None:
        yield f'  <rect {box} fill="url(#hatch{look.hatch})"/>'


def _hatchings() -> Iterator[str]:
    for degrees in sorted({look.hatch for look in LOOKS.values() if look.hatch is not None}):
        turned = f'patternUnits="userSpaceOnUse" width="6" height="6" patternTransform="rotate({degrees})"'
        stripe = f'<path d="M0,3 H6" stroke="{style.INK}" stroke-width="0.7" stroke-opacity="0.55"/>'
        yield f'  <defs><pattern id="hatch{degrees}" {turned}>{stripe}</pattern></defs>'


def _legend(base: int) -> Iterator[str]:
    left = 20
    for name, words in LEGEND:
        yield from _bar_part(f'x="{left}" y="{base - 10}" width="14" height="12"', LOOKS[name])
        yield f'  <text x="{left + 19}" y="{base}">{words}</text>'
        left += 19 + round(text_width(words, TEXT_PX)) + SPACE_PX


def with_table(text: str) -> str:
    """Return the guide with its table again."""
    return between_marks(text, "tools/headroom_guide.py", table())


def main(arguments: Sequence[str]) -> int:
    """Write both, or with ``--check`` report what is stale."""
    contents = {GUIDE: with_table(GUIDE.read_text(encoding="utf-8")), PICTURE: picture()}
    return write_or_check(contents, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

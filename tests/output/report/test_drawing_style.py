"""The palette: colors that readers with a color vision deficiency can tell apart; widths of text as in the font."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib import get_data_path
from matplotlib.colors import to_rgb
from matplotlib.ft2font import FT2Font, LoadFlags

from lossless.output.report import drawing as style
from lossless.output.report.drawing import shortened, text_width

Rgb = tuple[float, float, float]

DEFICIENCIES = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}
"""Matrices for linear RGB at severity 1.0: Machado, Oliveira and Fernandes, A Physiologically-based Model for
Simulation of Color Vision Deficiency, IEEE TVCG 15(6), 2009, table 1."""
APART = 15.0
"""Least distance of two colors in CIELAB (CIE 1976); one to two are just noticeable side by side."""


def _linear(color: str) -> list[float]:
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]


def _seen(color: str, deficiency: str) -> list[float]:
    linear = _linear(color)
    rows = DEFICIENCIES[deficiency]
    return [min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear, strict=True)))) for row in rows]


def _lab(linear: list[float]) -> Rgb:
    """Return linear sRGB (D65) in CIELAB."""
    to_xyz = (
        (0.4124564, 0.3575761, 0.1804375),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0193339, 0.1191920, 0.9503041),
    )
    white = (0.95047, 1.0, 1.08883)
    xyz = [
        sum(a * b for a, b in zip(row, linear, strict=True)) / n for row, n in zip(to_xyz, white, strict=True)
    ]
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(a: str, b: str, deficiency: str) -> float:
    first, second = _lab(_seen(a, deficiency)), _lab(_seen(b, deficiency))
    return float(sum((p - q) ** 2 for p, q in zip(first, second, strict=True)) ** 0.5)


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colors (WCAG 2.2)."""
    light, dark = sorted(
        (sum(p * q for p, q in zip((0.2126, 0.7152, 0.0722), _linear(c), strict=True)) for c in (a, b)),
        reverse=True,
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colors_of_a_picture_can_be_told_apart(deficiency: str) -> None:
    series = [look.color for look in style.SERIES]
    links = ["hosts", "uplinks", "spine_uplinks"]
    for colors in (
        [*series, style.LIMITS[0].color],
        [style.LINKS[name].color for name in links],
        [style.LINKS[name].color for name in ("stalled", "free")],
    ):
        assert [(a, b) for a, b in combinations(colors, 2) if distance(a, b, deficiency) < APART] == []


def test_series_and_limits_differ_in_dashes_or_lightness_too() -> None:
    looks = [(look.dashes, _lab(_linear(look.color))[0]) for look in (*style.SERIES, *style.LIMITS)]
    for (dashes, light), (others, other_light) in combinations(looks, 2):
        assert dashes != others or abs(light - other_light) > 30


def test_text_is_legible_on_every_fill_and_lines_on_the_paper() -> None:
    fills = (*style.ROLE_FILLS.values(), *style.STATE_FILLS.values(), style.FRAME_FILL, style.PAPER)
    assert all(contrast(style.INK, fill) >= 7 for fill in fills)
    assert all(contrast(look.color, style.PAPER) >= 3 for look in style.LINKS.values())


@pytest.mark.parametrize(("bold", "name"), [(False, "DejaVuSans"), (True, "DejaVuSans-Bold")])
def test_widths_are_those_of_the_font(bold: bool, name: str) -> None:
    font = FT2Font(f"{get_data_path()}/fonts/ttf/{name}.ttf")
    font.set_size(1000, 72)
    for code in range(32, 127):
        glyph = font.load_char(code, flags=LoadFlags.NO_HINTING)
        assert text_width(chr(code), 1000, bold=bold) == pytest.approx(glyph.linearHoriAdvance / 65536, abs=1)


def test_text_that_is_too_long_is_cut_to_fit() -> None:
    assert shortened("leaf1", 10, 100) == "leaf1"
    short = shortened("a-very-long-name", 10, 50)
    assert short.endswith("…")
    assert text_width(short, 10) <= 50

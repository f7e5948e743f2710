"""The pictures of the dashboards in the guide: those of the dashboards of today, and every panel is legible in them."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

from lossless.formats.telemetry.grafana.build import dashboard_files
from lossless.output.report.drawing import text_width
from tests.formats.telemetry.subjects import example
from tools.dashboard_pictures import KINDS, UNITS, pictures

SVG = "{http://www.w3.org/2000/svg}"


def test_pictures_of_the_guide_are_current() -> None:
    stale = [path.name for path, text in pictures().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run: python tools/dashboard_pictures.py"


def test_each_panel_is_drawn_with_its_whole_title() -> None:
    boards = [
        json.loads(text)
        for name, text in dashboard_files(example("roce-256")).items()
        if name.endswith(".json")
    ]
    for board, text in zip(boards, pictures().values(), strict=True):
        shown = [element.text for element in ElementTree.fromstring(text).iter(f"{SVG}text")]
        assert {panel["title"] for panel in board["panels"]} <= set(shown)


def test_no_text_leaves_the_picture() -> None:
    for text in pictures().values():
        root = ElementTree.fromstring(text)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for element in root.iter(f"{SVG}text"):
            bold = element.attrib.get("font-weight") == "bold"
            words = text_width(element.text or "", float(element.attrib["font-size"]), bold=bold)
            assert float(element.attrib["x"]) + words <= width, element.text
            assert float(element.attrib["y"]) <= height


def test_every_kind_of_panel_and_every_unit_has_a_word() -> None:
    made = "".join(dashboard_files(example("roce-256")).values())
    assert set(re.findall(r'"type": "(time\w+|stat\w*|state-\w+|table|text)"', made)) <= KINDS.keys()
    assert set(re.findall(r'"unit": "(\w+)"', made)) <= UNITS.keys()

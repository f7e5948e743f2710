"""Text of others: what is spelled out, what stays, and what no stream, page or document takes for its own language."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt

from lossless.ground.basics import foreign_text
from lossless.ground.basics.foreign_text import (
    coloured,
    gated,
    markdown,
    spelled_out,
    visible,
    visible_lines,
    workflow_data,
    workflow_property,
    xml,
)

HARMFUL = ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co")
"""Categories of characters that move a cursor, turn text round, end a line or have no form."""
TEXTS = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\x1b\r\n:#[]\u200d\u200c\ufe0f\u3164a")
)


def forbidden(text: str) -> set[str]:
    """Return what a reader would obey or not see; joiners are decided by their neighbors."""
    return {char for char in text if unicodedata.category(char) in HARMFUL} - {"\u200c", "\u200d"}


@given(TEXTS)
@example("a\u202eb\u2066c\u2028d\u0085e\x1b[2J\x9b1m\x7f\ud800\u061c\u200f\ufeff\u00ad\U000e0041")
def test_what_is_visible_has_no_control_format_or_separator_in_it(text: str) -> None:
    assert forbidden(visible(text)) == set()
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    "name",
    [
        *("łódź-leaf-1", "葉-交換機", "مفتاح", "मक्खी", "می\u200cخواهم", "क्\u200dष", "e\u0301"),
        *("👨\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3"),
    ],
)
def test_letters_marks_and_emoji_of_any_script_stay_as_they_are(name: str) -> None:
    assert visible(name) == name
    assert gated(name) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("leaf\u200d1", "leaf\\u200d1"),
        ("#\u200d#[error]", "#\\u200d#[error]"),
        ("a\ufe0f", "a\\ufe0f"),
        ("葉\ufe0f\ufe0f", "葉\ufe0f\\ufe0f"),
        ("leaf\u3164", "leaf\\u3164"),
        ("a\u00a0b\tc", "a\\xa0b\\tc"),
    ],
)
def test_what_only_makes_two_names_look_the_same_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_lines_stay_lines_and_a_name_never_makes_one() -> None:
    assert visible("a\n::error::b\r") == "a\\n::error::b\\r"
    assert visible_lines("a\x1b\nb") == "a\\x1b\nb"


def test_every_text_of_plain_data_is_spelled_out_keys_too() -> None:
    data = {"a\n": ["b\x1b", ("c\u202e", 1), {"d": None}], "e": True}
    assert spelled_out(data) == {"a\\n": ["b\\x1b", ("c\\u202e", 1), {"d": None}], "e": True}


@given(TEXTS, st.sampled_from(["text", "json", "markup"]))
@example("a\n  ::error::b", "text")
@example("###[error]##vso[task.x]##[", "json")
def test_nothing_that_passes_the_gate_is_a_command_of_a_ci_runner(text: str, form: foreign_text.Form) -> None:
    passed = gated(text, form)
    assert forbidden(passed) <= {"\n", "\t"}
    assert not any(line.lstrip().startswith("::") for line in passed.split("\n"))
    assert not any(prefix in passed for prefix in ("##[", "##vso[", "##teamcity["))


def test_commands_that_we_make_ourselves_pass_in_their_own_format_alone() -> None:
    command = "::error file=a::b"
    assert gated(command, "github") == command
    assert gated(command) == "\\x3a:error file=a::b"
    assert gated("- ##[error]x", "github") == "- \\x23#[error]x"


def test_a_spelled_command_is_the_same_data_in_json_and_the_same_text_in_markup() -> None:
    import json

    assert json.loads(gated(json.dumps("##[error]x"), "json")) == "##[error]x"
    assert ET.fromstring(gated("<a>\n::error::##[x</a>", "markup")).text == "\n::error::##[x"


def test_only_the_gate_makes_colours_and_no_text_can_forge_one() -> None:
    assert gated(coloured("leaf1", "1;31")) == "\x1b[1;31mleaf1\x1b[0m"
    assert gated("\x1b[1;31mleaf1\x1b[0m") == "\\x1b[1;31mleaf1\\x1b[0m"
    assert gated(coloured("::error::x", "1")) == "\x1b[1m\\x3a:error::x\x1b[0m"


HOSTILE_MARKDOWN = [
    "[a](javascript:alert(1))",
    "](javascript:alert(1))[",
    "![a](x)",
    "<img src=x onerror=alert(1)>",
    "<https://evil.example>",
    "<a@b.example>",
    "`a` **b** __c__ ~~d~~ *e* _f_",
    "a | b",
    "@everyone",
    "# a",
    "- a",
    "1. a",
    "> a",
    "a\n\n<script>",
    "&lt;b&gt; &#x26;",
    "$x$ \\[ \\",
    "| a |\n|---|",
]


@pytest.mark.parametrize("name", HOSTILE_MARKDOWN)
@pytest.mark.parametrize("around", ["{}", "- {}", "| a |\n| --- |\n| {} |", "**a** {}"])
def test_markdown_shows_a_name_as_it_is_and_as_nothing_but_text(name: str, around: str) -> None:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    usual = [token.type for token in parser.parse(around.format("x"))]
    tokens = parser.parse(around.format(markdown(name)))
    assert [token.type for token in tokens] == usual
    inline = [child for token in tokens for child in token.children or ()][-1]
    assert inline.type == "text"
    assert inline.content.replace("\u200b", "").endswith(visible(name).strip())


@given(TEXTS)
def test_markdown_of_any_name_is_one_paragraph_of_text(text: str) -> None:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    inline = [child for token in parser.parse(f"- a {markdown(text)}") for child in token.children or ()]
    assert {child.type for child in inline} == {"text"}


def test_markdown_calls_nobody_and_links_no_address() -> None:
    assert markdown("@team") == "&#64;&#8203;team"
    assert "://" not in markdown("https://evil.example")
    assert "www." not in markdown("see www.evil.example")


@given(TEXTS)
def test_xml_gives_back_the_text_in_elements_and_in_both_quotes(text: str) -> None:
    root = ET.fromstring(f"<a b='{xml(visible(text))}' c=\"{xml(visible(text))}\">{xml(visible(text))}</a>")
    assert {root.text or "", root.get("b"), root.get("c")} == {visible(text)}


@given(TEXTS)
def test_a_workflow_command_is_one_line_and_its_property_ends_nowhere_early(text: str) -> None:
    assert "\n" not in workflow_data(text) + workflow_property(text)
    assert not {":", ","} & set(workflow_property(text))

"""Plain data as YAML: somebody else's readers, of both versions, get back what was written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from ruamel.yaml import YAML

from lossless.formats.telemetry.collection import yaml_text

_WORDS = st.sampled_from(
    ["on", "No", "null", "~", "1.5", "0x1f", "a: b", "- a", "# a", "", " a", "{{ $x }}", "5m", "a\nb", "é"]
)
_TEXTS = st.one_of(_WORDS, st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12))
_SCALARS = st.one_of(_TEXTS, st.integers(-9, 10**9), st.booleans())
_KEYS = st.text("abcxyz_:", min_size=1, max_size=6)
_DATA = st.dictionaries(
    _KEYS,
    st.recursive(
        _SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=3)),
        max_leaves=8,
    ),
    max_size=4,
)


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
@given(data=_DATA)
def test_what_is_written_is_read_back(version: tuple[int, int], data: Any) -> None:
    reader = YAML(typ="safe", pure=True)
    reader.version = version
    assert (reader.load(yaml_text(data)) or {}) == data


def test_a_comment_stands_above() -> None:
    assert yaml_text({"a": 1}, "one\ntwo") == "# one\n# two\na: 1\n"

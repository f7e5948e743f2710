"""The table of options against the program itself: the keys it has, their defaults, and what it makes of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.analysis.opensm.run import read_configuration
from lossless.model.fabric.infiniband.subnet import BITS, c_number, known_keys, option, options, taken

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.analysis.opensm.run import Tools
    from lossless.model.fabric.infiniband.subnet import Option

CHECKED = [key for key, one in options().items() if one.only != "nvidia" and one.alias is None]
TOGETHER = {
    "long_transaction_timeout",
    "m_key_lease_period",
    "max_wire_smps",
    "max_wire_smps2",
    "part_enforce",
    "qos",
    "sweep_interval",
}
"""Options that opensm also changes for the sake of another one: what is said of one alone does not hold for them."""
TEXTS = (
    "TRUE",
    "FALSE",
    "true",
    "yes",
    "0",
    "1",
    "3",
    "7",
    "8",
    "15",
    "16",
    "30",
    "31",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "4294967301",
    "99999999999999999999",
    "-99999999999999999999",
    "0x10",
    "010",
    "08",
    "-1",
    "+2",
    "abc",
    "10s",
    "0x",
    "off",
    "(null)",
)


def test_the_table_has_the_keys_of_opensm_with_its_defaults(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "empty.conf").write_text("# nothing\n", encoding="utf-8")
    effective = read_configuration(tools, tmp_path / "empty.conf", tmp_path).effective
    ours = {key: one.default for key in CHECKED if (one := option(key))}
    # Where it may dump files depends on the environment of the program.
    assert {**ours, "dump_files_dir": ""} == {**effective, "dump_files_dir": ""}


def test_opensm_knows_no_key_that_is_said_to_be_of_nvidia_alone(tools: Tools, tmp_path: Path) -> None:
    keys = sorted(set(known_keys("nvidia")) - set(known_keys("upstream")))
    (tmp_path / "nvidia.conf").write_text("".join(f"{key} 1\n" for key in keys), encoding="utf-8")
    reading = read_configuration(tools, tmp_path / "nvidia.conf", tmp_path)
    assert sorted(reading.unrecognized) == keys
    assert "sharp_enabled" in keys


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_said_of_a_text_is_what_opensm_makes_of_it(tools: Tools, tmp_path: Path, text: str) -> None:
    asked = {
        key: one
        for key in CHECKED
        if (one := options()[key]).kind in ("bool", "i32", *BITS) and key not in TOGETHER
    }
    # The ranges of QoS are looked at only where it is on.
    lines = ["qos TRUE", *(f"{key} {text}" for key in asked)]
    (tmp_path / "all.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    reading = read_configuration(tools, tmp_path / "all.conf", tmp_path)
    made = {key: value_of(one, reading.effective[key]) for key, one in asked.items()}
    assert made == {key: said(one, text) for key, one in asked.items()}
    refused = {key for key, one in asked.items() if taken(one, text).loss in ("no number", "too wide")}
    assert refused == {line.split()[5].strip(",") for line in reading.complaints if "-E-" in line}


def said(one: Option, text: str) -> int | bool | str | None:
    """Return the value that an option has by our account, its default where the text is not taken."""
    found = taken(one, text).value
    return value_of(one, one.default or "") if found is None else found


def value_of(one: Option, text: str) -> int | bool | str | None:
    number = c_number(text)
    if one.kind == "bool":
        return text == "TRUE"
    # opensm prints some of its unsigned numbers with a sign.
    return number if number is None or one.kind not in BITS else number % 2 ** BITS[one.kind]

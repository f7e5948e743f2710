"""``rows.py``, as it runs on a switch: what a configuration has done of the batches of a plan."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.paths import ROOT

SCRIPT = ROOT / "templates" / "plan" / "rows.py"
FIRST = {"before": {"MAP": {"a": {"24": "3"}, "b": None}}, "after": {"MAP": {"a": {"24": "4"}, "b": {}}}}
SECOND = {"before": {"MAP": {"a": {"24": "4"}}}, "after": {"MAP": {"a": None}}}
STATUS = """\
  Interface    Lanes    Speed    MTU      Alias    Vlan    Oper    Admin             Type    Asym PFC
-----------  -------  -------  -----  ---------  ------  ------  -------  ---------------  ----------
  Ethernet0      1,2     400G   9100  etp1 a/b    trunk      up       up  QSFP28 or later         N/A
  Ethernet4      3,4     400G   9100       etp2  routed    down       up              N/A         N/A
PortChannel1     N/A     800G   9100        N/A  routed      up       up              N/A         N/A
"""


def rows(*arguments: str, given_: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), *arguments], input=given_, capture_output=True, text=True, check=False
    )  # fmt: skip


def files(folder: Path, *batches: dict[str, Any]) -> list[str]:
    paths = [folder / f"{number}.json" for number, _ in enumerate(batches)]
    for path, batch in zip(paths, batches, strict=True):
        path.write_text(json.dumps(batch))
    return [str(path) for path in paths]


def state(folder: Path, config: Any, *batches: dict[str, Any]) -> list[str]:
    return rows(*files(folder, *batches), given_=json.dumps(config)).stdout.splitlines()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"MAP": {"a": {"24": "3"}}}, "before"),
        ({"MAP": {"a": {"24": "3"}, "c": {"1": "1"}}, "bgpraw": "router bgp"}, "before"),
        ({"MAP": {"a": {"24": "4"}, "b": {"NULL": "NULL"}}}, "after 1 of 2"),
        ({"MAP": {"b": {}}}, "after"),
    ],
)
def test_it_says_how_far_a_configuration_is(config: Any, said: str, tmp_path: Path) -> None:
    assert state(tmp_path, config, FIRST, SECOND) == [said]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"MAP": {"a": {"24": "5"}}}, ["MAP|a: 24 is 5, not 3"]),
        ({"MAP": {"a": {"24": "3", "25": "1"}}}, ["MAP|a: 25 is 1, not unset"]),
        ({}, ["MAP|a: is missing"]),
        (
            {"MAP": {"a": {"24": "3"}, "b": {}}},
            [
                "only some of the rows of a batch are as it leaves them; these are not:",
                "MAP|b: is there, and should not be",
            ],
        ),
    ],
)
def test_it_names_rows_that_are_neither_old_nor_new(config: Any, said: list[str], tmp_path: Path) -> None:
    assert state(tmp_path, config, FIRST) == ["neither", *said]


def test_lists_and_text_with_commas_are_the_same(tmp_path: Path) -> None:
    batch = {"before": {"T": {"k": {"l": "3,4"}}}, "after": {"T": {"k": {"l": ["3"]}}}}
    assert state(tmp_path, {"T": {"k": {"l": ["3", "4"]}}}, batch) == ["before"]
    assert state(tmp_path, {"T": {"k": {"l": "3"}}}, batch) == ["after"]


def test_many_rows_are_cut(tmp_path: Path) -> None:
    batch = {side: {"T": {str(n): {"f": side} for n in range(30)}} for side in ("before", "after")}
    assert state(tmp_path, {}, batch)[-1] == "and 10 more rows"


@pytest.mark.parametrize("text", ["", "[]", '{"MAP": [1]}', "{"])
def test_what_is_no_configuration_is_an_error(text: str, tmp_path: Path) -> None:
    done = rows(*files(tmp_path, FIRST), given_=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rows.py: ")


def test_rows_are_put_as_the_switch_spells_them(tmp_path: Path) -> None:
    batch = {
        "before": {"T": {"k": {"l": "3,4", "t": "3"}, "gone": {}}, "U": {"k": {}}},
        "after": {"T": {"k": {"l": "3", "t": ["3", "4"]}, "gone": None}, "U": {"k": None}},
    }
    config = {
        "T": {"k": {"l": ["3", "4"], "t": "3"}, "gone": {}, "other": {}},
        "U": {"k": {}},
        "V": {"k": {}},
    }
    done = rows("--put", *files(tmp_path, batch), given_=json.dumps(config))
    assert json.loads(done.stdout) == {"T": {"k": {"l": ["3"], "t": "3,4"}, "other": {}}, "V": {"k": {}}}


def test_ports_that_are_up_are_read_from_the_table(tmp_path: Path) -> None:
    assert rows("--up", given_=STATUS).stdout.split() == ["Ethernet0"]
    listed = tmp_path / "up"
    listed.write_text("Ethernet0\nEthernet4\n")
    done = rows("--not-up", str(listed), given_=STATUS)
    assert (done.returncode, done.stdout) == (1, "Ethernet4\n")
    listed.write_text("Ethernet0\n")
    assert rows("--not-up", str(listed), given_=STATUS).returncode == 0


@pytest.mark.parametrize("text", ["", "Interface    Admin\n", "Traceback (most recent call last):\n"])
def test_a_table_without_the_state_of_ports_is_an_error(text: str) -> None:
    assert rows("--up", given_=text).returncode == 2


_VALUES = st.one_of(st.none(), st.dictionaries(st.sampled_from("xy"), st.sampled_from("12"), max_size=2))
_TABLES = st.dictionaries(st.sampled_from(("a", "b", "c")), _VALUES, min_size=3, max_size=3)


def _text(tables: dict[str, Any]) -> str:
    return json.dumps(tables, sort_keys=True)


@settings(max_examples=15)
@given(states=st.lists(_TABLES, min_size=2, max_size=4, unique_by=_text), place=st.integers(0, 3))
def test_each_state_of_a_chain_of_batches_is_recognized(
    states: list[dict[str, Any]], place: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    batches = [{"before": {"T": old}, "after": {"T": new}} for old, new in pairwise(states)]
    done = min(place, len(batches))
    config = {"T": {key: row for key, row in states[done].items() if row is not None}}
    (said,) = state(tmp_path_factory.mktemp("rows"), config, *batches)
    names = ["before", *(f"after {number} of {len(batches)}" for number in range(1, len(batches))), "after"]
    assert said == names[done]


def test_of_rows_that_say_more_only_the_fields_of_the_plan_count(tmp_path: Path) -> None:
    batch: dict[str, Any] = {
        "before": {"DEVICE_METADATA": {"localhost": {"buffer_model": None, "type": "ToRRouter"}}},
        "after": {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic", "type": None}}},
        "by_field": ["DEVICE_METADATA"],
    }
    config = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf7", "type": "ToRRouter"}}}
    assert state(tmp_path, config, batch) == ["before"]
    changed = json.loads(rows("--put", *files(tmp_path, batch), given_=json.dumps(config)).stdout)
    assert changed == {"DEVICE_METADATA": {"localhost": {"hostname": "leaf7", "buffer_model": "dynamic"}}}
    assert state(tmp_path, changed, batch) == ["after"]

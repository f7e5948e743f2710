"""No input breaks a command: mutated files of every kind, and those that once did."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.fuzz.seeds import seeds
from tests.fuzz.trials import Trial, beside, breakage, drawn

FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))
ROUNDS, EXAMPLES = 8, 25
"""Examples in CI; ``make fuzz`` runs as many as fit into its time, with seeds of their own."""


@pytest.mark.parametrize("file", FOUND, ids=[file.stem for file in FOUND])
def test_what_once_broke_a_command_does_not_any_more(file: Path) -> None:
    data = json.loads(file.read_text())
    found = breakage(Trial(tuple(data["command"]), data["files"]))
    assert found is None, found.text


@pytest.mark.tools("fuzz")
@pytest.mark.parametrize("number", range(ROUNDS))
def test_mutated_files_end_in_an_exit_code_of_ours(number: int, reference: Path) -> None:
    assert reference.is_dir(), "seeds are of the corpus too"
    chance = random.Random(number)
    for _ in range(EXAMPLES):
        trial = drawn(seeds(), beside(), chance)
        found = breakage(trial)
        assert found is None, f"{' '.join(trial.command)}\n{found.text}"

"""No order of a change has fewer steps than its plan, and where a plan stops all jobs, none keeps them running."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import assume, given, settings

from lossless.checks.plan.assemble import backward
from lossless.checks.plan.evaluation import Evaluator
from lossless.checks.plan.inputs import change_of, running_of_intent
from lossless.checks.plan.search import Search
from lossless.formats.inputs.fabrics import intent_at
from lossless.ground.basics.errors import InputError
from lossless.model.hardware.load import hardware_finder
from tests.all_cases import some
from tests.checks.plan.brute_force import sent_in_the_end
from tests.checks.plan.drawn_changes import Data, bench_of, changes, fabric_at, intent
from tests.checks.plan.fewest_steps import MOST_STATES, Orders, TooManyOrdersError
from tests.checks.plan.test_expert_orders import ORDERS
from tests.checks.plan.test_plans_are_safe import DYNAMIC, NAMED

pytestmark = pytest.mark.tools("laws")

if TYPE_CHECKING:
    from lossless.checks.plan.batches import FabricChange
    from tests.checks.plan.brute_force import Bench

EXAMPLES = int(os.environ.get("LOSSLESS_PLANS", "4"))
"""Pairs of intents that are drawn; more of them with another number in the environment."""
LONGEST = 9
"""Steps of the longest order that is looked for where a plan stops all jobs: more than any plan of one has."""
CHANGES = {
    **NAMED,
    "dynamic buffer model and another DSCP": (DYNAMIC, {**DYNAMIC, "model": "dynamic", "dscp": 24}),
}
DIRECTIONS = [(name, "forth") for name in NAMED] + [(name, "back") for name in CHANGES]


class Searched(NamedTuple):
    """The change between two intents, what it is carried out on, and its rollback."""

    change: FabricChange
    bench: Bench

    @property
    def search(self) -> Search:
        """The search of the planner."""
        return Search(self.change, Evaluator(hardware_finder(())))

    def back(self) -> Searched:
        """Return the rollback from the goal."""
        search, bench = self.search, self.bench
        in_use = search.use_at(search.goal()).dscps
        change = backward(search.states, search.goal(), in_use)
        return Searched(
            change,
            bench._replace(
                start=bench.goal,
                goal=bench.start,
                hosts=bench.hosts[::-1],
                cables_m=bench.cables_m[::-1],
                sent=in_use,
                wanted=sent_in_the_end(in_use, bench.sent, bench.hosts[0].values()),
            ),
        )


def searched(before: str, after: str) -> Searched:
    """Return the change from the text of one intent to that of another."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        current, target = folder / "current.yaml", folder / "target.yaml"
        current.write_text(before, encoding="utf-8")
        target.write_text(after, encoding="utf-8")
        running = running_of_intent(fabric_at(current), intent_at(current))
        return Searched(change_of(running, fabric_at(target)), bench_of(current, target, folder))


def assert_shortest(made: Searched, most_states: int = MOST_STATES) -> None:
    order = made.search.order()
    kinds = [placed.step.kind for placed in order.steps]
    if "stop" in kinds:
        assert Orders(made.change, made.bench, most_states).fewest(LONGEST) is None, kinds
    else:
        # What people do to switches is a step of its own, though it could be joined with another.
        people = sum(
            any(b.how == "by hand" for c in placed.step.switches for b in c.batches) for placed in order.steps
        )
        assert fewest_steps(made, len(kinds), most_states) == len(kinds) - people, kinds


def fewest_steps(made: Searched, limit: int, most_states: int = MOST_STATES) -> int | None:
    """Return the fewest steps of a change; what the traffic of jobs does not see takes a step all the same."""
    fewest = Orders(made.change, made.bench, most_states).fewest(limit)
    return 1 if fewest == 0 and any(kind.units for kind in made.change.kinds) else fewest


@pytest.mark.parametrize(("name", "direction"), some(DIRECTIONS, 2, "steps"))
def test_a_named_change_takes_the_fewest_steps(name: str, direction: str) -> None:
    before, after = CHANGES[name]
    made = searched(json.dumps(intent(**before)), json.dumps(intent(**after)))
    assert_shortest(made if direction == "forth" else made.back())


@pytest.mark.parametrize("name", ORDERS)
def test_an_expert_does_not_need_fewer_steps(name: str) -> None:
    order = ORDERS[name]
    stops, count = "stop" in order.steps, len(order.steps)
    try:
        fewest = fewest_steps(searched(order.before, order.after), LONGEST if stops else count)
    except TooManyOrdersError:
        pytest.skip("too many units to try every order of them")
    assert fewest == (None if stops else count)


@pytest.mark.laws
@settings(max_examples=EXAMPLES)
@given(changes())
def test_a_drawn_change_takes_the_fewest_steps(change: tuple[Data, Data]) -> None:
    try:
        made = searched(*(json.dumps(intent(**data)) for data in change))
    except InputError:
        assume(False)
    with suppress(TooManyOrdersError):
        assert_shortest(made, MOST_STATES // 5)

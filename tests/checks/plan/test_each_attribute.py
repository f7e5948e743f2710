"""A change of any attribute that a system carries has a step or is refused; at its end nothing differs any more.

The table of attributes is walked, and the values of its keys are those that the schema of intents gives as choices and
examples, and numbers beside those of the intent: an attribute that is new in the table is tried without a word here.
"""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from lossless.api import render
from lossless.checks.drift.drift import drift_between
from lossless.checks.plan.inputs import running_of_intent
from lossless.checks.plan.kinds_of_switches import plain_document
from lossless.formats.device_files.hosts import same_files
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.sonic.changes.json_patch import applied
from lossless.formats.switches.contract import SONIC_LOSSES
from lossless.formats.switches.registry import TITLES, dialect
from lossless.ground.basics.errors import LosslessError
from lossless.ground.documents import load, load_text
from lossless.interfaces.api.plan import plan
from lossless.interfaces.api.reference import intent_keys
from lossless.model.fabric.attributes import BY_KEY, settings
from lossless.model.fabric.view import bare
from tests.all_cases import ALL_CASES
from tests.checks.plan.drawn_changes import fabric_at, files_of
from tests.formats.switches.session_effects import after_session
from tests.formats.switches.test_writing import text_of
from tests.switch_view import NOT_CARRIED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lossless.checks.plan.plan import Plan
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.attributes import Attribute
    from lossless.model.fabric.model import Fabric, Switch

Data = dict[str, Any]
At = tuple[str, ...]
HARDWARE: dict[str, Any] = {
    "sonic": "nvidia-sn5600",
    "eos": {"profile": "arista-7060x6-64pe", "format": "eos"},
    "nvue": {"profile": "nvidia-sn5600", "format": "nvue"},
    "nxos": "cisco-9332d-gx2b",
}
READ_ALONE = {"watchdog.forced": "no key of an intent sets it; it is read of EOS"}
"""Attributes that no intent changes, with why."""
_NUMBER = re.compile(r"[0-9]++")


def base(system: str, *, trims: bool = False) -> Data:
    """Return an intent of two leaves and a spine of a system; ``trims``: their queues can trim packets."""
    classes: Data = {
        "rdma": {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "50%"},
        "cnp": {"dscp": 48, "priority": 6, "scheduling": "strict"},
        "default": {"dscp": "rest", "priority": 0, "bandwidth": "50%"},
    }
    classes["rdma"]["ecn"] = {"min": "800 kB", "max": "3200 kB", "probability": "20%"}
    if trims:
        classes["rdma"] |= {"lossless": False, "bandwidth": "40%"}
        classes["trimmed"] = {"dscp": 30, "priority": 4, "bandwidth": "10%"}
    times = {"poll": "200ms", "detection": "600ms", "restoration": "1200ms", "action": "drop"}
    sizes = {"leaves": 2, "spines": 1, "hosts_per_leaf": 1, "host_links": "1 x 400G", "uplinks": "1 x 400G"}
    return {
        "lossless": "v1",
        "fabric": "small",
        "transport": "uec" if trims else "rocev2",
        **({"sonic": {"release": "202511"}} if system == "sonic" else {}),
        "classes": classes,
        **({} if trims else {"pfc": {"watchdog": times}}),
        "congestion_control": "nscc" if trims else {"dcqcn": {"cnp_interval": "4us"}},
        "hardware": {"switch": HARDWARE[system], "nic": "connectx-7"},
        "topology": {"leaf_spine": {**sizes, "cables": {"host": "3m", "uplink": "20m"}}},
    }


def carried(system: str) -> list[str]:
    """Return the attributes that the files of a system carry."""
    losses = SONIC_LOSSES if system == "sonic" else dialect(system).losses
    return [key for key in BY_KEY if key not in losses]


def tried(attribute: Attribute, intent: Data) -> Iterator[Data]:
    """Yield an intent with each value that the schema of intents and the intent itself suggest for an attribute."""
    for path in attribute.paths:
        for at in _places(tuple(path.split(".")), intent, ()):
            for key, values in _keys_below(at, intent):
                for value in values:
                    other = _with(intent, key, value)
                    if other != intent:
                        yield other


def _places(path: At, intent: Data, above: At) -> Iterator[At]:
    """Yield the paths of an attribute's key, with the names that an intent can have there."""
    if not path:
        yield above
        return
    first, *rest = path
    names = {
        ("classes", "NAME"): tuple(intent["classes"]),
        ("by_tier", "NAME"): ("leaf",),
        ("topology", "SHAPE"): ("leaf_spine",),
        ("exceptions", "NAME"): (),
    }
    for name in names.get((above[-1] if above else "", first), (first,)):
        yield from _places(tuple(rest), intent, (*above, name))


@cache
def _schema(above: At, transport: str) -> dict[str, tuple[Any, ...]]:
    """Return the choices and examples of each key below a path."""
    return {
        key.name: tuple(
            load_text(f"value: {text}", "value.yaml").data["value"] for text in (*key.choices, *key.examples)
        )
        for key in intent_keys(above, transport)
    }


def _keys_below(at: At, intent: Data) -> Iterator[tuple[At, list[Any]]]:
    """Yield a key and all keys below it, each with the values to try."""
    transport = intent["transport"]
    own = _schema(at[:-1], transport).get(at[-1])
    if own is not None:
        yield at, [*_beside(_at(intent, at)), *own]
    for name in _schema(at, transport):
        yield from _keys_below((*at, name), intent)


def _beside(value: Any) -> list[Any]:
    """Return values beside one of an intent: another truth, a greater number, twice and half of a quantity."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    found = _NUMBER.search(value) if isinstance(value, str) else None
    if found is None:
        return []
    number = int(found[0])
    return [
        f"{value[: found.start()]}{other}{value[found.end() :]}" for other in (number * 2, number // 2 or 1)
    ]


def _at(intent: Data, at: At) -> Any:
    value: Any = intent
    for key in at:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _with(intent: Data, at: At, value: Any) -> Data:
    other = copy.deepcopy(intent)
    holder = other
    for key in at[:-1]:
        if not isinstance(holder.get(key), dict):
            holder[key] = {}
        holder = holder[key]
    holder[at[-1]] = value
    return other


def moved(attribute: Attribute, old: Switch, new: Switch) -> bool:
    """Return whether an attribute differs between two switches, in what the files of their system carry of it.

    One that is not compared has other values in the fields of its records, one that is has another value; a cable of
    another length in the same row of a HWSKU is no difference for SONiC.
    """
    lost = frozenset(NOT_CARRIED) & {*attribute.fields} if new.runs_sonic else frozenset()
    if attribute.value is not None and (not lost or _values(attribute, old) == _values(attribute, new)):
        return _values(attribute, old) != _values(attribute, new)
    wanted = frozenset(attribute.fields) - lost
    return [*_fields(old, wanted, ())] != [*_fields(new, wanted, ())]


def _values(attribute: Attribute, switch: Switch) -> list[Any]:
    ports = ((port, port.qos) for port in switch.ports if port.placed and port.qos is not None)
    return [
        (port.name, what, value)
        for port, qos in ports
        for _, what, value in settings(switch, port, qos, (attribute,))
    ]


def _fields(value: Any, wanted: frozenset[str], at: At) -> Iterator[Any]:
    """Yield the single values of fields of records, with their places."""
    if not isinstance(value, tuple):
        return
    names = getattr(value, "_fields", None) or [str(number) for number in range(len(value))]
    for name, item in zip(names, value, strict=True):
        if name.endswith(("origin", "origins")):
            continue
        is_record = hasattr(item, "_fields")
        if f"{type(value).__name__}.{name}" in wanted:
            yield (*at, name), type(item).__name__ if is_record else item
        yield from _fields(item, wanted, (*at, name))


class Change(NamedTuple):
    """A change between two intents in files, and the fabrics of both; ``files``: of what runs, if that is named."""

    current: Path
    target: Path
    old: Fabric
    new: Fabric
    files: Path | None = None

    def moves(self, attribute: Attribute) -> bool:
        """Return whether an attribute differs on any switch."""
        pairs = zip(self.old.switches, self.new.switches, strict=True)
        return any(moved(attribute, old, new) for old, new in pairs)

    def running(self) -> dict[str, Document]:
        """Return the configuration of each switch before the change."""
        if self.files is not None and self.old.switches[0].runs_sonic:
            return {file.parent.name: load(str(file)) for file in self.files.glob("*/config_db.json")}
        documents = dict(running_of_intent(self.old, intent_at(self.current)).documents)
        for switch in self.old.switches:
            if not switch.runs_sonic:
                (file, *_) = dialect(switch.format).files(switch)
                documents[switch.name] = dialect(switch.format).document(text_of(file), file.name)
        return documents

    def paths(self) -> list[Path]:
        """Return the inputs of the plan."""
        if self.files is None:
            return [self.current]
        if self.old.switches[0].runs_sonic:
            return [self.files]
        name = dialect(self.old.switches[0].format).files(self.old.switches[0])[0].name
        return [self.files / switch.name / name for switch in self.old.switches]


def change(folder: Path, before: Data, after: Data, files: Path | None = None) -> Change | None:
    """Return the change from one intent to another, None where one of them has no meaning, or other devices."""
    current, target = folder / "current.yaml", folder / "target.yaml"
    current.write_text(json.dumps(before), encoding="utf-8")
    target.write_text(json.dumps(after), encoding="utf-8")
    try:
        old, new = fabric_at(current), fabric_at(target)
    except LosslessError:
        return None
    same = [switch.name for switch in old.switches] == [switch.name for switch in new.switches]
    return Change(current, target, old, new, files) if same else None


def carry_out(made: Plan, switch: Switch, running: Document) -> Document:
    """Return the configuration of a switch after all steps of a plan."""
    batches = (
        batch
        for step in made.steps
        for group in step.switches
        if switch.name in group.devices
        for batch in group.batches
    )
    if switch.runs_sonic:
        config = running.data
        for batch in batches:
            config = applied(config, [operation.as_json() for operation in batch.operations])
        return plain_document(running.file, config)
    text = running.text
    for batch in batches:
        assert batch.session is not None
        text = after_session(switch.format, text, batch.session.commands, running.file)
    document = dialect(switch.format).document(text, running.file)
    document.dialect = switch.format
    return document


def faults(own: Change, made: Plan) -> list[str]:
    """Return what a plan leaves: differences of switches from the target, hosts with other files than it has."""
    running = own.running()
    left = [
        f"{switch.name}: {drift.rows or drift.problems}"
        for switch in own.new.switches
        for drift in [drift_between(switch, carry_out(made, switch, running[switch.name]))]
        if drift.rows or drift.problems
    ]
    qos = {host.name: host.qos for host in own.old.hosts}
    for step in made.steps:
        for group in step.hosts:
            qos |= dict.fromkeys(group.hosts, group.qos)
    hosts = (host for host in own.new.hosts if own.files is None)
    return left + [
        f"{host.name}: not as the target says"
        for host in hosts
        if bare(qos[host.name]) != bare(host.qos) and not same_files(qos[host.name], host.qos)
    ]


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a folder of files in service for each system."""
    found = {}
    for system in HARDWARE:
        folder = tmp_path_factory.mktemp(system)
        (folder / "base.yaml").write_text(json.dumps(base(system)), encoding="utf-8")
        if system == "sonic":
            found[system] = files_of(folder / "base.yaml", folder)
        else:
            render(folder / "base.yaml", folder / "files")
            found[system] = folder / "files"
    return found


def test_each_system_has_hardware_here() -> None:
    assert {*HARDWARE} == {"sonic", *TITLES}


@pytest.mark.parametrize(
    ("system", "key"),
    [pytest.param(system, key, id=f"{system}-{key}") for system in HARDWARE for key in carried(system)],
)
@pytest.mark.parametrize("source", ["files", *(["intent"] if ALL_CASES else [])])
def test_a_change_of_each_attribute_has_a_step_and_leaves_no_difference(
    source: str, system: str, key: str, trees: dict[str, Path], tmp_path: Path
) -> None:
    """Of the values of an attribute the first that is planned; all with LOSSLESS_ALL_CASES, from either to either."""
    attribute, refused, planned = BY_KEY[key], [], 0
    for own in _changes(attribute, system, tmp_path, trees[system] if source == "files" else None):
        try:
            made = plan(own.paths(), own.target)
        except LosslessError as error:
            refused.append([*error.lines])
            continue
        assert any(step.switches for step in made.steps), (own.target.read_text(), "no step of a switch")
        assert faults(own, made) == [], own.target.read_text()
        planned += 1
        if not ALL_CASES:
            break
    assert all(all(lines) for lines in refused)
    assert bool(planned or refused) != (key in READ_ALONE), "no value of the schema changes it"


def _changes(attribute: Attribute, system: str, folder: Path, files: Path | None) -> Iterator[Change]:
    """Yield the changes that move an attribute; those of fabrics that trim packets are from an intent alone."""
    for trims in (False, True) if system == "sonic" else (False,):
        before = base(system, trims=trims)
        for after in tried(attribute, before):
            ends = [(before, after), (after, before)] if ALL_CASES and files is None else [(before, after)]
            for one, other in ends:
                own = change(folder, one, other, None if trims else files)
                if own is not None and own.moves(attribute):
                    yield own

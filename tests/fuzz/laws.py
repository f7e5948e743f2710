"""Laws that are compared for fuzzed inputs: what two forms of one question must have in common.

A law gets a trial and how it ended, and returns how it is broken, or None. Each runs commands in folders of its own.
"""

from __future__ import annotations

import ast
import configparser
import csv
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, get_args
from xml.etree import ElementTree

from jsonschema import Draft7Validator
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lossless.api import lint, trace
from lossless.formats.inputs.switches import configuration_in
from lossless.formats.intent.load import intent_schema
from lossless.formats.sonic.state.databases import NUMBERS
from lossless.formats.telemetry.grafana.build import uid_of
from lossless.formats.telemetry.grafana.host_board import BoardName
from lossless.formats.telemetry.metrics import any_of
from lossless.ground.basics.errors import InputError, LosslessError
from lossless.ground.basics.foreign_text import visible
from lossless.ground.documents import load_text
from tests.checks.lint.test_more_information import EXPLAINED_BY_INTENT
from tests.formats.hosts.from_model.fake_nic import FakeHost
from tests.fuzz.trials import FAILED, FORMATS, Outcome, Trial, folder_of, outcome_of, run
from tests.output.render.plan.switches import FakeSwitch, write_tools
from tests.redis_server import Answers, answering
from tests.strategies import shuffled
from tests.test_agreement_on_trees import broken_laws
from tests.trees import ends

OF_FORMS = "CFG012"
"""The rule that says in which form a file is."""
Law = Callable[[Trial, Outcome], str | None]
Said = Counter[tuple[str, str, str]]
"""Findings by code, severity and message."""


# --- what is printed ---


def form_of(command: tuple[str, ...], outcome: Outcome) -> str | None:
    """Return how the exit code and what is printed contradict each other, or the format that was asked for."""
    if outcome.code == FAILED and not outcome.err and not outcome.out:
        return "exit code 2, and nothing says why"
    form = command[command.index("--format") + 1] if "--format" in command else ""
    return malformed(form, outcome.out)


def malformed(form: str, text: str) -> str | None:
    """Return why a text is no report of a format; none at all is one."""
    try:
        if form in ("json", "sarif", "gitlab", "patch") and text:
            json.loads(text, parse_constant=_no_constant)
        elif form == "junit" and text:
            ElementTree.fromstring(text)
        elif form == "csv" and text:
            widths = {len(row) for row in csv.reader(io.StringIO(text), strict=True)}
            return None if len(widths) == 1 else f"rows of {sorted(widths)} fields"
    except (ValueError, ElementTree.ParseError, csv.Error) as error:
        return f"{form}: {error}"
    return None


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def in_all_formats(trial: Trial, _outcome: Outcome) -> str | None:
    """The exit code is the same in all formats, and each is well formed."""
    command = without_format(trial.command)
    codes = {}
    for form in FORMATS:
        outcome = outcome_of(trial._replace(command=(*command, "--format", form)))
        codes[form] = outcome.code
        if reason := malformed(form, outcome.out):
            return reason
    return None if len(set(codes.values())) == 1 else f"exit codes {codes}"


def without_format(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without its format."""
    at = command.index("--format") if "--format" in command else len(command)
    return (*command[:at], *command[at + 2 :])


# --- the same, asked twice ---


def twice(trial: Trial, outcome: Outcome) -> str | None:
    """The same input has the same output: what is printed, and every file."""
    again = outcome_of(trial)
    for one, other, what in (
        (outcome.code, again.code, "exit codes"),
        (outcome.out, again.out, "output"),
        (outcome.files, again.files, "files"),
    ):
        if one != other:
            return f"{what} differ: {_difference(one, other)}"
    return None


def _difference(one: Any, other: Any) -> str:
    if isinstance(one, Mapping):
        names = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        return f"{names}: {one.get(names[0], b'')[:300]!r}\n{other.get(names[0], b'')[:300]!r}"
    return f"{one!r:.600}\n{other!r:.600}"


def in_any_order(trial: Trial, _outcome: Outcome) -> str | None:
    """The order of the keys of a mapping does not matter to lint, but that of partitions.

    Of two with one P_Key, opensm merges the later into the first, and a port has the membership that the last states;
    one without P_Key takes a free one (tests/analysis/opensm/test_rules_like_opensm.py runs both orders).
    """
    chance = Random(0)
    files = {name: _in_another_order(name, text, chance) for name, text in trial.files.items()}
    # What data have no place for, as comments with suppressions and keys that occur twice, is lost in both.
    given = {name: _as_data(name, text) for name, text in trial.files.items()}
    return _unlike("in another order", said(given), said(files))


def _as_data(name: str, text: str) -> str:
    data = data_of(name, text)
    return text if data is None else json.dumps(data)


def _in_another_order(name: str, text: str, chance: Random) -> str:
    data = data_of(name, text)
    if data is None:
        return text
    made = shuffled(data, chance)
    if isinstance(data, dict) and isinstance(data.get("partitions"), dict):
        made["partitions"] = {each: made["partitions"][each] for each in data["partitions"]}
    return json.dumps(made)


def data_of(name: str, text: str) -> Any:
    """Return the data of JSON or YAML, None of what is neither."""
    try:
        if name.endswith(".json"):
            return json.loads(text)
        if name.endswith((".yaml", ".yml")):
            return load_text(text, name).data
    except (ValueError, InputError, RecursionError):
        pass
    return None


def in_other_forms(trial: Trial, _outcome: Outcome) -> str | None:
    """Switches in one file, as dumps of redis, or named one by one have the findings of files of their own."""
    devices = {
        name: data_of(name, text) for name, text in trial.files.items() if name.endswith("config_db.json")
    }
    # A row that is none, or of a key that the other form has a meaning for, cannot be written in it.
    if not devices or not all(map(_is_plain, devices.values())):
        return None
    alone = said(trial.files)
    others = {name: text for name, text in trial.files.items() if name not in devices}
    joined = said({**others, "config_db.json": json.dumps([*devices.values()])})
    dumped = said({**trial.files, **{name: json.dumps(as_dump(data)) for name, data in devices.items()}})
    named = said(trial.files, *sorted(trial.files))
    return (
        _unlike("in one file", alone, joined)
        or _unlike("as dumps", alone, dumped)
        or _unlike("named one by one", alone, named)
    )


def _is_plain(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and "DEVICE_METADATA" in data
        and all(isinstance(rows, dict) and rows and "|" not in table for table, rows in data.items())
        and all(isinstance(row, dict) for rows in data.values() for row in rows.values())
        and all(
            map(_is_field, (pair for rows in data.values() for row in rows.values() for pair in row.items()))
        )
    )


def _is_field(field: tuple[str, Any]) -> bool:
    name, value = field
    texts = value if isinstance(value, list) and value else [value]
    # A list of one text that has a comma would come back as two.
    several = isinstance(value, list)
    return (
        "@" not in name
        and name != "NULL"
        and all(isinstance(text, str) and not (several and "," in text) for text in texts)
    )


def as_dump(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the rows of a switch as a dump of redis has them: lists under ``field@``, ``NULL`` for no fields."""
    return {
        f"{table}|{key}": {
            (f"{name}@" if isinstance(value, list) else name): ",".join(value)
            if isinstance(value, list)
            else value
            for name, value in row.items()
        }
        or {"NULL": "NULL"}
        for table, rows in tables.items()
        for key, row in rows.items()
    }


def said(files: Mapping[str, str], *paths: str) -> Said | None:
    """Return the findings of lint on files, all of them unless some are named; None where one could not be read."""
    command = ("lint", *(paths or (".",)), "--rdma-dscp", "26", "--format", "json")
    outcome = outcome_of(Trial(command, files))
    if outcome.broke is not None or outcome.code == FAILED or not outcome.out:
        return None
    findings = json.loads(outcome.out)["findings"]
    return Counter(
        (each["code"], each["severity"], each["message"]) for each in findings if each["code"] != OF_FORMS
    )


def _unlike(how: str, one: Said | None, other: Said | None) -> str | None:
    if one == other:
        return None
    if one is None or other is None:
        return f"{how}: only one of both is read"
    return f"{how}: {sorted((other - one).elements())[:3]} in place of {sorted((one - other).elements())[:3]}"


# --- between commands ---


_OF_SYSTEMS = ("does not take it", "has no place for")


def render_refuses_errors(trial: Trial, _outcome: Outcome) -> str | None:
    """Render writes a fabric exactly if lint has no error of its intent."""
    name = _intent(trial)
    with folder_of({name: trial.files[name]}):
        checked, rendered = run(("lint", name, "--no-config")), run(("render", name, "-o", "out"))
    if rendered.broke is not None or checked.broke is not None:
        return (rendered.broke or checked.broke or [""])[-1]
    # Lint knows nothing of what the files of another system have no place for.
    if any(words in rendered.err for words in _OF_SYSTEMS) or checked.code == rendered.code == FAILED:
        return None
    agree = (checked.code == 0) == (rendered.code == 0)
    return (
        None if agree else f"lint ends with {checked.code}, render with {rendered.code}: {rendered.err[:300]}"
    )


def rendered_is_sound(trial: Trial, _outcome: Outcome) -> str | None:
    """What render wrote has no errors, changes nothing when it is written again, and is well formed."""
    name = _intent(trial)
    with folder_of({name: trial.files[name]}) as folder:
        words = ("render", name, "-o", "out", "--also", "telemetry")
        if run(words).code:
            return None
        if (again := run((*words, "--check"))).code:
            return f"a second render would change files: {again.out[:300]}{again.err[:300]}"
        if reason := _unparsed(folder / "out"):
            return reason
        report = lint([folder / "out"])
        errors = [
            f"{found.code} {found.message}"
            for found in report.findings
            if found.severity == "error" and found.code not in EXPLAINED_BY_INTENT
        ]
        return f"errors of what was rendered: {[*map(str, report.errors), *errors][:3]}" if errors else None


def commands_agree(trial: Trial, _outcome: Outcome) -> str | None:
    """Lint has an error on every path that trace calls broken, and of all that closed forms call unsafe."""
    made = {
        Path(name).parent.name: json.loads(text) for name, text in trial.files.items() if "/config_db" in name
    }
    if len(ends(made)) < 3:
        return None
    with folder_of({}) as folder:
        try:
            broken = broken_laws(made, folder)
        except LosslessError:
            return None
    return "; ".join(broken[:3]) or None


def editors_accept(trial: Trial, _outcome: Outcome) -> str | None:
    """The schema for editors accepts every intent that is loaded."""
    name = _intent(trial)
    data = data_of(name, trial.files[name])
    with folder_of({name: trial.files[name]}):
        if run(("lint", name)).code == FAILED or _has_odd_keys(data):
            return None
    error = next(_validator().iter_errors(data), None)
    return None if error is None else f"the schema refuses {list(error.absolute_path)}: {error.message[:200]}"


@cache
def _validator() -> Draft7Validator:
    return Draft7Validator(intent_schema())


def _has_odd_keys(data: Any) -> bool:
    """Return whether a mapping has a key that is no text, which JSON has none of."""
    if isinstance(data, dict):
        return any(not isinstance(key, str) for key in data) or any(map(_has_odd_keys, data.values()))
    return isinstance(data, list) and any(map(_has_odd_keys, data))


def losses_are_errors(trial: Trial, _outcome: Outcome) -> str | None:
    """A rendered tree whose path a change broke has an error beside its intent."""
    with folder_of(trial.files) as folder:
        hosts = _hosts(trial)
        if len(hosts) < 2:
            return None
        try:
            broken = trace(folder / "out", hosts[0], hosts[1], 26).trace.broken
        except LosslessError:
            return None
        report = lint([folder])
    wrong = report.errors or [found for found in report.findings if found.severity == "error"]
    return f"{hosts[0]} to {hosts[1]} is broken, and lint reports no error" if broken and not wrong else None


def _hosts(trial: Trial) -> tuple[str, ...]:
    at = [place for place, word in enumerate(trial.command) if word in ("--from", "--to")]
    return tuple(trial.command[place + 1] for place in at)


def _intent(trial: Trial) -> str:
    return next(name for name in trial.files if name.endswith(".yaml"))


# --- what is written ---


def written_is_well_formed(trial: Trial, outcome: Outcome) -> str | None:
    """Every file that a command wrote is read by the parser of its format; input may be malformed."""
    given = {name: text.encode(errors="surrogatepass") for name, text in trial.files.items()}
    with folder_of({}) as folder:
        for name, raw in outcome.files.items() - given.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        return _unparsed(folder)


def _unparsed(folder: Path) -> str | None:
    rules = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (reason := unparsed(path)):
            return f"{path.relative_to(folder)}: {reason}"
        if path.name.endswith((".rules", ".rules.yml")) and "prometheus" in path.parts:
            rules.append(str(path))
    promtool = shutil.which("promtool")
    if rules and promtool:
        done = subprocess.run(
            [promtool, "check", "rules", *rules], capture_output=True, text=True, check=False
        )
        return done.stderr[:300] if done.returncode else None
    return None


def unparsed(path: Path) -> str | None:
    """Return why the parser of its format does not read a file; None where it does, or there is none."""
    try:
        values_in(path)
    except (ValueError, YAMLError, SyntaxError, configparser.Error, InputError) as error:
        return f"{type(error).__name__}: {error}"
    if path.suffix == ".sh":
        done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, check=False)
        return done.stderr[:300] if done.returncode else None
    return None


def values_in(path: Path) -> list[str]:
    """Return the texts in a file, keys too, as the parser of its format has them; none of other formats."""
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".json":
            return [*_texts(json.loads(text, parse_constant=_no_constant))]
        case ".yaml" | ".yml" | ".rules":
            return [*_texts([*YAML(typ="safe").load_all(text)])]
        case ".service":
            unit = configparser.RawConfigParser(strict=False, delimiters=("=",))
            unit.optionxform = str  # type: ignore[assignment,method-assign]
            unit.read_string(text)
            return [value for section in unit.sections() for pair in unit.items(section) for value in pair]
        case ".py":
            constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
            return [value for value in constants if isinstance(value, str)]
        case ".cfg" | ".nv" if path.stem == "qos":
            configured = configuration_in(text, path.name)
            if configured is None:
                raise ValueError("no configuration of a system that is read")
            return [*_texts(configured.data)]
    return []


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        yield from (str(key) for key in data)
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
    else:
        yield str(data)


def scripts_run(_trial: Trial, outcome: Outcome) -> str | None:
    """The scripts of a plan end on pretended switches as they say, and those of hosts are content after a run."""
    with folder_of({}) as folder:
        for name, raw in outcome.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        plan = folder / "change" / "plan.json"
        hosts = sorted(folder.glob("out/*/lossless-roce.sh"))
        if plan.is_file():
            return _first_step(folder, json.loads(plan.read_text(encoding="utf-8")))
        return _host_script(folder / "host", hosts[0].read_text(encoding="utf-8")) if hosts else None


def _first_step(folder: Path, plan: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a run of the first step on a switch of its first group."""
    groups = [each["group"] for each in plan["steps"][0]["switches"]] if plan["steps"] else []
    if not groups:
        return None
    device = plan["groups"][groups[0]][0]
    running = folder / "running" / device / "config_db.json"
    if not running.is_file() or not (folder / "change" / "step-01" / groups[0]).is_dir():
        return None
    before = json.loads(running.read_text(encoding="utf-8"))
    switch = FakeSwitch(folder / "switch", write_tools(folder / "tools"), before)
    done = switch.run(folder / "change", "step-01", groups[0], "--drained")
    if done.returncode == 0:
        again = switch.run(folder / "change", "step-01", groups[0], "--drained")
        return (
            None
            if "nothing to do" in again.stdout
            else f"a second run: {again.stdout[-200:]}{again.stderr[-300:]}"
        )
    if done.returncode != 1 or not done.stderr.startswith("lossless-plan: "):
        return f"run.sh ends with {done.returncode}: {done.stderr[-400:]}"
    return (
        None
        if switch.running == switch.saved == before
        else f"a run that failed left changes: {done.stderr[-300:]}"
    )


def _host_script(folder: Path, script: str) -> str | None:
    fake = FakeHost(folder)
    # As many ports as the script counts.
    ports = re.search(r"interfaces\[@\]\} >= (\d+)\)", script)
    for number in range(min(8, int(ports[1])) if ports else 1):
        fake.add_nic(f"eth{number}", f"mlx5_{number}", f"0000:{17 + number}:00.0")
    done = fake.run(script)
    odd = [line for line in done.stderr.splitlines() if not line.startswith("lossless-roce: ")]
    # 2 where it refuses to start, as without a NIC of the driver that it is for.
    if done.returncode not in (0, 1, 2) or odd or (done.returncode and not done.stderr):
        return f"the script of a host ends with {done.returncode}: {odd[:3]}"
    checked = fake.run(script, "--check") if done.returncode == 0 else None
    return (
        f"--check after a run: {checked.stdout[-300:]}"
        if checked is not None and checked.returncode
        else None
    )


def exposition_is_read(trial: Trial, _outcome: Outcome) -> str | None:
    """Whatever names and values a switch has, Prometheus' own reader has each name back."""
    rows = json.loads(trial.files["rows.json"])
    with TemporaryDirectory() as name, answering(Path(name), _answers(rows)) as socket:
        done = run(("exporter", "--once", "--redis", socket))
    if done.broke is not None or done.code:
        return done.broke.text if done.broke is not None else f"exit code {done.code}: {done.err[:200]}"
    labels = {
        sample.labels["interface"]
        for family in text_string_to_metric_families(done.out)
        for sample in family.samples
        if "interface" in sample.labels
    }
    odd = labels - {visible(name) for name in _named(rows)}
    return f"labels of no port: {sorted(odd)[:3]}" if odd else None


def _named(rows: Mapping[str, Mapping[str, Mapping[str, str]]]) -> set[str]:
    """Return the names of ports in the databases of a switch, with and without the number of a queue."""
    maps = [row for key, row in rows.get("COUNTERS_DB", {}).items() if key.endswith("_NAME_MAP")]
    objects = {name for names in maps for name in names}
    ports = {key.partition(":")[2] for key in rows.get("APPL_DB", {})}
    ports |= {key.partition("|")[2] for key in rows.get("STATE_DB", {})}
    return objects | ports | {name.rpartition(":")[0] for name in objects}


def _answers(rows: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Answers:
    """Return what answers as a redis that holds rows of databases."""
    database = {"now": ""}

    def answer(words: list[bytes]) -> Iterator[bytes]:
        command, *others = [word.decode(errors="surrogateescape") for word in words]
        held = rows.get(database["now"], {})
        match command.upper():
            case "SELECT":
                database["now"] = NUMBERS.get(others[0], "")
                yield b"+OK\r\n"
            case "DBSIZE":
                yield b":%d\r\n" % len(held)
            case "HGETALL":
                yield _bulk([word for pair in held.get(others[0], {}).items() for word in pair])
            case "KEYS":
                yield _bulk([*held])
            case _:
                fields = held.get(others[0], {}) if others else {}
                yield _bulk([fields.get(field) for field in others[1:]])

    return answer


def _bulk(values: Sequence[str | None]) -> bytes:
    parts = (
        b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(raw), raw)
        for value in values
        for raw in [b"" if value is None else str(value).encode(errors="surrogateescape")]
    )
    return b"*%d\r\n" % len(values) + b"".join(parts)


def names_come_back(trial: Trial, _outcome: Outcome) -> str | None:
    """A name of an intent occurs in each file that is rendered as often as a plain name does in its place.

    It may be in a regular expression there, or in the UID of a dashboard, which has a hash of some names.
    The trial has the intent with the odd name, and ``plain.yaml`` with the plain one; ``name.txt`` holds both.
    """
    odd, plain = json.loads(trial.files["name.txt"])
    found = []
    for name in ("fabric.yaml", "plain.yaml"):
        with folder_of({"fabric.yaml": trial.files[name]}) as folder:
            done = run(("render", "fabric.yaml", "-o", "out", "--also", "telemetry"))
            if done.broke is not None:
                return done.broke.text
            if done.code:
                return None
            if reason := _unparsed(folder / "out"):
                return reason
            texts = {
                path.relative_to(folder).as_posix(): [
                    _with_plain_forms(text, odd) for text in values_in(path)
                ]
                for path in (folder / "out").rglob("*")
                if path.is_file() and path.name != "manifest.json"
            }
            found.append(texts)
    as_odd, as_plain = found
    for file, plain_texts in as_plain.items():
        expected = sorted(text.replace(plain, odd) for text in plain_texts)
        other = sorted(as_odd.get(file.replace(plain, odd), as_odd.get(file, [])))
        if expected != other:
            lost = [text for text in expected if text not in other]
            return f"{file}: {lost[:2]} in place of {[text for text in other if text not in expected][:2]}"
    return None


def _with_plain_forms(text: str, name: str) -> str:
    """Return a text with a name as it is where it is in a regular expression or in the UID of a dashboard."""
    for board in get_args(BoardName):
        text = text.replace(uid_of(name, board), f"lossless-{name}-{board}")
    return text.replace(any_of([name]), name)


LAWS: dict[str, Law] = {
    "twice": twice,
    "order": in_any_order,
    "forms": in_other_forms,
    "formats": in_all_formats,
    "refusal": render_refuses_errors,
    "rendered": rendered_is_sound,
    "agreement": commands_agree,
    "schema": editors_accept,
    "losses": losses_are_errors,
    "written": written_is_well_formed,
    "names": names_come_back,
    "scripts": scripts_run,
    "exposition": exposition_is_read,
}

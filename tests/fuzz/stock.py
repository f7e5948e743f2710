"""What the fuzzer draws from: families of sound inputs, each made when it is first drawn, with commands and laws.

Single files are those of ``seeds``. Here are networks of several files: examples and scenarios of rules, trees of
switches of each system, rendered trees beside their intent, captures of hosts, switches and subnets, and changes of a
fabric in service. What is drawn is changed behind validation, or as bytes are.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed as drawn_by, settings

from lossless.api import load_fabrics, render
from lossless.formats.inputs.intents import declaration_of
from lossless.formats.intent.load import intent_schema
from lossless.ground.basics.errors import LosslessError, Problem
from lossless.ground.documents import load_text
from lossless.interfaces.cli import main
from lossless.model.hardware.load import nic_names, switch_names
from tests.checks.rules.recorded import bad_examples, scenarios, stated_examples
from tests.checks.rules.snippets import Snippet
from tests.conftest import REFERENCE
from tests.formats.importing.cabling.test_cabled_topology import HOST, SHEET, TABLE, UPLINK
from tests.formats.intent.subnet_texts import LISTED, TREE
from tests.formats.reader_texts import CAPTURES, FACTS, MANAGERS
from tests.fuzz.behind import Pool, changed_data, changed_lines, kind_of
from tests.fuzz.laws import data_of
from tests.fuzz.mutations import SCALARS, mutated
from tests.fuzz.seeds import CONFIGURATION, LARGEST_BYTES, seeds
from tests.fuzz.trials import EDITOR, FORMATS, Seed, Trial, files_in, folder_of, run
from tests.paths import EXAMPLES, ROOT, RULE_BASES
from tests.redis_server import busy_switch
from tests.strategies import intents
from tests.trees import DAMAGES, SCOPES, TOPOLOGIES, damaged, ends, intent_of, tree
from tools.damage_systems import INTENT, SYSTEMS
from tools.example_base import base_of

Data = dict[str, Any]
RAW = 0.12
"""The share of inputs changed as bytes are, besides the family ``bytes``, so that reading is fuzzed too."""
_ONE_FORM = {"&&", "--diff", "--statistics", "--plan"}
"""Words of commands that are for one format."""
TRIES = 12
"""How often another change is drawn for an intent that is refused."""
WITH_LAW = 0.4
INTENTS_DRAWN = 24
"""Intents that are drawn by the strategies of the laws between commands."""
LINTED = tuple(("lint", ".", "--rdma-dscp", "26", "--format", form) for form in FORMATS)
FILE_LINTED = tuple(("lint", "FILE", "--format", form) for form in FORMATS)
OF_INTENT: tuple[tuple[str, ...], ...] = (
    *FILE_LINTED,
    ("lint", "FILE", "-v", "--statistics"),
    ("lint", "--fix", "--unsafe-fixes", "FILE"),
    ("lint", "--diff", "--unsafe-fixes", "FILE"),
    ("render", "FILE", "-o", "out"),
    ("render", "FILE", "-o", "out", "--also", "telemetry"),
    ("render", "FILE", "-o", "out", "&&", "lint", "out"),
    ("render", "FILE", "-o", "out", "&&", "import", "out", "-o", "back.yaml", "&&", "lint", "back.yaml"),
    ("topology", "FILE", "--svg", "fabric.svg"),
    ("topology", "FILE", "--format", "json"),
    ("trace", "FILE", "--from", "HOST1", "--to", "HOST2", "--dscp", "26"),
    ("trace", "FILE", "--from", "HOST1", "--to", "HOST2", "--dscp", "26", "--format", "json"),
    ("headroom", "FILE"),
    ("headroom", "FILE", "-v", "--format", "json"),
    ("simulate", "FILE", "--closed-form", "-v"),
    ("simulate", "FILE", "--closed-form", "--format", "json"),
    ("storm", "FILE", "--from", "HOST1", "--svg", "storm.svg"),
    ("storm", "FILE", "--from", "HOST1", "--traffic", "incast", "--format", "json"),
    *(
        ("workload", "FILE", "--collective", name)
        for name in ("all-reduce", "all-gather", "all-to-all", "pipeline")
    ),
    ("workload", "FILE", "--algorithm", "tree", "--format", "json"),
    ("baseline", "FILE", "-o", "b.json", "&&", "lint", "FILE", "--baseline", "b.json"),
    ("verify", "FILE", "."),
)
OF_ROWS: tuple[tuple[str, ...], ...] = (
    *FILE_LINTED,
    *LINTED[:2],
    ("lint", "FILE", "-v", "--statistics"),
    ("lint", "--fix", "--unsafe-fixes", "FILE"),
    ("lint", "--diff", "--unsafe-fixes", "FILE"),
    ("import", "FILE", "-o", "imported.yaml", "--base", "base", "&&", "lint", "imported.yaml"),
    ("headroom", "FILE", "--rdma-dscp", "26", "--format", "json"),
    ("headroom", "FILE", "--rdma-dscp", "26", "-v"),
    ("simulate", "FILE", "--closed-form", "--rdma-dscp", "26"),
    ("trace", "FILE", "--from", "Ethernet0", "--to", "Ethernet8", "--dscp", "26"),
    ("diff", "FILE", "leaf-spine.yaml", "--device", "leaf1", "--format", "json"),
    ("baseline", "FILE", "-o", "b.json", "&&", "lint", "FILE", "--baseline", "b.json"),
)
OF_TREE: tuple[tuple[str, ...], ...] = (
    *LINTED,
    ("lint", "--fix", "--unsafe-fixes", ".", "&&", "lint", "."),
    ("trace", ".", "--from", "HOST1", "--to", "HOST2", "--dscp", "26"),
    ("trace", ".", "--from", "HOST1", "--to", "HOST2", "--dscp", "26", "--format", "json"),
    ("headroom", ".", "--rdma-dscp", "26"),
    ("simulate", ".", "--closed-form", "--rdma-dscp", "26", "--format", "json"),
    ("import", ".", "-o", "back.yaml", "--nic", "connectx-7", "&&", "lint", "back.yaml"),
    ("verify", "."),
    ("baseline", ".", "-o", "b.json", "&&", "lint", ".", "--baseline", "b.json"),
)
OF_TREE_AND_INTENT: tuple[tuple[str, ...], ...] = (
    ("diff", "out", "fabric.yaml"),
    ("diff", "out", "fabric.yaml", "--format", "json"),
    ("plan", "out", "fabric.yaml", "--format", "json"),
    ("plan", "out", "fabric.yaml", "-o", "change", "&&", "lint", "--plan", "change", "out"),
    ("render", "fabric.yaml", "-o", "again", "--base", "out", "--also", "patch", "--also", "rollback"),
)
OF_SUBNET: tuple[tuple[str, ...], ...] = (
    *FILE_LINTED,
    ("render", "FILE", "-o", "out", "--also", "telemetry"),
    ("render", "FILE", "-o", "out", "&&", "lint", "out"),
    ("topology", "FILE", "--svg", "fabric.svg"),
    ("workload", "FILE", "--format", "json"),
    ("plan", "current.yaml", "FILE", "--format", "json"),
    ("plan", "current.yaml", "FILE", "-o", "change"),
)
OF_CHANGE: tuple[tuple[str, ...], ...] = (
    ("plan", "current.yaml", "FILE"),
    ("plan", "current.yaml", "FILE", "-v"),
    ("plan", "current.yaml", "FILE", "--format", "json"),
    ("plan", "current.yaml", "FILE", "-o", "change", "&&", "lint", "--plan", "change", "running"),
    ("plan", "running", "FILE", "-o", "change", "--max-ports-down", "8"),
    ("topology", "FILE", "--against", "current.yaml"),
    ("diff", "running", "FILE"),
)
_NICS = ("--nics", "3", "--size", "64KiB", "--seeds", "1")
OF_RUN: tuple[tuple[str, ...], ...] = (
    *(
        ("simulate", "FILE", *_NICS, "--workload", name)
        for name in ("incast", "all-to-all", "ring", "permutation")
    ),
    ("simulate", "FILE", *_NICS, "--format", "json"),
    ("simulate", "FILE", *_NICS, "--load-balancing", "spray", "--reorder", "any"),
    ("simulate", "FILE", *_NICS, "--dead-nic"),
    ("simulate", "FILE", *_NICS, "--plots", "plots"),
    ("lint", "FILE", "--simulate", "--select", "SIM", "--format", "json"),
    *(
        ("sweep", "FILE", "--vary", vary, *_NICS, "--horizon", "50us", "--format", form)
        for vary in ("dynamic_th=-2,1", "kmin=100KiB,400KiB", "pmax=5%,50%", "headroom=100KiB,400KiB")
        for form in ("text", "json", "csv")
    ),
    ("tune", "FILE", "--evaluations", "2", "--seeds", "1"),
    ("tune", "FILE", "--evaluations", "2", "--seeds", "1", "--format", "json"),
    ("tune", "FILE", "--evaluations", "2", "--seeds", "1", "--format", "csv", "-o", "tuned"),
)


OF_CABLES: tuple[tuple[str, ...], ...] = (
    ("topology", "leaf-spine.yaml", "--from", "FILE"),
    ("topology", "leaf-spine.yaml", "--from", "FILE", "--format", "json"),
    (
        *("topology", "--from", "FILE", "-o", "cabled.yaml"),
        *(word for tier in ("hosts=400G", "uplinks=800G") for word in ("--speed", tier)),
        *(word for tier in ("hosts=3m", "uplinks=30m") for word in ("--cable", tier)),
        *(word for role in ("leaf=leaf*", "spine=spine*", "host=[ghm]*") for word in ("--role", role)),
    ),
)


OTHER_FORMS = ("avd.yml", "qos.yaml", "qos.dme.json")
"""Files of a rendered tree that say the same as another one of their switch."""


class Family(NamedTuple):
    """Seeds of a kind, each made when it is drawn, and how often one is drawn of all."""

    name: str
    weight: float
    seeds: Sequence[Callable[[], Seed]]


class Drawn(NamedTuple):
    """A trial, the file that was changed and what it was before, and whether it was changed as bytes are."""

    trial: Trial
    family: str
    name: str
    before: str
    raw: bool

    @property
    def unchanged(self) -> Trial:
        """The same without the change."""
        return self.trial._replace(files={**self.trial.files, self.name: self.before}, law="")


class Stock:
    """All families, and the values that are exchanged between them."""

    def __init__(self, seed: int = 0, *, intents_drawn: int = 0, runs: bool = False) -> None:
        self.families = [*_families(seed, intents_drawn)]
        if runs:
            self.families.append(
                Family("runs", 1.5, [cache(partial(_of_run, text)) for text in _small_intents()])
            )
        self._pool = _pool()

    def draws(self, chance: Random) -> Iterator[Drawn]:
        """Yield trials of seeds that are changed, without end.

        The seeds of a family, and the commands of its seeds that have the same, come in turn, each once before one
        comes again: of many readers there is one seed among hundreds.
        """
        turns: dict[tuple[object, ...], Iterator[Any]] = {}

        def next_of(them: Sequence[Any], *key: object) -> Any:
            return next(turns.setdefault(key, _in_turn(them, chance)))

        while True:
            (family,) = chance.choices(self.families, [family.weight for family in self.families])
            if family.name == "names":
                yield _hostile(chance)
                continue
            seed = next_of(family.seeds, family.name)()
            yield self._drawn(family, seed, next_of(seed.commands, family.name, tuple(seed.commands)), chance)

    def _drawn(self, family: Family, seed: Seed, command: tuple[str, ...], chance: Random) -> Drawn:
        name = chance.choice((seed.name, *seed.others))
        files = seed.files
        before = files[name]
        raw = family.name == "bytes" or chance.random() < RAW
        files[name] = mutated(before, name, chance) if raw else _behind(name, before, self._pool, chance)
        words = {"FILE": seed.name, **seed.words}
        command = tuple(words.get(word, word) for word in command)
        if "bases" in command:
            files["bases/leaf1/config_db.json"] = files[name]
        law = chance.choice(seed.laws) if seed.laws and not raw and chance.random() < WITH_LAW else ""
        if family.name == "exporter" and not raw:
            law, files[name] = "exposition", _with_odd_name(before, chance)
        if law == "formats" and (command[0] not in ("lint", "verify") or _ONE_FORM & {*command}):
            law = ""
        # opensm is another program, and says how long it took.
        if command[0] == "opensm":
            law = ""
        if law == "losses":
            command = ("trace", "out", "--from", words["HOST1"], "--to", words["HOST2"], "--dscp", "26")
        if law == "agreement":
            files = _damaged(seed.files, chance)
        return Drawn(Trial(command, files, law), family.name, name, before, raw)


def _in_turn(them: Sequence[Any], chance: Random) -> Iterator[Any]:
    """Yield all of them in an order of chance, again and again."""
    while True:
        yield from chance.sample(them, len(them))


def _behind(name: str, text: str, pool: Pool, chance: Random) -> str:
    """Return a text whose values are others; of an intent, one that is loaded, if it is found soon."""
    times = chance.choice((1, 1, 2, 3))
    data = data_of(name, text)
    if data is None:
        return changed_lines(text, name, pool, chance, times)
    changed = text
    for _ in range(TRIES if kind_of(data) == "intent" else 1):
        changed = json.dumps(changed_data(data, pool, chance, times), indent=1)
        if kind_of(data) != "intent" or is_loaded(changed, name):
            break
    return changed


def _with_odd_name(text: str, chance: Random) -> str:
    """Return the databases of a switch in which a port, a pool or the switch has a hostile name."""
    name = json.dumps(chance.choice(HOSTILE))[1:-1]
    return text.replace(chance.choice(("Ethernet0", "leaf1", "lossless")), name)


def is_loaded(text: str, name: str) -> bool:
    """Return whether an intent declares a fabric, or a subnet."""
    errors: list[Problem] = []
    try:
        declaration_of(load_text(text, name), (), errors)
    except LosslessError:
        return False
    except Exception:  # noqa: BLE001 the command breaks by it, too, and is what says so
        return True
    return not errors


@cache
def _pool() -> Pool:
    pool = Pool()
    pool.add_schema(intent_schema())
    for key in ("switch", "leaf", "spine", "super-spine", "profile"):
        for profile in switch_names():
            pool.add_value(f"intent {key}", profile)
    for nic in nic_names():
        pool.add_value("intent nic", nic)
    for path in sorted(RULE_BASES.iterdir()):
        _take(pool, path.name, path.read_text())
    for _, _, snippet in (*bad_examples(), *stated_examples()):
        _take(pool, snippet.file, snippet.text)
    for text in (TREE, LISTED, *(path.read_text() for path in sorted(EXAMPLES.glob("*/fabric.yaml")))):
        _take(pool, "fabric.yaml", text)
    for topology in TOPOLOGIES:
        for rows in tree(topology).values():
            pool.add(rows)
    return pool


def _take(pool: Pool, name: str, text: str) -> None:
    data = data_of(name, text)
    if data is None:
        pool.add_lines(name, text)
    else:
        pool.add(data)


# --- families ---


def _families(seed: int, drawn: int) -> list[Family]:
    single = [partial(_itself, each) for each in seeds()]
    examples = [cache(partial(_of_snippet, snippet)) for snippet in _examples()]
    scenes = [cache(partial(_of_network, scene.network)) for scene in scenarios()]
    small = (*_small_intents(), *_intents_of_other_nics(), *_drawn_intents(seed, drawn))
    fabrics = [cache(partial(_of_intent, text)) for text in small]
    large = [cache(partial(_of_large, path)) for path in _large_intents()]
    trees = [
        *(cache(partial(_of_tree, topology)) for topology in TOPOLOGIES),
        *(cache(partial(_of_system, system)) for system in SYSTEMS),
    ]
    sound = [text for text in _small_intents() if "three_tier" not in text]
    rendered = [cache(partial(_of_rendered, text)) for text in sound]
    return [
        Family("bytes", 10, single),
        Family("intents", 20, fabrics),
        Family("large intents", 2, large),
        Family("examples of rules", 26, examples),
        Family("scenarios of rules", 5, scenes),
        Family("trees", 10, trees),
        Family("rendered trees", 8, rendered),
        Family(
            "changes",
            3,
            [cache(partial(made, text)) for made in (_of_change, _of_reported) for text in sound],
        ),
        Family("plans", 1, [cache(partial(_of_plan, text)) for text in sound if "sonic" in text]),
        Family("exporter", 1.5, [_of_exporter]),
        Family("captures", 6, [cache(partial(_of_capture, *each)) for each in _captures()]),
        Family("recorded captures", 4, [cache(partial(_of_capture, *each)) for each in _recorded_captures()]),
        Family("facts", 3, [cache(partial(_of_facts, name)) for name in FACTS]),
        Family(
            "subnets",
            5,
            [cache(partial(_of_subnet, text)) for text in (TREE, LISTED, _base("infiniband.yaml"))],
        ),
        Family("subnet managers", 1, [cache(partial(_of_manager, name)) for name in MANAGERS]),
        Family("cables", 1, [cache(partial(_of_cables, *each)) for each in _cabling().items()]),
        Family("configurations", 0.5, [_of_configuration]),
        Family("patches", 0.5, [_of_patch]),
        Family("profiles", 0.5, [partial(_of_profile, name) for name in PROFILES]),
        Family("names", 1, ()),
    ]


def _itself(seed: Seed) -> Seed:
    return seed


def _base(name: str) -> str:
    return (RULE_BASES / name).read_text()


def _examples() -> list[Snippet]:
    """Return the examples of rules, bad and good."""
    found = {
        (snippet.kind, snippet.base, snippet.text): snippet
        for _, _, snippet in (*bad_examples(), *stated_examples())
    }
    return [*found.values()]


def _of_snippet(snippet: Snippet) -> Seed:
    return _of_network([snippet])


def _of_network(network: Sequence[Snippet]) -> Seed:
    """Return the files of an example of a rule, with the commands that read such files."""
    first = network[0]
    files: dict[str, str] = {}
    for snippet in network:
        files |= _placed(snippet)
    name = next(iter(_placed(first)))
    others = [other for other in files if other != name]
    text, beside = files[name], {other: files[other] for other in others}
    dscps = ("--rdma-dscp", ",".join(map(str, first.rdma_dscps))) if first.rdma_dscps else ()
    laws: tuple[str, ...] = ("twice", "order")
    if first.is_capture:
        since = ("--since", "before") if first.earlier else ()
        commands = tuple(("verify", "now", *since, *dscps, "--format", form) for form in FORMATS)
        return Seed(name, text, commands, beside, others, laws=("twice", "formats"))
    if first.is_cabling or any(other.endswith(".csv") for other in files):
        intent = next((each for each in files if each.endswith(".yaml")), name)
        cables = next((each for each in files if each != intent), name)
        commands = tuple(
            ("topology", intent, "--from", cables, "--format", form) for form in ("text", "json")
        )
        return Seed(name, text, commands, beside, others, laws=("twice",))
    if first.kind == "json baseline":
        commands = tuple(("lint", ".", "--baseline", name, "--format", form) for form in FORMATS)
        return Seed(name, text, commands, beside, others, laws=("twice",))
    commands = tuple(("lint", ".", *dscps, "--format", form) for form in FORMATS)
    if len(files) == 1 and first.kind == "yaml intent" and "infiniband" not in text:
        return _of_intent(text)._replace(commands=(*commands, *commands, *OF_INTENT))
    if first.kind == "json config_db":
        more = OF_ROWS if len(files) == 1 else ()
        beside = {**beside, "leaf-spine.yaml": _base("leaf-spine.yaml")} if len(files) == 1 else beside
        alone = tuple(
            ("lint", name, *(other for other in others), *dscps, "--format", form) for form in FORMATS
        )
        return Seed(name, text, (*alone, *alone, *more), beside, others, laws=(*laws, "formats"))
    return Seed(name, text, commands, beside, others, laws=(*laws, "formats"))


def _placed(snippet: Snippet) -> dict[str, str]:
    """Return the files of a snippet, its own first, where lint or verify find them."""
    if snippet.is_capture:
        placed = {f"now/leaf1/{snippet.file}": snippet.text}
        placed |= {f"before/leaf1/{snippet.file}": snippet.earlier} if snippet.earlier else {}
        return placed | {
            f"now/{'leaf1/config_db.json' if each.file.endswith('.json') else each.file}": each.text
            for each in snippet.companions()
        }
    if snippet.is_cabling or any(name.endswith(".csv") for name in snippet.beside):
        own = snippet.text if snippet.is_cabling else snippet.document().text
        texts = {name: _base(name) for name in snippet.beside}
        return {snippet.file: own, **texts}
    if snippet.is_facts:
        own_name, own = f"host1/{snippet.file}", snippet.text
    elif snippet.kind == "json baseline":
        own_name, own = snippet.file, snippet.text
    else:
        own_name, own = snippet.file, snippet.document().text
        own_name = "fabric.cfg" if snippet.kind == "text switch" else own_name
    companions = {each.file: each.text for each in snippet.companions()}
    return {own_name: own, **companions}


def _large_intents() -> list[Path]:
    """Return the examples and designs of RoCE; those of hundreds of hosts take long in all that writes files."""
    designs = sorted((REFERENCE / "reference" / "designs").glob("*.yaml"))
    paths = (*sorted(EXAMPLES.glob("*/fabric.yaml")), *designs)
    return [path for path in paths if "transport: infiniband" not in path.read_text()]


def _small_intents() -> list[str]:
    """Return intents of few switches: of SONiC with a release and without, and of each other system."""
    released = {"sonic": {"release": "202411"}}
    return [
        _base("pair.yaml"),
        _base("leaf-spine.yaml"),
        *(json.dumps({**intent_of(topology), **released}, indent=1) for topology in TOPOLOGIES),
        json.dumps({**load_text(_base("pair.yaml"), "pair.yaml").data, **released}, indent=1),
        *(INTENT.format(hardware=system.hardware) for system in SYSTEMS.values()),
    ]


def _intents_of_other_nics() -> list[str]:
    """Return intents of a NIC of each driver beside that of most intents, which has other files of hosts."""
    # The interval of CNPs in that of the others is no parameter of theirs.
    data = {**load_text(_base("pair.yaml"), "pair.yaml").data, "congestion_control": {"dcqcn": {}}}
    nics = ("broadcom-thor-2", "amd-pollara-400")
    return [json.dumps({**data, "hardware": {**data["hardware"], "nic": nic}}, indent=1) for nic in nics]


def _drawn_intents(seed: int, count: int) -> list[str]:
    """Return intents that hypothesis draws."""
    found: list[str] = []
    if not count:
        return found

    @drawn_by(seed)
    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(intents())
    def collect(data: Data) -> None:
        found.append(json.dumps(data, indent=1))

    collect()
    return found


def _of_intent(text: str) -> Seed:
    laws = ("twice", "order", "formats", "refusal", "rendered", "schema", "written", "scripts")
    return Seed("fabric.yaml", text, (*OF_INTENT, *FILE_LINTED), {}, words=_words(text), laws=laws)


def _of_large(path: Path) -> Seed:
    text = path.read_text()
    light = [
        each
        for each in OF_INTENT
        if each[0] in ("lint", "topology", "trace", "headroom", "simulate", "workload")
    ]
    return Seed("fabric.yaml", text, light, {}, words=_words(text), laws=("order", "schema"))


def _words(text: str) -> dict[str, str]:
    """Return words of commands that name hosts and a switch of a fabric."""
    fabrics = load_fabrics([load_text(text, "fabric.yaml")]).fabrics
    hosts = [host.name for host in fabrics[0].hosts] if fabrics else []
    names = [*hosts[:1], *hosts[-1:]] if len(hosts) > 1 else ["host1", "host2"]
    return dict(zip(("HOST1", "HOST2"), names, strict=True))


def _of_run(text: str) -> Seed:
    return Seed("fabric.yaml", text, OF_RUN, {}, words=_words(text), laws=("twice",))


def _of_tree(topology: str) -> Seed:
    made = tree(topology)
    files = {f"{name}/config_db.json": json.dumps(rows) for name, rows in made.items()}
    first, *others = files
    reached = ends(made)
    words = {"HOST1": reached[0], "HOST2": reached[-1]}
    beside = {name: files[name] for name in others}
    laws = ("twice", "order", "forms", "formats", "agreement", "agreement")
    return Seed(first, files[first], OF_TREE, beside, others, words, laws)


def _damaged(files: dict[str, str], chance: Random) -> dict[str, str]:
    """Return a tree with one to three damages in place of a change."""
    made = {name.partition("/")[0]: json.loads(text) for name, text in files.items()}
    for _ in range(chance.randint(1, 3)):
        damaged(made, chance.choice([*made]), chance.choice([*DAMAGES]), chance.choice(SCOPES))
    return {f"{name}/config_db.json": json.dumps(rows) for name, rows in made.items()}


def _of_system(name: str) -> Seed:
    """Return the switches of another system, as they are rendered and provisioned."""
    system = SYSTEMS[name]
    out = _rendered(INTENT.format(hardware=system.hardware))
    files = {
        path: "\n".join(system.provisioned(text.splitlines())) + "\n"
        for path, text in out.items()
        if path.endswith(f"/{system.file}")
    }
    first, *others = files
    words = _between_ports(system, files[f"leaf1/{system.file}"])
    beside = {path: files[path] for path in others}
    return Seed(first, files[first], OF_TREE, beside, others, words, ("twice", "formats"))


def _between_ports(system: Any, text: str) -> dict[str, str]:
    """Return the words of commands that name two ports of a leaf, as other systems name no hosts."""
    first, second, *_ = system.ports(text.splitlines())
    return {"HOST1": f"leaf1:{first}", "HOST2": f"leaf1:{second}"}


def _rendered(text: str, bases: bool = False) -> dict[str, str]:
    """Return the files of a rendered tree, by their paths."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "fabric.yaml").write_text(text)
        (fabric,) = load_fabrics([load_text(text, "fabric.yaml")]).fabrics
        if bases:
            for switch in fabric.switches:
                place = folder / "base" / switch.name / "config_db.json"
                place.parent.mkdir(parents=True)
                place.write_text(json.dumps(base_of(fabric, switch)))
        render(folder / "fabric.yaml", folder / "out", base_dir=folder / "base" if bases else None)
        return {
            path.relative_to(folder / "out").as_posix(): path.read_text()
            for path in sorted((folder / "out").rglob("*"))
            if path.is_file()
        }


def _of_rendered(text: str) -> Seed:
    """Return a rendered tree beside its intent: files of switches and hosts are changed, the intent is not."""
    files = {
        f"out/{path}": each
        for path, each in _rendered(text, bases=_is_sonic(text)).items()
        if not path.endswith(OTHER_FORMS)
    }
    changed = [path for path in files if _is_read(path)]
    first, *others = changed
    beside = {"fabric.yaml": text, **{path: each for path, each in files.items() if path != first}}
    commands = (*OF_TREE_AND_INTENT, *OF_TREE_AND_INTENT, *OF_TREE)
    system = next((each for each in SYSTEMS.values() if each.hardware in text), None)
    words = _words(text) if system is None else _between_ports(system, files[f"out/leaf1/{system.file}"])
    return Seed(
        first, files[first], commands, beside, others, words, ("twice", "losses", "losses", "written")
    )


def _is_sonic(text: str) -> bool:
    (fabric,) = load_fabrics([load_text(text, "fabric.yaml")]).fabrics
    return all(switch.format == "sonic" for switch in fabric.switches)


def warmed_up() -> None:
    """Run traffic once: what is compiled for it the first time takes longer than any command may."""
    said = io.StringIO()
    with folder_of({"fabric.yaml": _base("pair.yaml")}), redirect_stdout(said), redirect_stderr(said):
        main(["simulate", "fabric.yaml", *_NICS, "--quiet", "--format", "json", "--plots", "plots"])


def _is_read(path: str) -> bool:
    return (
        path.count("/") == 2
        and path.endswith((".json", ".cfg", ".yaml", ".nv", ".conf"))
        and "manifest" not in path
    )


def _of_change(text: str) -> Seed:
    """Return an intent that becomes the target of a plan, with the current one and its rendered tree beside it."""
    data = {**load_text(text, "fabric.yaml").data}
    data.setdefault("sonic", {"release": "202411"})
    text = json.dumps(data, indent=1)
    files = {f"running/{path}": each for path, each in _rendered(text, bases=_is_sonic(text)).items()}
    switches = {
        path: each
        for path, each in files.items()
        if _is_read(path) and not path.endswith(OTHER_FORMS) and "/host" not in path
    }
    beside = {"current.yaml": text, **switches}
    return Seed(
        "fabric.yaml",
        text,
        OF_CHANGE,
        beside,
        words=_words(text),
        laws=("twice", "written", "scripts", "scripts"),
    )


def _of_reported(text: str) -> Seed:
    """Return the same with what a host reported, which is changed in place of the intent."""
    seed = _of_change(text)
    facts = FACTS["mlnx_qos"].text.replace("node1", "host1") + FACTS["nccl.conf"].text.partition("node1\n")[2]
    commands = [
        tuple("fabric.yaml" if word == "FILE" else word for word in each)
        for each in OF_CHANGE
        if each[:2] == ("plan", "running")
    ]
    name = "running/host1/node1.facts"
    return seed._replace(name=name, text=facts + "==> end\n", commands=commands, beside=seed.files)


def _of_plan(text: str) -> Seed:
    """Return a plan that was written, whose file is changed before the progress of its switches is asked for."""
    seed = _of_change(text)
    target = json.dumps({**json.loads(text), "pfc": {"watchdog": WATCHDOG}})
    with folder_of({**seed.files, "fabric.yaml": target}) as folder:
        run(["plan", "running", "fabric.yaml", "-o", "change", "--quiet"])
        files = {name: raw.decode() for name, raw in files_in(folder).items()}
    commands = tuple(("lint", "--plan", "change", "running", *words) for words in ((), ("-v",)))
    name = "change/plan.json"
    others = [path for path in files if path.startswith("running/")]
    return Seed(
        name, files[name], commands, {path: each for path, each in files.items() if path != name}, others
    )


def _of_exporter() -> Seed:
    """Return the databases of a switch that the exporter is asked about."""
    text = json.dumps(busy_switch(1, 2))
    return Seed("rows.json", text, (("exporter", "--once", "--redis", "nowhere"),), {}, laws=("exposition",))


def _captures() -> list[tuple[str, str]]:
    """Return a capture of each form, by the name of its file."""
    return [(f"{name.split()[0].replace('/', '-')}.txt", each.text) for name, each in CAPTURES.items()]


def _recorded_captures() -> list[tuple[str, str]]:
    """Return the captures of running devices that are small, by the names of their files."""
    state = REFERENCE / "captures" / "state"
    files = [path for path in sorted(state.rglob("*")) if path.is_file()]
    return [
        (path.name, path.read_text(errors="replace"))
        for path in files
        if path.stat().st_size < LARGEST_BYTES and path.name not in ("index.json", "README.md")
    ]


def _of_capture(name: str, text: str) -> Seed:
    commands = (
        *(("verify", "FILE", "--format", form) for form in FORMATS),
        ("verify", "now", "--since", "before"),
        ("verify", "leaf-spine.yaml", "now", "--format", "json"),
        ("verify", "leaf-spine.yaml", "now", "--since", "before", "-v"),
    )
    beside = {f"before/leaf1/{name}": text, "leaf-spine.yaml": _base("leaf-spine.yaml")}
    return Seed(f"now/leaf1/{name}", text, commands, beside, laws=("twice", "formats"))


def _of_facts(name: str) -> Seed:
    beside = {"leaf-spine.yaml": _base("leaf-spine.yaml"), "leaf1/config_db.json": _base("leaf.json")}
    laws = ("twice", "formats")
    # In a folder, lint skips scripts.
    if name == "script":
        return Seed("host1/setup.sh", FACTS[name].text, FILE_LINTED, beside, laws=laws)
    commands = (*LINTED, ("lint", "FILE"), EDITOR, ("verify", "."))
    return Seed("host1/node1.facts", FACTS[name].text + "==> end\n", commands, beside, laws=laws)


def _cabling() -> dict[str, str]:
    """Return cables in each form, by the name of its file."""
    return {
        "cables.csv": _base("cables.csv"),
        "sheet.csv": SHEET,
        "netbox.json": json.dumps([HOST, UPLINK]),
        "leaf1.txt": TABLE,
    }


def _of_cables(name: str, text: str) -> Seed:
    beside = {each: _base(each) for each in ("leaf-spine.yaml", "leaf.json")}
    commands = (
        (*OF_CABLES, ("import", "leaf.json", "--cabling", "FILE")) if name == "cables.csv" else OF_CABLES
    )
    return Seed(name, text, commands, beside, laws=("twice",))


PATCH = [
    {"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9000"},
    {"op": "add", "path": "/PORT_QOS_MAP/Ethernet0/pfc_enable", "value": "3,4"},
    {"op": "remove", "path": "/CABLE_LENGTH"},
]


def _of_patch() -> Seed:
    """Return a patch for the updater of a switch, beside the configuration that it changes."""
    commands = tuple(("lint", "leaf.json", "--patch", "FILE", "--format", form) for form in FORMATS[:3])
    return Seed("patch.json", json.dumps(PATCH, indent=1), commands, {"leaf.json": _base("leaf.json")})


PROFILES = ("nics/connectx-7.toml", "switches/nvidia-sn5600.toml")


def _of_profile(name: str) -> Seed:
    """Return a profile of a user's in place of ours, and an intent that names it."""
    commands = (
        *(("lint", "fabric.yaml", "--profiles", "own", "--format", form) for form in FORMATS[:3]),
        ("render", "fabric.yaml", "-o", "out", "--profiles", "own"),
        ("headroom", "fabric.yaml", "--profiles", "own", "-v"),
        ("profiles", "--profiles", "own"),
    )
    text = (ROOT / "profiles" / name).read_text()
    return Seed(f"own/{name}", text, commands, {"fabric.yaml": _base("pair.yaml")}, laws=("twice",))


def _of_configuration() -> Seed:
    """Return the configuration of lint beside the files that it is for."""
    beside = {each: _base(each) for each in ("leaf-spine.yaml", "leaf.json")}
    return Seed("lossless.toml", CONFIGURATION, LINTED, beside, laws=("twice", "formats"))


def _of_subnet(text: str) -> Seed:
    data = load_text(text, "fabric.yaml").data
    text = json.dumps(_without_keys(data), indent=1)
    installed = all(map(shutil.which, ("opensm", "ibsim")))
    commands = (
        (*OF_SUBNET, ("opensm", "FILE"), ("opensm", "FILE", "--format", "json")) if installed else OF_SUBNET
    )
    laws = ("twice", "order", "formats", "written")
    return Seed("fabric.yaml", text, commands, {"current.yaml": text}, laws=laws)


def _without_keys(data: Any) -> Any:
    """Return the intent of a subnet whose keys come from no environment, as none is set here."""
    manager = data.get("subnet_manager", {})
    return (
        {**data, "subnet_manager": {name: each for name, each in manager.items() if name != "keys"}}
        if manager
        else data
    )


def _of_manager(name: str) -> Seed:
    names = {
        "options": "opensm.conf",
        "partitions": "partitions.conf",
        "policy": "opensm-policy.conf",
        "sharp": "sharp_am.cfg",
    }
    files = {names[each]: MANAGERS[each].text for each in MANAGERS}
    beside = {path: text for path, text in files.items() if path != names[name]}
    return Seed(names[name], files[names[name]], LINTED, beside, laws=("twice", "formats"))


# --- names ---

HOSTILE = (
    'a"b', "a'b", "a`b", "$(touch x)", "${IFS}", "{{ 7*7 }}", "{% raw %}", "-rf", "--help", "%n%i", "%H", "!x", "&x",
    "*x", "a: b", "a #b", "no", "null", "1e3", "0x10", "~", "[a]", "{a}", "a\\b", "a|b", "a;b", "é", "\u202e", "🦀",
    "a b", " a", "a\tb", "a\nb", "<b>", "$__rate_interval", "$fabric", "@a", "a,b", "=a", ".*", "a/b", "..", "#a", "?a",
)  # fmt: skip
"""Names with what the formats of rendered files have a meaning for."""
MISREAD = (
    "on", "off", "yes", "y", "n", "no", "true", "null", "None", "nan", "inf", "1.5", "1e3", "0x1f", "0o17", "0b1",
    "010", "1_000", "2020-01-01", "12.0.1", "a.-_", "A", "localhost", "default", "all", "GLOBAL", "AZURE",
    "global", "name",
)  # fmt: skip
"""Names that intents may have, and YAML, shells, Ansible or the files of a switch take for something else."""
PLAIN = "zqplainqz"
PLANNED = 0.3
"""The share of hostile names with which a plan is made, whose playbooks and scripts are read."""
WATCHDOG = {"poll": "200ms", "detection": "400ms", "restoration": "800ms", "action": "forward"}
"""Another one than any of the intents has."""


def _hostile(chance: Random) -> Drawn:
    """Return an intent in which one name is hostile, beside the same with a plain one."""
    texts_of_readers = (each for each in SCALARS if isinstance(each, str) and 0 < len(each) < 40)
    odd = chance.choice(MISREAD if chance.random() < 0.6 else (*HOSTILE, *texts_of_readers))
    data, what = load_text(chance.choice(_small_intents()), "fabric.yaml").data, chance.choice(_PLACES)
    if chance.random() < PLANNED:
        named = _named({"sonic": {"release": "202411"}, **data}, odd, what)
        texts = [json.dumps(each, indent=1) for each in ({**named, "pfc": {"watchdog": WATCHDOG}}, named)]
        files = {"fabric.yaml": texts[0], "current.yaml": texts[1]}
        trial = Trial(("plan", "current.yaml", "fabric.yaml", "-o", "change"), files, "written")
        return Drawn(trial, "names", "fabric.yaml", texts[1], raw=False)
    texts = [json.dumps(_named(data, name, what), indent=1) for name in (odd, PLAIN)]
    files = {"fabric.yaml": texts[0], "plain.yaml": texts[1], "name.txt": json.dumps([odd, PLAIN])}
    return Drawn(
        Trial(("lint", "fabric.yaml", "--format", chance.choice(FORMATS)), files, "names"),
        "names",
        "fabric.yaml",
        texts[1],
        raw=False,
    )


_PLACES = ("fabric", "class", "network", "interface", "environment")


def _named(data: Data, name: str, what: str) -> Data:
    """Return an intent with a name at a place where operators choose one."""
    match what:
        case "fabric":
            return {**data, "fabric": name}
        case "class":
            return {**data, "classes": {**data.get("classes", {}), name: {"dscp": 20, "priority": 2}}}
        case "network":
            return {**data, "networks": {name: {"on": "separate", "prefixes": ["10.9.0.0/16"]}}}
        case "interface":
            return {**data, "hosts": {"interfaces": [name]}}
        case _:
            return {**data, "hosts": {"nccl": {"socket_interfaces": [name]}}}

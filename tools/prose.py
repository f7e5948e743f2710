"""Spelling and grammar of the text that a person reads here, checked by Harper with the terms of docs/dictionary.txt.

    python tools/prose.py [FILE...]    prints the mistakes of these files, else of all with prose
    python tools/prose.py --marks      prints, for each package, how often docstrings leave a noun unsaid

``tools/harper/settings.toml`` says which rules of Harper are off, and why, and has patterns for mistakes that it has no
rule for.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tools.prose_text import Passage, passages, plain  # noqa: E402

CHECKER = ROOT / "tools" / "harper"
DICTIONARY = ROOT / "docs" / "dictionary.txt"
SETTINGS = CHECKER / "settings.toml"
CLEAN = CHECKER / "node_modules" / ".clean"
"""Digests of texts without a mistake; a new version of Harper begins without."""
READ = ("*.md", "lossless/*.py", "tools/*.py", "templates/*")
MARKS = re.compile(r"\b(?:what|that which|whatever|nobody|nothing tells|told)\b", re.IGNORECASE)
"""Signs of a sentence that does not name its object by a noun."""


class Mistake(NamedTuple):
    """One mistake: where it begins, the rule that found it, and what may be written instead."""

    file: str
    line: int
    rule: str
    text: str
    message: str
    suggestions: list[str]


def _ask(question: dict[str, Any]) -> list[list[list[Any]]]:
    """Return what Harper says of each text: rule, offset, what is wrong, message, suggestions."""
    done = subprocess.run(
        ["node", str(CHECKER / "check.mjs")], input=json.dumps(question), capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr or f"node ended with {done.returncode}")
    answer: list[list[list[Any]]] = json.loads(done.stdout)
    return answer


def _harper(texts: list[str], words: list[str], settings: dict[str, Any]) -> list[list[list[Any]]]:
    """Return what Harper says of each text, in two processes; a text that was right before is not checked again."""
    question = {"dialect": settings["dialect"], "off": sorted(settings["off"])}
    known = set(words)

    def digest(text: str) -> str:
        about = [question, sorted(known.intersection(re.findall(r"\w+", text))), text]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    digests = [digest(text) for text in texts]
    clean = set(CLEAN.read_text().split()) if CLEAN.exists() else set()
    new = [number for number, each in enumerate(digests) if each not in clean]
    question["words"] = [*words, *(f"{word}'s" for word in words)]
    halves = [new[: len(new) // 2], new[len(new) // 2 :]] if len(new) > 1000 else [new] if new else []
    with ThreadPoolExecutor(2) as both:
        answers = both.map(lambda half: _ask({**question, "texts": [texts[each] for each in half]}), halves)
        said = dict(zip(new, (each for answer in answers for each in answer), strict=True))
    CLEAN.write_text("\n".join(sorted(clean | {each for n, each in enumerate(digests) if not said.get(n)})))
    return [said.get(number, []) for number in range(len(texts))]


def _matched(text: str, settings: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield what the patterns of the settings find, in the form of what Harper says."""
    for each in settings["pattern"]:
        for found in re.finditer(each["pattern"].replace(" ", r"\s+"), text):
            yield ["agreement", found.start(), found[0], each["message"], []]


def mistakes(found: Iterable[Passage], words: list[str]) -> Iterator[Mistake]:
    """Yield the mistakes in passages; a text that occurs several times is checked once."""
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    names = set(settings["names"].split())
    by_text: dict[str, list[Passage]] = {}
    for passage in found:
        by_text.setdefault(plain(passage.text, words, names), []).append(passage)
    for text, said in zip(by_text, _harper(list(by_text), words, settings), strict=True):
        for rule, start, *rest in [*said, *_matched(text, settings)]:
            for passage in by_text[text]:
                line = min(passage.line + text.count("\n", 0, start), passage.last)
                yield Mistake(passage.file, line, rule, *rest)


def tracked() -> list[str]:
    """Return the files that git tracks and that have prose."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *READ], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [file for file in listed.split("\0") if file and not file.startswith("tests/")]


def marks() -> dict[str, tuple[int, int]]:
    """Return how many of the marks, and how many words, the docstrings of each package of lossless/ have."""
    found: Counter[str] = Counter()
    words: Counter[str] = Counter()
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for path in (ROOT / "lossless").rglob("*.py"):
        package = "/".join(path.relative_to(ROOT / "lossless").parent.parts[:2])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = (ast.get_docstring(node) or "") if isinstance(node, documented) else ""
            found[package] += len(MARKS.findall(text))
            words[package] += len(re.findall(r"[A-Za-z']+", text))
    return {package: (found[package], count) for package, count in words.items() if count}


def _print_marks() -> None:
    counted = marks()
    for package, (found, words) in sorted(counted.items(), key=lambda item: item[1], reverse=True):
        print(
            f"{package or 'lossless':24} {found:5} of {words:6} words, {1000 * found / words:4.1f} per 1,000"
        )
    found, words = (sum(column) for column in zip(*counted.values(), strict=True))
    print(f"{'all':24} {found:5} of {words:6} words, {1000 * found / words:4.1f} per 1,000")


def main(arguments: list[str]) -> int:
    """Print the mistakes of the named files, else of all; 1 if there is one, 2 where the checker is not there."""
    if arguments == ["--marks"]:
        _print_marks()
        return 0
    if not (CHECKER / "node_modules").is_dir() or shutil.which("node") is None:
        print("Harper is not installed: sh tools/install-harper.sh", file=sys.stderr)
        return 2
    words = DICTIONARY.read_text(encoding="utf-8").split()
    found = (
        passage
        for file in arguments or tracked()
        for passage in passages(file, (ROOT / file).read_text(encoding="utf-8"))
    )
    count = 0
    for each in sorted(mistakes(found, words)):
        print(f"{each.file}:{each.line}: {' '.join(each.text.split())!r}: {each.message}{_suggested(each)}")
        count += 1
    return 1 if count else 0


def _suggested(mistake: Mistake) -> str:
    write = " or ".join(repr(each) for each in mistake.suggestions[:3])
    return f" Write {write}. ({mistake.rule})" if write else f" ({mistake.rule})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

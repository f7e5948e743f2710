"""The documentation page of each rule, generated from the rule itself.

``python tools/rule_pages.py docs/rules`` writes them; with ``--check`` it says which are stale.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.checks.rules.documentation import Rule, rule_of
from lossless.checks.rules.registry import RULES
from lossless.output.report.columns import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FAMILIES = {
    "APP": "what of a configuration is applied",
    "BUF": "headroom, pools and priority groups",
    "CAP": "captures of running state",
    "CFG": "configuration files",
    "CLS": "DSCPs, classes and priorities",
    "CTR": "counters of switches",
    "ECN": "ECN marking",
    "HCT": "counters of hosts and logs of jobs",
    "HST": "hosts and jobs",
    "IB": "InfiniBand subnets",
    "IBC": "counters of InfiniBand ports",
    "ISO": "isolation of networks",
    "LNK": "links and cables",
    "MGD": "fabrics that a cloud runs",
    "NIC": "network adapters and congestion control",
    "PFC": "priority-based flow control",
    "SCH": "schedulers",
    "SCM": "SONiC's YANG models",
    "SIM": "results of simulation",
    "STM": "pause storms",
    "SUP": "suppressions and baselines",
    "SWS": "values that SONiC does not apply as written",
    "TEL": "telemetry",
    "TOP": "topology, capacity and routing",
    "TRM": "packet trimming",
    "WD": "PFC watchdog",
}


_FIXED_BY = {"no": "by hand", "safe": "`lint --fix`", "unsafe": "`lint --fix --unsafe-fixes`"}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and text of every page: one a rule, and the index."""
    rules = [rule_of(code) for code in RULES]
    yield "README.md", _index(rules)
    for rule in rules:
        yield f"{rule.code}.md", _page(rule)


def _page(rule: Rule) -> str:
    facts = (
        f"`{rule.name}` | severity: {rule.severity} | checks: {', '.join(rule.subjects)} | "
        f"fix: {_FIXED_BY[rule.fixable]}"
    )
    return f"# {rule.code} {rule.name}\n\n{rule.summary}.\n\n{facts}\n\n{rule.documentation}\n"


def _index(rules: Sequence[Rule]) -> str:
    families = groupby(rules, lambda rule: rule.code.rstrip("0123456789"))
    return (
        f"# Rules\n\n{len(rules)} rules, each with a page generated from it: its Bad and Good examples run as tests.\n"
        "`lossless rule CODE` prints the same. Behind `fix` a page names the command that can edit the file; a\n"
        "finding without such an edit (`fixable` is `no` in JSON) is fixed by hand.\n\n"
        + "\n".join(_family(family, members) for family, members in families)
    )


def _family(family: str, rules: Iterable[Rule]) -> str:
    rows = [(f"[{r.code}]({r.code}.md)", r.name, r.severity, r.summary) for r in rules]
    table = markdown_table(("code", "name", "severity", "what it says"), rows)
    return f"## {family}: {FAMILIES[family]}\n\n{table}\n"


def main(arguments: Sequence[str]) -> int:
    """Write the pages into a folder, or with ``--check`` report the stale ones."""
    checking = "--check" in arguments
    folder = Path(next(argument for argument in arguments if argument != "--check"))
    wanted = dict(pages())
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    stale = sorted(name for name in {*wanted, *present} if wanted.get(name) != present.get(name))
    if checking:
        for name in stale:
            sys.stderr.write(f"{folder / name} is stale; run: make docs\n")
        return 1 if stale else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

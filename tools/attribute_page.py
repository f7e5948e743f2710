"""The page of what files of each system carry: ``python tools/attribute_page.py [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.formats.switches.contract import SONIC_LOSSES  # noqa: E402
from lossless.formats.switches.registry import SONIC, TITLES, dialect  # noqa: E402
from lossless.model.fabric.attributes import ATTRIBUTES, BY_KEY  # noqa: E402
from lossless.output.report.columns import markdown_table  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE = ROOT / "docs" / "attributes.md"
_INTRODUCTION = """\
# What a switch is set to, by system

One intent is rendered for switches of several systems; here is which of its settings the files of each system carry.
`lossless render` names what they do not carry where an intent sets it. `lossless diff` lists it as not compared where a
switch runs another system than SONiC.
"""


def page() -> str:
    """Return the text of the page."""
    systems = {SONIC[1]: SONIC_LOSSES} | {title: dialect(name).losses for name, title in TITLES.items()}
    rows = [
        (
            attribute.title,
            ", ".join(f"`{path}`" for path in attribute.paths),
            *("no" if attribute.key in losses else "yes" for losses in systems.values()),
        )
        for attribute in ATTRIBUTES
    ]
    table = markdown_table(("setting", "in an intent", *systems), rows)
    return "\n".join((_INTRODUCTION, table, *(_why(title, losses) for title, losses in systems.items())))


def _why(title: str, losses: Mapping[str, str]) -> str:
    rows = [(BY_KEY[key].title, why) for key, why in losses.items()]
    return f"\n## What files of {title} do not carry\n\n{markdown_table(('setting', 'why'), rows)}"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` report that it is stale."""
    return write_or_check({PAGE: f"{page()}\n"}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Our hardware profiles in one JSON file, which a linter starts with many times as fast as with TOML.

``python tools/compile_profiles.py`` writes ``profiles/compiled.json``; with ``--check`` it says whether that is stale.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.model.hardware.load import COMPILED
from tools.generated import write_or_check

if TYPE_CHECKING:
    from collections.abc import Sequence

PROFILES = Path(__file__).parent.parent / "profiles"


def compiled() -> str:
    """Return the text of the compiled file."""
    kinds = {
        kind: {
            path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
            for path in sorted((PROFILES / kind).glob("*.toml"))
        }
        for kind in ("nics", "switches")
    }
    return json.dumps(kinds, indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the file, or with ``--check`` report that it is stale."""
    return write_or_check({PROFILES / COMPILED: compiled()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

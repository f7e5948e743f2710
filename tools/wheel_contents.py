"""Lists what kinds of files a wheel holds, folder by folder: tests/packaging/wheel.txt.

    python tools/wheel_contents.py dist/lossless-*.whl            prints the list
    python tools/wheel_contents.py dist/lossless-*.whl -o FILE    writes it

A file of a new kind, or a new folder, has to be put into the list on purpose: no notes, keys or caches are shipped
unseen. That each file is the one of the checkout, byte for byte, says tests/packaging/test_wheel.py.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path, PurePosixPath
from zipfile import ZipFile


def contents(wheel: Path) -> str:
    """Return one line for each kind of file in each folder of a wheel, in order; versions are left out."""
    with ZipFile(wheel) as held:
        names = [PurePosixPath(name) for name in held.namelist()]
    kinds = {
        re.sub(r"^lossless-[^/]+\.dist-info", "lossless-VERSION.dist-info", _kind(name)) for name in names
    }
    return "".join(f"{kind}\n" for kind in sorted(kinds))


def _kind(name: PurePosixPath) -> str:
    """Return the folder and suffix of a file; a name without one as it is."""
    return str(name.parent / f"*{name.suffix}") if name.suffix else str(name)


def main() -> None:
    """Print the list, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    text = contents(arguments.wheel)
    if arguments.output is None:
        print(text, end="")
    else:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

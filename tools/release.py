"""Builds a release of the commit that is checked out, into out/release.

    make release

Wheel and source distribution are built twice, from two exported trees in folders of other names, and the release is
refused unless their bytes are equal. Beside them are written an SBOM (CycloneDX 1.6) of what `requirements/run.txt`
installs, the section of CHANGELOG.md, and SHA256SUMS of all. Nothing is published.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless import __version__  # noqa: E402


def main() -> int:
    """Write the files of the release; return 1, and say why, if there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "release")
    out: Path = parser.parse_args().output
    if changed := git("status", "--porcelain").decode():
        print(f"a release is of a commit, and these files differ from it:\n{changed}", file=sys.stderr)
        return 1
    epoch = git("show", "-s", "--format=%ct", "HEAD").decode().strip()
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory(suffix="-again") as second:
        built, again = (build(Path(folder), epoch) for folder in (first, second))
    if differing := [name for name in built.keys() | again.keys() if built.get(name) != again.get(name)]:
        print(f"built twice, and not the same: {', '.join(sorted(differing))}", file=sys.stderr)
        return 1
    files = built | {
        f"lossless-{__version__}.cdx.json": sbom(epoch),
        f"CHANGES-{__version__}.md": section((ROOT / "CHANGELOG.md").read_text(), __version__).encode(),
    }
    files["SHA256SUMS"] = sums(files)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    print("\n".join(f"{len(content):>9,}  {out / name}" for name, content in sorted(files.items())))
    return 0


def git(*arguments: str) -> bytes:
    """Return what git prints about the checkout."""
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True).stdout


def build(folder: Path, epoch: str) -> dict[str, bytes]:
    """Return the source distribution of the commit, and the wheel that is built from it, by name."""
    tree, made = folder / "tree", folder / "made"
    with tarfile.open(fileobj=BytesIO(git("archive", "HEAD"))) as archive:
        archive.extractall(tree, filter="data")
    command = [sys.executable, "-m", "build", "--no-isolation", "-o", str(made), str(tree)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return {file.name: file.read_bytes() for file in made.iterdir()}


def sbom(epoch: str) -> bytes:
    """Return the bill of materials of the locked versions that run the project, with the extra `sim`."""
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", "requirements/run.txt"]
    options = ["--pyproject", "pyproject.toml", "--output-reproducible", "--sv", "1.6", "--of", "JSON"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run([*command, *options], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    return done.stdout


def section(changelog: str, version: str) -> str:
    """Return the section of a version, from its heading to the next one.

    Raises:
        SystemExit: there is none.
    """
    found = re.search(
        rf"^## {re.escape(version)}(?!\S)[^\n]*\n.*?(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise SystemExit(f"CHANGELOG.md has no section of {version}")
    return found[0].rstrip() + "\n"


def sums(files: dict[str, bytes]) -> bytes:
    """Return the SHA-256 sum of each file, in the form that `sha256sum --check` reads."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


if __name__ == "__main__":
    sys.exit(main())

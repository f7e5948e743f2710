"""The picture of a page in the guide of verify: ``python tools/page_picture.py``, with Chromium (``make tools``).

The page is that of the captures in the guide: its blocks with a title are the files that the command reads.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
PICTURE = GUIDES / "verify-page.png"
_FILE = re.compile(r'^```text title="((?:now|before)/[^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_COMMAND = (
    "verify",
    "examples/roce-256/fabric.yaml",
    "now",
    "--since",
    "before",
    "--output",
    "html=storm.html",
)
_SIZE, _COLORS = "1000,1240", 64
"""Width and height of the window; colors of the picture, which has a third of its bytes with these."""


def main() -> int:
    """Write the picture; return 1 where no browser is installed."""
    browser = shutil.which("chromium")
    if browser is None:
        sys.stderr.write("chromium is not installed: make tools\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for name, text in _FILE.findall((GUIDES / "verify.md").read_text(encoding="utf-8")):
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        shutil.copytree(ROOT / "examples" / "roce-256", Path(folder, "examples", "roce-256"))
        command = [sys.executable, "-m", "lossless", *_COMMAND]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        arguments = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={_SIZE}",
        )
        shot = (f"--user-data-dir={folder}/profile", f"--screenshot={PICTURE}", f"file://{folder}/storm.html")
        subprocess.run([browser, *arguments, *shot], check=True, capture_output=True)
    with Image.open(PICTURE) as image:
        image.convert("RGB").quantize(_COLORS).save(PICTURE, optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs the command line by ``python -P -m lossless``, where no command ``lossless`` is on PATH.

``-P`` keeps the working folder, whose files may be untrusted, off the path of modules.
"""

from __future__ import annotations

import sys

from lossless.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())

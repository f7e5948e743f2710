"""``python -P -m lossless``: the command by the interpreter, where no command ``lossless`` is on the path.

``-P`` keeps the working folder, which may be a stranger's, off the path of modules.
"""

from __future__ import annotations

import sys

from lossless.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())

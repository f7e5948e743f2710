"""Where templates, profiles and examples lie: in the wheel, or beside the package in a checkout.

One accessor for both, because ``importlib.resources`` finds nothing of ours in an editable install.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from lossless.errors import LosslessError

_PACKAGE = Path(__file__).parent


def data_dir(kind: Literal["templates", "profiles", "examples"]) -> Path:
    """Return the folder of one kind of data.

    Raises:
        LosslessError: the installation is damaged.
    """
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        folder = root / kind
        if folder.is_dir():
            return folder
    raise LosslessError(f"the installation is damaged: no folder {kind!r} beside the package or in it")

"""Locates templates, profiles and examples: in the wheel, or beside the package in a checkout.

One accessor for both, because ``importlib.resources`` does not find these files in an editable install.
"""

from __future__ import annotations

import os
from typing import Literal

from lossless.ground.basics.errors import LosslessError

# Plain strings: pathlib costs a linter's start a third of an interpreter's.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


def data_dir(kind: Literal["templates", "profiles", "examples"]) -> str:
    """Return the folder of one kind of data.

    Raises:
        LosslessError: the installation is damaged.
    """
    for root in (os.path.join(_PACKAGE, "_data"), os.path.dirname(_PACKAGE)):
        folder = os.path.join(root, kind)
        if os.path.isdir(folder):
            return folder
    raise LosslessError(f"the installation is damaged: no folder {kind!r} beside the package or in it")

"""Import of switches that run another system than SONiC: from documents, and back from what is rendered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lossless.formats.importing.configured import ProductChoice, configured_device
from lossless.formats.importing.other_cells import cells_of_system, same_on_ports
from lossless.formats.importing.other_differences import other_differences
from lossless.formats.inputs.switches import read_switch
from lossless.ground.basics.errors import Problem, RenderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.importing.differences import ImportDifference
    from lossless.formats.importing.model import ImportDevice
    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric
    from lossless.model.hardware.load import Folder


def other_devices(
    documents: Sequence[Document],
    switches: Sequence[str],
    profile_dirs: Sequence[Folder],
    problems: list[Problem],
) -> list[ImportDevice]:
    """Return the devices of configurations of other systems; ``switches`` state profiles, see ``import_configs``.

    Raises:
        ProfileError: a profile of that name does not exist.
    """
    if not documents:
        return []
    pairs = [text.rpartition("=") for text in switches]
    products = [ProductChoice(pattern.strip() or "*", profile.strip()) for pattern, _, profile in pairs]
    devices: dict[tuple[str, str], ImportDevice] = {}
    every: list[ImportDevice] = []
    refused: dict[tuple[str, str], list[Problem]] = {}
    for document in documents:
        read, own = read_switch(document).read, list[Problem]()
        key = (str(Path(document.file).parent), read.switch.name)
        device = configured_device(document, read, products, profile_dirs, own)
        if device is None or own:
            refused.setdefault(key, own)
        elif (first := devices.get(key)) is None or not _same(first, device):
            devices.setdefault(key, device)
            every.append(device)
    # A file in the same folder that says all makes up for one that says a part.
    problems += [problem for key, of in refused.items() if key not in devices for problem in of]
    return every


def _same(first: ImportDevice, other: ImportDevice) -> bool:
    """Return whether two files are one switch in two forms, as what is rendered for it is."""
    if first.switch.format != other.switch.format or first.used.keys() != other.used.keys():
        return False
    return same_on_ports(first.switch, other.switch, first.used)


def compare_others(
    devices: Sequence[ImportDevice], fabric: Fabric
) -> tuple[dict[str, tuple[Cell, ...]], tuple[ImportDifference, ...], tuple[Problem, ...]]:
    """Return all parts of what devices do, those that do not come back, and what their systems refuse."""
    rendered = {switch.name: switch for switch in fabric.switches}
    parts: dict[str, list[tuple[str, Cell]]] = {}
    refused: list[Problem] = []
    for device in devices:
        try:
            parts[device.name] = list(cells_of_system(rendered[device.name], device.switch, device.used))
        except RenderError as error:
            refused += [Problem("fabric.yaml", None, None, line) for line in error.lines]
    cells = {name: tuple(cell for _, cell in of) for name, of in parts.items()}
    return cells, tuple(other_differences(parts)), tuple(refused)

"""Looks up the profiles of the products that an intent names; every unknown name is a located problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import in_file_order
from lossless.formats.intent.resolve.breakouts import CageReader
from lossless.ground.basics.errors import InputError, Problem, ProfileError
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.load import load_nic, load_switch
from lossless.model.hardware.port_names import in_format

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from lossless.analysis.topology.shapes import PlanNode
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.placement import CageSettings
    from lossless.formats.intent.wiring import SwitchChoice
    from lossless.ground.basics.findings import Origin
    from lossless.model.hardware.model import Hwsku, SwitchProfile
    from lossless.model.hardware.nic import NicProfile


class SwitchHardware(NamedTuple):
    """The product and HWSKU of a switch, the origin of that choice, and the settings of its cages and ports."""

    profile: SwitchProfile
    hwsku: Hwsku
    origin: Origin
    cages: CageSettings


class FabricHardware(NamedTuple):
    """The hardware of a fabric: its adapter, the adapters of hosts that have another, and each switch by name."""

    nic: NicProfile
    other_nics: dict[str, NicProfile]
    switches: dict[str, SwitchHardware]


def find_hardware(
    loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]], nodes: Iterable[PlanNode]
) -> FabricHardware:
    """Return the hardware of a fabric.

    Raises:
        InputError: every profile and HWSKU that does not exist or cannot be read, each located in the intent.
    """
    finder = _Finder(loaded, profile_dirs)
    nic = finder.nic(loaded.intent.hardware.nic, "hardware", "nic")
    devices = loaded.intent.topology.devices or {}
    others = {n: finder.nic(d.nic, "topology", "devices", n, "nic") for n, d in devices.items() if d.nic}
    switches = {node.name: finder.switch(node) for node in nodes if node.role != "host" and not node.outside}
    if finder.problems or nic is None:
        raise InputError(in_file_order(finder.problems))
    other_nics = {name: own for name, own in others.items() if own}
    return FabricHardware(
        nic, other_nics, {name: hardware for name, hardware in switches.items() if hardware}
    )


class _Finder:
    def __init__(self, loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]]) -> None:
        self.problems: list[Problem] = []
        self._loaded = loaded
        self._profile_dirs = profile_dirs
        self._nics: dict[str, NicProfile] = {}
        self._by_path: dict[tuple[str, ...], SwitchHardware | None] = {}

    def nic(self, name: str, *path: str) -> NicProfile | None:
        if name not in self._nics:
            try:
                self._nics[name] = load_nic(name, self._profile_dirs)
            except ProfileError as error:
                self._refuse(self._loaded.origin(*path), f"{'.'.join(path)}: {error}")
                return None
        return self._nics[name]

    def switch(self, node: PlanNode) -> SwitchHardware | None:
        path: tuple[str, ...] = ("hardware", self._loaded.intent.hardware.choice(node.role)[1])
        if node.hardware is not None:
            path = ("topology", "devices", node.hardware, "hardware")
        if path not in self._by_path:
            self._by_path[path] = self._choose(node, path)
        return self._by_path[path]

    def _choose(self, node: PlanNode, path: tuple[str, ...]) -> SwitchHardware | None:
        intent = self._loaded.intent
        devices = intent.topology.devices or {}
        choice = (
            intent.hardware.choice(node.role)[0] if node.hardware is None else devices[node.hardware].hardware
        )
        if choice is None:
            message = f"hardware: {node.role} is missing; {node.name} is a {node.role}"
            self._refuse(self._loaded.origin("hardware").key(), message)
            return None
        return self._load(choice, path)

    def _load(self, choice: SwitchChoice, path: tuple[str, ...]) -> SwitchHardware | None:
        origin, dotted = self._loaded.origin(*path), ".".join(path)
        try:
            profile = load_switch(choice.profile, self._profile_dirs)
        except ProfileError as error:
            self._refuse(self._below(path, "profile"), f"{dotted}: {error}")
            return None
        system = choice.format or profile.default_format
        if system not in profile.runs:
            hint = suggestion(system, profile.runs)
            message = f"{dotted}.format: {profile.name} is not known to run {system!r}{hint}"
            self._refuse(self._below(path, "format"), message)
            return None
        profile = in_format(profile, system)
        name = choice.hwsku or profile.default_hwsku
        hwsku = profile.hwsku(name)
        if hwsku is not None:
            cages = CageReader(self._loaded, profile, hwsku, path).settings(choice, self.problems)
            return SwitchHardware(profile, hwsku, origin, cages)
        known = [h.name for h in profile.hwskus]
        hint = suggestion(name, known, see=f"lossless profiles {profile.name}")
        message = f"{dotted}: {profile.name} has no HWSKU {name!r}{hint}"
        self._refuse(self._below(path, "hwsku"), message)
        return None

    def _below(self, path: tuple[str, ...], key: str) -> Origin:
        """Return the origin of a key of a hardware choice, or of the choice where it is a plain name."""
        exists = self._loaded.document.exists((*path, key))
        return self._loaded.origin(*path, key) if exists else self._loaded.origin(*path)

    def _refuse(self, origin: Origin, message: str) -> None:
        self.problems.append(self._loaded.problem(origin, message))

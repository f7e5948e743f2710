"""The schema of profile files, with located messages; used for users' files and in tests.

pydantic checks the shape; the contents behind it (tables of text, names that refer to each other) are
checked by reading the tables.

Each problem of a file has its key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, StringConstraints, ValidationError

from lossless.ground.basics.errors import ProfileError, QuantityError
from lossless.ground.basics.units import parse_length, parse_rate
from lossless.model.hardware.devices import Algorithm
from lossless.model.hardware.model import SONIC, LoadBalancing
from lossless.model.hardware.tables import (
    CAGE_COLUMNS,
    DCQCN_COLUMNS,
    HEADROOM_COLUMNS,
    POOL_COLUMNS,
    PROFILE_COLUMNS,
    parse_cages,
    parse_dcqcn,
    parse_headroom,
    parse_layout,
    parse_pools,
    parse_profiles,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic_core import ErrorDetails


Text = Annotated[str, StringConstraints(min_length=1, strict=True)]
SplitAlias = Annotated[
    str, StringConstraints(pattern=r"^([^{}]|\{(index|letter|lane|port)\})+$", strict=True)
]
PortPattern = Annotated[
    str, StringConstraints(pattern=r"^([^{}]|\{(index|lane|number|part)\})+$", strict=True)
]
PciId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4}:[0-9a-f]{4}$", strict=True)]
Driver = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,54}$", strict=True)]
"""The name of a kernel module."""
InfinibandRate = Literal["QDR", "FDR", "EDR", "HDR100", "HDR", "NDR200", "NDR", "XDR"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AsicFile(_Strict):
    """The keys of the chip in a switch profile file; a number that is left out is unknown."""

    name: Text
    formula: Literal["mellanox", "barefoot"] | None = None
    cell_bytes: PositiveInt | None = None
    cell_source: Text | None = None
    buffer_parts: PositiveInt | None = None
    buffer_parts_source: Text | None = None
    pipeline_latency_bytes: float | None = Field(default=None, ge=0)
    mac_phy_delay_bytes: float | None = Field(default=None, ge=0)
    peer_response_bytes: float | None = Field(default=None, ge=0)
    gearbox_delay_ns: int | None = Field(default=None, ge=0)
    tile: bool
    pfc_to_pg_map: bool
    voq: bool = False
    buffer_bytes: PositiveInt | None = None
    buffer_source: Text | None = None
    source: Text


class CagesFile(_Strict):
    """The table of physical ports and the sets of breakout modes it names; ``complete``: there are no other modes."""

    source: Text
    complete: bool = True
    modes: dict[str, list[Text]]
    columns: Text
    rows: Text


class HeadroomFile(_Strict):
    """One table of headroom rows, for one or more HWSKUs."""

    source: Text
    columns: Text
    rows: str


class BuffersFile(_Strict):
    """The pools and profiles of one buffer template, for one or more HWSKUs."""

    source: Text
    default_cable: Text | None = None
    pool_columns: Text
    pools: Text
    profile_columns: Text
    profiles: Text


class ZeroBuffersFile(_Strict):
    """The pools and profiles of size 0 to which unused ports are bound."""

    source: Text
    pool_columns: Text
    pools: Text
    profile_columns: Text
    profiles: Text


class AsicCagesFile(_Strict):
    """One of several ASICs: its namespace, and the indexes of its first and last cage."""

    name: Annotated[str, StringConstraints(pattern=r"^asic[0-9]{1,2}$", strict=True)]
    first_cage: PositiveInt
    last_cage: PositiveInt


class HwskuFile(_Strict):
    """One HWSKU of a switch profile file: its port layout, and the names of its headroom and buffer tables."""

    name: Text
    platforms: list[Text] | None = None
    source: Text
    layout: Text | None = None
    headroom: Text | None = None
    no_headroom: Text | None = None
    buffers: dict[str, Text] = {}


class FormatFile(_Strict):
    """Port names of a system other than SONiC: of a whole cage, of a split one, of a cage of one lane."""

    port: PortPattern
    split: PortPattern
    single: PortPattern | None = None
    source: Text


class ChoicesFile(_Strict):
    """Load balancing of one system: supported and unsupported choices, and those that only some speeds support."""

    offers: list[LoadBalancing] = Field(min_length=1)
    lacks: list[LoadBalancing] = []
    speeds: dict[LoadBalancing, list[Text]] = {}
    source: Text


class SwitchFile(_Strict):
    """The keys of a switch profile file, ``switches/NAME.toml``."""

    product: Text
    vendor: Text
    platform: Text
    default_hwsku: Text
    default_format: Text | None = None
    queues: PositiveInt | None = None
    priority_groups: PositiveInt | None = None
    max_mtu: PositiveInt | None = None
    split_alias: SplitAlias
    sources: dict[str, Text]
    asic: AsicFile
    cages: CagesFile
    headroom: dict[str, HeadroomFile] = {}
    buffers: dict[str, BuffersFile] = {}
    zero_buffers: ZeroBuffersFile | None = None
    asics: list[AsicCagesFile] = []
    formats: dict[str, FormatFile] = {}
    load_balancing: dict[str, ChoicesFile] = {}
    hwsku: list[HwskuFile] = Field(min_length=1)


class DcqcnFile(_Strict):
    """The table of DCQCN parameters in a NIC profile file."""

    columns: Text
    rows: Text


class ShippedControlFile(_Strict):
    """The congestion control as shipped, and the product whose DCQCN defaults the table has, if not its own."""

    algorithm: Algorithm | None = None
    defaults_of: Text | None = None
    source: Text


class StallFile(_Strict):
    """The time after which an adapter with a stuck receiver stops pausing its switch."""

    tunable: Text
    default_ms: PositiveInt
    auto_ms: PositiveInt
    minimum_ms: PositiveInt
    maximum_ms: PositiveInt
    source: Text


class ReorderFile(_Strict):
    """Whether the adapter accepts packets out of order, the setting that enables it, and how many it accepts ahead."""

    able: bool
    setting: Text | None = None
    frames: PositiveInt | None = None
    source: Text


class NicFile(_Strict):
    """The keys of a NIC profile file, ``nics/NAME.toml``."""

    product: Text
    vendor: Text
    driver: Driver
    rates: list[Text] = Field(min_length=1)
    infiniband: list[InfinibandRate] | None = Field(default=None, min_length=1)
    ports: PositiveInt | None = None
    pci_id: PciId | None = None
    cnp_dscp: int | None = Field(default=None, ge=0, le=63)
    cnp_priority: int | None = Field(default=None, ge=0, le=7)
    ultra_ethernet: Literal[True] | None = None
    sources: dict[str, Text]
    dcqcn: DcqcnFile | None = None
    shipped_control: ShippedControlFile | None = None
    stall_prevention: StallFile | None = None
    reorder: ReorderFile | None = None


class InfinibandSwitchFile(_Strict):
    """The keys of an InfiniBand switch profile file, ``infiniband/switches/NAME.toml``."""

    product: Text
    vendor: Text
    managed: bool
    sharp: PositiveInt
    vls: PositiveInt | None = None
    ports: dict[InfinibandRate, PositiveInt] = Field(min_length=1)
    sources: dict[str, Text]


class HcaFile(_Strict):
    """The keys of an InfiniBand adapter profile file, ``infiniband/hcas/NAME.toml``."""

    product: Text
    vendor: Text
    infiniband: list[InfinibandRate] = Field(min_length=1)
    ports: PositiveInt | None = None
    pci_id: PciId | None = None
    sources: dict[str, Text]


def check_hca(path: str, raw: dict[str, Any]) -> None:
    """Check the contents of the profile of an InfiniBand adapter.

    Raises:
        ProfileError: one line for each problem, with the file and the key.
    """
    shape(path, HcaFile, raw)


def check_infiniband_switch(path: str, raw: dict[str, Any]) -> None:
    """Check the contents of an InfiniBand switch profile.

    Raises:
        ProfileError: one line for each problem, with the file and the key.
    """
    shape(path, InfinibandSwitchFile, raw)


def check_switch(path: str, raw: dict[str, Any]) -> None:
    """Check the contents of a switch profile.

    Raises:
        ProfileError: one line for each problem, with the file and the key.
    """
    file = shape(path, SwitchFile, raw)
    refuse(path, [*_switch_problems(file), *_hwsku_problems(file)])


def check_nic(path: str, raw: dict[str, Any]) -> None:
    """Check the contents of a network adapter profile.

    Raises:
        ProfileError: one line for each problem, with the file and the key.
    """
    refuse(path, list(_nic_problems(shape(path, NicFile, raw))))


def _switch_problems(file: SwitchFile) -> Iterator[Problem]:
    yield from columns("cages.columns", file.cages.columns, CAGE_COLUMNS)
    yield from readable("cages.rows", parse_cages, file.cages.rows, file.cages.modes)
    for name, headroom in file.headroom.items():
        yield from columns(f"headroom.{name}.columns", headroom.columns, HEADROOM_COLUMNS)
        yield from readable(f"headroom.{name}.rows", parse_headroom, headroom.rows)
    for name, buffers in file.buffers.items():
        yield from _buffer_problems(f"buffers.{name}", buffers)
    if file.zero_buffers is not None:
        yield from _table_problems("zero_buffers", file.zero_buffers)
    for system, choices in file.load_balancing.items():
        yield from reference(f"load_balancing.{system}", system, {SONIC: None, **file.formats})
        yield from _choice_problems(f"load_balancing.{system}", choices)
    names = [hwsku.name for hwsku in file.hwsku]
    if file.default_hwsku not in names:
        yield "default_hwsku", f"is {file.default_hwsku!r}; expected one of {', '.join(names)}"


def _choice_problems(key: str, file: ChoicesFile) -> Iterator[Problem]:
    for number, choice in enumerate(file.lacks, 1):
        if choice in file.offers:
            yield f"{key}.lacks.{number}", f"is {choice!r}, which is in offers too"
    for choice, rates in file.speeds.items():
        for number, rate in enumerate(rates, 1):
            yield from readable(f"{key}.speeds.{choice}.{number}", parse_rate, rate)


def _buffer_problems(key: str, buffers: BuffersFile) -> Iterator[Problem]:
    cable = buffers.default_cable
    if cable is not None:
        yield from readable(f"{key}.default_cable", parse_length, cable)
    yield from _table_problems(key, buffers)
    yield from _pool_problems(key, buffers)


def _table_problems(key: str, buffers: BuffersFile | ZeroBuffersFile) -> Iterator[Problem]:
    yield from columns(f"{key}.pool_columns", buffers.pool_columns, POOL_COLUMNS)
    yield from columns(f"{key}.profile_columns", buffers.profile_columns, PROFILE_COLUMNS)
    yield from readable(f"{key}.pools", parse_pools, buffers.pools)
    yield from readable(f"{key}.profiles", parse_profiles, buffers.profiles)


def _pool_problems(key: str, buffers: BuffersFile) -> Iterator[Problem]:
    try:
        pools = {pool.name for pool in parse_pools(buffers.pools)}
        profiles = parse_profiles(buffers.profiles)
    except ProfileError:
        return  # reported at its own place
    for profile in profiles:
        if profile.pool not in pools:
            known = ", ".join(sorted(pools))
            yield f"{key}.profiles", f"{profile.name} is in pool {profile.pool!r}; expected one of {known}"


def _hwsku_problems(file: SwitchFile) -> Iterator[Problem]:
    try:
        cages = parse_cages(file.cages.rows, file.cages.modes)
    except ProfileError:
        return  # reported at its own place
    yield from _asic_problems(file, [cage.index for cage in cages])
    for number, hwsku in enumerate(file.hwsku, 1):
        key, layout = f"hwsku.{number}", hwsku.layout
        if layout is not None:
            yield from readable(f"{key}.layout", parse_layout, layout, cages, file.split_alias)
        if hwsku.headroom is not None:
            yield from reference(f"{key}.headroom", hwsku.headroom, file.headroom)
        for template, name in hwsku.buffers.items():
            yield from reference(f"{key}.buffers.{template}", name, file.buffers)


def _asic_problems(file: SwitchFile, indexes: list[int]) -> Iterator[Problem]:
    """Yield a problem for each ASIC out of order and, if there are ASICs, for each cage of none or more than one."""
    for number, asic in enumerate(file.asics):
        if asic.name != f"asic{number}":
            yield f"asics.{number + 1}.name", f"is {asic.name!r}; expected 'asic{number}'"
    for index in indexes if file.asics else ():
        owners = [asic.name for asic in file.asics if asic.first_cage <= index <= asic.last_cage]
        if len(owners) != 1:
            whose = f"of {' and '.join(owners)}" if owners else "of no ASIC"
            yield "asics", f"cage {index} is {whose}; expected each cage to be of one"


def _nic_problems(file: NicFile) -> Iterator[Problem]:
    for number, rate in enumerate(file.rates, 1):
        yield from readable(f"rates.{number}", parse_rate, rate)
    if file.dcqcn is None:
        return
    rows = file.dcqcn.rows
    yield from columns("dcqcn.columns", file.dcqcn.columns, DCQCN_COLUMNS)
    try:
        parameters = parse_dcqcn(rows)
    except ProfileError as error:
        yield "dcqcn.rows", str(error)
        return
    for name, parameter in parameters.items():
        yield from reference(f"dcqcn.rows ({name})", parameter.source, file.sources)


Problem = tuple[str, str]
"""A key of a profile file, and the problem with its value."""
_Model = TypeVar("_Model", bound=BaseModel)


def shape(path: str, model: type[_Model], raw: dict[str, Any]) -> _Model:
    """Return the contents of a profile file as a model of pydantic.

    Raises:
        ProfileError: one line for each problem, with the file and the key.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        problems = [
            (_key(problem["loc"]), _shape_message(problem)) for problem in error.errors(include_url=False)
        ]
        raise _error(path, problems) from error


def _key(parts: tuple[int | str, ...]) -> str:
    # Arrays are counted from 1, as a person counts the [[hwsku]] of a file.
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in parts if part != "[key]")


def _shape_message(problem: ErrorDetails) -> str:
    if problem["type"] == "missing":
        return "is missing"
    if problem["type"] == "extra_forbidden":
        return "is not a key that a profile has here"
    expected = problem["msg"].removeprefix("Input should be ").replace("String should", "text to")
    return f"is {problem['input']!r}; expected {expected}"


def _error(path: str, problems: list[Problem]) -> ProfileError:
    return ProfileError(*(f"{path}: {key}: {message}" for key, message in problems))


def refuse(path: str, problems: list[Problem]) -> None:
    """Raise the problems of a file as one error, if there are any.

    Raises:
        ProfileError: one line for each problem.
    """
    if problems:
        raise _error(path, problems)


def columns(key: str, actual: str, expected: str) -> Iterator[Problem]:
    """Yield a problem where a table does not have its required columns."""
    if actual != expected:
        yield key, f"is {actual!r}; expected {expected!r}"


def readable(key: str, read: Callable[..., object], *arguments: object) -> Iterator[Problem]:
    """Yield a problem where the function ``read`` refuses the value of a key."""
    try:
        read(*arguments)
    except (ProfileError, QuantityError) as error:
        yield key, str(error)


def reference(key: str, name: str, known: Mapping[str, object]) -> Iterator[Problem]:
    """Yield a problem where a name does not refer to a known object."""
    if name not in known:
        yield key, f"is {name!r}; expected one of {', '.join(known) or 'none: there is no such table'}"

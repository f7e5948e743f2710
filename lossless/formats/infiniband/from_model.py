"""The files of a subnet's manager and hosts: which there are, and the content of each as plain values.

Only values that the intent declares, or that are derived from it, are written: never a default. Values that a file
cannot contain, and keys whose environment variables are missing, are reported at their origins in the intent.

The configuration of torus-2QoS for a torus has its sides, and a seed, a switch with its neighbors. Form:
torus-2QoS.conf(5) of opensm 3.3.23. One seed is written, at the switch whose coordinates are 0.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lossless.formats.infiniband.read.sharp import SECRETS
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.infiniband.derived_policy import policy_of
from lossless.model.fabric.infiniband.qos_policy import MTU_CODES, RATE_CODES
from lossless.model.fabric.infiniband.subnet import LINE_BYTES, c_number, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.model.fabric.infiniband.subnet import (
        ManagerHost,
        ManagerSetting,
        Member,
        Partition,
        Secret,
        Subnet,
    )


FOLDER = "/etc/opensm"
"""The folder in which opensm looks for its files by default (`opensm -c`)."""
UFM_FOLDER = "/opt/ufm/files/conf"
"""The folder of UFM's files, with opensm.conf in ``opensm`` (kobibar/OpenAI.recipe.old OpenAI.recipe.md @c314151)."""

NAMES = {
    "partition_config_file": "partitions.conf",
    "qos_policy_file": "qos-policy.conf",
    "root_guid_file": "root_guid.conf",
    "cn_guid_file": "cn_guid.conf",
    "torus_config": "torus-2QoS.conf",
}
"""Names of the files beside opensm.conf, by the options that name them."""

_NAME = re.compile(r"[^\s,:;=#]+(?: [^\s,:;=#]+)*")


class WriteProblem(NamedTuple):
    """A value that cannot be written, and its origin in the intent."""

    origin: Origin
    message: str


class ManagerFile(NamedTuple):
    """One file of a manager or host: its name, template and content, and whether only its owner may read it."""

    name: str
    template: str
    context: Mapping[str, object]
    secret: bool = False


class OptionLine(NamedTuple):
    """A key of opensm.conf or another file with its text, as a line."""

    key: str
    text: str


def manager_files(
    subnet: Subnet, manager: ManagerHost | None, keys: Mapping[str, str]
) -> tuple[list[ManagerFile], list[WriteProblem]]:
    """Return the files that opensm reads on one host, and the values that cannot be written.

    ``keys`` has the values of the subnet's secrets, by key; see :func:`secret_values`.
    """
    pairs = stated_options(subnet, manager)
    beside = dict(_beside(subnet))
    stated = {pair.key for pair in pairs}
    folder = folder_of(subnet)
    pairs += [OptionLine(key, f"{folder}/{NAMES[key]}") for key in beside if key not in stated]
    pairs += [OptionLine(secret.key, keys[secret.key]) for secret in subnet.secrets if secret.key in keys]
    common = [pair for pair in pairs if (known := option(pair.key)) is None or known.only != "nvidia"]
    context = {
        "subnet": subnet.name,
        "common": common,
        "nvidia": [pair for pair in pairs if pair not in common],
    }
    conf = ManagerFile("opensm.conf", "infiniband/opensm.conf.j2", context, secret=bool(subnet.secrets))
    return [conf, *beside.values()], list(_troubles(subnet, pairs))


def folder_of(subnet: Subnet) -> str:
    """Return the folder from which the manager of a subnet reads opensm.conf and the files beside it."""
    return f"{UFM_FOLDER}/opensm" if subnet.manager == "ufm" else FOLDER


def sharp_files(subnet: Subnet) -> tuple[list[ManagerFile], list[WriteProblem]]:
    """Return sharp_am.cfg, and values that cannot be written; none where the intent declares no key of that file."""
    settings = subnet.sharp.settings if subnet.sharp else ()
    if not settings:
        return [], []
    pairs = [OptionLine(setting.key, setting.text) for setting in settings]
    written = ManagerFile(
        "sharp_am.cfg", "infiniband/sharp_am.cfg.j2", {"subnet": subnet.name, "pairs": pairs}
    )
    troubles = [trouble for setting in settings if (trouble := _unwritable(setting))]
    return [written], [
        *troubles,
        *(_stated_key(sharp_setting) for sharp_setting in settings if sharp_setting.key in SECRETS),
    ]


def _stated_key(setting: ManagerSetting) -> WriteProblem:
    says = f"{setting.key} protects the subnet and is never stated in an intent: put it into sharp_am.cfg by hand"
    return WriteProblem(setting.origin, says)


def ufm_files(subnet: Subnet) -> tuple[list[ManagerFile], list[WriteProblem]]:
    """Return the part of UFM's gv.cfg that follows from the intent, if any, and values that cannot be written."""
    if subnet.manager != "ufm":
        return [], []
    sections: dict[str, dict[str, str]] = {}
    if subnet.sharp is not None and subnet.sharp.on:
        # docs.nvidia.com, UFM Enterprise: [Sharp] sharp_enabled = true; no number as in opensm.conf.
        sections["Sharp"] = {"sharp_enabled": "true"}
    for setting in subnet.gv:
        sections.setdefault(setting.section, {})[setting.key] = setting.text
    if not sections:
        return [], []
    written = ManagerFile("gv.cfg", "infiniband/gv.cfg.j2", {"subnet": subnet.name, "sections": sections})
    return [written], [trouble for setting in subnet.gv if (trouble := _unwritable(setting))]


def job_files(subnet: Subnet, host: str) -> tuple[list[ManagerFile], list[WriteProblem]]:
    """Return the files with variables of jobs on a host, for NCCL and for others, and values that cannot be written."""
    stated = {setting.key: setting.text for setting in subnet.job.environment} if subnet.job else {}
    variables = dict(_derived_variables(subnet, host)) | stated
    nccl = [OptionLine(key, text) for key, text in variables.items() if key.startswith("NCCL_")]
    others = [OptionLine(key, text) for key, text in variables.items() if not key.startswith("NCCL_")]
    files = [
        ManagerFile(name, f"infiniband/{template}", {"subnet": subnet.name, "pairs": pairs})
        for name, template, pairs in (("nccl.conf", "nccl.conf.j2", nccl), ("job.env", "job.env.j2", others))
        if pairs
    ]
    settings = subnet.job.environment if subnet.job else ()
    return files, [trouble for setting in settings if (trouble := _unwritable(setting))]


def secret_values(
    secrets: Iterable[Secret], environment: Mapping[str, str]
) -> tuple[dict[str, str], list[WriteProblem]]:
    """Return the values of secret keys from environment variables, and problems, whose messages contain no value."""
    values: dict[str, str] = {}
    troubles = []
    for secret in secrets:
        text = environment.get(secret.variable, "").strip()
        number = c_number(text) if text else None
        if not text:
            says = f"{secret.key} is to be taken from the environment variable {secret.variable}, which is not set"
            troubles.append(WriteProblem(secret.origin, says))
        elif number is None or not 0 < number < 2**64:
            says = f"the environment variable {secret.variable} holds no {secret.key}: expected 0x and up to 16 digits"
            troubles.append(WriteProblem(secret.origin, says))
        else:
            values[secret.key] = f"{number:#018x}"
    return values, troubles


def stated_options(subnet: Subnet, manager: ManagerHost | None) -> list[OptionLine]:
    """Return a manager's options without secrets; of a repeated key the last value, at the position of the first."""
    pairs = {setting.key: setting.text for setting in subnet.options}
    if manager is not None and manager.priority is not None:
        pairs["sm_priority"] = str(manager.priority)
    named = manager.hca if manager is not None else None
    guid = None if named is None else guid_of(guids_by_name(subnet), named)
    if guid is not None:
        pairs["guid"] = f"{guid:#018x}"
    if subnet.subnet_prefix is not None:
        pairs.setdefault("subnet_prefix", f"{subnet.subnet_prefix:#018x}")
    secret_keys = {secret.key for secret in subnet.secrets}
    return [OptionLine(key, text) for key, text in pairs.items() if key not in secret_keys]


def _beside(subnet: Subnet) -> Iterator[tuple[str, ManagerFile]]:
    """Yield the files beside opensm.conf, each with the option that names it."""
    known = guids_by_name(subnet)
    if subnet.partitions is not None and not isinstance(subnet.partitions, Unknown):
        partitions = [_partition(known, partition) for partition in subnet.partitions]
        yield _file(subnet, "partition_config_file", "partitions.conf.j2", partitions=partitions)
    policy = policy_of(subnet)
    if policy is not None:
        yield _file(subnet, "qos_policy_file", "qos-policy.conf.j2", policy=policy)
    for key, named, what in (
        ("root_guid_file", subnet.routing.roots, "switches of the top tier"),
        ("cn_guid_file", subnet.routing.compute, "ports of compute nodes"),
    ):
        if named is not None:
            guids = [
                (guid, "" if isinstance(member, int) else member)
                for member in named
                if (guid := guid_of(known, member))
            ]
            yield _file(subnet, key, "guids.conf.j2", what=what, guids=[(f"{g:#018x}", n) for g, n in guids])

    torus = torus_of(subnet) if wants_torus(subnet) else None
    if torus is not None:
        yield _file(subnet, "torus_config", "torus-2QoS.conf.j2", torus=torus)


def _file(subnet: Subnet, key: str, template: str, **context: object) -> tuple[str, ManagerFile]:
    return key, ManagerFile(NAMES[key], f"infiniband/{template}", {"subnet": subnet.name, **context})


def guids_by_name(subnet: Subnet) -> dict[str, int | None]:
    """Return the GUIDs of all known switches and HCAs by their names, None where a GUID is unknown."""
    switches = () if isinstance(subnet.switches, Unknown) else subnet.switches
    hcas = () if isinstance(subnet.hcas, Unknown) else subnet.hcas
    return {hca.name: hca.guid for hca in hcas} | {switch.name: switch.guid for switch in switches}


def guid_of(guids: Mapping[str, int | None], named: str | int) -> int | None:
    """Return the GUID of a name, None where it is unknown; a GUID is returned unchanged."""
    return named if isinstance(named, int) else guids.get(named)


def _partition(guids: Mapping[str, int | None], partition: Partition) -> dict[str, object]:
    rate = partition.rate if partition.rate is not None else RATE_CODES.get(partition.rate_bps or 0)
    mtu = partition.mtu if partition.mtu is not None else MTU_CODES.get(partition.mtu_bytes or 0)
    flags = ["indx0"] * partition.index0 + ["ipoib"] * partition.ipoib
    numbers = {"rate": rate, "mtu": mtu, "sl": partition.sl, "scope": partition.scope}
    flags += [f"{name}={number}" for name, number in numbers.items() if number is not None]
    if partition.default != "limited":
        flags.append(f"defmember={partition.default}")
    definition = partition.name + (f"=0x{partition.pkey:04x}" if partition.pkey is not None else "")
    if not partition.name and partition.pkey is not None:
        definition = f"0x{partition.pkey:04x}"
    members = [_member(guids, member) for member in partition.members]
    return {"definition": ", ".join([definition, *flags]), "members": [line for line in members if line]}


def _member(guids: Mapping[str, int | None], member: Member) -> tuple[str, str] | None:
    """Return a partition member as partitions.conf writes it, and its HCA's name; None where its GUID is unknown."""
    guid = member.guid if member.guid is not None else guid_of(guids, member.hca) if member.hca else None
    who = member.word or (f"{guid:#018x}" if guid is not None else None)
    return None if who is None else (f"{who}={member.membership}", member.hca or "")


def _derived_variables(subnet: Subnet, host: str) -> Iterator[tuple[str, str]]:
    job = subnet.job
    level = next(
        (candidate for candidate in subnet.qos.levels if job is not None and candidate.name == job.level),
        None,
    )
    if level is not None:
        yield "NCCL_IB_SL", str(level.sl)
    if subnet.sharp is not None and subnet.sharp.on and host in subnet.sharp.hosts:
        yield "NCCL_COLLNET_ENABLE", "1"


def _troubles(subnet: Subnet, pairs: Sequence[OptionLine]) -> Iterator[WriteProblem]:
    """Yield problems of options that opensm would read differently, refuse or not know, and of :func:`_nameless`."""
    origins = {setting.key: setting.origin for setting in subnet.options}
    for pair in pairs:
        origin = origins.get(pair.key, subnet.origin)
        known = option(pair.key)
        length = len(f"{pair.key} {pair.text}".encode())
        if (
            known is not None
            and subnet.flavour in ("upstream", "nvidia")
            and known.only not in (None, subnet.flavour)
        ):
            yield WriteProblem(
                origin, f"{pair.key} is a key of flavor {known.only}; the flavor here is {subnet.flavour}"
            )
        elif known is None and subnet.flavour == "upstream":
            yield WriteProblem(origin, f"opensm has no option {pair.key!r}")
        elif length > LINE_BYTES:
            says = f"{pair.key} needs a line of {length} bytes; opensm takes {LINE_BYTES} together at most"
            yield WriteProblem(origin, says)
        elif says := _unreadable(pair.text):
            yield WriteProblem(origin, f"{pair.key}: {says}")
    yield from _nameless(subnet)


def _nameless(subnet: Subnet) -> Iterator[WriteProblem]:
    """Yield a problem for each partition name that would end its definition, and one for all missing GUIDs.

    A torus-2QoS whose seed has no GUIDs is one more problem.
    """
    for partition in _partitions(subnet):
        if partition.name and not _NAME.fullmatch(partition.name):
            yield WriteProblem(
                partition.origin, f"a partition's name has none of , : ; = #; {partition.name!r} has"
            )
    lacking = [need for need in _needs(subnet) if need.names]
    if lacking:
        yield _no_guids(lacking)
    if wants_torus(subnet) and torus_of(subnet) is None:
        yield WriteProblem(
            subnet.routing.origin,
            "torus-2QoS begins at a switch and its neighbors: state the GUIDs of switches",
        )


class _MissingGuids(NamedTuple):
    """Switches or HCAs of one kind with unknown GUIDs that a file needs; ``what`` is that kind, in words."""

    names: tuple[str, ...]
    what: str
    origin: Origin


def _needs(subnet: Subnet) -> Iterator[_MissingGuids]:
    known, routing = guids_by_name(subnet), subnet.routing
    for partition in _partitions(subnet):
        members = [m.hca or "" for m in partition.members if m.word is None and _member(known, m) is None]
        yield _MissingGuids(tuple(members), f"a member of partition {partition.name}", partition.origin)
    for named, what in ((routing.roots, "a root"), (routing.compute, "a compute node")):
        names = tuple(str(member) for member in named or () if guid_of(known, member) is None)
        yield _MissingGuids(names, what, routing.roots_origin or routing.origin)


def _no_guids(lacking: Sequence[_MissingGuids]) -> WriteProblem:
    """Return one problem for all missing GUIDs: before the hardware is racked, that may be every GUID."""
    first, names = lacking[0], {name for need in lacking for name in need.names}
    others = f" (nor those of {len(names) - 1} more that files need)" if len(names) > 1 else ""
    says = (
        f"{first.names[0]} is {first.what} and nobody states its GUID{others}: files have nothing but GUIDs"
    )
    form = f"{first.names[0]} 0x506b4b0300abcdef"
    return WriteProblem(
        first.origin, f"{says}; put lines like {form!r} into a file, and its name into the key guid_file"
    )


def _partitions(subnet: Subnet) -> tuple[Partition, ...]:
    partitions = subnet.partitions
    return () if partitions is None or isinstance(partitions, Unknown) else partitions


def _unwritable(setting: ManagerSetting) -> WriteProblem | None:
    says = _unreadable(setting.text)
    return WriteProblem(setting.origin, f"{setting.key}: {says}") if says else None


def _unreadable(text: str) -> str:
    """Return why a value with a #, a control character, outer blanks or quotes is not read back, else empty."""
    if "#" in text:
        return "a # ends the line for whoever reads it"
    if any(ord(character) < 32 for character in text):
        return "a value must be one line, without control characters"
    if text != text.strip():
        return "blanks around a value are not read"
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return "quotes around a value are not read"
    return ""


if TYPE_CHECKING:
    Places = Mapping[tuple[int, ...], int | None]

ENGINE = "torus-2QoS"
_AXES = "xyz"
_BOTH_NEIGHBORS = 4
"""The length of a side for which opensm needs both neighbors: there it cannot tell the two directions apart."""
_PORTS = 16
"""The most cables between two switches, or host ports of a switch with port 0, that opensm supports by default."""


class TorusSeed(NamedTuple):
    """One line of a torus-2QoS seed: its word, as ``xp_link``, and the GUIDs of the seed switch and its neighbor."""

    word: str
    guid: str
    neighbor: str


class TorusConf(NamedTuple):
    """The content of torus-2QoS.conf; ``ports`` is None where opensm's default suffices."""

    sides: tuple[str, ...]
    seeds: tuple[TorusSeed, ...]
    ports: int | None


def wants_torus(subnet: Subnet) -> bool:
    """Return whether torus-2QoS is an engine of a subnet that is a torus of 2 or 3 dimensions with known switches."""
    shape, switches = subnet.shape, subnet.switches
    if ENGINE not in subnet.routing.engines or isinstance(shape, Unknown) or isinstance(switches, Unknown):
        return False
    return shape.kind == "torus" and 2 <= len(shape.sides) <= len(_AXES)


def torus_of(subnet: Subnet) -> TorusConf | None:
    """Return the configuration of torus-2QoS; None where a GUID that it needs is unknown."""
    assert not isinstance(subnet.shape, Unknown)
    assert not isinstance(subnet.switches, Unknown)
    sides = subnet.shape.sides
    places = {switch.coordinates: switch.guid for switch in subnet.switches}
    seeds = tuple(_seeds(sides, places))
    if any(seed is None for seed in seeds):
        return None
    shown = tuple(f"{side}m" if side <= 2 else str(side) for side in (*sides, 1)[: len(_AXES)])
    ports = _most_ports(subnet)
    whole = tuple(seed for seed in seeds if seed is not None)
    return TorusConf(shown, whole, ports if ports > _PORTS else None)


def _seeds(sides: tuple[int, ...], places: Places) -> Iterator[TorusSeed | None]:
    origin = (0,) * len(sides)
    for axis, side in enumerate(sides):
        steps = {"p": 1, "m": side - 1} if side == _BOTH_NEIGHBORS else {"p": 1}
        for way, step in steps.items() if side > 1 else ():
            place = (*origin[:axis], step, *origin[axis + 1 :])
            here, there = places.get(origin), places.get(place)
            both = here is not None and there is not None
            yield TorusSeed(f"{_AXES[axis]}{way}_link", f"{here:#018x}", f"{there:#018x}") if both else None


def _most_ports(subnet: Subnet) -> int:
    """Return the largest group of ports of a switch: cables to one other switch, or host ports and port 0."""
    if isinstance(subnet.links, Unknown):
        return 0
    hosts = Counter(link.a for link in subnet.links if link.to_hca)
    cables = Counter(tuple(sorted((link.a, link.b))) for link in subnet.links if not link.to_hca)
    return max([0, *cables.values(), *(count + 1 for count in hosts.values())])

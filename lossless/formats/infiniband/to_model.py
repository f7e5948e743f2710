"""Turns a deployed opensm.conf and the files beside it into a subnet, whose switches, hosts and links are UNKNOWN.

Files that opensm.conf names by a path of its host are looked up by their names, beside it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from lossless.formats.infiniband.read.options import looks_like_options, read_guids, read_options
from lossless.formats.infiniband.read.partitions import (
    looks_like_partitions,
    looks_like_policy,
    read_partitions,
    read_policy,
)
from lossless.formats.infiniband.read.sharp import looks_like_sharp, read_sharp
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.documents.marked_document import BYTE_ORDER_MARK
from lossless.model.fabric.infiniband.subnet import (
    ManagerHost,
    Sharp,
    Subnet,
    SubnetRouting,
    c_number,
    option,
    qos_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.formats.infiniband.read.options import OpensmConf
    from lossless.ground.basics.records import Unknown
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Flavour, ManagerSetting, Partition


Kind = Literal["options", "partitions", "policy", "sharp"]
NO_FALLBACK = "no_fallback"
_NAMED: dict[str, Kind] = {
    "opensm.conf": "options",
    "partitions.conf": "partitions",
    "qos-policy.conf": "policy",
    "sharp_am.cfg": "sharp",
}
_SHARP_ON = "2"
"""The value of ``sharp_enabled`` that enables SHARP.

0 leaves switches unchanged, 1 disables it, 2 enables it (docs.nvidia.com, ``ib sm sharp``).
"""


class SubnetFile(NamedTuple):
    """A file of an InfiniBand subnet manager: its name, and its text."""

    file: str
    text: str


class DeployedSubnet(NamedTuple):
    """A subnet read from the files of its manager, and their documents, which have the problems."""

    subnet: Subnet
    documents: tuple[Document, ...]


def kind_of(text: str, file: str = "") -> Kind | None:
    """Return the kind of a subnet manager's file by its content, None for other text.

    For content without any sign, such as comments alone, the usual name of such a file decides. A file of GUIDs looks
    like any other list of numbers: it is recognized by the option that names it.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    if looks_like_policy(text):
        return "policy"
    if looks_like_options(text):
        return "options"
    if looks_like_partitions(text):
        return "partitions"
    return "sharp" if looks_like_sharp(text) else _NAMED.get(file.rpartition("/")[2])


def document_of(kind: Kind, file: SubnetFile) -> Document:
    """Return the document of one file of a subnet manager by itself, with its problems."""
    if kind == "options":
        return read_options(file.text, file.file).document
    if kind == "partitions":
        return read_partitions(file.text, file.file)[0]
    return (read_policy(file.text, file.file) if kind == "policy" else read_sharp(file.text, file.file))[0]


def read_subnet(conf: SubnetFile, beside: Mapping[str, SubnetFile]) -> DeployedSubnet:
    """Return the subnet of an opensm.conf; ``beside`` has the other files of its folder, by their names."""
    options = read_options(conf.text, conf.file)
    texts = {setting.key: setting for setting in options.settings}
    documents = [options.document]

    def named(key: str) -> SubnetFile | None:
        return beside.get(_name(texts.get(key), key))

    partitions = _partitions(named("partition_config_file"), documents)
    policy_file = named("qos_policy_file")
    policy = None
    if policy_file is not None:
        document, policy = read_policy(policy_file.text, policy_file.file)
        documents.append(document)
    roots = _guids(named("root_guid_file"), documents)
    compute = _guids(named("cn_guid_file"), documents)
    sharp = _sharp(texts, beside.get("sharp_am.cfg"), documents)
    routing = _routing(texts, roots, compute, options.document.file)
    origin = Origin(conf.file)
    subnet = _subnet(options, origin)._replace(
        routing=routing, partitions=partitions, sharp=sharp, policy=policy
    )
    return DeployedSubnet(
        subnet._replace(files=tuple(read_file.file for read_file in documents)), tuple(documents)
    )


def companions(text: str) -> tuple[str, ...]:
    """Return the names of the files that belong to an opensm.conf, including the defaults of options that it omits."""
    texts = {setting.key: setting for setting in read_options(text, "").settings}
    keys = ("partition_config_file", "qos_policy_file", "root_guid_file", "cn_guid_file")
    names = (*(_name(texts.get(key), key) for key in keys), "sharp_am.cfg")
    return tuple(name for name in names if name)


def _name(setting: ManagerSetting | None, key: str) -> str:
    """Return the file name in the path that an option has, or its default has; empty where there is none."""
    known = option(key)
    path = setting.text if setting is not None else (known.default or "") if known is not None else ""
    return "" if path in ("", "(null)") else path.rsplit("/", 1)[-1]


def _subnet(options: OpensmConf, origin: Origin) -> Subnet:
    """Return the subnet as far as opensm.conf alone describes it."""
    texts = {setting.key: setting for setting in options.settings}
    priority, prefix = texts.get("sm_priority"), texts.get("subnet_prefix")
    manager = ManagerHost(
        UNKNOWN,
        None,
        None if priority is None else c_number(priority.text),
        standby=False,
        origin=origin if priority is None else priority.origin,
    )
    return Subnet(
        name=origin.file,
        provenance="deployed",
        flavour=_flavour(texts),
        manager="opensm",
        origin=origin,
        files=(origin.file,),
        options=options.settings,
        secrets=options.secrets,
        subnet_prefix=None if prefix is None else c_number(prefix.text),
        shape=UNKNOWN,
        switches=UNKNOWN,
        hosts=UNKNOWN,
        hcas=UNKNOWN,
        links=UNKNOWN,
        demand=(),
        managers=(manager,),
        routing=SubnetRouting((), no_fallback=False, origin=origin),
        qos=qos_of(options.settings, (), origin),
        partitions=UNKNOWN,
        sharp=None,
        job=None,
    )


def _flavour(keys: Iterable[str]) -> Flavour | Unknown:
    """Return the flavor of opensm that alone has some of the keys, UNKNOWN where none or both have such keys."""
    only = {known.only for key in keys if (known := option(key)) is not None and known.only is not None}
    return only.pop() if len(only) == 1 else UNKNOWN


def _routing(
    texts: Mapping[str, ManagerSetting],
    roots: tuple[int, ...] | None,
    compute: tuple[int, ...] | None,
    file: str,
) -> SubnetRouting:
    stated = texts.get("routing_engine")
    # opensm parts the names of engines at commas and blanks (setup_routing_engines).
    words = (
        [] if stated is None or stated.text == "(null)" else re.split(r"[,\s]+", stated.text.strip(", \t"))
    )
    engines = tuple(word for word in words if word and word != NO_FALLBACK)
    named = texts.get("root_guid_file")
    return SubnetRouting(
        engines,
        no_fallback=NO_FALLBACK in words,
        origin=stated.origin if stated is not None else Origin(file),
        roots=roots,
        compute=compute,
        roots_origin=None if named is None else named.origin,
    )


def _partitions(file: SubnetFile | None, documents: list[Document]) -> tuple[Partition, ...] | Unknown:
    """Return the partitions of a partitions.conf; UNKNOWN where the file was not given."""
    if file is None:
        return UNKNOWN
    document, partitions = read_partitions(file.text, file.file)
    documents.append(document)
    return partitions


def _guids(file: SubnetFile | None, documents: list[Document]) -> tuple[int, ...] | None:
    if file is None:
        return None
    document, guids = read_guids(file.text, file.file)
    documents.append(document)
    return guids


def _sharp(
    texts: Mapping[str, ManagerSetting], file: SubnetFile | None, documents: list[Document]
) -> Sharp | None:
    """Return whether opensm enables SHARP, and the settings of sharp_am.cfg; None where both are absent."""
    enabled = texts.get("sharp_enabled")
    settings: Sequence[ManagerSetting] = ()
    if file is not None:
        document, settings = read_sharp(file.text, file.file)
        documents.append(document)
    if enabled is None and file is None:
        return None
    origin = enabled.origin if enabled is not None else Origin(documents[-1].file)
    on = enabled is not None and enabled.text == _SHARP_ON
    return Sharp(on, UNKNOWN, None, None, (), (), None, tuple(settings), origin)

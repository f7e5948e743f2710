"""Subnets with everything that the files of a subnet manager carry, drawn at random: GUIDs everywhere."""

from __future__ import annotations

from hypothesis import strategies as st

from lossless.formats.infiniband.read.partitions import WORDS
from lossless.ground.basics.findings import Origin
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from lossless.model.fabric.infiniband.subnet import (
    BITS,
    ManagerHost,
    ManagerSetting,
    Member,
    Membership,
    Option,
    Partition,
    Secret,
    ServiceLevel,
    Sharp,
    Subnet,
    SubnetRouting,
    options,
    qos_of,
)
from tests.subnets import fat_tree

HERE = Origin("fabric.yaml")
TREE = with_derived_guids(fat_tree(leaves=2, spines=2, hosts=2, engine="ftree"))
ELSEWHERE = {
    "routing_engine",
    "subnet_prefix",
    "sm_priority",
    "guid",
    "qos",
    "root_guid_file",
    "cn_guid_file",
}
"""Options that are made of other parts of a subnet, or by which its other files are found."""
WORD = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-./%", min_size=1, max_size=12)
MEMBERSHIPS: st.SearchStrategy[Membership] = st.sampled_from(["full", "limited", "both"])


def text_of(option: Option) -> st.SearchStrategy[str]:
    """Return texts that an option can have."""
    if option.kind == "bool":
        return st.sampled_from(["TRUE", "FALSE"])
    if option.kind in BITS:
        return st.integers(0, 2 ** BITS[option.kind] - 1).map(str)
    if option.choices:
        return st.sampled_from(option.choices)
    return WORD


@st.composite
def settings(draw: st.DrawFn) -> tuple[ManagerSetting, ...]:
    known = {key: one for key, one in options().items() if one.only is None and not one.secret}
    names = sorted(known.keys() - ELSEWHERE - {"partition_config_file", "qos_policy_file", "torus_config"})
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=12))
    return tuple(ManagerSetting(key, draw(text_of(known[key])), HERE) for key in chosen)


@st.composite
def members(draw: st.DrawFn) -> tuple[Member, ...]:
    hcas = TREE.hcas
    assert isinstance(hcas, tuple)
    one = st.one_of(
        st.sampled_from(hcas).map(lambda hca: Member(hca.name, None, None, "limited", HERE)),
        st.integers(1, 2**64 - 1).map(lambda guid: Member(None, guid, None, "limited", HERE)),
        st.sampled_from(WORDS[1:]).map(lambda word: Member(None, None, word, "limited", HERE)),
    )
    found = draw(st.lists(one, max_size=5))
    return tuple(member._replace(membership=draw(MEMBERSHIPS)) for member in found)


@st.composite
def partitions(draw: st.DrawFn) -> tuple[Partition, ...]:
    maybe = st.none() | st.integers(1, 15)
    names = draw(st.lists(WORD, unique=True, max_size=4))
    return tuple(
        Partition(
            name,
            draw(st.integers(0, 0xFFFF)),
            draw(st.booleans()),
            draw(st.booleans()),
            draw(maybe),
            draw(maybe),
            draw(st.none() | st.integers(0, 15)),
            draw(MEMBERSHIPS),
            draw(members()),
            HERE,
            scope=draw(maybe),
        )
        for name in names
    )


@st.composite
def levels(draw: st.DrawFn) -> tuple[ServiceLevel, ...]:
    names = draw(st.lists(st.from_regex(r"\A[a-z][a-z0-9]{0,6}\Z"), unique=True, max_size=4))
    sls = draw(st.lists(st.integers(0, 15), unique=True, min_size=len(names), max_size=len(names)))
    return tuple(ServiceLevel(name, sl, sl % 8, HERE) for name, sl in zip(names, sls, strict=True))


@st.composite
def subnets(draw: st.DrawFn) -> Subnet:
    """A fat tree of two leaves with a manager of its own, and anything that files can say of it."""
    on = draw(st.booleans())
    engines = tuple(draw(st.lists(st.sampled_from(["ftree", "updn", "minhop"]), unique=True, max_size=2)))
    strict = draw(st.booleans()) and bool(engines)
    words = ",".join((*engines, *["no_fallback"] * strict))
    stated = (
        *draw(settings()),
        *([ManagerSetting("routing_engine", words, HERE)] if words else []),
        ManagerSetting("qos", "TRUE" if on else "FALSE", HERE),
    )
    switches = TREE.switches
    assert isinstance(switches, tuple)
    roots = draw(st.none() | st.lists(st.sampled_from([one.name for one in switches]), unique=True))
    sharp = draw(
        st.dictionaries(st.from_regex(r"\A[a-z][a-z_]{2,8}\Z"), st.integers(0, 99).map(str), max_size=3)
    )
    hcas = TREE.hcas
    assert isinstance(hcas, tuple)
    manager = ManagerHost(
        hcas[0].host, hcas[0].name, draw(st.none() | st.integers(0, 15)), standby=False, origin=HERE
    )
    named = tuple(ManagerSetting(f"am_{key}x", text, HERE) for key, text in sharp.items())
    return TREE._replace(
        options=stated,
        secrets=(Secret("m_key", "M_KEY", HERE),) if draw(st.booleans()) else (),
        subnet_prefix=draw(st.none() | st.integers(0, 2**64 - 1)),
        managers=(manager,),
        routing=SubnetRouting(engines, strict, HERE, None if roots is None else tuple(roots)),
        qos=qos_of(stated, draw(levels()), HERE),
        partitions=draw(st.none() | partitions()),
        sharp=Sharp(False, hcas[0].host, None, None, (), (), None, named, HERE) if named else None,
    )

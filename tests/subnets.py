"""Subnets by shape, as plain models: fat trees, tori and dragonflies, with ports in the order of cabling."""

from __future__ import annotations

from collections import Counter
from itertools import product

from lossless.ground.basics.findings import Origin
from lossless.model.fabric.infiniband.qos_policy import RATES
from lossless.model.fabric.infiniband.subnet import (
    Hca,
    ManagerHost,
    ManagerSetting,
    Qos,
    ShapeKind,
    Subnet,
    SubnetHost,
    SubnetLink,
    SubnetRouting,
    SubnetShape,
    SubnetSwitch,
    qos_of,
)
from lossless.model.hardware.infiniband import load_hca, load_infiniband_switch

HERE = Origin("fabric.yaml")
NO_QOS: Qos = qos_of((), (), HERE)


class Cabling:
    """Switches, hosts of one HCA each, and cables that take the next free port at both ends."""

    def __init__(self, ports: int = 64, rate: str = "NDR") -> None:
        self.ports, self.rate = ports, RATES[rate]
        self.profile, self.adapter = load_infiniband_switch("nvidia-qm9700"), load_hca("connectx-7")
        self.switches: list[SubnetSwitch] = []
        self.hcas: list[Hca] = []
        self.links: list[SubnetLink] = []
        self.used: Counter[str] = Counter()

    def switch(self, name: str, tier: int | None = None, place: tuple[int, ...] = ()) -> str:
        made = SubnetSwitch(name, "leaf", tier, self.profile, self.ports, None, HERE, HERE, place)
        self.switches.append(made)
        return name

    def hosts(self, switch: str, count: int) -> None:
        for number in range(count):
            name = f"{switch}h{number}"
            self.hcas.append(Hca(f"{name}:mlx5_0", name, "mlx5_0", 0, self.adapter, None, HERE, HERE))
            self.cable(switch, f"{name}:mlx5_0", to_hca=True)

    def cable(self, a: str, b: str, *, to_hca: bool = False) -> None:
        self.used[a] += 1
        self.used[b] += 1
        self.links.append(SubnetLink(a, self.used[a], b, self.used[b], self.rate, to_hca, HERE))

    def subnet(self, kind: ShapeKind, engine: str | None, **options: str) -> Subnet:
        texts = {"routing_engine": engine} if engine else {}
        settings = tuple(ManagerSetting(key, text, HERE) for key, text in {**texts, **options}.items())
        roots = tuple(s.name for s in self.switches if s.tier == max(t.tier or 0 for t in self.switches))
        return Subnet(
            name="subnet",
            provenance="intent",
            flavour="upstream",
            manager="opensm",
            origin=HERE,
            files=("fabric.yaml",),
            options=settings,
            secrets=(),
            subnet_prefix=None,
            shape=SubnetShape(kind, HERE, sides_of(self.switches), roots=roots if kind == "fat-tree" else ()),
            switches=tuple(self.switches),
            hosts=tuple(SubnetHost(hca.host, "compute", (hca.name,), HERE) for hca in self.hcas),
            hcas=tuple(self.hcas),
            links=tuple(self.links),
            demand=(),
            managers=(ManagerHost(self.hcas[0].host, self.hcas[0].name, 15, False, HERE),),
            routing=SubnetRouting(
                tuple(engine.split(",")) if engine else (), False, HERE, roots if kind == "fat-tree" else None
            ),
            qos=qos_of(settings, (), HERE),
            partitions=None,
            sharp=None,
            job=None,
        )


def sides_of(switches: list[SubnetSwitch]) -> tuple[int, ...]:
    places = [switch.coordinates for switch in switches if switch.coordinates]
    return tuple(max(axis) + 1 for axis in zip(*places, strict=True)) if places else ()


def fat_tree(leaves: int, spines: int, hosts: int, engine: str | None = "updn", cables: int = 1) -> Subnet:
    """Two tiers: every leaf to every spine."""
    made = Cabling()
    for leaf in range(leaves):
        made.hosts(made.switch(f"leaf{leaf}", 0), hosts)
    for spine in range(spines):
        made.switch(f"spine{spine}", 1)
    for leaf, spine, _ in product(range(leaves), range(spines), range(cables)):
        made.cable(f"leaf{leaf}", f"spine{spine}")
    return made.subnet("fat-tree", engine)


def fat_tree_of_pods(pods: int, width: int, hosts: int, engine: str | None = "updn") -> Subnet:
    """Three tiers: in each pod ``width`` leaves and spines; spine n of every pod to the cores of plane n."""
    made = Cabling()
    for pod, leaf in product(range(pods), range(width)):
        made.hosts(made.switch(f"p{pod}leaf{leaf}", 0), hosts)
    for pod, spine in product(range(pods), range(width)):
        made.switch(f"p{pod}spine{spine}", 1)
    for plane, core in product(range(width), range(width)):
        made.switch(f"core{plane}-{core}", 2)
    for pod, leaf, spine in product(range(pods), range(width), range(width)):
        made.cable(f"p{pod}leaf{leaf}", f"p{pod}spine{spine}")
    for pod, spine, core in product(range(pods), range(width), range(width)):
        made.cable(f"p{pod}spine{spine}", f"core{spine}-{core}")
    return made.subnet("fat-tree", engine)


def torus(sides: tuple[int, ...], hosts: int = 1, engine: str | None = "dor", **options: str) -> Subnet:
    """A torus; a side of two has one cable, not two."""
    made, places = Cabling(), list(product(*map(range, sides)))
    for place in places:
        made.switch(named(place), None, place)
    for axis, side in enumerate(sides):
        for place in places:
            if side > 2 or place[axis] + 1 < side:
                following = (*place[:axis], (place[axis] + 1) % side, *place[axis + 1 :])
                made.cable(named(place), named(following))
    for place in places:
        made.hosts(named(place), hosts)
    return made.subnet("torus", engine, **options)


def named(place: tuple[int, ...]) -> str:
    return "t" + "-".join(map(str, place))


def dragonfly(groups: int, width: int, hosts: int, engine: str | None = "minhop", **options: str) -> Subnet:
    """A dragonfly+: in each group leaves and spines as in a tree; a cable joins every two groups, spines by turns."""
    made = Cabling()
    for group in range(groups):
        for leaf in range(width):
            made.hosts(made.switch(f"g{group}leaf{leaf}"), hosts)
        for spine in range(width):
            made.switch(f"g{group}spine{spine}")
        for leaf, spine in product(range(width), range(width)):
            made.cable(f"g{group}leaf{leaf}", f"g{group}spine{spine}")
    for one in range(groups):
        for other in range(one + 1, groups):
            made.cable(f"g{one}spine{(other - 1) % width}", f"g{other}spine{one % width}")
    return made.subnet("dragonfly-plus", engine, **options)

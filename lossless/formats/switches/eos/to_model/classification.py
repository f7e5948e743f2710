"""Classification by an input policy of EOS: the traffic class of each DSCP and CoS, ahead of a port's trust.

Classes are matched in their order; a packet that matches none of them, or whose class sets nothing, has the class that
the trust of the port gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.qos import UNREADABLE, IndexMap

if TYPE_CHECKING:
    from lossless.formats.switches.eos.read.rows import EosConfig, Settings

DEFAULT_CLASS = "class-default"


def names_marks(config: EosConfig, policy: str) -> bool:
    """Return whether a class map of a policy names DSCPs or CoS itself, and not by an access list alone."""
    class_maps = (config.class_maps.get(name, {}) for name in config.policies.get(policy, ()))
    return any(key[0] in ("dscp", "cos") for class_map in class_maps for key in class_map)


def classified(config: EosConfig, policy: str, key: str, trusted: IndexMap) -> IndexMap:
    """Return the map of a mark (``dscp`` or ``cos``) at a port with an input policy.

    If a class matches on another field, the result is unknown except for marks that classes name.
    """
    targets: dict[int, int | None] = {}
    rest: int | None = None
    for name, settings in config.policies.get(policy, {}).items():
        stated = settings.get(("traffic-class",))
        target = stated.value if stated is not None else None
        if name == DEFAULT_CLASS:
            rest = target if rest is None else rest
            break
        for number in _numbers(config, name, key):
            targets.setdefault(number, target)
        if target is not None and _is_open(config, name, key):
            rest = UNREADABLE
    entries = tuple(
        own if (set_to := targets.get(number, rest)) is None else set_to
        for number, own in enumerate(trusted.targets)
    )
    return trusted._replace(name=f"policy-map {policy}", targets=entries)


def _numbers(config: EosConfig, name: str, key: str) -> set[int]:
    class_map = config.class_maps.get(name, {})
    numbers = {int(each[1]) for each in class_map if each[0] == key}
    if key == "dscp":
        lists = (config.access_lists.get(str(each[1])) for each in class_map if each[0] == "access-list")
        numbers.update(dscp for permitted in lists for dscp in permitted or ())
    return numbers


def _is_open(config: EosConfig, name: str, key: str) -> bool:
    """Return whether packets may match a class for another reason than this mark."""
    class_map: Settings | None = config.class_maps.get(name)
    if class_map is None:
        return True
    lists = [str(each[1]) for each in class_map if each[0] == "access-list"]
    others = any(each[0] not in (key, "access-list", "any") for each in class_map)
    return (
        others
        or any(config.access_lists.get(each) is None for each in lists)
        or (key == "cos" and bool(lists))
    )

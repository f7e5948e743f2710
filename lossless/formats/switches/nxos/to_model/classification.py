"""Classification by a policy map of type qos: the qos-group of each DSCP and of each CoS.

Classes are matched in their order, and a packet without a match has qos-group 0. A port without an input policy has
that of ``system qos``; NX-OS has no command that trusts a mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.defaults import FCOE_CLASS, UNCLASSIFIED
from lossless.formats.switches.nxos.read.rows import DEFAULT_CLASS, QOS
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import DSCPS, PRIORITIES, UNREADABLE, IndexMap

if TYPE_CHECKING:
    from lossless.formats.switches.nxos.read.rows import Classes, NxosConfig, Settings
    from lossless.ground.basics.findings import Origin

_FIELDS = {"dscp": DSCPS, "cos": PRIORITIES}


class Classification(NamedTuple):
    """The classification of a port. ``trust`` is dscp, pcp, both or none, and empty if the text does not show it.

    A map is None if no class matches on that mark.
    """

    trust: str
    dscp_to_group: IndexMap | None
    cos_to_group: IndexMap | None


def nothing_known(origin: Origin) -> Classification:
    """Return a classification of unknown trust and targets."""
    unknown = (IndexMap("", (UNREADABLE,) * len(of), origin) for of in _FIELDS.values())
    return Classification("", *unknown)


UNMARKED = Classification("none", None, None)
"""The classification of a port without an input policy: all packets have qos-group 0."""


def classified(config: NxosConfig, name: str, policy: Classes) -> Classification:
    """Return the classification by a policy map."""
    dscp, cos = (_Map(config, name, policy, field).read() for field in _FIELDS)
    trusts = {(True, True): "both", (True, False): "dscp", (False, True): "pcp"}
    trust = trusts.get(
        (dscp is not None, cos is not None), "" if _looks_elsewhere(config, policy) else "none"
    )
    return Classification(trust, dscp, cos) if trust else nothing_known(policy.origin)


def _looks_elsewhere(config: NxosConfig, policy: Classes) -> bool:
    """Return whether a class of a policy matches on something else than marks."""
    return any(_is_open(config, name) for name in policy.below if name != DEFAULT_CLASS)


def _is_open(config: NxosConfig, name: str) -> bool:
    """Return whether a class may match on something else than marks: an access list, a class map that is missing.

    FCoE has an Ethertype of its own, and no packet with a DSCP is in its class.
    """
    class_map = config.class_maps.get((QOS, name))
    return name != FCOE_CLASS and (class_map is None or ("other",) in class_map)


class _Map:
    """The map of one field, as it is read class by class."""

    def __init__(self, config: NxosConfig, name: str, policy: Classes, field: str) -> None:
        self._config = config
        self._name = name
        self._policy = policy
        self._field = field
        self._targets: dict[int, tuple[int, Origin]] = {}
        self._rest = (UNCLASSIFIED, policy.origin)

    def read(self) -> IndexMap | None:
        """Return the map, None if no class matches on the field."""
        looked = [self._take(name, settings) for name, settings in self._policy.below.items()]
        if not any(looked):
            return None
        entries = [self._targets.get(number, self._rest) for number in _FIELDS[self._field]]
        targets, origins = zip(*entries, strict=True)
        return IndexMap(f"policy-map {self._name}", targets, self._policy.origin, origins)

    def _take(self, name: str, settings: Settings) -> bool:
        """Add the next class, and return whether it matches on the field."""
        setting = settings.get(("qos-group",))
        entry = (
            setting.value if setting else UNCLASSIFIED,
            setting.origin if setting else self._policy.places[name],
        )
        if name == DEFAULT_CLASS:
            self._rest = self._rest if self._rest[0] == UNREADABLE else entry
            return False
        class_map = self._config.class_maps.get((QOS, name))
        numbers = [int(key[1]) for key in class_map or () if key[0] == self._field]
        all_of = class_map is not None and ("any",) in class_map and not class_map["any",].value
        # With match-all a packet must have the rest too: another mark, or what an access list matches.
        others = {key[0] for key in class_map or ()} - {self._field, "any"}
        for number in numbers:
            self._targets.setdefault(number, (UNREADABLE, entry[1]) if all_of and others else entry)
        # What an access list matches is not known; with match-all it matches nothing that the marks do not.
        if _is_open(self._config, name) and not (all_of and numbers):
            self._rest = (UNREADABLE, entry[1])
        return bool(numbers)

"""What the role rules share: switches that say something else than the other switches of their role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Hit
from lossless.ground.basics.findings import Related
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.deployed_devices import DeployedDevices, DeviceSummary, SharedSetting


class SwitchSetting(NamedTuple):
    """One switch and what it says."""

    switch: DeviceSummary
    setting: SharedSetting


class Outlier(NamedTuple):
    """Switches that say one thing, where the others of their role say another.

    ``usual`` are those others: the most, or where no value has the most switches the first by name.
    ``group`` names whom they are compared with. ``subjects`` are what they differ in at one place of the file.
    ``same_model`` is False where switches of one model agree, and only other models of the role do not.
    """

    group: str
    these: tuple[SwitchSetting, ...]
    usual: tuple[SwitchSetting, ...]
    of: int
    subjects: tuple[str, ...]
    same_model: bool

    @property
    def elements(self) -> tuple[str, ...]:
        """The odd switches by name."""
        return tuple(said.switch.name for said in self.these)

    @property
    def proportion(self) -> str:
        """How many say what is usual: ``2 of 3 switches of the role ToRRouter``."""
        return f"{len(self.usual)} of {self.of} switches of {self.group}"

    @property
    def related(self) -> tuple[Related, ...]:
        """Where the usual value stands."""
        said = self.usual[0]
        return (Related(said.setting.origin, f"{said.switch.name} says {said.setting.text}"),)


def difference(odd: Outlier) -> Hit:
    """Return the hit of switches that say something else; a difference between models is information."""
    here, usual = odd.these[0].setting, odd.usual[0].setting
    return Hit(
        origin=here.origin,
        message=f"{' and '.join(odd.subjects)} is {here.text} here, and {usual.text} on {odd.proportion}",
        elements=odd.elements,
        data={"here": here.text, "usual": usual.text},
        related=odd.related,
        severity=None if odd.same_model else "info",
    )


def odd_ones(devices: DeployedDevices, kind: str) -> Iterator[Outlier]:
    """Yield switches that differ from the others of their role in settings of one kind."""
    for role, members in devices.by_type.items():
        yield from _odd(f"the role {role}", _said(members, kind), same_model=True)


def odd_ones_by_model(devices: DeployedDevices, kind: str) -> Iterator[Outlier]:
    """Yield switches that differ from others of their role and model, and models that differ within a role.

    What a chip needs may differ from model to model, so only the first is likely a mistake.
    """
    for role, members in devices.by_type.items():
        models: dict[str, list[DeviceSummary]] = {}
        for member in members:
            models.setdefault(member.hwsku or "", []).append(member)
        for model, alike in sorted(models.items()):
            yield from _odd(f"the role {role} and model {model}", _said(alike, kind), same_model=True)
        usual = [said for alike in models.values() for said in _usual(_said(alike, kind))]
        yield from _odd(f"the role {role}", usual, same_model=False)


def _said(members: Sequence[DeviceSummary], kind: str) -> list[SwitchSetting]:
    ordered = sorted(members, key=lambda member: member.name)
    return [
        SwitchSetting(switch, setting)
        for switch in ordered
        for setting in switch.settings
        if setting.kind == kind
    ]


def _usual(said: Sequence[SwitchSetting]) -> Iterator[SwitchSetting]:
    """Yield what switches say that say the same as most of them."""
    for groups in _groups(said).values():
        yield from groups[0]


def _odd(group: str, said: Sequence[SwitchSetting], *, same_model: bool) -> Iterator[Outlier]:
    by_place: dict[object, Outlier] = {}
    for subject, (usual, *others) in sorted(_groups(said).items()):
        of = len(usual) + sum(map(len, others))
        # Where fewer than half agree, nothing is usual: several fabrics lie in one folder.
        for these in others if 2 * len(usual) >= of else ():
            origin = these[0].setting.origin
            odd = Outlier(group, tuple(these), tuple(usual), of, (subject,), same_model)
            # One profile that serves several speeds is one cause.
            known = by_place.setdefault(origin, odd)
            if known is not odd:
                by_place[origin] = known._replace(subjects=(*known.subjects, subject))
    yield from by_place.values()


def _groups(said: Sequence[SwitchSetting]) -> dict[str, list[list[SwitchSetting]]]:
    """Return, by subject, the switches that say the same; the most first."""
    by_subject: dict[str, dict[object, list[SwitchSetting]]] = {}
    for one in said:
        by_subject.setdefault(one.setting.subject, {}).setdefault(one.setting.value, []).append(one)
    return {subject: sorted(by.values(), key=len, reverse=True) for subject, by in by_subject.items()}

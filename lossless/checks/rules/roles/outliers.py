"""Shared by the role rules: switches with other settings than the others of their role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Violation
from lossless.ground.basics.findings import RelatedPlace, grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.deployed_devices import DeployedDevices, DeviceSummary, SharedSetting


class SwitchSetting(NamedTuple):
    """One switch, and a setting of it that should be the same in its role."""

    switch: DeviceSummary
    setting: SharedSetting


class Outlier(NamedTuple):
    """Switches with one value of a setting, where the others of their role have another.

    ``usual`` are those others: the largest group with one value, of equally large ones the first by name. ``group``
    names the switches they are compared with. ``subjects`` are the differing settings at one place of the file.
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
        """The switches that differ, by name."""
        return tuple(switch.name for switch, _ in self.these)

    @property
    def proportion(self) -> str:
        """The number of switches with the usual value: ``2 of 3 switches of the role ToRRouter``."""
        return f"{len(self.usual)} of {self.of} switches of {self.group}"

    @property
    def related(self) -> tuple[RelatedPlace, ...]:
        """The place where the usual value is written, as a related place."""
        switch, setting = self.usual[0]
        return (RelatedPlace(setting.origin, f"{switch.name} says {setting.text}"),)


def outlier_violation(outlier: Outlier) -> Violation:
    """Return the violation of switches with another value; a difference between models is information."""
    here, usual = outlier.these[0].setting, outlier.usual[0].setting
    return Violation(
        origin=here.origin,
        message=f"{' and '.join(outlier.subjects)} is {here.text} here, and {usual.text} on {outlier.proportion}",
        elements=outlier.elements,
        data={"here": here.text, "usual": usual.text},
        related=outlier.related,
        severity=None if outlier.same_model else "info",
    )


def outliers(devices: DeployedDevices, kind: str) -> Iterator[Outlier]:
    """Yield switches that differ from the others of their role in settings of one kind.

    A setting is left out if fewer than half of the switches have the same value.
    """
    for role, members in devices.roles:
        yield from _outliers(f"the role {role}", _settings(members, kind), same_model=True)


def outliers_by_model(devices: DeployedDevices, kind: str) -> Iterator[Outlier]:
    """Yield switches that differ from others of their role and model, and models that differ within a role.

    Chips of several models may need different values, so only the first is likely a mistake.
    """
    for role, members in devices.roles:
        models = grouped((member.hwsku or "", member) for member in members)
        for model, of_model in sorted(models.items()):
            group = f"the role {role} and model {model}"
            yield from _outliers(group, _settings(of_model, kind), same_model=True)
        usual = [setting for of_model in models.values() for setting in _usual(_settings(of_model, kind))]
        yield from _outliers(f"the role {role}", usual, same_model=False)


def _settings(members: Sequence[DeviceSummary], kind: str) -> list[SwitchSetting]:
    ordered = sorted(members, key=lambda member: member.name)
    return [
        SwitchSetting(switch, setting)
        for switch in ordered
        for setting in switch.settings
        if setting.kind == kind
    ]


def _usual(settings: Sequence[SwitchSetting]) -> Iterator[SwitchSetting]:
    """Yield the settings with the value that most switches have."""
    for most, *_ in _by_subject(settings).values():
        yield from most


def _outliers(group: str, settings: Sequence[SwitchSetting], *, same_model: bool) -> Iterator[Outlier]:
    by_place: dict[object, list[Outlier]] = {}
    for subject, (usual, *others) in sorted(_by_subject(settings).items()):
        of, most = len(usual) + sum(map(len, others)), tuple(usual)
        # Where fewer than half agree, nothing is usual: several fabrics lie in one folder.
        for same in others if 2 * len(usual) >= of else ():
            outlier = Outlier(group, tuple(same), most, of, (subject,), same_model)
            by_place.setdefault(same[0].setting.origin, []).append(outlier)
    for first, *more in by_place.values():
        # One profile that serves several speeds is one cause.
        yield first._replace(
            subjects=(*first.subjects, *(subject for each in more for subject in each.subjects))
        )


def _by_subject(settings: Sequence[SwitchSetting]) -> dict[str, list[list[SwitchSetting]]]:
    """Return, by subject of the setting, the switches grouped by its value, the largest group first."""
    return {
        subject: sorted(grouped((s.setting.value, s) for s in same).values(), key=len, reverse=True)
        for subject, same in grouped((s.setting.subject, s) for s in settings).items()
    }

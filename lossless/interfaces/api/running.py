"""Running devices: reads captures, and compares them with configurations and intents; watches files.

Verify compares captures of running switches, hosts and subnets with their configuration and intent. Watch checks
files again when they change.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options, Report, as_configured, found_at, lint_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.checks.lint.cache import Mark
    from lossless.checks.lint.running import Intended
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.formats.inputs.captures import CaptureDocument, CaptureInputs
    from lossless.formats.inputs.devices import DeviceInput
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric


if TYPE_CHECKING:
    Paths = Sequence[str | PathLike[str]]


class CapturedState(NamedTuple):
    """The captures of now and of an earlier time.

    ``problems`` lists unreadable files and missing captures of both, and captures that cannot be compared.
    """

    now: CaptureInputs
    before: CaptureInputs
    problems: tuple[Problem, ...]

    @property
    def documents(self) -> Mapping[str, CaptureDocument]:
        """The documents of the captures of both times, by file name."""
        return {**self.before.documents, **self.now.documents}

    def devices(self, intended: Intended, options: Options) -> tuple[RunningDevice, ...]:
        """Return the captured devices, each with its configuration, intent and earlier capture, if there are any."""
        from lossless.checks.lint.running import running_devices
        from lossless.formats.inputs.devices import DeviceReader

        reader = DeviceReader(options.profile_dirs)

        def read(document: Document) -> DeviceInput:
            return reader.read(document, options.rdma_dscps)

        return running_devices(self.now.devices, self.before.devices, intended, read)


def captured_state(paths: Paths, since: Paths, purpose: str) -> CapturedState:
    """Return the captures at ``paths`` and the earlier ones at ``since``.

    It is a problem if paths have no capture of a device, or if both have no device in common, or the same file.
    """
    from lossless.formats.inputs.captures import gather_captures

    now, before = gather_captures(paths), gather_captures(since)
    missing = [
        Problem(
            ", ".join(map(str, named)),
            None,
            None,
            f"no capture of running state here, and so nothing to {purpose}",
        )
        for named, inputs in ((paths, now), (since, before))
        if named and not inputs.devices and not inputs.problems
    ]
    others = (*_of_other_devices(since, now, before), *_of_the_same_time(now, before))
    return CapturedState(now, before, (*now.problems, *before.problems, *missing, *others))


def _of_other_devices(since: Paths, now: CaptureInputs, before: CaptureInputs) -> Iterator[Problem]:
    """Yield a problem if the earlier captures share no device with the later ones: nothing would be compared."""
    earlier, later = ({device.name for device in each.devices} for each in (before, now))
    if earlier and later and not earlier & later:
        said = f"earlier captures of {listed(sorted(earlier))}, and later ones of {listed(sorted(later))}"
        where = ", ".join(map(str, since))
        yield Problem(where, None, None, f"{said}: name the folder of a device as its later one is named")


def _of_the_same_time(now: CaptureInputs, before: CaptureInputs) -> Iterator[Problem]:
    """Yield a problem for files that are named as captures of both times: their counters cannot have grown."""
    later = {os.path.realpath(file) for file in now.documents}
    both = [file for file in before.documents if os.path.realpath(file) in later]
    if both:
        others = f", as {'are' if len(both) > 2 else 'is'} {len(both) - 1} more" if len(both) > 1 else ""
        said = f"named as the earlier capture and as the later one{others}: nothing was counted in between"
        yield Problem(both[0], None, None, said)


def intended_by(fabrics: Sequence[Fabric]) -> Intended:
    """Return the switches and host QoS that fabrics declare, by name of the device, and the links."""
    from lossless.checks.lint.running import Intended

    return Intended(
        {switch.name: switch for fabric in fabrics for switch in fabric.switches},
        {host.name: host.qos for fabric in fabrics for host in fabric.hosts},
        tuple(link for fabric in fabrics for link in fabric.links),
    )


_FORMS_OF_TESTS = ("traffic test", "NCCL log")
"""The forms of captures with results of traffic tests, whose pass marks ``lossless.toml`` may set."""


def verify(
    paths: Sequence[str | PathLike[str]],
    *,
    since: Sequence[str | PathLike[str]] = (),
    options: Options = DEFAULT_OPTIONS,
) -> Report:
    """Compare the captures at some paths with the configurations and the intent among them, and return the findings.

    ``since`` are captures of the same devices at an earlier time: counters then count from there.
    """
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup
    from lossless.checks.lint.running import verified
    from lossless.checks.rules.selectors import RuleChoice, chosen as codes_chosen
    from lossless.formats.inputs.intents import declarations_of

    captured = captured_state(paths, since, "verify")
    options = as_configured(options)
    intents = captured.now.intents
    fabrics, problems, _ = declarations_of(intents, options.profile_dirs)
    intended = intended_by(fabrics)
    chosen = codes_chosen(RuleChoice(options.select, options.ignore))
    lookup = ConfigurationLookup(searching=bool(options.configured), only=options.configuration)
    tested = {
        capture.file
        for device in captured.now.devices
        for capture in device.captures
        if capture.form in _FORMS_OF_TESTS
    }
    marks = {file: found for file in sorted(tested) if (found := lookup.pass_marks(file))}
    report = verified(captured.devices(intended, options), intended, chosen, marks)._replace(
        errors=(*captured.problems, *problems, *lookup.problems()),
        documents=captured.documents,
        beside=len(intents) + len(captured.before.documents),
    )
    return Report._make(report)


if TYPE_CHECKING:
    Marks = dict[str, Mark]


class Watch:
    """Checks files repeatedly, and keeps the results of SONiC devices whose files have not changed.

    A change of a configuration, a baseline or a folder of hardware profiles counts as a change of every file.
    """

    def __init__(self, paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS) -> None:
        from lossless.checks.lint.cache import LintCache

        self._paths = paths
        self._options = as_configured(options)
        self._cache = LintCache()
        self._files: Marks = {}
        self._settings: Marks = {}

    @property
    def files(self) -> int:
        """The number of files that the last call of :meth:`changed` found."""
        return len(self._files)

    def lint(self) -> Report:
        """Check the files that are at the paths now."""
        self.changed()
        return lint_at(self._paths, self._options, self._cache.check)

    def changed(self) -> bool:
        """Return whether a watched file, or a configuration, baseline or profile, has changed since the last call."""
        from lossless.checks.lint.cache import mark_of

        found = found_at(self._paths, self._options)
        names = [candidate.file for candidate in found.candidates]
        governing = self._governing([*names, *found.excluded])
        files, settings = ({name: mark_of(name) for name in group} for group in (names, governing))
        if settings != self._settings:
            self._cache.forget()
        is_changed = (files, settings) != (self._files, self._settings)
        self._files, self._settings = files, settings
        return is_changed

    def _governing(self, files: Sequence[str]) -> Iterator[str]:
        """Yield the configurations, baselines and profiles that findings in files depend on."""
        from lossless.checks.lint.configuration.lookup import ConfigurationLookup

        options = self._options
        for folder in options.profile_dirs:
            for root, _, names in os.walk(folder):
                yield from (os.path.join(root, name) for name in names)
        if options.baseline:
            yield options.baseline
        if options.configuration:
            yield options.configuration
        governing = ConfigurationLookup(searching=bool(options.configured), only=options.configuration)
        folders = {os.path.dirname(os.path.abspath(file)) for file in files} if options.configured else set()
        yield from filter(None, map(governing.above, sorted(folders)))
        for file in files:
            governing.of(file)
        for configuration in governing.used():
            if configuration.baseline is not None:
                yield configuration.baseline

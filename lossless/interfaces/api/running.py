"""Running devices: captures at some paths, beside the intended configuration of the same devices."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.checks.lint.running import Intended
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.formats.inputs.captures import CaptureDocument, CaptureInputs
    from lossless.formats.inputs.devices import DeviceInput
    from lossless.ground.documents.text import Document
    from lossless.interfaces.api.options import Options
    from lossless.model.fabric.model import Fabric

    Paths = Sequence[str | PathLike[str]]


class CapturedState(NamedTuple):
    """The captures at some paths and at those of an earlier time; ``problems`` lists unreadable files of both."""

    now: CaptureInputs
    before: CaptureInputs
    problems: tuple[Problem, ...]

    @property
    def documents(self) -> Mapping[str, CaptureDocument]:
        """The files of both by name."""
        return {**self.before.documents, **self.now.documents}

    def devices(self, intended: Intended, options: Options) -> tuple[RunningDevice, ...]:
        """Return the devices as rules see them."""
        from lossless.checks.lint.running import running_devices
        from lossless.formats.inputs.devices import DeviceReader

        reader = DeviceReader(options.profile_dirs)

        def read(document: Document) -> DeviceInput:
            return reader.read(document, options.rdma_dscps)

        return running_devices(self.now.devices, self.before.devices, intended, read)


def captured_state(paths: Paths, since: Paths, purpose: str) -> CapturedState:
    """Return the captures at some paths; a path without captures is a problem, as silence would look like health."""
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
    """Return the switches, host QoS and links that fabrics declare, by device."""
    from lossless.checks.lint.running import Intended

    return Intended(
        {switch.name: switch for fabric in fabrics for switch in fabric.switches},
        {host.name: host.qos for fabric in fabrics for host in fabric.hosts},
        tuple(link for fabric in fabrics for link in fabric.links),
    )

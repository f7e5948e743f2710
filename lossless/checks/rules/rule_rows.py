"""The row of a rule in the registry: its code, its module, its subjects and its needs.

A rule says so itself, by ``Subject:`` and ``Needs:`` in its docstring; ``tools/compile_rules.py`` makes rows of all.
"""

from __future__ import annotations

from typing import Literal

from lossless.ground.basics.records import NamedTuple

Subject = Literal[
    "fabric",
    "buffers",
    "intent",
    "cloud",
    "device",
    "devices",
    "switch",
    "hosts",
    "host",
    "attached hosts",
    "subnet",
    "subnets",
    "cabling",
    "runs",
    "running device",
    "running fabric",
    "suppressions",
]
"""What a rule is given.

``fabric``: the view of an intent, or of one deployed device; ``buffers``: the same with the buffers that its switches
compute for themselves; ``intent``: the view of an intent alone; ``cloud``: that of a fabric that a cloud runs.
``device``: one deployed device with its rows; ``devices``: all of them together; ``switch``: the configuration of a
switch that runs another system than SONiC. ``hosts``: a view of hosts that were read; ``host``: one of them beside the
host of an intent; ``attached hosts``: devices and hosts together. ``subnet`` and ``subnets``: one InfiniBand subnet,
and all of a run. ``cabling``: cables of an intent against those in files; ``runs``: what the packet-level model showed;
``running device``: one device as captures of running state show it; ``running fabric``: all of them;
``suppressions``: suppressions and baselines.
"""
FUNCTIONS: dict[str, str] = {
    "devices": "across",
    "attached hosts": "attached",
    "running fabric": "throughout",
    "switch": "on_switch",
}
"""The function of a rule that is given a subject, where that is not ``check``."""


class RuleRow(NamedTuple):
    """One rule. ``needs`` is what a subject must have for the rule to be loaded at all, empty where nothing.

    For a device that is a table of CONFIG_DB, ``refusals`` of SONiC's models, ``normalized forms``, or an ``intent``.
    """

    code: str
    module: str
    subjects: tuple[Subject, ...]
    needs: str = ""

    @property
    def name(self) -> str:
        """The readable name: that of its file, without the code."""
        return self.module.rpartition(".")[2].partition("_")[2].replace("_", "-")

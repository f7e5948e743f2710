"""The row of a rule in the registry: its code, its module, its subjects and its needs.

``tools/compile_rules.py`` makes the rows from ``Subject:`` and ``Needs:`` in the docstrings of rules.
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
"""The subject that the function of a rule takes.

``fabric``: the view of an intent, or of one deployed device; ``buffers``: the same with the buffers that its switches
compute for themselves; ``intent``: the view of an intent alone; ``cloud``: that of a fabric that a cloud runs.
``device``: one deployed device with its rows; ``devices``: all of them together; ``switch``: the configuration of a
switch that runs a system other than SONiC. ``hosts``: a view of hosts that were read; ``host``: one of them beside the
host of an intent; ``attached hosts``: devices and hosts together. ``subnet`` and ``subnets``: one InfiniBand subnet,
and all of a run. ``cabling``: cables of an intent against those in files; ``runs``: results of the packet-level model;
``running device``: one device as captures of running state show it; ``running fabric``: all of them; ``suppressions``:
suppressions and baselines.
"""
FUNCTIONS: dict[str, str] = {
    "devices": "across",
    "attached hosts": "attached",
    "running fabric": "throughout",
    "switch": "on_switch",
}
"""The name of the function of a rule by subject, where it is not ``check``."""


class RuleRow(NamedTuple):
    """The row of one rule; ``needs`` names the data that a subject must have for the rule to be loaded, empty without.

    For a device this is a table of CONFIG_DB, ``refusals`` of SONiC's models, ``normalized forms``, or ``intent``.
    """

    code: str
    module: str
    subjects: tuple[Subject, ...]
    needs: str = ""

    @property
    def name(self) -> str:
        """The readable name: the name of the file without the code."""
        return self.module.rpartition(".")[2].partition("_")[2].replace("_", "-")

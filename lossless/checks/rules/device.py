"""One deployed device, as rules that judge rows are given it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.sonic.read.tables import Row, Tables
    from lossless.formats.sonic.validate.conformity import Findings
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.fabric.view import View


class Device:
    """A deployed device: its rows as they stand, and the model they make.

    ``intended`` is the switch of that name in an intent that is judged together with it, None without one.
    """

    def __init__(self, tables: Tables, view: View, intended: Switch | None = None) -> None:
        self.tables = tables
        self.view = view
        self.intended = intended

    @property
    def fabric(self) -> Fabric:
        """The fabric of this device alone."""
        return self.view.fabric

    @property
    def switch(self) -> Switch:
        """The device in the model."""
        return self.view.fabric.switches[0]

    @property
    def metadata(self) -> Mapping[str, str]:
        """The fields of ``DEVICE_METADATA|localhost``, empty without that row."""
        row: Row | None = self.tables.row("DEVICE_METADATA", "localhost")
        return row.fields if row else {}

    @cached_property
    def conformity(self) -> Findings:
        """What SONiC's models refuse in the file, judged once for all rules of the schema."""
        from lossless.formats.sonic.validate.conformity import judge

        return judge(self.tables.data)

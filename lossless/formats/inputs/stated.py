"""What the user says of files beside what they say themselves, as ``lossless.toml`` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch


class FileStatements(Protocol):
    """Statements about the file of a switch that no such file contains."""

    def fabric(self, file: str) -> str:
        """Return the fabric that a file is of, empty where nothing says it."""

    def rdma_dscps(self, file: str) -> tuple[int, ...]:
        """Return the DSCPs that must be lossless there."""

    def without_rdma(self, file: str, switch: Switch) -> frozenset[str]:
        """Return the ports of a switch in a file that carry no RDMA."""

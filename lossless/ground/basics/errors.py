"""The error tree.

    LosslessError                 everything this package raises on purpose
    |-- QuantityError             a quantity that no unit or range gives a meaning
    |-- InputError                one or more located problems in what the user gave
    |   `-- UnreadableError       a file that cannot be read at all
    |-- ProfileError              a hardware profile that is missing or malformed
    |-- ScenarioError             a simulation that cannot be, or is too large
    |   |-- NotHereError          a name that is nowhere in the part of the fabric that was asked
    |   `-- TooLargeError         a simulation that would take more events than are allowed
    |-- RenderError               output that may not or cannot be written
    `-- ProgramError              another program that is not installed, gives no answer in time, or fails
        `-- SubnetManagerError    opensm cannot be asked: not installed, nothing to simulate, no answer in time

Findings are values, never exceptions: see :mod:`lossless.ground.basics.findings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Problem(NamedTuple):
    """One located mistake: what an entry of ``errors`` in the JSON output carries.

    ``line`` and ``column`` count from 1; None where the place is unknown (a missing file).
    """

    file: str
    line: int | None
    column: int | None
    message: str

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        return f"{':'.join(place)}: {self.message}"


class LosslessError(Exception):
    """Base of every error this package raises on purpose; what it is made of are its lines."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of its message; a line break within one is that of a name."""
        return tuple(map(str, self.args))

    def __str__(self) -> str:
        return "\n".join(self.lines)


class QuantityError(LosslessError, ValueError):
    """A quantity that has no meaning as written; the message says what was expected."""


class InputError(LosslessError):
    """One or more located problems in what the user gave."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each problem."""
        return tuple(map(str, self.problems))


class UnreadableError(InputError):
    """A file that cannot be read at all: missing, binary, wrongly encoded, too large."""


class ProfileError(LosslessError):
    """A hardware profile that is missing or malformed."""


class ScenarioError(LosslessError):
    """A simulation that cannot be, or is too large; the message names the field and what was expected."""


class NotHereError(ScenarioError):
    """A port or NIC that is nowhere in the part of a fabric that was asked; another part may have it."""


class TooLargeError(ScenarioError):
    """A simulation that would take more events than are allowed."""


class RenderError(LosslessError):
    """Output that may not or cannot be written; nothing was written."""


class ProgramError(LosslessError):
    """Another program is not installed, gives no answer in time, says too much, or fails; the message says which."""


class SubnetManagerError(ProgramError):
    """opensm cannot be asked: it is not installed, there is nothing to simulate, or no answer came in time."""

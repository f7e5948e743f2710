"""The error tree.

    LosslessError                 errors whose messages are for users
    |-- QuantityError             a quantity, or another value, that is malformed or out of range
    |-- InputError                one or more problems in the user's input, each with its file
    |   `-- UnreadableError       a file that cannot be read at all
    |-- ProfileError              a hardware profile that is missing or malformed, or lacks a requested feature
    |-- ScenarioError             an impossible or too large simulation or estimate
    |   |-- NotHereError          a name that is not in the requested part of the fabric
    |   `-- TooLargeError         a simulation that would take more events than are allowed
    |-- OutsideError              a path in an input file that may not be opened
    |-- RenderError               output that may not or cannot be written
    `-- ProgramError              another program that is not installed, gives no answer in time, or fails
        `-- SubnetManagerError    opensm cannot be run, or did not read its configuration or answer in time

Findings are values, never exceptions: see :mod:`lossless.ground.basics.findings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Problem(NamedTuple):
    """One mistake in an input: an entry of ``errors`` in the JSON output.

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
    """Base of the errors whose messages are for users."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the error message, by default its arguments, each as one line."""
        return tuple(map(str, self.args))

    def __str__(self) -> str:
        return "\n".join(self.lines)


class QuantityError(LosslessError, ValueError):
    """A quantity, or another value of a request, that is malformed, too fine, out of range or not known."""


class InputError(LosslessError):
    """One or more problems in the user's input, each with its file and, where known, its line and column."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each problem."""
        return tuple(map(str, self.problems))


class UnreadableError(InputError):
    """A file that cannot be read at all, such as a missing, empty, binary, wrongly encoded or too large one."""


class ProfileError(LosslessError):
    """A hardware profile that is missing or malformed, or lacks a requested feature."""


class ScenarioError(LosslessError):
    """An invalid, impossible or too large simulation, sweep or estimate."""


class NotHereError(ScenarioError):
    """A port or NIC that is not in the requested part of a fabric; another part may have it."""


class TooLargeError(ScenarioError):
    """A simulation that would take more events than are allowed."""


class OutsideError(LosslessError):
    """A path in an input file that may not be opened: outside of its folders, in ``.git``, invalid, or no real file."""


class RenderError(LosslessError):
    """Output that may not or cannot be written."""


class ProgramError(LosslessError):
    """Another program is not installed, times out, prints too much, or fails; the message names the cause."""


class SubnetManagerError(ProgramError):
    """opensm is not installed, has no subnet to simulate, did not read its configuration, or gave no answer in time."""

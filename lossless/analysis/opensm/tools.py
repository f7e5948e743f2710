"""Where the programs are: opensm, ibsim, and the library that lets programs talk to a simulated fabric."""

from __future__ import annotations

from pathlib import Path

from lossless.ground.basics import programs
from lossless.ground.basics.errors import SubnetManagerError
from lossless.ground.basics.records import NamedTuple

_ALSO = ("/usr/sbin", "/usr/local/sbin", "/sbin")
"""Where administrators' programs lie, which is not on everybody's PATH."""
_LIBRARIES = ("lib/*/umad2sim/libumad2sim.so", "lib*/umad2sim/libumad2sim.so")
HOW_TO_INSTALL = (
    "on Debian and Ubuntu: apt-get install --no-install-recommends opensm ibsim-utils infiniband-diags"
)


class Tools(NamedTuple):
    """Paths of the programs and of the library."""

    opensm: str
    ibsim: str
    library: str


def find_program(name: str) -> str | None:
    """Return the path of a program, None where it is not installed."""
    return programs.find_program(name, _ALSO)


def find_tools() -> Tools:
    """Return the programs that a simulation needs.

    Raises:
        SubnetManagerError: one is not installed; the message has the command to install it.
    """
    opensm, ibsim = find_program("opensm"), find_program("ibsim")
    library = next((str(path) for pattern in _LIBRARIES for path in sorted(Path("/usr").glob(pattern))), None)
    if opensm is None or ibsim is None or library is None:
        paths = {"opensm": opensm, "ibsim": ibsim, "libumad2sim.so": library}
        missing = ", ".join(name for name, path in paths.items() if path is None)
        raise SubnetManagerError(f"not installed: {missing}; {HOW_TO_INSTALL}")
    return Tools(opensm, ibsim, library)

"""Check an InfiniBand subnet with an installed opensm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.opensm.check import OpensmResult as OpensmResult, opensm_result
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import declaration_of
from lossless.formats.inputs.subnet_manager import lone_subnet
from lossless.ground.basics.errors import InputError, Problem
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from os import PathLike

    from lossless.model.fabric.infiniband.subnet import Subnet


_DEPLOYED = (".conf", ".cfg")


def check_with_opensm(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> OpensmResult:
    """Check a subnet with the opensm that is installed here.

    ``path`` is an intent: opensm reads the files that render would write, and brings up a simulated fabric. GUIDs that
    are not declared are derived, and keys that protect the subnet are left out. Or ``path`` is an opensm.conf: opensm
    reads it without a fabric, because its files do not describe the cabling.

    Raises:
        InputError: the intent or the file cannot be read, or the intent declares no InfiniBand subnet.
        SubnetManagerError: opensm, ibsim or numpy is not installed, opensm does not read the options, or the fabric
            cannot be simulated.
        ProgramError: a program does not start, takes too long, or prints too much.
    """
    from lossless.analysis.opensm import check
    from lossless.analysis.opensm.run import find_tools

    if str(path).endswith(_DEPLOYED):
        subnet, text = lone_subnet(str(path))
        files = {"opensm.conf": text}
    else:
        subnet, files = _intended(path, options)
    return opensm_result(subnet, check.check_with_opensm(find_tools(), subnet, files))


def _intended(path: str | PathLike[str], options: Options) -> tuple[Subnet, dict[str, str]]:
    """Return the subnet of an intent with derived GUIDs, and the rendered files of its master subnet manager."""
    from lossless.formats.device_files.infiniband import files_of
    from lossless.model.fabric.infiniband.derived_policy import with_derived_guids

    document = intent_at(path)
    errors: list[Problem] = []
    subnet = declaration_of(document, options.profile_dirs, errors).subnet
    if subnet is None and not errors:
        message = "opensm checks InfiniBand subnets; this intent has another transport"
        errors.append(Problem(document.file, None, None, message))
    if subnet is None or errors:
        raise InputError(errors)
    named = with_derived_guids(subnet)
    return named, files_of(named)

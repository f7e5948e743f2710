"""The command that installs an extra, for all messages: this project is on no package index."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra, with the versions that this installation declares.

    Without an installation, code runs from a checkout, and the command installs that with the extra.
    """
    # About 30 ms, and only ever for a message.
    from importlib.metadata import PackageNotFoundError, requires

    try:
        stated = requires("lossless") or ()
    except PackageNotFoundError:
        return f"pip install '.[{extra}]' in the checkout of lossless"
    marker = f'extra == "{extra}"'
    packages = [text.partition(";")[0].strip() for text in stated if text.replace("'", '"').endswith(marker)]
    return " ".join(["pip install", *(f"'{package}'" for package in packages)])

"""The option that hands settings to a cluster, and the message while it has no worker."""

from __future__ import annotations

import click

from lossless.interfaces.cli.terminal import problem

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS|local[:N]",
    help="Try settings on the workers of a dask scheduler, or in N processes of this machine (default: all cores).",
)


def waiting() -> None:
    """Report that the scheduler has no worker yet."""
    problem("no worker has registered with the scheduler yet: waiting for one")

"""A pretended host that is collected and read: the collector runs against the stub tools of the host files' tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lossless.formats.hosts.read.facts import Facts, read_facts
from lossless.formats.hosts.to_model import Hosts, read_hosts
from lossless.ground.basics.files import data_dir
from lossless.model.hardware.load import load_nic, nic_names
from tests.formats.hosts.from_model.fake_nic import FakeHost

COLLECTOR = Path(data_dir("templates"), "hosts/collect/lossless-collect.sh")
NICS = tuple(load_nic(name) for name in nic_names())


def collect(
    fake: FakeHost,
    *arguments: str,
    etc: Path | None = None,
    apart: bool = False,
    clocked: str = "",
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run the collector on a pretended host; ``apart`` and ``clocked`` as for its :meth:`FakeHost.run`."""
    folder = fake.sysfs.parent
    stubs = folder / "collector-bin"
    stubs.mkdir(exist_ok=True)
    _stub(stubs / "hostname", "#!/bin/sh\necho node1\n")
    path = f"{stubs}:{folder / 'bin'}:/usr/bin:/bin"
    roots = {"SYSFS_ROOT": str(fake.sysfs), "ETC_ROOT": str(etc or folder / "etc")}
    environment = {"PATH": path, **roots, **variables}
    return fake.run_shell("/bin/sh", COLLECTOR, arguments, environment, apart=apart, clocked=clocked)


def _stub(path: Path, body: str) -> None:
    path.write_text(body)
    path.chmod(0o755)


def snapshot(fake: FakeHost, *arguments: str, apart: bool = False) -> Facts:
    """Return what the collector's snapshot of a pretended host says."""
    done = collect(fake, *arguments, apart=apart)
    assert (done.returncode, done.stderr) == (0, "")
    return read_facts(done.stdout, "hosts/node1/snapshot.facts")


def hosts_of(*files: Facts) -> Hosts:
    """Return the hosts that files of facts are of, with the shipped profiles of NICs."""
    return read_hosts(files, NICS)

"""A pretended host that is collected and read: the collector runs against the stub tools of the host files' tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lossless.formats.hosts.read.facts_file import Facts, read_facts
from lossless.formats.hosts.to_model.host import Hosts, read_hosts
from lossless.ground.basics.data_files import data_dir
from lossless.model.hardware.load import load_nic, nic_names
from tests.formats.hosts.from_model.fake_nic import FakeHost

COLLECTOR = Path(data_dir("templates"), "hosts/collect/lossless-collect.sh")
NICS = tuple(load_nic(name) for name in nic_names())
_JSON = Path(__file__).with_name("dcb_json.py")


def collect(
    fake: FakeHost, *arguments: str, etc: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the collector on a pretended host."""
    folder = fake.sysfs.parent
    stubs = folder / "collector-bin"
    stubs.mkdir(exist_ok=True)
    _stub(stubs / "hostname", "#!/bin/sh\necho node1\n")
    dcb = folder / "bin" / "dcb"
    if dcb.exists():
        # The other tests' dcb prints text alone.
        _stub(
            stubs / "dcb",
            f'#!/bin/sh\n[ "$1" != -j ] || exec {sys.executable} -IS {_JSON} {folder} "$@"\nexec {dcb} "$@"\n',
        )
    path = f"{stubs}:{folder / 'bin'}:/usr/bin:/bin"
    roots = {"SYSFS_ROOT": str(fake.sysfs), "ETC_ROOT": str(etc or folder / "etc")}
    environment = {"PATH": path, **roots, **variables}
    return subprocess.run(
        ["/bin/sh", str(COLLECTOR), *arguments], env=environment, capture_output=True, text=True, check=False
    )


def _stub(path: Path, body: str) -> None:
    path.write_text(body)
    path.chmod(0o755)


def snapshot(fake: FakeHost, *arguments: str) -> Facts:
    """Return what the collector's snapshot of a pretended host says."""
    done = collect(fake, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return read_facts(done.stdout, "hosts/node1/snapshot.facts")


def hosts_of(*files: Facts) -> Hosts:
    """Return the hosts that files of facts are of, with the shipped profiles of NICs."""
    return read_hosts(files, NICS)

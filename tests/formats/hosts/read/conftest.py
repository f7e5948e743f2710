"""A host of the sound intent, set up by its rendered script and collected."""

from __future__ import annotations

import pytest

from lossless import api
from tests.formats.hosts.from_model.fake_nic import FakeHost
from tests.formats.hosts.read.collecting import collect
from tests.interfaces.cli.inputs import INTENT


@pytest.fixture(scope="session")
def sound_snapshot(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the snapshot of host1 of the sound intent, after its rendered script ran, with its nccl.conf."""
    folder = tmp_path_factory.mktemp("sound")
    intent = folder / "fabric.yaml"
    intent.write_text(INTENT)
    api.render(intent, folder / "out")
    rendered = folder / "out" / "host1"
    fake = FakeHost(folder / "host")
    fake.add_nic("eth0", "mlx5_0")
    # A snapshot of one NIC of the two that the intent has links for.
    done = fake.run((rendered / "lossless-roce.sh").read_text())
    assert [line.partition(",")[0] for line in done.stderr.splitlines()] == [
        "lossless-roce: the intent has 2 links of this host"
    ]
    text = collect(fake, etc=rendered).stdout
    return text.replace("# host node1", "# host host1")

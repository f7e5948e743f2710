"""What the guide to hosts shows is what the scripts of its example print."""

from __future__ import annotations

import re
from pathlib import Path

from lossless.api import render
from tests.formats.hosts.from_model.fake_nic import FakeHost
from tests.paths import ROOT

BLOCKS = re.findall(
    r"^```\n(.*?)^```$", (ROOT / "docs/guides/hosts.md").read_text(), re.MULTILINE | re.DOTALL
)


def shown(block: str) -> list[tuple[list[str], str]]:
    """Return each command of a block, its arguments alone, and what the guide says it prints."""
    parts = block.removeprefix("$ ").split("$ ")
    return [(first.split()[1:], rest) for first, _, rest in (part.partition("\n") for part in parts)]


def printed(fake: FakeHost, text: str, arguments: list[str]) -> str:
    done = fake.run(text, *arguments)
    said = (done.stdout + done.stderr).replace(str(fake.sysfs), "/sys")
    return "".join(f"{line}\n" for line in said.splitlines() if ": note: " not in line)


def test_the_guide_shows_what_scripts_print(tmp_path: Path) -> None:
    render(ROOT / "examples" / "thor-64", tmp_path / "out")
    text = (tmp_path / "out" / "host1" / "lossless-roce.sh").read_text()
    fake = FakeHost(tmp_path / "thor")
    fake.add_nic("eth0", "bnxt_re0", driver="bnxt_en", ecn=False, tc=False, most_tc=2)
    fake.run(text)
    state = fake.state
    state["nics"]["eth0"]["apps"].append([5, 46, 3])
    state["nics"]["eth0"]["pfc"] = [0] * 8
    state["devices"]["bnxt_re0"]["cc"]["ecn_enable"] = 0
    fake.put(state)
    (fake.sysfs / "class/net/eth0/mtu").write_text("1500\n")
    for block in BLOCKS[:3]:
        for arguments, said in shown(block):
            assert printed(fake, text, arguments) == said


def test_the_guide_shows_what_is_said_of_firmware(tmp_path: Path) -> None:
    render(ROOT / "examples" / "roce-256", tmp_path / "out")
    text = (tmp_path / "out" / "host1" / "lossless-roce.sh").read_text()
    fake = FakeHost(tmp_path / "connectx")
    fake.add_nic("eth0", "mlx5_0")
    fake.add_nic("eth1", "mlx5_1", "0000:18:00.0")
    fake.run(text, "--firmware")
    state = fake.state
    state["firmware"]["0000:17:00.0"]["ROCE_CC_PRIO_MASK_P1"][1:] = [255, 255]
    fake.put(state)
    ((arguments, said),) = shown(BLOCKS[3])
    assert printed(fake, text, arguments) == said

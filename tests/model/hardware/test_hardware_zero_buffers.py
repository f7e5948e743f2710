"""Profiles by which unused ports give their buffer back: those shipped, and a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.ground.basics.errors import ProfileError
from lossless.model.hardware.load import load_switch, switch_names
from lossless.model.hardware.model import SwitchProfile
from tests.paths import ROOT

SHIPPED = ROOT / "profiles" / "switches" / "nvidia-sn3700.toml"


def mine(folder: Path, old: str, new: str) -> SwitchProfile:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    (folder / "switches").mkdir()
    (folder / "switches" / "mine.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    return load_switch("mine", [folder])


def test_sonic_ships_them_for_nvidia_alone() -> None:
    having = {name for name in switch_names() if load_switch(name).zero_buffers is not None}
    assert having == {name for name in switch_names() if load_switch(name).vendor == "NVIDIA"}


def test_every_shipped_hwsku_finds_one_for_each_of_its_pools() -> None:
    for profile in (load_switch(name) for name in switch_names()):
        zero = profile.zero_buffers
        if zero is not None:
            pools = {found.pool for found in zero.profiles}
            for hwsku in profile.hwskus:
                shipped = {pool.name for defaults in hwsku.buffers for pool in defaults.pools}
                assert shipped <= pools, hwsku.name


def test_a_users_own_has_them_as_the_shipped_one(tmp_path: Path) -> None:
    assert (
        mine(tmp_path, 'product = "SN3700"', 'product = "Mine"').zero_buffers
        == load_switch("nvidia-sn3700").zero_buffers
    )


def test_a_users_own_may_have_none(tmp_path: Path) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    block = text[text.index("[zero_buffers]") : text.index("[[hwsku]]")]
    assert mine(tmp_path, block, "").zero_buffers is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "ingress_zero_pool  ingress  static  0  -",
            "ingress_zero_pool  ingress  static  none  -",
            "zero_buffers.pools: size 'none' is not a whole number",
        ),
        (
            "ingress_lossy_pg_zero_profile  ingress_zero_pool      0  -   0",
            "ingress_lossy_pg_zero_profile  ingress_zero_pool      0  -8  0",
            "zero_buffers.profiles: ingress_lossy_pg_zero_profile: "
            "exactly one of dynamic_th and static_th must be set",
        ),
        ("[zero_buffers]\nsource =", "[zero_buffers]\nfrom =", "zero_buffers.source: is missing"),
    ],
)
def test_a_wrong_table_earns_a_located_message(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ProfileError) as error:
        mine(tmp_path, old, new)
    assert str(error.value).splitlines()[0] == f"{tmp_path}/switches/mine.toml: {message}"

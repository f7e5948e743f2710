"""InfiniBand hardware: what our profiles say, and what is said of a user's that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.formats.intent.infiniband.service import RATE_GBPS
from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.files import data_dir
from lossless.model.fabric.infiniband.qos_policy import RATES
from lossless.model.hardware.infiniband import (
    hca_names,
    infiniband_switch_names,
    load_hca,
    load_infiniband_switch,
)
from lossless.model.hardware.load import read_profile
from lossless.model.hardware.schema import check_hca, check_infiniband_switch

SWITCH = """\
product = "QM1"
vendor = "Mine"
managed = false
sharp = 2
ports = {HDR = 40}
sources = {ports = "counted"}
"""


def user_switch(folder: Path, old: str = "", new: str = "") -> Path:
    path = folder / "infiniband" / "switches" / "mine.toml"
    path.parent.mkdir(parents=True)
    path.write_text(SWITCH.replace(old, new) if old else SWITCH, encoding="utf-8")
    return path


QUANTUM_2 = {"QDR": 64, "FDR": 64, "EDR": 64, "HDR": 64, "HDR100": 128, "NDR": 64, "NDR200": 128}


@pytest.mark.parametrize(
    ("name", "ports", "managed", "sharp"),
    [
        ("nvidia-qm8700", {"FDR": 40, "EDR": 40, "HDR": 40, "HDR100": 80}, True, 2),
        ("nvidia-qm8790", {"FDR": 40, "EDR": 40, "HDR": 40, "HDR100": 80}, False, 2),
        ("nvidia-qm9700", QUANTUM_2, True, 3),
        ("nvidia-qm9790", QUANTUM_2, False, 3),
        ("nvidia-q3400", {"XDR": 144}, True, 4),
    ],
)
def test_switches_have_the_ports_of_their_generation(
    name: str, ports: dict[str, int], managed: bool, sharp: int
) -> None:
    switch = load_infiniband_switch(name)
    assert (dict(switch.ports), switch.managed, switch.sharp) == (ports, managed, sharp)


def test_adapters_end_at_the_rate_of_their_generation() -> None:
    fastest = {name: load_hca(name).rates[-1] for name in hca_names()}
    assert fastest == {"connectx-6": "HDR", "connectx-7": "NDR", "connectx-8": "XDR"}
    for name in hca_names():
        rates = [RATES[rate].bits_per_second for rate in load_hca(name).rates]
        assert rates == sorted(rates)


def test_every_fact_names_its_source() -> None:
    for name in infiniband_switch_names():
        assert {"managed", "ports", "sharp"} <= set(load_infiniband_switch(name).sources)
    for name in hca_names():
        assert "infiniband" in load_hca(name).sources


def test_our_own_files_have_the_shape_of_a_users() -> None:
    for kind, check in (("switches", check_infiniband_switch), ("hcas", check_hca)):
        files = list((Path(data_dir("profiles")) / "infiniband" / kind).glob("*.toml"))
        assert files
        for file in files:
            check(str(file), read_profile(str(file)))


def test_a_rate_is_its_lanes_times_their_speed() -> None:
    lane = {"QDR": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}
    for rate in RATES.values():
        assert rate.bits_per_second == rate.lanes * lane[rate.generation] * 10**9
    stated = {name: RATES[name].bits_per_second // 10**9 for name in RATE_GBPS}
    assert stated == RATE_GBPS
    assert set(RATES) == set(RATE_GBPS)


def test_a_users_switch_is_found_by_its_file(tmp_path: Path) -> None:
    user_switch(tmp_path)
    assert "mine" in infiniband_switch_names([tmp_path])
    assert load_infiniband_switch("mine", [tmp_path]).product == "QM1"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("managed = false", 'managed = "no"', "managed: is 'no'; expected a valid boolean"),
        ("sharp = 2", "", "sharp: is missing"),
        (
            "HDR = 40",
            "SDR = 40",
            "ports.SDR: is 'SDR'; expected 'QDR', 'FDR', 'EDR', 'HDR100', 'HDR', 'NDR200', 'NDR' or 'XDR'",
        ),
    ],
)
def test_a_wrong_switch_earns_a_located_message(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = user_switch(tmp_path, old, new)
    with pytest.raises(ProfileError) as error:
        load_infiniband_switch("mine", [tmp_path])
    assert str(error.value) == f"{path}: {message}"


def test_a_name_that_is_not_there_draws_the_nearest() -> None:
    with pytest.raises(
        ProfileError, match="no InfiniBand switch profile is called 'qm9700'; did you mean nvidia-qm9700"
    ):
        load_infiniband_switch("qm9700")
    with pytest.raises(
        ProfileError, match="no InfiniBand adapter profile is called 'connectx-9'; did you mean"
    ):
        load_hca("connectx-9")
    with pytest.raises(
        ProfileError, match="connectx-6-dx has no rate of InfiniBand; adapters that have one: connectx-6, "
    ):
        load_hca("connectx-6-dx")

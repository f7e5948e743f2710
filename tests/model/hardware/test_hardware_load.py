"""Finding profiles, and what a wrong one of the user's earns."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.files import data_dir
from lossless.model.hardware.load import load_nic, load_switch, nic_names, switch_for_hwsku, switch_names
from lossless.model.hardware.model import Cage, split
from lossless.model.hardware.schema import check_nic, check_switch

SMALLEST = "nvidia-sn3700"


def test_all_products_are_found() -> None:
    assert switch_names() == (
        "accton-as9516",
        "arista-7050cx3",
        "arista-7050qx",
        "arista-7060cx",
        "arista-7060x6-64pe",
        "arista-7060x6-64pe-b",
        "arista-7260cx3",
        "cisco-9332d-gx2b",
        "dell-s6000",
        "dell-s6100",
        "dell-z9332f",
        "dell-z9664f",
        "dell-z9864f",
        "micas-m2-w6950-128oc",
        "nexthop-4210",
        "nexthop-5010",
        "nokia-ixr7220-h6-128",
        "nokia-ixr7250e-36x400g",
        "nvidia-sn2410",
        "nvidia-sn2700",
        "nvidia-sn3700",
        "nvidia-sn4600c",
        "nvidia-sn4700",
        "nvidia-sn5600",
        "nvidia-sn5640",
    )
    assert nic_names() == (
        "amd-pollara-400",
        "bluefield-3",
        "broadcom-thor-2",
        "connectx-6-dx",
        "connectx-7",
        "connectx-8",
    )


@pytest.mark.parametrize(
    "path", sorted((Path(data_dir("profiles")) / "switches").glob("*.toml")), ids=lambda p: p.stem
)
def test_our_switch_profiles_fit_the_schema(path: Path) -> None:
    check_switch(str(path), tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "path", sorted((Path(data_dir("profiles")) / "nics").glob("*.toml")), ids=lambda p: p.stem
)
def test_our_adapter_profiles_fit_the_schema(path: Path) -> None:
    check_nic(str(path), tomllib.loads(path.read_text(encoding="utf-8")))


def test_every_table_of_our_profiles_is_used() -> None:
    for path in (Path(data_dir("profiles")) / "switches").glob("*.toml"):
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        assert {h["headroom"] for h in raw["hwsku"] if "headroom" in h} == set(raw.get("headroom", {}))
        used = {name for h in raw["hwsku"] for name in h.get("buffers", {}).values()}
        assert used == set(raw.get("buffers", {})), path.name


def test_every_hwsku_is_found_on_each_of_its_platforms() -> None:
    for name in switch_names():
        profile = load_switch(name)
        for hwsku in profile.hwskus:
            assert profile.platform in hwsku.platforms
            for platform in hwsku.platforms:
                assert switch_for_hwsku(hwsku.name, platform) == (profile, hwsku)


def test_a_hwsku_of_two_products_needs_the_platform() -> None:
    name = "Arista-7060X6-64PE-O128"
    found = {
        platform: switch_for_hwsku(name, platform)
        for platform in ("x86_64-arista_7060x6_64pe", "x86_64-arista_7060x6_64pe_b")
    }
    products = {platform: pair[0].name for platform, pair in found.items() if pair}
    assert products == {
        "x86_64-arista_7060x6_64pe": "arista-7060x6-64pe",
        "x86_64-arista_7060x6_64pe_b": "arista-7060x6-64pe-b",
    }
    assert switch_for_hwsku(name) is None
    assert switch_for_hwsku(name, "x86_64-kvm_x86_64-r0") is None


def test_a_hwsku_of_one_product_is_found_on_any_platform() -> None:
    found = switch_for_hwsku("ACS-SN5600", "x86_64-kvm_x86_64-r0")
    assert found is not None
    assert found[0].name == "nvidia-sn5600"
    assert found == switch_for_hwsku("ACS-SN5600")


def test_a_profile_over_the_limit_is_refused_and_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "switches"
    folder.mkdir()
    source = (Path(data_dir("profiles")) / "switches" / f"{SMALLEST}.toml").read_text(encoding="utf-8")
    (folder / "mine.toml").write_text(source + "# a comment\n", encoding="utf-8")
    monkeypatch.setattr("lossless.model.hardware.load.FILE_BYTES", len(source.encode()))
    with pytest.raises(ProfileError, match=r"mine\.toml: larger than"):
        load_switch("mine", [tmp_path])


@pytest.mark.parametrize("name", ["ACS-SN560", "Seastone-DX010-25-50", "", "x86_64-nvidia_sn5600-r0", "main"])
def test_what_is_no_hwsku_of_ours_is_unknown(name: str) -> None:
    assert switch_for_hwsku(name) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "nvidia-sn5610",
            "no switch profile is called 'nvidia-sn5610'; did you mean nvidia-sn5640? (others: "
            "nvidia-sn5600, nvidia-sn2410, nvidia-sn4600c, nvidia-sn2700, nvidia-sn3700 and 19 more, "
            "see lossless profiles)",
        ),
        (
            "SN4700",
            "no switch profile is called 'SN4700'; did you mean nvidia-sn4700? (others: "
            "nvidia-sn2700, nvidia-sn3700, nvidia-sn4600c, arista-7050qx, arista-7060cx and 19 more, "
            "see lossless profiles)",
        ),
        (
            "../secret",
            "no switch profile is called '../secret'; there are accton-as9516, arista-7050cx3, "
            "arista-7050qx, arista-7060cx, arista-7060x6-64pe and 20 more, see lossless profiles",
        ),
    ],
)
def test_an_unknown_switch_earns_the_nearest_name(name: str, message: str) -> None:
    with pytest.raises(ProfileError) as error:
        load_switch(name)
    assert str(error.value) == message


def test_an_unknown_adapter_earns_the_nearest_name() -> None:
    with pytest.raises(ProfileError) as error:
        load_nic("connectx7")
    assert str(error.value) == (
        "no network adapter profile is called 'connectx7'; did you mean connectx-7? "
        "(others: connectx-8, connectx-6-dx, amd-pollara-400, bluefield-3, broadcom-thor-2)"
    )


def test_a_profile_is_read_once() -> None:
    assert load_switch("nvidia-sn5600") is load_switch("nvidia-sn5600")


def user_switch(folder: Path, name: str, old: str = "", new: str = "") -> Path:
    """Write our smallest profile to a user's folder, with one change."""
    text = (Path(data_dir("profiles")) / "switches" / f"{SMALLEST}.toml").read_text(encoding="utf-8")
    assert old in text
    path = folder / "switches" / f"{name}.toml"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
    return path


def user_nic(folder: Path, old: str, new: str) -> Path:
    """Write our ConnectX-7 to a user's folder, with one change."""
    text = (Path(data_dir("profiles")) / "nics" / "connectx-7.toml").read_text(encoding="utf-8")
    assert old in text
    path = folder / "nics" / "mine.toml"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_a_users_profile_adds_to_ours(tmp_path: Path) -> None:
    user_switch(tmp_path, "lab")
    assert "lab" in switch_names([tmp_path])
    assert "lab" not in switch_names()
    assert load_switch("lab", [tmp_path]).product == "SN3700"


def test_a_users_hwsku_is_found(tmp_path: Path) -> None:
    path = user_switch(tmp_path, "lab")
    renamed = path.read_text(encoding="utf-8").replace('name = "ACS-MSN3700"', "name = 'Lab-1'")
    renamed = renamed.replace('default_hwsku = "ACS-MSN3700"', 'default_hwsku = "Lab-1"')
    path.write_text(renamed, encoding="utf-8")
    found = switch_for_hwsku("Lab-1", extra_dirs=[tmp_path])
    assert found is not None
    assert (found[0].name, found[1].name) == ("lab", "Lab-1")
    assert switch_for_hwsku("Lab-1") is None


def test_a_users_profile_takes_the_place_of_ours_and_the_first_folder_wins(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    user_switch(first, SMALLEST, "max_mtu = 9216", "max_mtu = 9100")
    user_switch(second, SMALLEST, "max_mtu = 9216", "max_mtu = 1500")
    assert load_switch(SMALLEST, [first, second]).max_mtu == 9100
    assert load_switch(SMALLEST, [second, first]).max_mtu == 1500
    assert load_switch(SMALLEST).max_mtu == 9216


def test_a_folder_without_profiles_adds_nothing(tmp_path: Path) -> None:
    (tmp_path / "switches").mkdir()
    (tmp_path / "switches" / "notes.txt").write_text("not a profile")
    assert switch_names([tmp_path]) == switch_names()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max_mtu = 9216", 'max_mtu = "9216"', "max_mtu: is '9216'; expected a valid integer"),
        ("queues = 8", "queues = 0", "queues: is 0; expected greater than 0"),
        ('vendor = "NVIDIA"\n', "", "vendor: is missing"),
        (
            "tile = false",
            "tiles = false",
            "asic.tile: is missing\n{file}: asic.tiles: is not a key that a profile has here",
        ),
        (
            'formula = "mellanox"',
            'formula = "broadcom"',
            "asic.formula: is 'broadcom'; expected 'mellanox' or 'barefoot'",
        ),
        (
            "etp{index}{letter}",
            "etp{0}",
            "split_alias: is 'etp{0}'; "
            "expected text to match pattern '^([^{}]|\\{(index|letter|lane|port)\\})+$'",
        ),
        (
            'default_hwsku = "ACS-MSN3700"',
            'default_hwsku = "ACS-MSN3800"',
            "default_hwsku: is 'ACS-MSN3800'; expected one of ACS-MSN3700",
        ),
        (
            "1-32: 1x200G",
            "1-33: 1x200G",
            "hwsku.1.layout: '1-33: 1x200G': cage 33 does not exist",
        ),
        (
            "1-32: 1x200G",
            "1-32: 1x200G; 3: 2x100G",
            "hwsku.1.layout: '3: 2x100G': cage 3 is mentioned twice",
        ),
        (
            "1-32: 1x200G",
            "1-32/0: 1x200G",
            "hwsku.1.layout: '1-32/0' does not name cages: it takes each 0th",
        ),
        (
            "1-32: 1x200G",
            "1-32: 3x50G",
            "hwsku.1.layout: '1-32: 3x50G': 3 ports cannot share 4 of 4 lanes evenly",
        ),
        (
            "1-32: 1x200G",
            "all: 1x200G",
            "hwsku.1.layout: 'all: 1x200G' is not part of a layout; write it like 1-28: 2x400G",
        ),
        (
            'headroom = "ACS-MSN3700"',
            'headroom = "ACS-MSN3800"',
            "hwsku.1.headroom: is 'ACS-MSN3800'; expected one of ACS-MSN3700",
        ),
        (
            't1 = "ACS-MSN3700-t1"',
            't1 = "ACS-MSN3700-t2"',
            "hwsku.1.buffers.t1: is 'ACS-MSN3700-t2'; expected one of ACS-MSN3700-t0, ACS-MSN3700-t1",
        ),
        (
            "10G   5m    52224  ",
            "10G   5     52224  ",
            "headroom.ACS-MSN3700.rows: '5' has no unit; write it like 3m or 30m (units: m, cm, km)",
        ),
        (
            "10G   5m    52224   19456  32768",
            "10G   5m    52224   19456  32k",
            "headroom.ACS-MSN3700.rows: headroom '32k' is not a whole number",
        ),
        (
            "10G   5m    52224   19456  32768   0  -",
            "10G   5m    52224",
            "headroom.ACS-MSN3700.rows: row '10G   5m    52224' does not have the columns "
            "speed cable reserved xon headroom threshold xon_offset",
        ),
        (
            "egress_lossy_pool      egress   dynamic",
            "egress_lossy_pool      egress   automatic",
            "buffers.ACS-MSN3700-t0.pools: egress_lossy_pool: mode 'automatic' is neither dynamic nor static",
        ),
        (
            "q_lossy_profile           egress_lossy_pool      0     3  -",
            "q_lossy_profile           egress_lossy_pool      0     3  4",
            "buffers.ACS-MSN3700-t0.profiles: q_lossy_profile: "
            "exactly one of dynamic_th and static_th must be set",
        ),
        (
            "q_lossy_profile           egress_lossy_pool ",
            "q_lossy_profile           egress_pool ",
            "buffers.ACS-MSN3700-t0.profiles: q_lossy_profile is in pool 'egress_pool'; expected one of "
            "egress_lossless_pool, egress_lossy_pool, ingress_lossless_pool, ingress_lossy_pool",
        ),
        (
            'columns = "cage lanes alias index modes"',
            'columns = "cage lanes alias index"',
            "cages.columns: is 'cage lanes alias index'; expected 'cage lanes alias index modes'",
        ),
        (
            'lacks = ["adaptive"]',
            'lacks = ["ecmp"]',
            "load_balancing.nvue.lacks.1: is 'ecmp', which is in offers too",
        ),
        (
            'lacks = ["adaptive"]',
            'lacks = ["random"]',
            "load_balancing.nvue.lacks.1: is 'random'; expected 'ecmp', 'flowlet', 'adaptive', 'spray' or 'dlb'",
        ),
        (
            'lacks = ["adaptive"]',
            'speeds.ecmp = ["200"]',
            "load_balancing.nvue.speeds.ecmp.1: '200' has no unit; write it like 400G or 1.6T (units: M, G, T)",
        ),
        (
            "[load_balancing.nvue]",
            "[load_balancing.cumulus]",
            "load_balancing.cumulus: is 'cumulus'; expected one of sonic, nvue",
        ),
        (
            '"2x100G[50G,25G,10G,1G]"',
            '"2x100G/50G"',
            "cages.rows: '2x100G/50G' is not a breakout mode; write it like 2x400G[200G,100G]",
        ),
        (
            'default_cable = "5m"',
            'default_cable = "5"',
            "buffers.ACS-MSN3700-t0.default_cable: '5' has no unit; "
            "write it like 3m or 30m (units: m, cm, km)",
        ),
    ],
)
def test_a_wrong_switch_profile_earns_a_located_message(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = user_switch(tmp_path, "mine", old, new)
    with pytest.raises(ProfileError) as error:
        load_switch("mine", [tmp_path])
    assert str(error.value) == f"{path}: {message.replace('{file}', str(path))}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'driver = "mlx5"',
            'driver = "../x"',
            "driver: is '../x'; expected text to match pattern '^[a-z][a-z0-9_]{0,54}$'",
        ),
        ("cnp_dscp = 48", "cnp_dscp = 64", "cnp_dscp: is 64; expected less than or equal to 63"),
        (
            '"1G", ',
            '"1", ',
            "rates.1: '1' has no unit; write it like 400G or 1.6T (units: M, G, T)",
        ),
        (
            "RPG_AI_RATE                   5 ",
            "RPG_AI_RATE                   5Mb ",
            "dcqcn.rows: default '5Mb' is not a whole number",
        ),
        (
            "1/1024  0   1023        doca",
            "1/1024  0   1023        blog",
            "dcqcn.rows (DCE_TCP_G): is 'blog'; expected one of infiniband, rates, ports, pci_id, cnp, doca, dump",
        ),
        (
            "15b3:1021",
            "0x1021",
            "pci_id: is '0x1021'; expected text to match pattern '^[0-9a-f]{4}:[0-9a-f]{4}$'",
        ),
        ("able = true", 'able = "yes"', "reorder.able: is 'yes'; expected a valid boolean"),
        ("able = true", "able = true\nframes = 0", "reorder.frames: is 0; expected greater than 0"),
        (
            'algorithm = "ZTR-RTTCC"',
            'algorithm = "HPCC"',
            "shipped_control.algorithm: is 'HPCC'; expected 'DCQCN' or 'ZTR-RTTCC'",
        ),
    ],
)
def test_a_wrong_adapter_profile_earns_a_located_message(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = user_nic(tmp_path, old, new)
    with pytest.raises(ProfileError) as error:
        load_nic("mine", [tmp_path])
    assert str(error.value) == f"{path}: {message}"


def test_all_problems_of_a_profile_are_told_at_once(tmp_path: Path) -> None:
    path = user_switch(tmp_path, "mine", "1-32: 1x200G", "1-40: 1x200G")
    text = path.read_text(encoding="utf-8").replace('default_hwsku = "ACS-', 'default_hwsku = "', 1)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError) as error:
        load_switch("mine", [tmp_path])
    assert [line.split(": ")[1] for line in str(error.value).splitlines()] == [
        "default_hwsku",
        "hwsku.1.layout",
    ]


def test_what_is_not_toml_is_told_with_its_place(tmp_path: Path) -> None:
    path = user_switch(tmp_path, "mine", 'vendor = "NVIDIA"', "vendor = NVIDIA")
    with pytest.raises(ProfileError) as error:
        load_switch("mine", [tmp_path])
    assert str(error.value) == f"{path}: not TOML: Invalid value (at line 5, column 10)"


def test_what_is_nested_too_deep_is_told(tmp_path: Path) -> None:
    path = user_switch(tmp_path, "mine", 'vendor = "NVIDIA"', f"vendor = {'[' * 5000}{']' * 5000}")
    with pytest.raises(ProfileError) as error:
        load_switch("mine", [tmp_path])
    assert str(error.value) == f"{path}: nested too deep"


def test_a_cage_of_sixteen_lanes_has_a_letter_for_each_part() -> None:
    cage = Cage("Ethernet0", tuple(range(16)), "etp1", 1, ())
    assert [port.alias for port in split(cage, 16, 16, 50 * 10**9, "etp{index}{letter}")] == [
        f"etp1{letter}" for letter in "abcdefghijklmnop"
    ]


def test_what_is_not_text_is_told(tmp_path: Path) -> None:
    path = user_switch(tmp_path, "mine")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ProfileError) as error:
        load_switch("mine", [tmp_path])
    assert str(error.value).startswith(f"{path}: cannot be read: 'utf-8' codec can't decode byte 0xff")


def test_a_folder_in_the_place_of_a_profile_is_told(tmp_path: Path) -> None:
    path = user_switch(tmp_path, "mine")
    path.unlink()
    path.mkdir()
    with pytest.raises(ProfileError) as error:
        load_switch("mine", [tmp_path])
    assert str(error.value).startswith(f"{path}: cannot be read: ")
    shutil.rmtree(path)


def test_reading_our_own_profiles_imports_nothing_heavy() -> None:
    program = (
        "import sys; from lossless.model.hardware.load import switch_for_hwsku;"
        "profile, hwsku = switch_for_hwsku('ACS-SN5600'); hwsku.ports, hwsku.headroom, hwsku.buffers;"
        "heavy = {'pydantic', 'difflib', 'dataclasses', 'inspect', 'tempfile', 'importlib.metadata'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

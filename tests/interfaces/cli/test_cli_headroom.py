"""``lossless headroom``: the sum term by term, what is configured beside it, and what is no link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lossless.model.hardware.load import switch_names
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, leaf_with

LINK = ("--profile", "nvidia-sn5600", "--speed", "400G", "--cable", "40m")


def test_a_link_is_summed_up_by_each_method(cli: Cli) -> None:
    outcome = cli("headroom", *LINK, "--mtu", "9100", "--lossless-mtu", "1024", "--small-packets", "50%")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot("""\
400G over 40 m
  nvidia-sn5600, Spectrum-4, HWSKU ACS-SN5600
                    headroom (B)  why
  vendor row             283,648  row 400G 40m
  mellanox formula       119,808  50 % small packets, stated
  floor                  114,537

vendor row: what the vendor ships for this HWSKU
  headroom (xoff)  283,648 B  row 400G 40m
  xon               19,456 B
  size             303,104 B
  source: sonic-buildimage device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/pg_profile_lookup.ini
          @086b03b

mellanox formula: what SONiC's dynamic buffer model computes
  own frame                     1,024 B  lossless MTU
  peer frame                 11,241.2 B  port MTU = 9,100 B, x 1.235 for cells
  cable round trip           24,955.4 B  2 x 40 m x 400G / 198,000 km/s = 20,202 B, x 1.235 for
                                         cells
  MAC and PHY                   1,012 B  ASIC table = 819 B, x 1.235 for cells
  peer response              71,548.2 B  905 quanta x 512 bit = 57,920 B, x 1.235 for cells
  tile                        7,411.8 B  120 ns at line rate (Spectrum-4 and -5) = 6,000 B, x 1.235
                                         for cells
  rounding                      567.4 B  up to whole KiB
  small-packet compensation     2,048 B  2 KiB, as small packets alone would need 283,648 B
  headroom (xoff)             119,808 B
  xon                          19,456 B
  size                        139,264 B
  with
    cell size             192 B  ASIC table
    pipeline latency   19,456 B  ASIC table
    MAC and PHY delay     819 B  ASIC table
    port MTU            9,100 B  stated
    lossless MTU        1,024 B  stated
    small packets          50 %  stated
    gearbox                0 ns  none that SONiC counts
    lanes                     4  ports split as 2x400G[200G,100G,50G,40G,25G,10G]
    shared headroom          no  the buffer pools of ACS-SN5600
  source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b; chip: sonic-buildimage
          platform/mellanox/asic_table.j2 and peripheral_table.j2 @086b03b (no gearbox listed for
          this platform); tile: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b

floor: what is enough for full frames, with a peer as slow as IEEE 802.3 allows
  frame ahead of the pause     9,100 B  one frame on the reverse link
  pause frame                     64 B  one PFC frame
  cable round trip            20,202 B  2 x 40 m x 400G / 198,000 km/s
  MAC and PHY                  819.2 B  ASIC table
  peer response               57,920 B  what the peer sends until it obeys
  frame begun                  9,100 B  the frame the peer may not interrupt
  whole frames              17,331.8 B  as frames just below 8,811 B need, the worst of up to
                                        9,100 B
  headroom (xoff)            114,537 B
  note: for full-size frames; small ones need more, as each takes whole cells of 192 B
  source: pause quanta of IEEE 802.3 clause 31B.3.7, signal speed: sonic-swss
          cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b; terms: IEEE 802.1Q as in torvalds/linux
          drivers/net/ethernet/intel/ixgbe/ixgbe_type.h @b6e2174; whole frames: derived, held
          against ns-3.39 (inet-tub/ns3-datacenter @6ddb4a4)
""")


def test_a_chip_without_formula_and_a_length_without_a_row(cli: Cli) -> None:
    outcome = cli("headroom", "--profile", "dell-z9332f", "--speed", "400G", "--cable", "2001m")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.split("\n\n")[0] == snapshot("""\
400G over 2001 m
  dell-z9332f, Tomahawk 3, HWSKU DellEMC-Z9332f-O32
               headroom  why
                    (B)
  vendor row    unknown  no row of HWSKU DellEMC-Z9332f-O32 at 400G reaches 2001 m; it has rows
                         of 5m, 40m, 300m, 1000m, 2000m
  formula       unknown  SONiC has no headroom formula for Tomahawk 3: headroom comes from rows
                         alone
  floor       1,104,859\
""")


def test_a_gearbox_that_sonic_leaves_out_is_counted_where_it_is_stated(cli: Cli) -> None:
    asked = ("headroom", "--profile", "accton-as9516", "--speed", "400G", "--cable", "40m")
    of_sonic, whole = (cli(*asked, *more).out for more in ((), ("--gearbox", "365ns")))
    assert "headroom (xoff)    401,408 B" in of_sonic
    assert "headroom (xoff)    499,712 B" in whole


def test_barefoot_sums_up_by_its_own_formula(cli: Cli) -> None:
    outcome = cli("headroom", "--profile", "accton-as9516", "--speed", "400G", "--cable", "40m")
    assert outcome.out.split("\n\n")[2] == snapshot("""\
barefoot formula: what SONiC's dynamic buffer model computes
  own frame            1,024 B  lossless MTU
  peer frame          25,025 B  port MTU = 9,100 B, x 2.75 for cells
  cable round trip  54,253.5 B  2 x 40 m x 400G / 198,000 km/s, x 1000/1024 = 19,729 B, x 2.75 for
                                cells
  MAC and PHY        2,252.8 B  ASIC table = 819 B, x 2.75 for cells
  peer response      318,560 B  2 x (905 quanta x 512 bit) = 115,840 B, x 2.75 for cells
  rounding             292.7 B  up to whole KiB
  headroom (xoff)    401,408 B
  xon                 69,632 B
  size                69,632 B
  with
    cell size             176 B  ASIC table
    pipeline latency   69,632 B  ASIC table
    MAC and PHY delay     819 B  ASIC table
    port MTU            9,100 B  SONiC's default
    lossless MTU        1,024 B  SONiC's default
    small packets         100 %  SONiC's default until 2024-10
    gearbox                0 ns  none that SONiC counts
  note: the rows of newport do not follow from this formula
  source: sonic-swss cfgmgr/buffer_headroom_barefoot.lua @e6b0c5b; chip: sonic-buildimage
          platform/barefoot/asic_table.j2 and peripheral_table.j2 @086b03b; the latter writes the
          gearbox of 365 ns to the key PERIPHERAL TABLE, and buffermgrd reads PERIPHERAL_TABLE alone
          (sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b), so that SONiC counts none\
""")


def test_every_kind_of_port_of_an_intent_has_its_margins(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("headroom", ".")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot("""\
configured headroom meets every method that gives a figure, on 2 kinds of lossless port

leaf1 (+1 identical), 16 ports, priority 3: 400G over 3 m, configured as 5 m
  nvidia-sn5600, Spectrum-4, HWSKU ACS-SN5600
                    headroom    margin  why
                         (B)       (B)
  configured         231,424            pg_lossless_400000_5m_profile
  vendor row         231,424        +0  row 400G 5m; no row of 3 m at 400G: 5m is the next longer
                                        of 5m, 40m, 300m
  mellanox formula   228,352    +3,072  100 % small packets, as in the rows of ACS-SN5600
  floor               95,451  +135,973

leaf1 (+3 identical), 16 ports, priority 3: 800G over 30 m, configured as 40 m
  nvidia-sn5600, Spectrum-4, HWSKU ACS-SN5600
                    headroom    margin  why
                         (B)       (B)
  configured         362,496            pg_lossless_800000_40m_profile
  vendor row         362,496        +0  row 800G 40m; no row of 30 m at 800G: 40m is the next longer
                                        of 5m, 40m, 300m
  mellanox formula   332,800   +29,696  100 % small packets, as in the rows of ACS-SN5600
  floor              124,990  +237,506

-v shows the sources of the methods
""")


def test_a_port_shows_its_sums(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    outcome = cli("headroom", "config_db.json", "--port", "Ethernet0")
    assert (outcome.code, outcome.err) == (0, "")
    result, kind = outcome.out.split("\n\n")[:2]
    assert result == "configured headroom meets every method that gives a figure, on 1 kind of lossless port"
    assert kind.startswith("leaf1:Ethernet0, priority 3: 400G over 5 m\n  nvidia-sn5600, ")
    assert " configured 231,424 pg_lossless_400000_5m_profile vendor row " in " ".join(kind.split())
    assert "\n  peer response     173,760 B  905 quanta x 512 bit = 57,920 B, x 3 for cells\n" in outcome.out
    assert cli("headroom", "config_db.json", "--port", "leaf1:Ethernet0").out == outcome.out
    assert "sources\n" not in outcome.out


def test_less_than_the_cable_holds_is_said(cli: Cli) -> None:
    short = {"xoff": "8192", "size": str(8_192 + 19_456)}
    Path("config_db.json").write_text(leaf_with("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", **short))
    outcome = cli("headroom", "config_db.json", "--port", "Ethernet0")
    said = "configured is less than the cable and one frame hold, 11,626 B"
    assert f"floor 96,840 -88,648 {said}" in " ".join(outcome.out.split())


def test_a_size_that_does_not_back_its_xoff_is_said(cli: Cli) -> None:
    Path("config_db.json").write_text(
        leaf_with("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", size="19456")
    )
    outcome = cli("headroom", "config_db.json", "--port", "Ethernet0")
    said = "pg_lossless_400000_5m_profile; its xoff of 231,424 B is not backed by size"
    assert f"configured 0 {said} vendor row" in " ".join(outcome.out.split())


def test_nothing_lossless_is_said(cli: Cli) -> None:
    tables = json.loads(LEAF)
    for row in tables["PORT_QOS_MAP"].values():
        row.pop("pfc_enable", None)
    Path("config_db.json").write_text(json.dumps(tables))
    outcome = cli("headroom", "config_db.json")
    assert (outcome.code, outcome.out) == (0, "no port in service has PFC on: nothing is lossless here\n")
    named = cli("headroom", "config_db.json", "--port", "Ethernet0")
    assert " configured none PFC is off: there is no lossless group " in " ".join(named.out.split())


def test_json_has_every_term_with_its_source(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    outcome = cli("headroom", "config_db.json", "--format", "json")
    report: dict[str, Any] = json.loads(outcome.out)
    assert (outcome.code, outcome.err, report["version"]) == (0, "", 1)
    first = report["kinds"][0]
    assert list(first) == snapshot(
        [
            "switch",
            "switches",
            "ports",
            "elements",
            "priorities",
            "profile",
            "asic",
            "hwsku",
            "speed_bps",
            "cable_m",
            "configured_cable_m",
            "configured",
            "configured_absent",
            "configured_unknown",
            "least_bytes",
            "methods",
            "inputs",
        ]
    )
    assert list(first["methods"]) == ["row", "formula", "floor"]
    for method in first["methods"].values():
        assert list(method) == snapshot(
            [
                "name",
                "headroom_bytes",
                "xon_bytes",
                "reserved_bytes",
                "margin_bytes",
                "terms",
                "unknown",
                "notes",
                "source",
            ]
        )
        assert sum(term["bytes"] for term in method["terms"]) == pytest.approx(method["headroom_bytes"])
        assert "@" in method["source"]


@pytest.mark.parametrize("profile", switch_names())
def test_every_profile_answers_at_every_speed_it_knows(profile: str, cli: Cli) -> None:
    refused = cli("headroom", "--profile", profile, "--speed", "123G", "--cable", "40m")
    assert refused.code == 2
    speeds = refused.err.strip().rpartition(" run at ")[2].split(", ")
    for speed in speeds:
        outcome = cli(
            "headroom", "--profile", profile, "--speed", speed, "--cable", "40m", "--format", "json"
        )
        (kind,) = json.loads(outcome.out)["kinds"]
        for method in kind["methods"].values():
            assert (method["headroom_bytes"] is None) == (method["unknown"] is not None)


def test_options_that_play_no_part_are_named(cli: Cli) -> None:
    broadcom = ("--profile", "dell-z9332f", "--speed", "400G", "--cable", "40m")
    outcome = cli("headroom", *broadcom, "--lanes", "8", "--small-packets", "50%", "--mtu", "1500")
    assert outcome.err == "--small-packets, --lanes: not used here, by any method\n"
    assert outcome.code == 0
    barefoot = ("--profile", "accton-as9516", "--speed", "400G", "--cable", "40m")
    outcome = cli("headroom", *barefoot, "--no-shared-headroom", "--gearbox", "0ns")
    assert outcome.err == "--shared-headroom: not used here, by any method\n"


@pytest.mark.parametrize("folder", ["full", "partial"])
def test_no_real_configuration_ends_in_a_traceback(folder: str, cli: Cli, reference: Path) -> None:
    """Of a part like qos.json neither speed nor cable is known: no method has a figure, and none a source."""
    for path in sorted((reference / "corpus" / folder).glob("*.json")):
        outcome = cli("headroom", str(path))
        assert outcome.code in (0, 1, 2), path.name
        assert "Traceback" not in outcome.err, path.name

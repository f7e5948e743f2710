"""Files of a subnet manager on the command line: a folder with many mistakes, as a person sees what is said of it."""

from __future__ import annotations

import os
from pathlib import Path

from inline_snapshot import snapshot

from tests.interfaces.cli.conftest import Cli

OPTIONS = """\
routing_engine ftree
lmc 1
qos true                  # four levels
max_op_vls 8
subnet_prefix fe80000000000001
ignore_other_sm TRUE
sweep_interval=10
max_wire_smps 0
partition_config_file /etc/opensm/partitions.conf
"""
PARTITIONS = """\
Default=0x7fff, ipoib, rate=200 :
  SELF=full, ALL=limited ;
Compute=0x0002 : 0x506b4b0300000001, 0x506b4b0300000002 ;
"""


def test_every_mistake_in_a_folder_is_said_where_it_stands(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "opensm.conf").write_text(OPTIONS, encoding="utf-8")
    (tmp_path / "partitions.conf").write_text(PARTITIONS, encoding="utf-8")
    found = cli("lint", ".")
    assert found.code == 1
    heads = [" ".join(line.split()[:3]) for line in found.out.splitlines() if ": IB" in line]
    assert heads == snapshot(
        [
            "opensm.conf:2:5: IB036 lmc-with-fat-tree:",
            "opensm.conf:3:5: IB016 boolean-silently-false:",
            "opensm.conf:4:12: IB017 option-out-of-range:",
            "opensm.conf:5:15: IB018 option-unreadable:",
            "opensm.conf:6:17: IB030 other-managers-ignored:",
            "opensm.conf:7:1: IB019 option-unknown:",
            "opensm.conf:8:15: IB034 management-packets-unlimited:",
            "partitions.conf:1:29: IB026 partition-group-unrealizable:",
            "partitions.conf:2:14: IB025 manager-not-full-member:",
            "partitions.conf:3:1: IB024 partition-of-limited-members:",
        ]
    )
    assert found.err == snapshot(
        "9 errors, 1 warning, 0 infos in 2 files (0 suppressed, 0 baselined, 5 not checked)\n"
    )


def test_one_finding_shows_the_line_and_the_way_out(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "opensm.conf").write_text(
        "lmc 0\nqos true                  # four levels\n", encoding="utf-8"
    )
    assert cli("lint", "opensm.conf").out == snapshot("""\
opensm.conf:2:5: IB016 boolean-silently-false: qos true is taken as FALSE: only the word TRUE is true
  |
2 | qos true                  # four levels
  |     ^^^^
  = note: opensm says nothing of it, and writes FALSE where its effective configuration is asked for
  = help: write qos TRUE

""")


def test_what_opensm_writes_by_itself_draws_nothing(cli: Cli, tmp_path: Path) -> None:
    from lossless.model.fabric.infiniband.subnet import known_keys, option

    options = [option(key) for key in known_keys("upstream")]
    text = "".join(f"{one.key} {one.default}\n" for one in options if one and one.default is not None)
    (tmp_path / "opensm.conf").write_text(text, encoding="utf-8")
    found = cli("lint", ".")
    assert (found.code, found.out) == (0, "")


def test_files_as_windows_saves_them_are_refused_where_opensm_reads_something_else(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "opensm.conf").write_bytes(b"\xef\xbb\xbflmc 1\r\nqos TRUE\r\n")
    (tmp_path / "partitions.conf").write_bytes(b"# all\r\nDefault=0x7fff : ALL=limited, SELF=full ;\r\n")
    (tmp_path / "qos-policy.conf").write_bytes(b"qos-ulps\r\n default : 0\r\nend-qos-ulps\r\n")
    found = cli("lint", ".")
    assert found.code == 2
    assert [
        line.split(",")[0] for line in found.err.splitlines() if line.startswith(("o", "p", "q"))
    ] == snapshot(
        [
            "opensm.conf:1:1: the file begins with a byte-order mark",
            "partitions.conf:2:42: a carriage return",
            "qos-policy.conf:1:9: a carriage return",
        ]
    )
    assert cli("opensm", "opensm.conf").code == 2


def test_a_fix_leaves_a_byte_order_mark_to_its_owner(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "opensm.conf"
    path.write_bytes(b"\xef\xbb\xbf# manager\nqos true\n")
    assert cli("lint", "--fix", "--unsafe-fixes", "opensm.conf").code == 2
    assert path.read_bytes() == b"\xef\xbb\xbf# manager\nqos TRUE\n"


def test_ten_thousand_partitions_are_read_in_a_few_seconds(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "opensm.conf").write_text("lmc 0\n", encoding="utf-8")
    rows = [
        f"P{n}=0x{n + 1:04x} : 0x506b4b03{n:08x}=full, 0x506b4b04{n:08x}=full ;\n" for n in range(1, 10_001)
    ]
    text = "Default=0x7fff : ALL=limited, SELF=full ;\n" + "".join(rows)
    (tmp_path / "partitions.conf").write_text(text, encoding="utf-8")
    worked = sum(os.times()[:2])
    assert cli("lint", ".").code == 0
    # Comparing each name with all before it took twenty.
    assert sum(os.times()[:2]) - worked < 8

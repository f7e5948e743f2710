"""In every form of a configuration findings are the same, and point at the text of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import Report, lint, lint_documents, load_fabrics, simulate, trace
from lossless.formats.sonic.read.tables import READ_TABLES
from lossless.ground.documents import load_text
from lossless.output.report.lint.json_format import json_text
from lossless.output.report.simulation.data import verdict_data
from tests.conftest import REFERENCE
from tests.formats.sonic import shapes
from tests.formats.sonic.devices import Config, base, patched
from tests.formats.sonic.test_sonic_read_laws import CONFIGS, VALUES

NORMALISED = "CFG012"
CORPUS = REFERENCE / "corpus"
FILES = sorted([*(CORPUS / "full").glob("*.json"), *(CORPUS / "partial").glob("*.json")])
PROBES = sorted((CORPUS / "probes").glob("*.json"))
NO_TABLES = {"SONiC-config_db_t0.json"}
"""Has single values on top, which redis cannot hold below a table: SCM007 names them in the plain form alone."""


def checked(data: Any, file: str = "config_db.json") -> Report:
    return lint_documents([load_text(json.dumps(data, indent=1), file, lists=True)])


def said(report: Report, *without: str) -> list[tuple[object, ...]]:
    """Return all that findings say, but for where."""
    return sorted(
        (f.code, f.severity, f.message, f.note, f.help, f.places, tuple(sorted(f.elements)))
        for f in report.findings
        if f.code not in {NORMALISED, *without}
    )


def remarks(report: Report) -> list[tuple[object, int]]:
    return [(f.data["kind"], f.places) for f in report.findings if f.code == NORMALISED]


def value_at(data: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


WRONG = patched(
    base(),
    PFC_WD={"Ethernet0": {"detection_time": "50"}},
    DSCP_TO_TC_MAP={"AZURE": {**base()["DSCP_TO_TC_MAP"]["AZURE"], "26": "x"}},
    BUFFER_PORT_INGRESS_PROFILE_LIST={"Ethernet0": {"profile_list": ["ingress_lossless_profile", "gone"]}},
)
"""A device with mistakes in fields, in a map and in a list."""


LATE = patched(base(), PFC_WD={"Ethernet0": {"detection_time": "50"}})


class TestWholeFiles:
    @pytest.mark.parametrize("form", shapes.WHOLE)
    def test_the_form_changes_only_where_things_stand(self, form: str) -> None:
        plain = checked(WRONG)
        assert {f.code for f in plain.findings} >= {"WD003", "SWS001", "CFG002"}
        assert said(checked(shapes.WHOLE[form](WRONG))) == said(plain)

    @pytest.mark.parametrize("form", shapes.WHOLE)
    def test_every_finding_points_at_the_text_of_the_file(self, form: str) -> None:
        data = shapes.WHOLE[form](WRONG)
        text = json.dumps(data, indent=1)
        report = checked(data)
        found = {f.code: f for f in report.findings}
        assert value_at(data, found["WD003"].origin.path) == "50"
        assert value_at(data, found["SWS001"].origin.path) == "x"
        assert "gone" in value_at(data, found["CFG002"].origin.path)
        shown = {f["code"]: f for f in json.loads(json_text(report))["findings"]}
        lines = text.splitlines()
        for code, value in (("WD003", '"50"'), ("SWS001", '"x"')):
            at = shown[code]
            assert at["file"] == "config_db.json"
            assert lines[at["line"] - 1][at["column"] - 1 : at["end_column"] - 1] == value

    @pytest.mark.parametrize(
        ("form", "kinds"),
        [
            ("dump", [("dump", 95), ("listed", 1), ("null", 1)]),
            ("redis-dump", [("dump", 95), ("wrapped", 95), ("listed", 1), ("null", 1)]),
            ("sections", [("sections", 1)]),
            ("list", [("list", 1)]),
        ],
    )
    def test_what_was_normalised_is_said_once_a_kind(self, form: str, kinds: list[tuple[str, int]]) -> None:
        report = checked(shapes.WHOLE[form](patched(WRONG, BUFFER_PG={"Ethernet4|0": {}})))
        assert sorted(remarks(report)) == sorted(kinds)

    def test_of_a_plain_file_nothing_is_said(self) -> None:
        assert remarks(checked(WRONG)) == []

    @pytest.mark.usefixtures("reference")
    @pytest.mark.parametrize("path", FILES or [None], ids=lambda path: path.name if path else "absent")
    def test_of_real_files_too(self, path: Path) -> None:
        data = json.loads(path.read_text())
        plain = checked(data)
        if not READ_TABLES & data.keys():
            pytest.skip("no configuration of a device")
        without = ("SCM007",) if path.name in NO_TABLES else ()
        for form in shapes.WHOLE.values():
            assert said(checked(form(data)), *without) == said(plain, *without)

    @pytest.mark.usefixtures("reference")
    def test_of_probes_too(self) -> None:
        for path in PROBES[::3]:
            data = json.loads(path.read_text())
            if path.name != "index.json":
                plain = said(checked(data))
                assert [said(checked(form(data))) for form in shapes.WHOLE.values()] == [plain] * 4, path.name


class TestOtherCommands:
    @pytest.mark.parametrize(
        ("form", "prefix"),
        [
            ("dump", ("DSCP_TO_TC_MAP|AZURE",)),
            ("redis-dump", ("DSCP_TO_TC_MAP|AZURE", "value")),
            ("sections", ("asic0", "DSCP_TO_TC_MAP", "AZURE")),
            ("list", (0, "DSCP_TO_TC_MAP", "AZURE")),
        ],
    )
    def test_a_trace_points_at_the_text_of_the_file(
        self, tmp_path: Path, form: str, prefix: tuple[str | int, ...]
    ) -> None:
        path = tmp_path / "config_db.json"
        path.write_text(json.dumps(shapes.WHOLE[form](LATE), indent=1))
        found = trace(path, "leaf1:Ethernet4", "leaf1:Ethernet0", 26).trace
        origin = found.hops[0].stages.classification.lookup.origin
        assert origin is not None
        assert (origin.file, origin.path) == (str(path), (*prefix, "26"))
        marks = [mark.finding.origin for _, mark in found.marks if mark.finding.code == "WD003"]
        assert [value_at(json.loads(path.read_text()), one.path) for one in marks] == ["50"]

    def test_ends_are_named_by_host_and_asic(self, tmp_path: Path) -> None:
        path = tmp_path / "config_db.json"
        path.write_text(json.dumps({"localhost": {"DEVICE_METADATA": {}}, "asic0": LATE, "asic1": LATE}))
        found = trace(path, "leaf1:asic1:Ethernet4", "leaf1:asic1:Ethernet0", 26).trace
        assert [hop.switch for hop in found.hops] == ["leaf1:asic1"]
        assert "WD003" in {mark.finding.code for _, mark in found.marks}

    @pytest.mark.parametrize("form", shapes.WHOLE)
    def test_simulation_says_the_same(self, tmp_path: Path, form: str) -> None:
        verdicts = []
        for data in (WRONG, shapes.WHOLE[form](WRONG)):
            path = tmp_path / "config_db.json"
            path.write_text(json.dumps(data))
            verdicts.append([verdict_data(one) for one in simulate(path)])
        assert verdicts[0] == verdicts[1]


class TestBracketsAndJoinedKeys:
    """What the device makes of them is reported; the rest is checked as if they stood there plain."""

    @pytest.mark.tools("records")
    @pytest.mark.usefixtures("reference")
    @pytest.mark.parametrize("separator", ["|", ":"])
    def test_brackets_are_read_as_names(self, separator: str) -> None:
        for path in (*FILES[::2], *PROBES[::5]):
            data = json.loads(path.read_text())
            if READ_TABLES & data.keys():
                old = said(checked(shapes.bracketed(data, separator)), "CFG002", "SCM003")
                assert old == said(checked(data), "CFG002", "SCM003"), path.name

    def test_brackets_are_one_warning(self) -> None:
        found = [f for f in checked(shapes.bracketed(base())).findings if f.severity != "info"]
        assert [f.code for f in found] == ["CFG002"]

    @pytest.mark.usefixtures("reference")
    def test_joined_keys_are_read_port_by_port(self) -> None:
        # A row of several ports gives them no generated groups, which SWS018 says.
        rows = ("CFG002", "CFG007", "SCM002", "SCM003", "SCM006", "SWS008", "SWS018")
        for path in (*FILES[::2], *PROBES[::5]):
            data = json.loads(path.read_text())
            if READ_TABLES & data.keys():
                assert said(checked(shapes.joined(data)), *rows) == said(checked(data), *rows), path.name

    @pytest.mark.parametrize("side", ["INGRESS", "EGRESS"])
    def test_profile_lists_of_several_ports_are_split_too(self, side: str) -> None:
        table = f"BUFFER_PORT_{side}_PROFILE_LIST"
        name = f"{side.lower()}_lossless_profile"
        data = base() | {table: {"Ethernet0,Ethernet4": {"profile_list": name}}}
        (fabric,) = load_fabrics([load_text(json.dumps(data), "config_db.json")]).fabrics
        lists = [p.qos.profile_lists[side == "EGRESS"] for p in fabric.switches[0].ports if p.qos]
        assert [[profile.name for profile in found] for found in lists][:2] == [[name], [name]]
        assert "SWS008" in {f.code for f in checked(data).findings}


class TestSeveralAsics:
    def two(self, *names: str) -> Config:
        host = {"DEVICE_METADATA": {"localhost": {"hostname": "lc1", "hwsku": "x"}}}
        return {"localhost": host} | {
            f"asic{number}": patched(WRONG, DEVICE_METADATA={"localhost": {"hostname": name, "hwsku": "x"}})
            for number, name in enumerate(names)
        }

    def devices(self, report: Report) -> set[str]:
        return {element for f in report.findings if f.code == "WD003" for element in f.elements}

    def test_each_is_a_device_named_after_the_host(self) -> None:
        assert self.devices(checked(self.two("lc1", "lc1"))) == {"lc1:asic0:Ethernet0", "lc1:asic1:Ethernet0"}

    def test_a_hostname_of_its_own_is_its_name(self) -> None:
        assert self.devices(checked(self.two("a", "b"))) == {"a:Ethernet0", "b:Ethernet0"}

    def test_each_is_pointed_at_in_its_own_section(self) -> None:
        report = checked(self.two("lc1", "lc1"))
        paths = [f.origin.path for f in report.findings if f.code == "WD003"]
        assert paths == [(f"asic{n}", "PFC_WD", "Ethernet0", "detection_time") for n in (0, 1)]
        assert report.files == 1

    def test_the_host_draws_nothing_for_the_ports_it_has_not(self) -> None:
        plain = {f.code for f in checked(WRONG).findings}
        sections = checked(self.two("lc1", "lc1")).findings
        assert {f.code for f in sections if f.origin.path[:1] == ("localhost",)} <= {NORMALISED}
        assert {f.code for f in sections} <= plain | {NORMALISED}

    def test_a_table_that_is_none_is_reported_at_its_place_and_the_rest_is_checked(self) -> None:
        text = '{"asic0": {"PORT": []},\n "asic1": {"PORT": {}, "QUEUE": "x"}}'
        report = lint_documents([load_text(text, "x.json")])
        assert [str(error) for error in report.errors] == [
            "x.json:1:20: PORT is a list, not a table of rows; it is not read",
            "x.json:2:33: QUEUE is a str, not a table of rows; it is not read",
        ]

    def test_in_a_dump_too(self) -> None:
        text = '{"PORT": [],\n "QUEUE|Ethernet0|3": {"scheduler": "x"}}'
        report = lint_documents([load_text(text, "x.json")])
        assert [str(error) for error in report.errors] == [
            "x.json:1:10: PORT is a list, not a table of rows; it is not read"
        ]

    def test_a_repeated_key_is_found_in_its_section(self) -> None:
        text = '{"asic0": {"PORT": {}}, "asic1": {"PORT": {"Ethernet0": {"mtu": "1", "mtu": "2"}}}}'
        found = [f for f in lint_documents([load_text(text, "x.json")]).findings if f.code == "CFG005"]
        assert [f.origin.path for f in found] == [("asic1", "PORT", "Ethernet0", "mtu")]

    def test_a_repeated_key_is_found_in_a_dump(self) -> None:
        text = '{"PORT|Ethernet0": {"mtu": "1", "mtu": "2"}, "PORT|Ethernet4": {}, "PORT|Ethernet4": {}}'
        found = [f for f in lint_documents([load_text(text, "x.json")]).findings if f.code == "CFG005"]
        assert [f.origin.path for f in found] == [("PORT|Ethernet0", "mtu"), ("PORT|Ethernet4",)]

    def test_files_of_a_folder_are_host_and_asics(self, tmp_path: Path) -> None:
        parts = self.two("lc1", "lc1")
        for number in (0, 1):
            parts[f"asic{number}"]["DEVICE_METADATA"]["localhost"]["sub_role"] = "FrontEnd"
        names = {"localhost": "config_db", "asic0": "config_db0", "asic1": "config_db1"}
        for section, data in parts.items():
            (tmp_path / f"{names[section]}.json").write_text(json.dumps(data))
        report = lint([tmp_path])
        assert self.devices(report) == {"lc1:asic0:Ethernet0", "lc1:asic1:Ethernet0"}
        assert {Path(f.origin.file).name for f in report.findings if f.code == "WD003"} == {
            "config_db0.json",
            "config_db1.json",
        }
        assert report.files == 3

    def test_numbered_files_of_devices_of_one_asic_are_what_they_say(self, tmp_path: Path) -> None:
        for number, name in enumerate(("leaf1", "leaf2")):
            (tmp_path / f"config_db{number}.json").write_text(json.dumps(self.two(name)["asic0"]))
        (tmp_path / "config_db.json").write_text(json.dumps(base()))
        assert self.devices(lint([tmp_path])) == {"leaf1:Ethernet0", "leaf2:Ethernet0"}


class TestOddValues:
    def test_numbers_are_read_as_text_and_counted(self) -> None:
        speeds = {port: {**row, "speed": int(row["speed"])} for port, row in base()["PORT"].items()}
        report = checked(base() | {"PORT": speeds})
        assert said(report) == said(checked(base()))
        (found,) = [f for f in report.findings if f.code == NORMALISED]
        assert (found.data["kind"], found.places) == ("numbers", 3)
        assert found.origin.path == ("PORT", "Ethernet0", "speed")

    @pytest.mark.parametrize("size", [" 64", "64 ", "\t64"])
    def test_blanks_around_a_number_are_a_finding_and_the_number_is_read(self, size: str) -> None:
        data = patched(base(), BUFFER_PROFILE={"egress_lossy_profile": {"pool": "x", "size": size}})
        assert {f.code for f in checked(data).findings} & {"CFG001", "SCM002"}

    @pytest.mark.parametrize(
        ("table", "key", "fields", "code"),
        [
            ("PFC_WD", "global", {"POLL_INTERVAL": "400"}, "SCM003"),
            ("PFC_WD", "ethernet0", {"detection_time": "400"}, "CFG008"),
            ("PORT_QOS_MAP", "GLOBAL", {"dscp_to_tc_map": "AZURE"}, "SWS010"),
            ("PORT_QOS_MAP", "Ethernet0", {"PFC_ENABLE": "3"}, "SCM001"),
            ("WRED_PROFILE", "AZURE_LOSSLESS", {"ECN": "ecn_all"}, "SCM001"),
            ("QUEUE", "Ethernet0|3", {"wred_profile": "azure_lossless"}, "CFG002"),
            ("port_qos_map", "Ethernet0", {"pfc_enable": "3"}, "SCM007"),
        ],
    )
    def test_the_case_of_names_is_not_fixed(
        self, table: str, key: str, fields: dict[str, str], code: str
    ) -> None:
        report = checked(patched(base(), **{table: {key: fields}}))
        assert code in {f.code for f in report.findings}
        assert remarks(report) == []

    def test_a_row_in_the_midst_can_be_wrapped(self) -> None:
        """As a row of ACL_TABLE is in the mock tables of sonic-utilities."""
        row = {"type": "hash", "value": base()["PFC_WD"]["Ethernet0"], "ttl": -0.001}
        (fabric,) = load_fabrics(
            [load_text(json.dumps(patched(base(), PFC_WD={"Ethernet0": row})), "x.json")]
        ).fabrics
        port = fabric.switches[0].ports[0]
        assert port.qos is not None
        assert port.qos.watchdog is not None
        assert port.qos.watchdog.detection_ms is not None

    def test_a_byte_order_mark_is_skipped_and_said(self, tmp_path: Path) -> None:
        path = tmp_path / "config_db.json"
        path.write_bytes(b"\xef\xbb\xbf" + json.dumps(WRONG).encode())
        report = lint([path])
        assert said(report) == said(checked(WRONG))
        assert remarks(report) == [("mark", 1)]

    @given(CONFIGS)
    def test_any_tables_say_the_same_as_a_dump_does(self, data: Config) -> None:
        rows = {
            table: {key: _fields(row) for key, row in found.items() if key and isinstance(row, dict)}
            for table, found in data.items()
            if isinstance(found, dict)
        }
        rows = {table: found for table, found in rows.items() if found}
        plain = checked(rows)
        assert said(checked(shapes.dump(rows))) == said(plain)
        assert said(checked(shapes.wrapped(rows))) == said(plain)

    @given(
        st.dictionaries(st.sampled_from(["localhost", "asic0", "PORT|Ethernet0", "x", "QUEUE|a|3"]), VALUES)
    )
    def test_anything_is_read_and_all_findings_can_be_shown(self, data: Config) -> None:
        for top in (data, [data], {"asic1": data}):
            report = checked(top)
            assert json.loads(json_text(report))["version"]


def _fields(row: Config) -> Config:
    """Return the fields of a row that redis can hold: texts, and lists of texts without commas."""

    def is_text(value: object) -> bool:
        return isinstance(value, str)

    return {
        name: value
        for name, value in row.items()
        if name not in ("NULL", "value", "")
        and not name.endswith("@")
        and (
            is_text(value)
            or (
                isinstance(value, list)
                and value
                and all(map(is_text, value))
                and not any("," in v for v in value)
            )
        )
    }

"""What SONiC's models refuse in a file: all of it, nothing else, and the same whatever came before."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.formats.sonic.validate import conformity
from lossless.formats.sonic.validate.checks import KEYED_CHECKS
from lossless.formats.sonic.validate.conformity import SchemaViolation, validate
from lossless.formats.sonic.validate.schema import _KEYED_CHECKS, ValueType, schema, table_schema
from tests.formats.sonic.devices import base
from tests.output.render.sonic_schema import violations

Config = dict[str, Any]
LATE = "version_202411_01"


def refused(data: Config) -> list[tuple[str, tuple[str, ...]]]:
    """Return what is refused in a file: the kind of each problem, and where."""
    return [(problem.flaw.kind, problem.path) for problem in validate(data).problems]


def messages(data: Config) -> list[str]:
    return [problem.flaw.message for problem in validate(data).problems]


def on_leaf(**tables: Any) -> Config:
    """Return a clean device with rows laid over its own."""
    data = base()
    for name, rows in tables.items():
        data[name] = {
            **data.get(name, {}),
            **{key: {**data.get(name, {}).get(key, {}), **row} for key, row in rows.items()},
        }
    return data


def cases(reference: Path) -> list[Config]:
    folder = reference / "corpus" / "rejected"
    found: list[Config] = []
    for name in ("cases.json", "accepted_cases.json"):
        found += json.loads((folder / name).read_text())
    return found


def corpus(reference: Path) -> Iterator[tuple[Config, Config]]:
    """Yield upstream's configurations with what is known of each."""
    for entry in json.loads((reference / "corpus" / "index.json").read_text()):
        yield entry, json.loads((reference / "corpus" / entry["file"]).read_text())


class TestAgainstUpstream:
    """The verdict of SONiC's own validator on the same files."""

    def test_its_own_test_cases(self, reference: Path) -> None:
        for case in cases(reference):
            problems = validate(case["config_db"]).problems
            assert bool(problems) == case["oracle_rejects"], (case["test"], problems)

    def test_probes_are_refused_where_they_were_changed(self, reference: Path) -> None:
        folder = reference / "corpus" / "probes"
        for probe in json.loads((folder / "index.json").read_text()):
            problems = validate(json.loads((folder / f"{probe['probe']}.json").read_text())).problems
            assert bool(problems) != probe["yang_accepts"], (probe["probe"], problems)
            tables = {path[0] for path in probe["changed"]}
            assert all(problem.table in tables for problem in problems), probe["probe"]

    def test_accepted_configurations_are_clean(self, reference: Path) -> None:
        accepted = [
            (e["file"], validate(data).problems) for e, data in corpus(reference) if e["yang_accepts"]
        ]
        assert len(accepted) > 20
        assert [found for found in accepted if found[1]] == []

    def test_every_error_of_a_brownfield_file_is_found(self, reference: Path) -> None:
        """Upstream stops at its first; errors counted one by one, in files that only break described tables."""
        counted = {
            "full/utils-db_migrator_input_config_db_acs-msn2700-t0-version_1_0_1.json": 268,
            "full/utils-db_migrator_input_config_db_acs-msn3700-t1-version_3_0_0.json": 315,
            "full/utils-db_migrator_input_config_db_mellanox-sn2700-c28d8-single-pool-t0-version_1_0_4.json": 240,
        }
        found = {e["file"]: (e["yang_errors"], data) for e, data in corpus(reference) if e["file"] in counted}
        assert {name: errors for name, (errors, _) in found.items()} == counted
        assert {name: len(validate(data).problems) for name, (_, data) in found.items()} == counted

    def test_an_independent_checker_finds_nothing_more(self, reference: Path) -> None:
        """Rows that the extracted models refuse are refused here too, in everything upstream ships and tests."""
        extracted = json.loads((reference / "facts" / "sonic-schema.json").read_text())
        # Only part of the fields of the first is described on either side; the other checker cannot read the second.
        del extracted["DEVICE_METADATA"], extracted["HIGH_FREQUENCY_TELEMETRY_GROUP"]
        files = [data for entry, data in corpus(reference) if entry["yang_accepts"] is not None]
        files += [case["config_db"] for case in cases(reference)]
        files += [json.loads(f.read_text()) for f in (reference / "corpus" / "probes").glob("[!i]*.json")]
        compared = 0
        for data in files:
            here = {"|".join(problem.path[:2]) for problem in validate(data).problems}
            lines = violations(extracted, as_text(data))
            # Which ports of a chassis need no lanes is beyond it.
            there = {line.split(": ")[0] for line in lines if not line.endswith(": lanes: missing")}
            compared += len(there)
            assert there - here == set()
        assert compared > 500


def as_text(data: Config) -> Config:
    """Return the tables of a file with their values as the independent checker reads them."""
    tables = {name: rows for name, rows in data.items() if isinstance(rows, dict)}
    return {
        name: {key: texts(row) for key, row in rows.items() if isinstance(row, dict)}
        for name, rows in tables.items()
    }


def texts(row: Config) -> Config:
    return {k: ",".join(map(str, v)) if isinstance(v, list) else str(v) for k, v in row.items()}


class TestValues:
    @pytest.mark.parametrize(
        ("patch", "expected"),
        [
            ({"PORT": {"Ethernet4": {"mtu": 9216}}}, []),
            ({"PORT": {"Ethernet4": {"mtu": "9217"}}}, ["mtu '9217' is not a whole number from 68 to 9,216"]),
            (
                {"PORT": {"Ethernet4": {"mtu": "9_100"}}},
                ["mtu '9_100' is not a whole number from 68 to 9,216"],
            ),
            ({"PORT": {"Ethernet4": {"mtu": "٩٠٠٠"}}}, ["mtu '٩٠٠٠' is not a whole number from 68 to 9,216"]),
            ({"PORT": {"Ethernet4": {"mtu": "67"}}}, ["mtu '67' is not a whole number from 68 to 9,216"]),
            ({"PORT": {"Ethernet4": {"mtu": "68"}}}, []),
            ({"PORT": {"Ethernet4": {"mtu": ""}}}, ["mtu '' is not a whole number from 68 to 9,216"]),
            ({"PORT": {"Ethernet4": {"mux_cable": "true"}}}, []),
            ({"PORT": {"Ethernet4": {"mux_cable": True}}}, ["mux_cable JSON true is not true or false"]),
            ({"PORT": {"Ethernet4": {"mux_cable": "True"}}}, ["mux_cable 'True' is not true or false"]),
            ({"PORT": {"Ethernet4": {"alias": ["a"]}}}, ["alias is a list, not 1 to 128 characters"]),
            ({"PORT": {"Ethernet4": {"adv_speeds": ["100000", "50000"]}}}, []),
            ({"PORT": {"Ethernet4": {"adv_speeds": "100000, 50000"}}}, []),
            ({"PORT": {"Ethernet4": {"NULL": "NULL"}}}, []),
            ({"DSCP_TO_TC_MAP": {"AZURE": {"08": "1"}}}, ["entry '08' is not 0 to 63 without leading zeros"]),
            ({"DSCP_TO_TC_MAP": {"AZURE": {"8": "15"}}}, []),
            ({"DSCP_TO_TC_MAP": {"AZURE": {"8": "16"}}}, ["'16' is not a whole number from 0 to 15"]),
            (
                {"WRED_PROFILE": {"x": {"ecn": "ecn_al"}}},
                [
                    "ecn 'ecn_al' is not ecn_none, ecn_green, ecn_yellow, ecn_red, ecn_green_yellow, "
                    "ecn_green_red, ecn_yellow_red or ecn_all"
                ],
            ),
            (
                {"SCHEDULER": {"x": {"weight": "9" * 5000}}},
                [f"weight '{'9' * 60}...' is not a whole number from 1 to 100"],
            ),
        ],
        ids=lambda value: repr(value)[:60],
    )
    def test_types_ranges_and_words(self, patch: Config, expected: list[str]) -> None:
        assert messages(on_leaf(**patch)) == expected

    def test_the_number_one_found_good_does_not_make_true_good(self) -> None:
        def port(value: object) -> Config:
            return on_leaf(PORT={"Ethernet4": {"subport": value}})

        assert refused(port(1)) == refused(port("1")) == []
        assert refused(port(True)) == [("value", ("PORT", "Ethernet4", "subport"))]


class TestConstraints:
    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            ({"cir": "2", "pir": "2"}, []),
            ({"cir": "2", "pir": "1"}, ["pir 1 is below cir 2"]),
            ({"pir": "1"}, ["pir is accepted only beside cir above 0"]),
            ({"cir": "0", "pir": "1"}, ["pir is accepted only beside cir above 0"]),
            ({"cir": "x", "pir": "1"}, ["cir 'x' is not a whole number of 0 or more"]),
            ({"cir": "1", "pir": "1", "cbs": "8", "pbs": "8"}, []),
            ({"cir": "1", "pir": "1", "cbs": "8", "pbs": "7"}, ["pbs 7 is below cbs 8"]),
            ({"cir": "1", "pir": "1", "pbs": "7"}, []),
        ],
        ids=repr,
    )
    def test_rates_of_a_scheduler(self, row: Config, expected: list[str]) -> None:
        assert messages({"SCHEDULER": {"x": row}}) == expected

    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            ({"red_min_threshold": "5", "red_max_threshold": "5"}, []),
            ({"red_min_threshold": "5"}, []),
            ({"red_max_threshold": "5"}, ["red_max_threshold is accepted only beside red_min_threshold"]),
            (
                {"red_min_threshold": "6", "red_max_threshold": "5"},
                ["red_max_threshold 5 is below red_min_threshold 6"],
            ),
        ],
        ids=repr,
    )
    def test_thresholds_of_wred(self, row: Config, expected: list[str]) -> None:
        assert messages({"WRED_PROFILE": {"x": row}}) == expected

    @pytest.mark.parametrize(
        ("shared", "expected"),
        [
            ({"POLL_INTERVAL": "400"}, []),
            ({"POLL_INTERVAL": "401"}, ["detection_time 400 ms is below POLL_INTERVAL 401 ms"]),
            ({}, ["timers are accepted only beside a POLL_INTERVAL in PFC_WD|GLOBAL"]),
            ({"POLL_INTERVAL": "x"}, ["POLL_INTERVAL 'x' is not a whole number from 100 to 1,000"]),
            (None, []),
        ],
        ids=repr,
    )
    def test_timers_of_the_watchdog(self, shared: Config | None, expected: list[str]) -> None:
        rows = {"Ethernet0": {"detection_time": "400"}, **({} if shared is None else {"GLOBAL": shared})}
        port = {"Ethernet0": {"lanes": "1", "speed": "100000"}}
        assert sorted(messages({"PORT": port, "PFC_WD": rows})) == expected

    def test_a_pool_by_percentage_needs_the_dynamic_model(self) -> None:
        pool = {"BUFFER_POOL": {"p": {"type": "ingress", "mode": "dynamic", "percentage": "90"}}}
        dynamic = {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}
        static: Config = {"DEVICE_METADATA": {"localhost": {}}}
        assert refused(pool) == refused(pool | dynamic) == []
        assert refused(pool | static) == [("constraint", ("BUFFER_POOL", "p", "percentage"))]

    def test_ports_of_a_chassis_supervisor_need_no_lanes(self) -> None:
        def port(**localhost: str) -> Config:
            return {"DEVICE_METADATA": {"localhost": localhost}, "PORT": {"Ethernet0": {"speed": "1"}}}

        assert refused(port(switch_type="voq")) == []
        assert refused(port(switch_type="voq", asic_name="asic0")) == [("missing", ("PORT", "Ethernet0"))]
        assert refused(port(switch_type="npu")) == [("missing", ("PORT", "Ethernet0"))]

    def test_thresholds_of_crm(self) -> None:
        def crm(kind: str, high: str, low: str) -> Config:
            names = ("threshold_type", "high_threshold", "low_threshold")
            row = {f"acl_group_{n}": v for n, v in zip(names, (kind, high, low), strict=True)}
            return {"CRM": {"Config": row}}

        assert refused(crm("percentage", "85", "70")) == refused(crm("used", "850", "70")) == []
        assert refused(crm("percentage", "100", "70")) == [
            ("constraint", ("CRM", "Config", "acl_group_threshold_type"))
        ]
        assert refused(crm("free", "70", "70")) == [
            ("constraint", ("CRM", "Config", "acl_group_high_threshold"))
        ]


class TestKeysAndReferences:
    @pytest.mark.parametrize(
        ("key", "expected"),
        [
            ("Ethernet4|0-2", []),
            ("Ethernet4|8", ["key"]),
            ("Ethernet4", ["key"]),
            ("Ethernet4|3|4", ["key"]),
            ("Ethernet5|3", ["reference"]),
            ("Ethernet0,Ethernet4|3", ["key"]),
        ],
    )
    def test_keys_of_priority_groups(self, key: str, expected: list[str]) -> None:
        data = on_leaf(BUFFER_PG={key: {"profile": "NULL"}})
        assert [kind for kind, path in refused(data)] == expected

    def test_queues_of_a_voq_chassis_have_four_parts(self) -> None:
        def queue(key: str, switch_type: str) -> list[str]:
            local = {"switch_type": switch_type, "hostname": "lc1", "asic_name": "asic0"}
            data = {"DEVICE_METADATA": {"localhost": local}, "PORT": {}, "QUEUE": {key: {}}}
            return [kind for kind, _ in refused(data)]

        assert queue("lc2|asic0|Ethernet8|3", "voq") == []
        assert queue("lc1|asic0|Ethernet8|3", "voq") == ["reference"]
        assert queue("lc2|asic0|Ethernet8|3", "npu") == ["key"]
        assert queue("CPU|3", "npu") == []
        assert queue("CPU|3", "voq") == ["key"]

    def test_what_was_found_good_is_refused_once_its_target_is_gone(self) -> None:
        assert refused(base()) == []
        data = base()
        del data["PORT"]["Ethernet8"]
        kinds = {kind for kind, _ in refused(data)}
        assert kinds == {"reference"}

    def test_old_brackets_lead_nowhere(self) -> None:
        data = on_leaf(BUFFER_PG={"Ethernet4|3": {"profile": "[BUFFER_PROFILE|x]"}})
        assert refused(data) == [("reference", ("BUFFER_PG", "Ethernet4|3", "profile"))]

    @pytest.mark.parametrize("rows", ["text", [], None, 3])
    def test_what_is_no_row_is_a_problem_of_its_key(self, rows: object) -> None:
        assert refused({"SCHEDULER": {"x": rows}}) == [("key", ("SCHEDULER", "x"))]

    def test_what_is_no_table_is_left_to_the_reader(self) -> None:
        assert validate({"SCHEDULER": "text", "PORT": []}).problems == ()


class TestReleases:
    def poll(self, version: str | None, poll: str) -> list[SchemaViolation]:
        versions = {"VERSIONS": {"DATABASE": {"VERSION": version}}} if version else {}
        return list(validate({"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": poll}}, **versions}).problems)

    def test_a_range_that_only_older_releases_have(self) -> None:
        assert self.poll("version_202405_01", "3000") == []
        (found,) = self.poll(None, "3000")
        assert (found.flaw.kind, found.flaw.sure) == ("release", False)
        assert found.flaw.message == (
            "POLL_INTERVAL '3000' is not a whole number from 100 to 1,000 as master wants it; "
            "the models of 202305 to 202505 accept it"
        )
        assert "25033" in found.flaw.note

    def test_what_every_release_refuses(self) -> None:
        for version in (None, "version_202405_01", "version_202505_01", "version_3_0_5"):
            (found,) = self.poll(version, "3001")
            assert found.flaw.kind == "value"

    def test_a_field_that_came_later(self) -> None:
        for version, kinds in ((None, []), ("version_202605_01", []), (LATE, ["release"])):
            versions = {"VERSIONS": {"DATABASE": {"VERSION": version}}} if version else {"VERSIONS": {}}
            data = {**on_leaf(PORT={"Ethernet4": {"fast_linkup": "true"}}), **versions}
            assert [kind for kind, _ in refused(data)] == kinds

    def test_branches_that_were_read_have_what_they_have(self) -> None:
        assert self.poll("version_202505_01", "3000") == []
        (found,) = self.poll("version_202511_01", "3000")
        assert found.flaw.kind == "release"
        for version, kinds in (("version_202505_01", []), ("version_202511_01", ["release"])):
            data = {
                **on_leaf(PORT={"Ethernet4": {"subport": "9"}}),
                "VERSIONS": {"DATABASE": {"VERSION": version}},
            }
            assert [kind for kind, _ in refused(data)] == kinds

    def test_a_table_and_a_row_that_came_later(self) -> None:
        data = base()
        data["SWITCH_TRIMMING"] = {"GLOBAL": {"size": "128"}}
        data["FLEX_COUNTER_TABLE"] = {"PORT_PHY_ATTR": {"FLEX_COUNTER_STATUS": "enable"}}
        assert sorted(refused(data)) == [
            ("release", ("FLEX_COUNTER_TABLE", "PORT_PHY_ATTR")),
            ("release", ("SWITCH_TRIMMING",)),
        ]
        assert len(refused(data)) == len(refused(data))

    def test_every_difference_names_its_source(self) -> None:
        own = schema()
        text = json.dumps(own.data["tables"]) + json.dumps(own.data["older_tables"])
        assert all(f'"{name}"' in text for name in own.sources)
        assert set(own.data["read"]) == set(own.releases)


class TestTables:
    def test_tables_without_a_model_are_named(self) -> None:
        data = {"TC_TO_DOT1P_MAP": {}, "PORTS": {}, "VLAN": {"Vlan1": {"x": "y"}}, "PORT": {}}
        found = validate(data)
        assert found.unknown_tables == ("PORTS", "TC_TO_DOT1P_MAP")
        assert found.problems == ()

    def test_every_described_table_can_be_checked_by_every_release(self) -> None:
        for table in schema().tables:
            for release in (None, *schema().releases):
                found = table_schema(table, release)
                assert found is not None
                assert found.rows or found.lists

    def test_everything_that_was_extracted_is_described(self, reference: Path) -> None:
        extracted = json.loads((reference / "facts" / "sonic-schema.json").read_text())
        modelled = {name for name, entry in extracted.items() if entry.get("children")}
        assert modelled <= set(schema().tables)
        for name in modelled:
            for child in extracted[name]["children"].values():
                assert fields_of(child) <= known_fields(name), name


def fields_of(child: Config) -> set[str]:
    return set() if child.get("children") else set(child["fields"]) - set(child.get("key", ()))


def known_fields(table: str) -> set[str]:
    found = table_schema(table, None)
    assert found is not None
    return {name for shape in (*found.rows.values(), *found.lists) for name in shape.fields}


class TestMemory:
    """What was found good is remembered: a second file of the kind costs lookups, and gets the same verdict."""

    def test_a_file_found_good_is_not_checked_row_by_row_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert validate(base()).problems == ()
        monkeypatch.setattr(conformity, "_TableValidator", None)
        assert validate(base()).problems == ()

    def test_upstream_files_as_well(self, reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        clean = [data for entry, data in corpus(reference) if entry["yang_accepts"]]
        for data in clean:
            validate(data)
        checked = []

        class Seen(conformity._TableValidator):
            def problems(self, rows: Any) -> Iterator[SchemaViolation]:
                checked.append(self.name)
                return super().problems(rows)

        monkeypatch.setattr(conformity, "_TableValidator", Seen)
        for data in clean:
            assert validate(data).problems == ()
        # One row of null values and rows with lists of routes, which are never remembered.
        assert set(checked) == {"DEVICE_METADATA", "MGMT_INTERFACE"}

    def test_no_file_checked_before_changes_a_verdict(self, reference: Path) -> None:
        files = [case["config_db"] for case in cases(reference)]
        expected = []
        for data in files:
            conformity._accepted.clear()
            expected.append(validate(data))
        random.Random(3).shuffle(order := list(range(len(files))))
        assert all(validate(files[number]) == expected[number] for number in order)

    def test_memory_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(conformity, "_MOST_CONTEXTS", 3)
        conformity._accepted.clear()
        for number in range(9):
            validate({"DEVICE_METADATA": {"localhost": {"buffer_model": f"model{number}"}}})
            assert 1 <= len(conformity._accepted) <= 3

    def test_switches_of_one_fabric_share_it(self) -> None:
        conformity._accepted.clear()
        for number in range(9):
            validate(
                on_leaf(
                    DEVICE_METADATA={
                        "localhost": {"hostname": f"leaf{number}", "mac": f"00:00:00:00:00:0{number}"}
                    }
                )
            )
        assert len(conformity._accepted) == 1


def mutable(data: Config) -> list[tuple[str, str, str]]:
    """Return the fields of a file of which no text at all would do."""
    found = []
    for table, rows in data.items():
        described = table_schema(table, "202411")
        for key, row in rows.items():
            if described is None:
                continue
            shape = described.rows.get(key) or described.lists[0]
            for name in row:
                kind = (
                    shape.entries[1]
                    if shape.entries
                    else shape.fields[name].type
                    if name in shape.fields
                    else None
                )
                if kind and strict(kind):
                    found.append((table, key, name))
    return found


def strict(kind: ValueType) -> bool:
    return all(arm.kind != "text" for arm in kind.arms)


@given(st.data())
def test_one_field_mutated_in_a_valid_file_is_refused_once(data: st.DataObject) -> None:
    config = base()
    # What other rows are checked by; a device of an unknown kind is another device.
    fields = [path for path in mutable(config) if path[0] not in {"VERSIONS", "DEVICE_METADATA"}]
    assert len(fields) > 100
    table, key, name = data.draw(st.sampled_from(fields))
    config[table][key][name] = data.draw(st.sampled_from(["no such value!", "-1000", "[x|y]", "1.5.", True]))
    (found,) = validate(config).problems
    assert found.path == (table, key, name)


@given(st.randoms(use_true_random=False))
def test_no_order_of_keys_changes_what_is_refused(source: random.Random) -> None:
    data = on_leaf(
        PORT={"Ethernet4": {"mtu": "1", "fec": "all", "colour": "red"}},
        BUFFER_PG={"Ethernet9|3": {"profile": "none"}},
        SCHEDULER={"x": {"pir": "1", "cbs": "1", "weight": "0"}},
    )
    assert sorted(validate(shuffled(data, source)).problems) == sorted(validate(data).problems)


def shuffled(value: Any, source: random.Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    source.shuffle(keys)
    return {key: shuffled(value[key], source) for key in keys}


class TestManagement:
    """A whole file is refused for its management and AAA rows as well (sonic-mgmt_interface.yang, sonic-system-aaa.yang
    @086b03b)."""

    def said(self, **tables: Any) -> list[str]:
        data = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}, "PORT": {}, **tables}
        return [f"{'|'.join(problem.path)}: {problem.flaw.message}" for problem in validate(data).problems]

    def test_an_interface_has_a_port(self) -> None:
        rows = {"eth0|10.10.0.11/20": {"gwaddr": "10.10.0.1"}}
        assert len(self.said(MGMT_INTERFACE=rows)) == 1
        assert self.said(MGMT_INTERFACE=rows, MGMT_PORT={"eth0": {"alias": "eth0"}}) == []

    def test_tacacs_has_a_passkey(self) -> None:
        rows = {"authentication": {"login": "local,tacacs+"}}
        assert self.said(AAA=rows) == [
            "AAA|authentication|login: login local,tacacs+ is accepted only beside TACPLUS|global|passkey"
        ]
        assert self.said(AAA=rows, TACPLUS={"global": {"passkey": "secret"}}) == []
        assert self.said(AAA={"authentication": {"login": "local"}}) == []

    def test_a_row_that_was_accepted_beside_a_passkey_is_refused_without_it(self) -> None:
        rows = {"authentication": {"login": "tacacs+"}}
        assert self.said(AAA=rows, TACPLUS={"global": {"passkey": "secret"}}) == []
        assert len(self.said(AAA=rows)) == 1

    def test_each_check_that_depends_on_the_key_of_a_row_keeps_it_from_being_known_by_its_fields(
        self,
    ) -> None:
        assert KEYED_CHECKS.keys() == _KEYED_CHECKS


@pytest.mark.parametrize("table", ["BUFFER_PG", "BUFFER_QUEUE"])
@pytest.mark.parametrize("row", [{}, {"NULL": "NULL"}])
def test_a_group_or_queue_names_a_profile(table: str, row: Config) -> None:
    """Without one the default, "0", names no profile (sonic-buffer-pg.yang, sonic-buffer-queue.yang @086b03b)."""
    ports = {"Ethernet0": {"lanes": "1", "alias": "e0", "speed": "100000"}}
    found = validate({"PORT": ports, table: {"Ethernet0|3": row}}).problems
    assert [(problem.path, problem.flaw.message) for problem in found] == [
        ((table, "Ethernet0|3"), "profile is missing")
    ]


def blank(table: str, key: str, row: Config) -> list[tuple[str, tuple[str, ...]]]:
    """Return what is refused where a key of a table has a blank beside it."""
    ports = {"Ethernet0": {"lanes": "1", "alias": "e0", "speed": "100000"}}
    pools = {"p": {"type": "ingress", "mode": "dynamic", "size": "1000"}}
    profiles = {"b": {"pool": "p", "size": "0", "dynamic_th": "0"}}
    tables: Config = {"PORT": ports, "BUFFER_POOL": pools, "BUFFER_PROFILE": profiles}
    return refused({**tables, table: {**tables.get(table, {}), key: row}})


@pytest.mark.parametrize(
    ("table", "key", "row"),
    [
        ("BUFFER_PG", "Ethernet0|3 ", {"profile": "b"}),
        ("BUFFER_PG", "Ethernet0| 3", {"profile": "b"}),
        ("BUFFER_PG", "Ethernet0 |3", {"profile": "b"}),
        ("PORT_QOS_MAP", "Ethernet0 ", {"pfc_enable": "3"}),
        ("DSCP_TO_TC_MAP", "AZ ", {"3": "0"}),
        ("WRED_PROFILE", "W ", {"ecn": "ecn_none"}),
        ("CABLE_LENGTH", "AZ ", {"Ethernet0": "5m"}),
    ],
)
def test_blanks_around_the_parts_of_a_key_are_none_to_the_models(table: str, key: str, row: Config) -> None:
    """sonic-yang-mgmt strips them (sonic_yang_ext.py @086b03b); its validator accepts each of these."""
    assert blank(table, key, row) == []


def test_blanks_around_entries_count_and_around_a_second_row_of_one_name() -> None:
    """The same validator refuses these: a port in CABLE_LENGTH, a DSCP, and a duplicate instance."""
    assert blank("CABLE_LENGTH", "AZ", {"Ethernet0 ": "5m"}) == [
        ("reference", ("CABLE_LENGTH", "AZ", "Ethernet0 "))
    ]
    assert blank("DSCP_TO_TC_MAP", "AZ", {"3 ": "0"}) == [("value", ("DSCP_TO_TC_MAP", "AZ", "3 "))]
    pool = {"type": "ingress", "mode": "dynamic", "size": "1000"}
    for _ in range(2):
        assert blank("BUFFER_POOL", "p ", pool) == [("key", ("BUFFER_POOL", "p "))]


def test_a_row_is_named_without_the_blank_of_its_key() -> None:
    profiles = {"b ": {"pool": "p", "size": "0", "dynamic_th": "0"}}
    assert blank("BUFFER_PG", "Ethernet0|3", {"profile": "b"}) == []
    ports = {"Ethernet0": {"lanes": "1", "alias": "e0", "speed": "100000"}}
    pools = {"p": {"type": "ingress", "mode": "dynamic", "size": "1000"}}
    rows = {"Ethernet0|3": {"profile": "b"}}
    assert refused({"PORT": ports, "BUFFER_POOL": pools, "BUFFER_PROFILE": profiles, "BUFFER_PG": rows}) == []


def test_a_word_that_several_begin_with_is_not_guessed() -> None:
    (found,) = validate(on_leaf(DEVICE_METADATA={"localhost": {"type": "Spine"}})).problems
    assert found.flaw.help == "accepted are 'SpineChassisFrontendRouter', 'SpineRouter' and 'SpineTs'"
    (found,) = validate(on_leaf(DEVICE_METADATA={"localhost": {"type": "LeafRuoter"}})).problems
    assert found.flaw.help == "'LeafRouter' is the nearest value that is accepted"


@pytest.mark.parametrize(
    ("asns", "good"), [(["65001", "65002"], True), (["65001", "x"], False), ("abc", False)]
)
def test_numbers_of_a_group_of_autonomous_systems_are_numbers(asns: object, good: bool) -> None:
    """t2_group_asns is a list of inet:as-number (sonic-device_metadata.yang @086b03b)."""
    data = base()
    data["DEVICE_METADATA"]["localhost"]["t2_group_asns"] = asns
    assert (refused(data) == []) is good


@pytest.mark.parametrize(
    ("speeds", "good"),
    [
        ("40000,100000", True),
        ("40000,", True),
        ("", True),
        ("40000,40000", False),
        (["40000", "40000"], False),
    ],
)
def test_a_list_has_each_value_once_and_nothing_between_two_commas(speeds: object, good: bool) -> None:
    data = base()
    next(iter(data["PORT"].values()))["adv_speeds"] = speeds
    assert (refused(data) == []) is good

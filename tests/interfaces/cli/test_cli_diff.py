"""``lossless diff``: drift in words, as data and as a patch; nothing that could not be applied is written."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from tests.interfaces.cli.conftest import Cli
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"
INTENT = str(EXAMPLE / "fabric.yaml")
Data = dict[str, Any]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Data:
    from lossless.api import render

    folder = tmp_path_factory.mktemp("rendered")
    render(EXAMPLE, folder, base_dir=EXAMPLE / "base")
    found: Data = json.loads((folder / "leaf1" / "config_db.json").read_text())
    return found


@pytest.fixture(autouse=True)
def _wide(wide: Cli) -> None:
    """Compare whole lines."""


@pytest.fixture
def running(rendered: Data) -> Data:
    return copy.deepcopy(rendered)


def write(data: Data) -> str:
    Path("config_db.json").write_text(json.dumps(data, indent=4))
    return "config_db.json"


def test_a_switch_that_runs_its_intent_has_no_drift(cli: Cli, running: Data) -> None:
    outcome = cli("diff", write(running), INTENT)
    assert outcome == (0, "", f"leaf1 is configured as {INTENT} declares\n")


def test_what_only_a_name_differs_in_is_no_drift(cli: Cli, running: Data) -> None:
    running["SCHEDULER"]["scheduler.9"] = running["SCHEDULER"].pop("scheduler.rdma")
    for row in running["QUEUE"].values():
        row.update({"scheduler": "scheduler.9"} if row["scheduler"] == "scheduler.rdma" else {})
    outcome = cli("diff", write(running), INTENT)
    assert (outcome.code, outcome.out) == (0, "")


def test_lossless_groups_that_the_switch_generates_itself_are_no_drift(cli: Cli, running: Data) -> None:
    """sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b makes them of speed, cable and pfc_enable."""
    for table in ("BUFFER_PG", "BUFFER_PROFILE"):
        running[table] = {
            key: row
            for key, row in running[table].items()
            if not (key.startswith("pg_lossless") or str(row.get("profile")).startswith("pg_lossless"))
        }
    outcome = cli("diff", write(running), INTENT)
    assert (outcome.code, outcome.out) == (0, "")


def test_drift_is_told_in_words_identical_rows_in_one_line(cli: Cli, running: Data) -> None:
    running["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"]["dynamic_th"] = "3"
    for port in range(4, 44, 4):
        running["CABLE_LENGTH"]["AZURE"][f"Ethernet{port}"] = "40m"
    running["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"
    running["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = 200
    running["QUEUE"]["Ethernet8|7"] = {"scheduler": "old"}
    del running["SCHEDULER"]["scheduler.cnp"]
    running["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "1048576"
    running["WRED_PROFILE"]["AZURE_LOSSLESS"]["weight"] = "1"
    outcome = cli("diff", write(running), INTENT)
    assert outcome.out.splitlines() == [
        "BUFFER_PROFILE|pg_lossless_400000_5m_profile: dynamic_th (exponent of alpha) is 3 (alpha 8); "
        "the intent says 0 (alpha 1)",
        "CABLE_LENGTH|AZURE: Ethernet4, Ethernet8, Ethernet12, Ethernet16 and 6 more have 40m; the intent says 5m",
        "DSCP_TO_TC_MAP|AZURE: DSCP 26 goes to TC 0; the intent says TC 3",
        "PFC_WD|GLOBAL: POLL_INTERVAL (poll) is 200 ms; the intent says 600 ms",
        "QUEUE|Ethernet8|7: only on the device (scheduler old)",
        "SCHEDULER|scheduler.cnp: missing on the device (type STRICT)",
        "WRED_PROFILE|AZURE_LOSSLESS: green_min_threshold (Kmin) is 1,048,576 B; the intent says 819,200 B",
        "WRED_PROFILE|AZURE_LOSSLESS: weight is 1; the intent does not set it",
    ]
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        f"leaf1 differs from {INTENT} in 7 rows",
        "no patch: the change needs a reload",
        "  WRED_PROFILE|AZURE_LOSSLESS|weight: the updater of 202411 does not permit removing this field",
        "  QUEUE|Ethernet0|6|scheduler, QUEUE|Ethernet4|6|scheduler, QUEUE|Ethernet8|6|scheduler, "
        "QUEUE|Ethernet12|6|scheduler and 44 more: the updater checks the whole current configuration by SONiC's "
        "models, which refuse it: 'scheduler.cnp' is named, and SCHEDULER has no such row",
        "  QUEUE|Ethernet8|7|scheduler: the updater checks the whole current configuration by SONiC's models, "
        "which refuse it: 'old' is named, and SCHEDULER has no such row",
        "  WRED_PROFILE|AZURE_LOSSLESS|weight: the updater checks the whole current configuration by SONiC's models, "
        "which refuse it: has no field weight",
    ]


def test_the_same_on_many_rows_is_one_line(cli: Cli, running: Data) -> None:
    for port in range(0, 24, 4):
        running["QUEUE"][f"Ethernet{port}|3"] = {"scheduler": "scheduler.cnp"}
    outcome = cli("diff", write(running), INTENT)
    first = outcome.out.splitlines()[0]
    assert first.startswith(
        "QUEUE|Ethernet0|3, Ethernet4|3, Ethernet8|3, Ethernet12|3 and 2 more: scheduler is "
    )
    assert outcome.err.splitlines()[-1] == (
        "a patch brings it there; the updater takes 6 ports down on the way"
    )


def brackets(running: Data) -> None:
    for fields in running["BUFFER_PG"].values():
        fields["profile"] = f"[BUFFER_PROFILE|{fields['profile']}]"


def joined_keys(running: Data) -> None:
    running["QUEUE"]["Ethernet0,Ethernet4|3"] = running["QUEUE"].pop("Ethernet0|3")
    del running["QUEUE"]["Ethernet4|3"]


@pytest.mark.parametrize(
    ("spell", "why"),
    [
        (brackets, "rows are named in brackets, the form of before 202111"),
        (joined_keys, "the key names several ports at once"),
    ],
)
def test_an_old_spelling_is_no_drift_and_no_patch_fixes_it(
    cli: Cli, running: Data, spell: Callable[[Data], None], why: str
) -> None:
    """The updater loads the current configuration into SONiC's models before it orders its steps."""
    spell(running)
    outcome = cli("diff", write(running), INTENT, "--patch", "patch.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "are only spelled in an old form\nno patch: the change needs a reload\n" in outcome.err
    assert outcome.err.endswith(f"whole current configuration by SONiC's models, which refuse it: {why}\n")
    assert not Path("patch.json").exists()


def test_a_number_that_is_no_text_is_no_drift_and_the_patch_fixes_it(
    cli: Cli, running: Data, rendered: Data
) -> None:
    running["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = 600
    outcome = cli("diff", write(running), INTENT, "--patch", "patch.json")
    assert (outcome.code, outcome.out) == (0, "")
    assert "are only spelled in an old form" in outcome.err
    patch = jsonpatch.JsonPatch.from_string(Path("patch.json").read_text())
    assert patch.apply(running) == rendered


def test_a_patch_is_written_where_the_updater_permits_it(cli: Cli, running: Data, rendered: Data) -> None:
    running["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "1"
    outcome = cli("diff", write(running), INTENT, "--patch", "patch.json")
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == "a patch brings it there, and no port goes down"
    text = Path("patch.json").read_text()
    assert text == (
        '[\n  {"op": "replace", "path": "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "value": "819200"}\n]\n'
    )
    assert jsonpatch.JsonPatch.from_string(text).apply(running) == rendered
    assert cli("diff", "config_db.json", INTENT, "--format", "patch").out == text


@pytest.mark.parametrize("options", [("--patch", "patch.json"), ("--format", "patch")])
def test_no_patch_is_written_where_the_updater_refuses(
    cli: Cli, running: Data, options: tuple[str, ...]
) -> None:
    running["BUFFER_POOL"]["ingress_lossless_pool"]["mode"] = "static"
    outcome = cli("diff", write(running), INTENT, *options)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-2:] == [
        "no patch: the change needs a reload",
        "  BUFFER_POOL|ingress_lossless_pool|mode: the updater of 202411 does not permit changing this field",
    ]
    assert not Path("patch.json").exists()


def test_a_device_whose_release_is_unknown_gets_no_patch(cli: Cli, running: Data) -> None:
    del running["VERSIONS"]
    running["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"
    outcome = cli("diff", write(running), INTENT)
    assert outcome.err.splitlines()[-1] == (
        "  DSCP_TO_TC_MAP|AZURE|26: the release of the device is not known, and so not what its updater permits; "
        "state sonic.release in the intent"
    )
    assert outcome.code == 1


def test_json_has_every_field_and_the_patch(cli: Cli, running: Data) -> None:
    running["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "1"
    running["QUEUE"]["Ethernet8|7"] = {}
    outcome = cli("diff", write(running), INTENT, "--format", "json")
    assert (outcome.code, outcome.err) == (1, "")
    assert json.loads(outcome.out) == {
        "version": 1,
        "device": "leaf1",
        "file": "config_db.json",
        "intent": INTENT,
        "drift": [
            {"table": "QUEUE", "key": "Ethernet8|7", "field": None, "before": "", "after": None},
            {
                "table": "WRED_PROFILE",
                "key": "AZURE_LOSSLESS",
                "field": "green_min_threshold",
                "before": "1",
                "after": "819200",
            },
        ],
        "change": {"how": "patch", "ports_down": ["Ethernet8"], "why": [], "harms": []},
        "patch": [
            {
                "op": "replace",
                "path": "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold",
                "value": "819200",
            },
            {"op": "remove", "path": "/QUEUE/Ethernet8|7"},
        ],
        "not_compared": [],
        "errors": [],
    }


def test_a_file_that_a_render_would_refuse_is_compared_and_gets_no_patch(cli: Cli, running: Data) -> None:
    running["PORT"]["Ethernet0"]["speed"] = "100000"
    running["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"
    outcome = cli("diff", write(running), INTENT, "--patch", "patch.json")
    assert outcome.out == "DSCP_TO_TC_MAP|AZURE: DSCP 26 goes to TC 0; the intent says TC 3\n"
    assert outcome.err == "config_db.json: PORT: speed is 100000 on Ethernet0; the intent makes it 400000\n"
    assert (outcome.code, Path("patch.json").exists()) == (2, False)


def test_the_device_is_the_one_that_the_file_names_or_that_is_named(cli: Cli, running: Data) -> None:
    running["DEVICE_METADATA"]["localhost"]["hostname"] = "sonic"
    outcome = cli("diff", write(running), INTENT)
    assert (outcome.code, outcome.err) == (
        2,
        "config_db.json: is the file of 'sonic', and the intent has no such switch; there are spine1, spine2, "
        "leaf1, leaf2; name one with --device\n",
    )
    assert cli("diff", "config_db.json", INTENT, "--device", "leaf1").code == 0
    wrong = cli("diff", "config_db.json", INTENT, "--device", "leaf11")
    assert (
        wrong.err
        == "config_db.json: the intent has no switch 'leaf11'; did you mean leaf1? (others: leaf2, spine1, spine2)\n"
    )
    del running["DEVICE_METADATA"]["localhost"]["hostname"]
    assert "does not say whose it is" in cli("diff", write(running), INTENT).err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "config_db.json:1:2: "),
        ("[]", "config_db.json:1:1: "),
    ],
)
def test_a_file_that_cannot_be_read_is_no_traceback(cli: Cli, text: str, message: str) -> None:
    Path("config_db.json").write_text(text)
    outcome = cli("diff", "config_db.json", INTENT)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(message)


def test_a_dump_of_redis_is_read_as_what_it_means(cli: Cli, running: Data) -> None:
    dump = {
        f"{table}|{key}": row or {"NULL": "NULL"}
        for table, rows in running.items()
        for key, row in rows.items()
    }
    dump["WRED_PROFILE|AZURE_LOSSLESS"]["green_min_threshold"] = "1"
    outcome = cli("diff", write(dump), INTENT, "--format", "patch")
    assert json.loads(outcome.out) == [
        {"op": "replace", "path": "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "value": "819200"}
    ]
    assert outcome.code == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"localhost": {"PORT": {}}, "asic0": {"PORT": {}}},
            "holds the configurations of 2 devices or ASICs",
        ),
        ({"name": "web app"}, "holds no configuration of a device"),
    ],
)
def test_a_file_that_is_not_of_one_device_is_refused(cli: Cli, data: Data, message: str) -> None:
    outcome = cli("diff", write(data), INTENT)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"config_db.json: {message}")


@pytest.mark.parametrize("table", ["QUEUE", "BUFFER_POOL", "VERSIONS", "PORT", "DEVICE_METADATA"])
@pytest.mark.parametrize("value", [None, [], "x", 5, {"a": None}, {"a": [1]}])
def test_tables_of_any_shape_are_no_traceback(cli: Cli, running: Data, table: str, value: Any) -> None:
    running[table] = value
    outcome = cli("diff", write(running), INTENT, "--device", "leaf1")
    assert outcome.code in (0, 1, 2)
    assert "Traceback" not in outcome.err


def test_a_fabric_with_errors_is_nothing_to_compare_with(cli: Cli, running: Data) -> None:
    text = (EXAMPLE / "fabric.yaml").read_text().replace("uplinks: 8 x 800G", "uplinks: 1 x 800G")
    Path("fabric.yaml").write_text(text)
    outcome = cli("diff", write(running), "fabric.yaml", "--patch", "patch.json")
    assert outcome.code == 2
    assert "TOP001" in outcome.out
    assert outcome.err.splitlines()[-1] == (
        "refused: a fabric with errors is not rendered, so there is nothing to compare with"
    )
    assert not Path("patch.json").exists()


def test_a_patch_that_cannot_be_written_is_said(cli: Cli, running: Data) -> None:
    running["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"
    outcome = cli("diff", write(running), INTENT, "--patch", "gone/patch.json")
    assert outcome.code == 2
    assert (
        outcome.err.splitlines()[-1]
        == "lossless: gone/patch.json: cannot be written: No such file or directory"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("fabric.yaml", "config_db.json"),
            "fabric.yaml: an intent, which comes second: lossless diff config_db.json fabric.yaml",
        ),
        ((".", "config_db.json"), ".: an intent, which comes second: lossless diff config_db.json ."),
        (
            ("fabric.yaml", "fabric.yaml"),
            "fabric.yaml: an intent; CONFIG_DB, the first argument, is the config_db.json of one switch",
        ),
        (
            ("config_db.json", "config_db.json"),
            "config_db.json: a configuration; INTENT, the second argument, is a YAML file or a folder that holds "
            "fabric.yaml",
        ),
        (("config_db.json", "gone.yaml"), "gone.yaml: no such file"),
    ],
    ids=" ".join,
)
def test_arguments_in_each_other_s_place_are_told_apart(
    arguments: tuple[str, str], said: str, cli: Cli, running: Data
) -> None:
    write(running)
    Path("fabric.yaml").write_text(Path(INTENT).read_text())
    assert cli("diff", *arguments) == (2, "", f"{said}\n")

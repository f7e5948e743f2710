"""A name is only a name, and form counts for nothing: what means the same on the device comes back whole."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from lossless.formats.sonic.read.tables import PORT_MAPS
from tests.formats.importing.imports import imported, telling
from tests.formats.sonic.devices import Config, base

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


def _ranges(config: Config) -> None:
    """Write rows of queues 0 to 2 and 4 to 5, which are the same, as one each."""
    for table in ("QUEUE", "BUFFER_QUEUE"):
        for port in PORTS:
            for first, last in ((0, 2), (4, 5)):
                rows = [config[table].pop(f"{port}|{number}") for number in range(first, last + 1)]
                config[table][f"{port}|{first}-{last}"] = rows[0]


def _joined(config: Config) -> None:
    """Write rows of the two ports of one speed as one."""
    for table in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG"):
        for key in [key for key in config[table] if key.startswith("Ethernet4|")]:
            number = key.partition("|")[2]
            row = config[table].pop(f"Ethernet0|{number}")
            config[table][f"Ethernet0,Ethernet4|{number}"] = row
            del config[table][key]


def _brackets(config: Config) -> None:
    tables = {"profile": "BUFFER_PROFILE", "scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"}
    for table in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG"):
        for row in config[table].values():
            row.update({field: f"[{tables[field]}|{name}]" for field, name in row.items()})


def _bracketed_lists(config: Config) -> None:
    for table in ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"):
        for row in config[table].values():
            names = reversed(row["profile_list"].split(","))
            row["profile_list"] = " , ".join(f"[BUFFER_PROFILE|{name}]" for name in names)


def _zeros(config: Config) -> None:
    dscps = config["DSCP_TO_TC_MAP"]["AZURE"]
    dscps["026"] = dscps.pop("26")
    for table in PORT_MAPS.values():
        for row in config[table].values():
            row["03"] = row.pop("3")
    config["SCHEDULER"]["scheduler.0"]["weight"] = "014"
    config["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = " 0819200 "


def _both_spellings(config: Config) -> None:
    config["DSCP_TO_TC_MAP"]["AZURE"]["026"] = "0"


def _no_zeros(config: Config) -> None:
    config["DSCP_TO_TC_MAP"]["AZURE"] = {
        d: tc for d, tc in config["DSCP_TO_TC_MAP"]["AZURE"].items() if tc != "0"
    }


def _masks(config: Config) -> None:
    for port in PORTS:
        config["PORT_QOS_MAP"][port] |= {"pfc_enable": " 3,", "pfcwd_sw_enable": "3,3"}


def _cables(config: Config) -> None:
    config["CABLE_LENGTH"] = {"RACK7": config["CABLE_LENGTH"]["AZURE"]}


def _names(config: Config) -> None:
    text = json.dumps(config)
    for old in ("AZURE_LOSSLESS", "scheduler.0", "scheduler.1", "scheduler.cnp"):
        text = text.replace(f'"{old}"', f'"my-{old}"')
    config.clear()
    config |= json.loads(text)


def _swapped_names(config: Config) -> None:
    """Give two schedulers each other's name."""
    text = json.dumps(config).replace('"scheduler.0"', '"x"').replace('"scheduler.1"', '"scheduler.0"')
    config.clear()
    config |= json.loads(text.replace('"x"', '"scheduler.1"'))


def _several_names(config: Config) -> None:
    """Let each port have a scheduler of its own for what one would do."""
    for number, port in enumerate(PORTS):
        config["SCHEDULER"][f"own.{number}"] = dict(config["SCHEDULER"]["scheduler.1"])
        config["QUEUE"][f"{port}|3"]["scheduler"] = f"own.{number}"
    del config["SCHEDULER"]["scheduler.1"]


FORMS: dict[str, Callable[[Config], None]] = {
    "ranges of queues": _ranges,
    "ports in one key": _joined,
    "references in brackets": _brackets,
    "lists in another order and in brackets": _bracketed_lists,
    "zeros before numbers": _zeros,
    "a number with and without zeros": _both_spellings,
    "DSCPs of TC 0 left out": _no_zeros,
    "lists of priorities": _masks,
    "the name of the row of cables": _cables,
    "names of profiles and schedulers": _names,
    "names of two that are each other's": _swapped_names,
    "several names for the same": _several_names,
}


@pytest.mark.parametrize("form", FORMS)
def test_what_means_the_same_comes_back_whole(form: str) -> None:
    config = base()
    FORMS[form](config)
    found = imported(config)
    assert config != base()
    assert (telling(found), found.refused) == ([], ())


def test_the_name_of_a_pool_counts_because_sonic_looks_for_it() -> None:
    config = json.loads(json.dumps(base()).replace("egress_lossy_pool", "my_pool"))
    assert {kind for kind, _ in telling(imported(config))} == {"vendor profile"}


def test_values_count_whatever_the_names_are() -> None:
    config = base()
    config["SCHEDULER"]["scheduler.1"]["weight"] = "16"
    config["QUEUE"]["Ethernet0|3"]["scheduler"] = "scheduler.0"
    fields = {
        (d.cell.key, d.cell.deployed, d.cell.rendered)
        for d in imported(config).differences
        if d.cell.table == "QUEUE"
    }
    assert fields == {("Ethernet0|3", "scheduler.0", "scheduler.1")}

"""The JSON of dashboards: placed without gaps and overlaps, linked, read-only, the same at each render."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any, get_args

import pytest

from lossless.formats.telemetry.grafana import build
from lossless.formats.telemetry.grafana.build import dashboard_files, dashboards, uid_of
from lossless.formats.telemetry.grafana.host_board import Unit
from lossless.ground.basics.errors import RenderError
from tests.formats.telemetry.grafana.subject_boards import SUBJECTS, boards
from tests.formats.telemetry.subjects import example

Json = Any


def rendered(subject: str) -> dict[str, Json]:
    """Return the dashboards of a subject as Grafana reads them, by name."""
    texts = dashboards(subject, boards(subject))
    return {name: json.loads(text) for name, text in texts.items()}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_panels_fill_whole_lines_and_none_covers_another(subject: str) -> None:
    for board in rendered(subject).values():
        taken = [
            (x, y)
            for place in (panel["gridPos"] for panel in board["panels"])
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]
        height = max(y for _, y in taken) + 1
        assert len(taken) == len(set(taken)) == 24 * height
        ids = [panel["id"] for panel in board["panels"]]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_data_source_is_a_choice_and_every_panel_asks_it(subject: str) -> None:
    source = {"type": "prometheus", "uid": "${datasource}"}
    for board in rendered(subject).values():
        first, constant, *others = board["templating"]["list"]
        assert (constant["type"], constant["hide"]) == ("constant", 2)
        assert (first["name"], first["type"], first["query"]) == ("datasource", "datasource", "prometheus")
        asking = [panel for panel in board["panels"] if panel.get("targets")]
        assert asking
        assert all(part["datasource"] == source for part in (*asking, *others))
        # Asked again when the time range changes: a device that was silent is there then.
        assert all(variable["refresh"] == 2 for variable in others)
        assert not board["editable"]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_links_lead_to_dashboards_of_the_same_fabric(subject: str) -> None:
    made = rendered(subject)
    uids = {board["uid"] for board in made.values()}
    assert len(uids) == len(made)
    for board in made.values():
        links = re.findall(r'"url": "/d/([^?"]*)\?', json.dumps(board))
        assert set(links) <= uids
        (to_all,) = board["links"]
        assert set(to_all["tags"]) <= set(board["tags"])


def test_variables_that_links_set_are_those_of_the_dashboard_they_open() -> None:
    made = rendered("roce-256")
    variables = {
        board["uid"]: {item["name"] for item in board["templating"]["list"]} for board in made.values()
    }
    links = re.findall(r'"url": "/d/([^?"]*)\?var-(\w+)=', json.dumps(list(made.values())))
    assert {name for _, name in links} == {"switch", "host"}
    assert all(name in variables[uid] for uid, name in links)


def test_variables_in_expressions_are_those_of_their_dashboard() -> None:
    for board in rendered("roce-256").values():
        names = {item["name"] for item in board["templating"]["list"]} | {"__rate_interval"}
        targets = (target["expr"] for panel in board["panels"] for target in panel.get("targets", ()))
        used = {name for expr in targets for name in re.findall(r"\$(\w+)", expr)}
        queries = (item["query"] for item in board["templating"]["list"])
        assert used | {name for query in queries for name in re.findall(r"\$(\w+)", query)} <= names
        # A choice that changes nothing would mislead.
        assert names - {"datasource"} <= used


def test_units_are_those_of_grafana() -> None:
    from grafana_foundation_sdk.models import units

    assert set(get_args(Unit)) <= {value for value in vars(units).values() if isinstance(value, str)}


@pytest.mark.parametrize("name", ["roce-256", "a fabric / with: signs", "x" * 60, "ä"])
def test_uids_are_what_grafana_accepts_and_differ_by_fabric(name: str) -> None:
    uid = uid_of(name, "switch")
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}", uid)
    assert uid != uid_of(name + "y", "switch")


def test_a_render_gives_the_same_bytes_again() -> None:
    assert dashboard_files(example("roce-256")) == dashboard_files(example("roce-256"))


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_spec", lambda _: None)
    with pytest.raises(RenderError, match=r"not installed: pip install .*'grafana-foundation-sdk"):
        dashboard_files(example("roce-256"))


def test_the_sdk_is_imported_at_first_use() -> None:
    look = (
        "import sys, lossless.formats.telemetry.grafana.build; print('grafana_foundation_sdk' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", look], text=True) == "False\n"

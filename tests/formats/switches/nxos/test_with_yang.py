"""What is written for the object model of NX-OS is valid by Cisco's own YANG models, as yanglint has them."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from lossless.formats.switches.registry import dialect
from lossless.output.render.environment import render_template
from tests.formats.switches.test_writing import renamed
from tests.paths import ROOT
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.model.fabric.model import Switch

MODELS = ROOT / "tools" / "nxos-models"
MODEL = MODELS / "Cisco-NX-OS-device.yang"
pytestmark = pytest.mark.tools("yanglint")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dme")


def refusal(folder: Path, document: dict[str, Any]) -> str:
    """Return what yanglint says of a document, nothing where it is valid."""
    path = folder / "qos.dme.json"
    path.write_text(json.dumps(document))
    command = ["yanglint", "-p", str(MODELS), "-t", "config", str(MODEL), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


def document_of(switch: Switch) -> dict[str, Any]:
    (file,) = (file for file in dialect("nxos").files(switch) if file.name.endswith(".json"))
    document: dict[str, Any] = json.loads(render_template(file.template, file.content))
    return document


@settings(max_examples=15)
@given(data=intents(renderable=True))
def test_documents_are_valid(folder: Path, data: dict[str, Any]) -> None:
    for switch in fabric_of(data).switches[:2]:
        assert refusal(folder, document_of(renamed(switch, "nxos"))) == ""


def test_every_setting_of_the_policies_is_in_the_document(folder: Path) -> None:
    from lossless.formats.inputs.intents import intent_fabric
    from lossless.ground.documents import load

    fabric = intent_fabric(load(ROOT / "examples" / "nexus-128" / "fabric.yaml"), (), [])
    assert fabric is not None
    document = document_of(fabric.switches[0])
    assert refusal(folder, document) == ""
    text = json.dumps(document)
    for said in (
        '"pfcCos3": true',
        '"val": 26',
        '"minThreshold": 150',
        '"dropAvail": 7',
        '"level": 1',
        '"id": 3',
    ):
        assert said in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"pfcCos3"', '"pfcCos9"'),
        ('"kbytes"', '"furlongs"'),
        ('"level": 1', '"level": 9'),
        ('"val": 26', '"val": 99'),
    ],
)
def test_the_models_can_say_no(folder: Path, before: str, after: str) -> None:
    from lossless.formats.inputs.intents import intent_fabric
    from lossless.ground.documents import load

    fabric = intent_fabric(load(ROOT / "examples" / "nexus-128" / "fabric.yaml"), (), [])
    assert fabric is not None
    text = json.dumps(document_of(fabric.switches[0]))
    assert before in text
    assert refusal(folder, json.loads(text.replace(before, after))) != ""

"""What is written for the object model of NX-OS is valid by Cisco's own YANG models, as yanglint has them."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from lossless.formats.device_files.environment import render_template
from lossless.formats.switches.registry import dialect
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


def refusal(folder: Path, *documents: dict[str, Any]) -> str:
    """Return what yanglint says of documents, all read in one start of it, nothing where they are valid."""
    paths = [folder / f"{number}.dme.json" for number in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    command = ["yanglint", "-p", str(MODELS), "-t", "config", str(MODEL), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


def document_of(switch: Switch) -> dict[str, Any]:
    (file,) = (file for file in dialect("nxos").files(switch) if file.name.endswith(".json"))
    document: dict[str, Any] = json.loads(render_template(file.template, file.content))
    return document


def test_documents_are_valid(folder: Path) -> None:
    documents: list[dict[str, Any]] = []

    @settings(max_examples=15)
    @given(data=intents(renderable=True))
    def collect(data: dict[str, Any]) -> None:
        documents.extend(document_of(renamed(switch, "nxos")) for switch in fabric_of(data).switches[:2])

    collect()
    assert len(documents) > 15
    said = refusal(folder, *documents)
    assert said == "", [one for one in documents if refusal(folder, one)][:1]


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

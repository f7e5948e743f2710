"""What is rendered for a subnet manager, read back, is the subnet again: nothing is lost, nothing is made up."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lossless.formats.device_files.infiniband import subnet_files
from lossless.formats.infiniband.to_model import (
    DeployedSubnet,
    SubnetFile,
    companions,
    kind_of,
    read_subnet,
)
from lossless.model.fabric.infiniband.subnet import ManagerSetting, Subnet
from tests.formats.infiniband.carried import carried
from tests.formats.infiniband.managed_subnets import HERE, subnets
from tests.subnets import torus

pytestmark = pytest.mark.tools("laws")

KEYS = {"M_KEY": "0x00c0ffee00c0ffee"}


def files_of_manager(subnet: Subnet) -> dict[str, str]:
    made, troubles = subnet_files(subnet, KEYS)
    assert troubles == ()
    host = subnet.managers[0].node
    return {
        file.path.removeprefix(f"{host}/"): file.text for file in made if file.path.startswith(f"{host}/")
    }


def read_back(files: dict[str, str]) -> DeployedSubnet:
    beside = {name: SubnetFile(name, text) for name, text in files.items()}
    return read_subnet(beside["opensm.conf"], beside)


@given(subnets())
def test_what_is_rendered_reads_back_as_the_subnet(subnet: Subnet) -> None:
    deployed = read_back(files_of_manager(subnet))
    assert [document.problems for document in deployed.documents] == [()] * len(deployed.documents)
    wanted = carried(subnet, subnet.managers[0])
    if subnet.partitions is None:
        # A folder does not show whether there is no file of partitions, or only none here.
        assert carried(deployed.subnet).partitions is None
    assert carried(deployed.subnet) == wanted


@given(subnets())
def test_no_key_reaches_the_model_or_what_people_see(subnet: Subnet) -> None:
    files = files_of_manager(subnet)
    deployed = read_back(files)
    stated = next(document for document in deployed.documents if document.file == "opensm.conf")
    seen = [stated.line_text(number) for number in range(1, files["opensm.conf"].count("\n") + 1)]
    assert "c0ffee" not in "".join(seen) + repr(deployed.subnet) + repr(stated.data)
    assert ("c0ffee" in files["opensm.conf"]) == bool(subnet.secrets)


@given(subnets())
def test_files_are_told_apart_by_their_content(subnet: Subnet) -> None:
    files = files_of_manager(subnet)
    assert kind_of(files["opensm.conf"]) == "options"
    if subnet.partitions:
        assert kind_of(files["partitions.conf"]) == "partitions"
    if "qos-policy.conf" in files:
        assert kind_of(files["qos-policy.conf"]) == "policy"
    named = set(companions(files["opensm.conf"]))
    assert files.keys() - {"opensm.conf", "nccl.conf", "job.env"} <= named


@given(subnets(), st.data())
def test_any_option_that_changes_changes_what_is_read(subnet: Subnet, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(subnet.options) - 1))
    setting = subnet.options[place]
    options = (
        *subnet.options[:place],
        setting._replace(text=f"{setting.text}0"),
        *subnet.options[place + 1 :],
    )
    other = subnet._replace(options=options)
    assert carried(read_back(files_of_manager(other)).subnet) != carried(
        read_back(files_of_manager(subnet)).subnet
    )


@given(subnets())
def test_the_same_subnet_gives_the_same_bytes(subnet: Subnet) -> None:
    assert subnet_files(subnet, KEYS) == subnet_files(subnet, KEYS)


def test_a_torus_is_told_where_to_begin_and_what_its_sides_are() -> None:
    from lossless.model.fabric.infiniband.derived_policy import with_derived_guids

    named = with_derived_guids(torus((4, 3, 2), engine="torus-2QoS", qos="TRUE"))
    text = subnet_files(named, {})[0][1].text
    assert text.splitlines()[1:] == [
        "torus 4 3 2m",
        "xp_link 0x0200000000000001 0x0200000000000007",
        "xm_link 0x0200000000000001 0x0200000000000013",
        "yp_link 0x0200000000000001 0x0200000000000003",
        "zp_link 0x0200000000000001 0x0200000000000002",
    ]


def test_options_of_one_key_keep_the_last_that_counts() -> None:
    from tests.formats.infiniband.managed_subnets import TREE

    twice = TREE._replace(options=(ManagerSetting("lmc", "1", HERE), ManagerSetting("lmc", "2", HERE)))
    assert "\nlmc 2\n" in files_of_manager(twice)["opensm.conf"]
    assert "\nlmc 1\n" not in files_of_manager(twice)["opensm.conf"]

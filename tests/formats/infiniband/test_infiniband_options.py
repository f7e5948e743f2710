"""The table of options is of one piece: whatever it says of a key fits with the rest that it says."""

from __future__ import annotations

import pytest

from lossless.ground.basics.findings import Origin
from lossless.model.fabric.infiniband.subnet import (
    BITS,
    KINDS,
    ManagerSetting,
    Option,
    engines,
    known_keys,
    option,
    options,
    qos_of,
    taken,
)

EVERY = list(options().values())


@pytest.mark.parametrize("found", EVERY, ids=lambda one: one.key)
def test_ranges_fit_the_kind_and_the_default_is_within_all_of_them(found: Option) -> None:
    assert found.kind in KINDS
    if found.kind in BITS:
        for least, most in filter(None, (found.legal, found.wire, found.safe, found.gap)):
            assert 0 <= least <= most < 2 ** BITS[found.kind]
    if found.default is not None and (found.kind in BITS or found.kind == "bool"):
        value, loss = taken(found, found.default)
        assert loss == ""
        for least, most in filter(None, (found.legal, found.wire)):
            assert isinstance(value, int)
            assert least <= value <= most
    assert (found.replaced is None) == (found.legal is None and not found.choices)


def test_what_opensm_replaces_a_value_by_is_one_that_it_keeps() -> None:
    for one in EVERY:
        if one.replaced is not None:
            assert taken(one, one.replaced).loss == "", one.key


def test_each_flavour_has_keys_and_engines_that_the_other_has_not() -> None:
    upstream, nvidia = set(known_keys("upstream")), set(known_keys("nvidia"))
    assert {"nue_max_num_vls", "cc_cct"} <= upstream - nvidia
    assert {"sharp_enabled", "ar_sl_mask"} <= nvidia - upstream
    assert "ar_updn" not in engines("upstream")
    assert set(engines("upstream")) - set(engines("nvidia")) == {"nue"}
    assert {"dfp", "dfp2", "ar_torus", "ar_minhop", "kdor-hc", "kdor-ghc", "pqft", "chain", "auto"} <= set(
        engines("nvidia")
    )


def test_keys_that_protect_the_subnet_are_marked() -> None:
    assert [one.key for one in EVERY if one.secret] == ["m_key", "sm_key", "sa_key", "cc_key"]


def test_the_case_of_letters_counts() -> None:
    assert option("LMC") is None
    assert option("lmc") is not None


def test_numbers_of_qos_are_read_as_opensm_reads_all_numbers() -> None:
    here = Origin("opensm.conf")
    texts = {
        "qos_max_vls": "010",
        "max_op_vls": "08",
        "qos_sl2vl": "0, 01,0x2,010",
        "qos_vlarb_high": "0:010,1:0x10",
    }
    found = qos_of([ManagerSetting(key, text, here) for key, text in texts.items()], (), here)
    assert (found.max_vls, found.max_op_vls, found.sl2vl) == (8, None, (0, 1, 2, 8))
    assert [tuple(weight) for weight in found.high or ()] == [(0, 8), (1, 16)]

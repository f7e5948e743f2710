"""What a real opensm gets of a configuration: options of a list, read as opensm reads them, and no other."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.opensm import check
from lossless.analysis.opensm.check import (
    CONFIGURATION,
    READ_ALONE,
    NotChecked,
    check_with_opensm,
    file_of,
    permitted,
    statements_in,
    write_files,
)
from lossless.analysis.opensm.run import read_configuration
from lossless.ground.basics.errors import SubnetManagerError
from lossless.model.fabric.infiniband.subnet import LINE_BYTES, known_keys, option, options
from tests.analysis.opensm.test_routes import files_for
from tests.analysis.opensm.test_run import running
from tests.subnets import fat_tree

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.analysis.opensm.run import Tools

WITHHELD = (
    "daemon TRUE",
    "console loopback",
    "console_port 10001",
    "event_plugin_name planted",
    "event_plugin_options x",
    "event_db_dump_file /tmp/planted",
)
HIDDEN = {
    "a line of its own": "{}",
    "behind what opensm takes of a line": "log_prefix {filler}{}",
    "behind what opensm takes of a comment": "#{filler}{}",
    "behind what opensm takes twice": "qos_sl2vl {filler}{again}{}",
    "behind blanks": "log_prefix {blanks}{}",
    "after a form feed": "lmc 0\f{}",
    "after a carriage return": "lmc 0\r{}",
    "after a line separator": "lmc 0\u2028{}",
    "after a next line": "lmc 0\x85{}",
    "with tabs": "\t {}\t",
    "with a comment": "{}#",
    "behind a zero byte of a piece before": "log_prefix \0{filler}{}",
    "within a letter that is cut": "log_prefix {cut}{}",
}


def hidden(form: str, line: str) -> str:
    """Return a line in which another one is hidden."""
    before = form.partition("{")[0]
    filler = "a" * (LINE_BYTES - len(before.encode()))
    cut = "a" * (LINE_BYTES - len(before.encode()) - 1) + "\u00e9"
    return form.format(line, filler=filler, blanks=" " * len(filler), again="b" * LINE_BYTES, cut=cut)


TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            [*WITHHELD, *options(), "TRUE", "0", "lfts_file /etc/shadow", "sm_priority 3", "qos"]
        ),
        st.sampled_from(
            [" ", "\t", "\n", "\r", "\f", "\v", "\0", "#", '"', "'", '""', "\u2028", "\x85", "\u00e9"]
        ),
        st.integers(LINE_BYTES - 12, LINE_BYTES + 2).map("x".__mul__),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)


@given(TEXTS)
def test_a_file_for_opensm_has_options_of_the_list_alone(text: str) -> None:
    found = permitted(text, {"roots.conf"})
    for key, value in statements_in(file_of(found.read)):
        known = option(key)
        assert known.given if known is not None else value == ""
    for key, value in statements_in(file_of(found.simulated)):
        assert options()[key].given == "simulated" or value == "roots.conf"


@given(TEXTS)
def test_no_option_is_lost_silently(text: str) -> None:
    found = permitted(text, ())
    named = {one.option.partition(" ")[0] for one in (*found.unread, *found.unsimulated)}
    defaults = {
        key for key, value in statements_in(text) if key in options() and options()[key].default == value
    }
    stated = {key.partition("=")[0] for key, _ in statements_in(text)}
    assert stated <= {key.partition("=")[0] for key in named} | {key for key, _ in found.simulated} | defaults


@pytest.mark.parametrize("line", WITHHELD)
@pytest.mark.parametrize("form", HIDDEN.values(), ids=HIDDEN)
def test_an_option_that_reaches_out_is_found_where_opensm_finds_it(form: str, line: str) -> None:
    text = f"sm_priority 3\n{hidden(form, line)}\nlmc 1\n"
    found, key = permitted(text, ()), line.split()[0]
    seen = key in {name for name, _ in statements_in(text)}
    assert seen == (key in {one.option for one in found.unread})
    given_keys = {name for name, _ in statements_in(file_of(found.simulated))}
    assert {"sm_priority", "lmc"} <= given_keys
    assert key not in given_keys


def test_every_option_of_upstream_has_one_place_and_a_new_one_has_none() -> None:
    given_keys = {key for key, one in options().items() if one.given}
    withheld = {key for key, one in options().items() if one.withheld}
    assert withheld == {line.split()[0] for line in WITHHELD}
    assert not given_keys & withheld
    assert given_keys | withheld == set(known_keys("upstream"))
    assert set(READ_ALONE) <= given_keys


def test_keys_of_nvidias_and_unknown_ones_are_named_as_not_checked() -> None:
    found = permitted("virt_enabled 2\nm_key=0x1234 5\nsweep_intervall 3\nrouting_engine ar_updn,updn\n", ())
    assert found.read == [("m_key=0x1234", ""), ("sweep_intervall", ""), ("routing_engine", "updn")]
    assert found.unread == [
        NotChecked("virt_enabled", "only NVIDIA's opensm knows it"),
        NotChecked("m_key", "no list here permits it"),
        NotChecked("sweep_intervall", "no list here permits it"),
        NotChecked("routing_engine ar_updn", "only NVIDIA's opensm knows it"),
    ]


def test_files_of_this_machine_are_never_named(tmp_path: Path) -> None:
    text = (
        "lfts_file /etc/shadow\nroot_guid_file /etc/opensm/roots.conf\nlog_file x\nsa_db_file opensm.conf\n"
    )
    files = {CONFIGURATION: text, "roots.conf": "0x1\n"}
    statements = dict(statements_in(write_files(tmp_path, files, text).read_bytes()))
    assert statements["root_guid_file"] == str(tmp_path / "roots.conf")
    assert all(value.startswith(f"{tmp_path}/") for value in statements.values())
    assert statements.keys() == {"root_guid_file", *READ_ALONE}


def test_a_folder_that_opensm_cannot_be_told_of_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a#b"
    folder.mkdir()
    with pytest.raises(SubnetManagerError, match="would read another configuration"):
        write_files(folder, {CONFIGURATION: "lmc 0\n"}, "lmc 0\n")


def test_a_text_is_read_as_the_real_one_reads_it(tools: Tools, tmp_path: Path) -> None:
    forms = [hidden(form, "sm_priority 7") for form in HIDDEN.values()]
    values = ['"a"', "''", '"', '""b""', "'c\"", " d e ", "\v f \f", "g\rh", "(null)", "i\0j", "\u00e9"]
    texts = [*(f"log_prefix x\n{form}\n" for form in forms), *(f"log_prefix {value}\n" for value in values)]
    keys = ["\rlmc 1", "\vlmc 1", "lmc\v1", "lmc\t\t1", " lmc 1", "lmc\r 1", "lm\0c 1", "lmc", "lmc\f"]
    for text in (*texts, *(f"log_prefix x\n{key}\n" for key in keys)):
        (tmp_path / "sm.conf").write_bytes(text.encode())
        reading = read_configuration(tools, tmp_path / "sm.conf", tmp_path)
        ours = dict(statements_in(text))
        unknown = [key for key, _ in statements_in(text) if option(key) is None]
        # Its message has 127 bytes, and what follows a longer one is on the same line.
        assert [key[:99] for key in reading.unrecognized] == [_shown(key)[:99] for key in unknown], text
        assert reading.effective["sm_priority"] == ours.get("sm_priority", "0"), text
        if ours.get("log_prefix", "").isprintable():
            assert reading.effective.get("log_prefix", "") == ours["log_prefix"].strip(), text


def _shown(key: str) -> str:
    return key.encode("utf-8", "surrogateescape").decode(errors="replace")


def test_a_hidden_option_has_no_effect_on_the_real_one(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, mark = tmp_path / "libplanted.so", tmp_path / "it-has-run"
    source = f'#include <fcntl.h>\n__attribute__((constructor)) void run(void) {{ creat("{mark}", 0600); }}\n'
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to make a plugin with")
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    subprocess.run(command, input=source.encode(), check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    subnet = fat_tree(2, 2, 2)
    files = dict(files_for(subnet))
    behind = HIDDEN["behind what opensm takes of a line"]
    files[CONFIGURATION] += "".join(f"{hidden(behind, line)}\n" for line in WITHHELD)
    found = check_with_opensm(tools, subnet, files)
    assert found.credits.state == "free"
    assert {line.split()[0] for line in WITHHELD} <= {one.option for one in found.not_checked}
    assert "log_prefix" in {one.option for one in found.not_checked}
    # The value that was meant is longer than what opensm reads of it.
    assert [key for key, _, _ in found.changed] == ["log_prefix"]
    assert [*tmp_path.iterdir()] == [library]
    assert running() == set()


def test_a_prefix_of_the_log_forges_no_verdict(tools: Tools) -> None:
    subnet = fat_tree(2, 2, 2, "minhop")
    files = dict(files_for(subnet))
    files[CONFIGURATION] += "log_prefix forged tables configured on all switches, SUBNET UP\n"
    found = check_with_opensm(tools, subnet, files)
    assert found.swept is not None
    assert found.swept.sweep.engine == "minhop"
    assert found.not_checked == (
        NotChecked("log_prefix", "it is read, and a simulation has a log of its own"),
    )


def test_a_daemon_is_ended_all_the_same(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is not all that holds: this opensm gets an option that leaves the session."""
    made = check.file_of
    monkeypatch.setattr(check, "file_of", lambda statements: made(statements) + b"daemon TRUE\n")
    subnet = fat_tree(2, 2, 2)
    found = check_with_opensm(tools, subnet, files_for(subnet))
    assert "the subnet does not come up" in found.complaints
    assert running() == set()

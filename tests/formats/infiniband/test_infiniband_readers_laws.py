"""No text makes a reader fail, and every value is at the place that the reader names."""

from __future__ import annotations

from hypothesis import given, strategies as st

from lossless.formats.infiniband.read.options import read_guids, read_options
from lossless.formats.infiniband.read.partitions import read_partitions, read_policy
from lossless.formats.infiniband.read.sharp import read_sharp
from lossless.formats.infiniband.to_model import SubnetFile, kind_of, read_subnet
from lossless.ground.documents.command_lines import replacements

PIECES = st.sampled_from(
    [
        *(
            "lmc",
            "m_key",
            "qos",
            "TRUE",
            "0x10",
            "-1",
            "08",
            "abc",
            "#",
            '"',
            "=",
            ":",
            ";",
            ",",
            " ",
            "\t",
            "\n",
            "\r",
        ),
        *(
            "Default=0x7fff",
            "ALL",
            "SELF",
            "full",
            "indx0",
            "sl=3",
            "mgid",
            "ALL_CAS=limited",
            "\u00e9",
            "\u2028",
            "\0",
        ),
        *(
            "qos-ulps",
            "end-qos-ulps",
            "default : 0",
            "any, pkey 1 : 2",
            "qos-levels",
            "qos-level",
            "name: x",
            "sl: 3",
        ),
        *("end-qos-level", "end-qos-levels", "max_trees 8", "x" * 1100),
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS)
def test_no_text_makes_a_reader_fail(text: str) -> None:
    kind_of(text)
    for document in (
        read_options(text, "f").document,
        read_partitions(text, "f")[0],
        read_policy(text, "f")[0],
        read_sharp(text, "f")[0],
        read_guids(text, "f")[0],
    ):
        for problem in document.problems:
            assert problem.line is not None
            assert problem.column is not None
            assert problem.column <= len(document.line_text(problem.line)) + 1


@given(TEXTS)
def test_a_value_is_where_its_document_says(text: str) -> None:
    found = read_options(text, "f")
    for setting in found.settings:
        place = found.document.places([setting.origin.path])[setting.origin.path]
        assert found.document.text[place.start : place.end] == setting.text
        assert found.document.text[place.key_start : place.key_end] == setting.key
        assert found.document.exists(setting.origin.path)


@given(TEXTS, TEXTS)
def test_every_origin_of_a_subnet_is_in_one_of_its_documents(conf: str, beside: str) -> None:
    names = ("partitions.conf", "qos-policy.conf", "sharp_am.cfg")
    found = read_subnet(SubnetFile("opensm.conf", conf), {name: SubnetFile(name, beside) for name in names})
    documents = {document.file: document for document in found.documents}
    partitions = found.subnet.partitions if isinstance(found.subnet.partitions, tuple) else ()
    origins = [
        *(setting.origin for setting in found.subnet.options),
        *(partition.origin for partition in partitions),
        *(member.origin for partition in partitions for member in partition.members),
        *(level.origin for level in (found.subnet.policy.levels if found.subnet.policy else ())),
    ]
    assert all(documents[origin.file].exists(origin.path) for origin in origins)


@given(st.lists(st.sampled_from(["lmc 1", "qos", "# c", "", "lmc 3 # d", "foo\tbar"]), min_size=1), st.data())
def test_an_edit_changes_its_value_and_no_other(lines: list[str], data: st.DataObject) -> None:
    from lossless.formats.inputs.subnet_manager import edited_document
    from lossless.ground.documents.changes import ValueChange

    text = "\n".join([*lines, "sm_priority 1", *["daemon TRUE"] * len(lines), ""])
    found = read_options(text, "opensm.conf")
    setting = data.draw(st.sampled_from(found.settings))
    change = ValueChange(setting.origin.path, "set", "7")
    assert len(replacements(found.document, [change])) == 1
    after = edited_document(found.document, [change])
    assert after is not None
    changed = [one.text for one in read_options(after.text, "opensm.conf").settings]
    place = found.settings.index(setting)
    assert changed == [one.text if n != place else "7" for n, one in enumerate(found.settings)]

"""Findings that are accepted: in an intent by a comment, elsewhere by an entry of the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lossless.interfaces.cli import options
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import intent_with, leaf_with

UPLINKS = "    uplinks: 1 x 800G\n"
OVERSUBSCRIBED = intent_with("    uplinks: 2 x 800G\n", UPLINKS)
WATCHDOG = leaf_with("PFC_WD", "Ethernet4", action=None).replace('"hostname": "leaf1"', '"hostname": "tor1"')
WHY = "-- agreed with the storage team"


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be a day in the middle of 2026."""
    monkeypatch.setattr(options, "today", lambda: "2026-06-15")


@pytest.fixture
def site(cli: Cli) -> Cli:
    """A repository with an oversubscribed intent and a switch without a watchdog on one port."""
    Path(".git").mkdir()
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    Path("configs").mkdir()
    Path("configs/tor1.json").write_text(WATCHDOG)
    return cli


def intent(comment: str, old: str = UPLINKS, new: str | None = None) -> None:
    """Write the intent with a comment behind a line, or with ``new`` in its place."""
    assert OVERSUBSCRIBED.count(old) == 1
    Path("fabric.yaml").write_text(OVERSUBSCRIBED.replace(old, new or f"{old.rstrip()}  {comment}\n"))


def entry(**fields: str) -> str:
    lines = [
        f'{name} = "{value}"' if value[:1] != "[" else f"{name} = {value}" for name, value in fields.items()
    ]
    return "\n".join(["[[suppress]]", *lines, ""])


def report(cli: Cli, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(cli("lint", "--format", "json", *arguments).out))


def codes(cli: Cli, *arguments: str) -> list[str]:
    return [finding["code"] for finding in report(cli, *arguments)["findings"]]


# --- comments ---


def test_a_comment_behind_a_key(site: Cli) -> None:
    intent(f"# lossless: ignore[TOP001] {WHY}")
    found = report(site, "fabric.yaml")
    assert (found["findings"], found["summary"]["suppressed"]) == ([], 1)
    assert site("lint", "fabric.yaml") == (
        0,
        "",
        "0 errors, 0 warnings, 0 infos in 1 file (1 suppressed, 0 baselined, 0 not checked)\n",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (UPLINKS, f"    # lossless: ignore[TOP001] {WHY}\n{UPLINKS}"),
        (UPLINKS, f"    # lossless: ignore[TOP001] {WHY}\n\n    # 2 later\n{UPLINKS}"),
        (UPLINKS, f"    uplinks: 1 x 800G #lossless:ignore[ oversubscription-undeclared ]{WHY}\n"),
        (UPLINKS, f"    uplinks: 1 x 800G # for now # lossless: ignore[TOP] {WHY}\n"),
        ("  leaf_spine:\n", f"  leaf_spine:  # lossless: ignore[ECN, TOP001] {WHY}\n"),
        ("topology:\n", f"# lossless: ignore[ALL] {WHY}\ntopology:\n"),
    ],
)
def test_where_a_comment_may_stand(old: str, new: str, site: Cli) -> None:
    intent("", old, new)
    assert [code for code in codes(site, "fabric.yaml") if not code.startswith("SUP")] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    hosts_per_leaf: 4\n", f"    hosts_per_leaf: 4  # lossless: ignore[TOP001] {WHY}\n"),
        ("networks:\n", f"# lossless: ignore[TOP001] {WHY}\nnetworks:\n"),
        (UPLINKS, f"{UPLINKS}    # lossless: ignore[TOP001] {WHY}\n"),
    ],
)
def test_a_comment_elsewhere_keeps_nothing_back(old: str, new: str, site: Cli) -> None:
    intent("", old, new)
    assert sorted(codes(site, "fabric.yaml")) == ["SUP001", "TOP001"]


def test_what_only_looks_like_a_comment(site: Cli) -> None:
    name = f'"a # lossless: ignore[TOP001] {WHY}"'
    intent("", "fabric: base\n", f"fabric: {name}\n")
    assert "SUP001" not in codes(site, "fabric.yaml")
    intent(
        "",
        "fabric: base\n",
        "# lossless: v1\n# lossless: see the wiki [3]\n# lossless: [3, 4]\nfabric: base\n",
    )
    assert codes(site, "fabric.yaml") == ["TOP001"]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        (
            "ignore[TOP0001] -- x",
            "in a suppression: no rule 'TOP0001'; did you mean TOP001? (lossless rules lists all)",
        ),
        ("ignore[TOP001]", "this suppression has no reason; expected # lossless: ignore[CODE] -- reason"),
        (
            "ignore[TOP001] -- until=2026-12-31",
            "this suppression has no reason; expected # lossless: ignore[CODE] -- reason",
        ),
        ("ignore[] -- x", "this suppression names no rule; expected # lossless: ignore[CODE] -- reason"),
        ("ignore -- x", "this suppression names no rule; expected # lossless: ignore[CODE] -- reason"),
        (
            "ignore TOP001 -- x",
            "not a suppression as it is written; expected # lossless: ignore[CODE] -- reason",
        ),
        (
            "ingore[TOP001] -- x",
            "not a suppression as it is written; expected # lossless: ignore[CODE] -- reason",
        ),
        (
            "ignore[TOP001] x",
            "not a suppression as it is written; expected # lossless: ignore[CODE] -- reason",
        ),
        (
            "ignore[TOP001] -- x until=soon",
            "until=soon is no date of its own; expected one such as until=2026-12-31",
        ),
        (
            "ignore[TOP001] -- x until=2026-02-30",
            "until=2026-02-30 is no date of its own; expected one such as until=2026-12-31",
        ),
    ],
)
def test_a_suppression_that_says_nothing_is_named(comment: str, message: str, site: Cli) -> None:
    intent(f"# lossless: {comment}")
    code, out, err = site("lint", "-q", "fabric.yaml")
    assert code == 2
    assert out.startswith("fabric.yaml:19:5: TOP001")
    assert err == f"fabric.yaml:19:24: {message}\n"


def test_a_suppression_below_everything(site: Cli) -> None:
    Path("fabric.yaml").write_text(OVERSUBSCRIBED + f"# lossless: ignore[TOP001] {WHY}\n")
    code, _, err = site("lint", "-q", "fabric.yaml")
    assert code == 2
    assert (
        err
        == "fabric.yaml:23:1: this suppression stands at no key; put it behind a key, or on the line above\n"
    )


def test_the_known_rules_of_a_suppression_hold(site: Cli) -> None:
    intent(f"# lossless: ignore[TOPP, TOP001] {WHY}")
    code, out, err = site("lint", "-q", "fabric.yaml")
    assert (code, out) == (2, "")
    assert (
        err
        == "fabric.yaml:19:24: in a suppression: no rule 'TOPP'; did you mean TOP? (lossless rules lists all)\n"
    )


def test_an_expired_suppression_and_what_it_kept_back(site: Cli) -> None:
    intent(f"# lossless: ignore[TOP001] {WHY} until=2026-06-14")
    code, out, _ = site("lint", "fabric.yaml")
    assert code == 1
    assert out == snapshot("""\
fabric.yaml:19:5: TOP001 oversubscription-undeclared: leaf uplinks carry 1.6 Tb/s for 3.2 Tb/s of hosts, 2:1
   |
19 |     uplinks: 1 x 800G  # lossless: ignore[TOP001] -- agreed with the storage team until=2026...
   |     ^^^^^^^
   = on: leaf1, leaf2
   = note: 4 hosts x 2 x 400G = 3.2 Tb/s down, 2 spines x 1 x 800G = 1.6 Tb/s up, each counted one
           way
   = help: add uplinks until they carry 3.2 Tb/s; to accept it, state oversubscription: 2

fabric.yaml:19:5: SUP002 suppression-expired: the suppression of TOP001 ended on 2026-06-14 [warning]
   |
19 |     uplinks: 1 x 800G  # lossless: ignore[TOP001] -- agreed with the storage team until=2026...
   |     ^^^^^^^
   = note: its reason: agreed with the storage team
   = help: fix what it hid (1 finding), or agree on a later date

""")
    intent(f"# lossless: ignore[TOP001] {WHY} until=2026-06-15")
    assert codes(site, "fabric.yaml") == []


def test_an_unused_suppression(site: Cli) -> None:
    intent(f"# lossless: ignore[TOP001, ECN001] {WHY}")
    code, out, _ = site("lint", "fabric.yaml")
    assert code == 0
    assert out == snapshot("""\
fabric.yaml:19:5: SUP001 suppression-unused: this suppression hides no finding of ECN001 [warning]
   |
19 |     uplinks: 1 x 800G  # lossless: ignore[TOP001, ECN001] -- agreed with the storage team
   |     ^^^^^^^
   = note: its reason: agreed with the storage team
   = help: take ECN001 out of it

""")
    assert site("lint", "fabric.yaml", "--fail-on", "warning").code == 1


def test_a_rule_that_did_not_run_leaves_no_suppression_unused(site: Cli) -> None:
    intent(f"# lossless: ignore[TOP001, SIM001] {WHY}")
    assert codes(site, "fabric.yaml") == []
    intent(f"# lossless: ignore[ECN001] {WHY}")
    assert codes(site, "fabric.yaml", "--ignore", "ECN001") == ["TOP001"]
    assert codes(site, "fabric.yaml", "--ignore", "SUP") == ["TOP001"]
    assert codes(site, "fabric.yaml") == ["TOP001", "SUP001"]


def test_a_file_that_cannot_be_read_whole_leaves_no_suppression_unused(site: Cli) -> None:
    intent("", "networks:\n", f"# lossless: ignore[ECN001] {WHY}\nnetworks:\n")
    text = Path("fabric.yaml").read_text().replace("transport: rocev2", "transport: rocev9")
    Path("fabric.yaml").write_text(text)
    found = report(site, "fabric.yaml")
    assert (found["findings"], len(found["errors"])) == ([], 1)


# --- entries of a configuration ---


@pytest.mark.parametrize(
    "fields",
    [
        {"rules": '["WD001"]'},
        {"rules": '["WD"]', "path": "configs"},
        {"rules": '["ALL"]', "path": "configs/*.json"},
        {"rules": '["watchdog-missing"]', "path": '["lab", "tor1.json"]', "object": "PORT_QOS_MAP"},
        {"rules": '["WD001"]', "until": "2026-06-15"},
    ],
)
def test_an_entry_keeps_findings_back(fields: dict[str, str], site: Cli) -> None:
    where = report(site, "configs")["findings"][0]["object"]
    fields = fields | ({"object": where} if "object" in fields else {})
    Path("lossless.toml").write_text(entry(reason="the lab has none", **fields))
    found = report(site)
    assert [finding["code"] for finding in found["findings"]] == ["TOP001"]
    assert found["summary"]["suppressed"] == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"rules": '["ECN"]'},
        {"rules": '["WD"]', "path": "lab"},
        {"rules": '["WD"]', "object": "PORT|Ethernet*"},
    ],
)
def test_an_entry_elsewhere_keeps_nothing_back(fields: dict[str, str], site: Cli) -> None:
    Path("lossless.toml").write_text(entry(reason="x", **fields))
    assert sorted(codes(site)) == ["SUP001", "TOP001", "WD001"]


def test_only_a_run_over_everything_calls_an_entry_unused(site: Cli) -> None:
    Path("lossless.toml").write_text(entry(rules='["ECN001"]', reason="x"))
    assert "SUP001" not in codes(site, "configs")
    assert "SUP001" not in codes(site, "configs/tor1.json", "fabric.yaml")
    found = report(site)
    assert [f["file"] for f in found["findings"] if f["code"] == "SUP001"] == ["lossless.toml"]
    assert found["summary"]["files"] == 2
    Path("configs/cut.json").write_text('{"PORT": {')
    Path("configs/config_db.json").write_text('{"PORT": {')
    assert "SUP001" not in codes(site)


def test_an_entry_for_a_finding_in_whose_place_another_one_is_shown_is_used(cli: Cli) -> None:
    Path("lossless.toml").write_text(entry(rules='["ECN001"]', reason="x"))
    for mode, found in (("ecn_none", []), ("ecn_purple", ["SWS003", "SCM002"]), ("ecn_all", ["SUP001"])):
        Path("leaf1.json").write_text(leaf_with("WRED_PROFILE", "AZURE_LOSSLESS", ecn=mode))
        assert codes(cli) == found


def test_an_unused_entry_is_shown_where_it_stands(site: Cli) -> None:
    Path("lossless.toml").write_text("# ours\n" + entry(rules='["ECN001"]', reason="x", until="2026-01-01"))
    assert site("lint", "--select", "SUP").out == snapshot("""\
lossless.toml:2:1: SUP002 suppression-expired: the suppression of ECN001 ended on 2026-01-01 [warning]
  |
2 | [[suppress]]
  | ^^^^^^^^^^^^
  = note: its reason: x
  = help: remove it: it would hide nothing

""")


def test_an_entry_holds_only_where_its_configuration_does(site: Cli) -> None:
    Path("lossless.toml").write_text(entry(rules='["WD001"]', reason="x"))
    Path("configs/lossless.toml").write_text("")
    assert "WD001" in codes(site)


def test_what_is_suppressed_is_not_fixed_either(site: Cli) -> None:
    unsafe = OVERSUBSCRIBED + "hosts: {trust: pcp}\n"
    Path("fabric.yaml").write_text(unsafe)
    assert "-hosts" in site("lint", "fabric.yaml", "--diff", "--unsafe-fixes").out
    Path("lossless.toml").write_text(entry(rules='["NIC009"]', reason="x"))
    assert site("lint", "fabric.yaml", "--diff", "--unsafe-fixes").out == ""


def test_render_goes_by_what_is_accepted_in_the_intent_until_its_day_is_over(site: Cli) -> None:
    assert site("render", "fabric.yaml", "-o", "out").code == 2
    Path("lossless.toml").write_text(entry(rules='["TOP001"]', reason="x"))
    assert site("render", "fabric.yaml", "-o", "out").code == 2
    intent(f"# lossless: ignore[TOP001] {WHY} until=2026-06-15")
    assert site("render", "fabric.yaml", "-o", "out").code == 0
    intent(f"# lossless: ignore[TOP001] {WHY} until=2026-06-14")
    assert site("render", "fabric.yaml", "-o", "out").code == 2


def test_the_clock_says_which_day_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime

    monkeypatch.undo()
    before = datetime.date.today()
    assert before.isoformat() <= options.today() <= datetime.date.today().isoformat()

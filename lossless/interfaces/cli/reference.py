"""Commands that print rules, hardware profiles, systems of switches, schemas and shell completion."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS, group
from lossless.interfaces.cli.next_steps import then
from lossless.interfaces.cli.options import OneOf, complete_rules, profiles, written_as
from lossless.interfaces.cli.terminal import next_step, out, out_document, out_json, style_for
from lossless.output.report.columns import facts, markdown_table, wrapped_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.api import Hardware
    from lossless.interfaces.api.reference import (
        HcaProfile,
        Hwsku,
        InfinibandSwitchProfile,
        NicProfile,
        OfferedChoices,
        PacketReorder,
        PortNaming,
        ShippedControl,
        SwitchProfile,
    )


@click.command("rule", short_help=COMMANDS["rule"])
@click.argument("rule", metavar="CODE|NAME", shell_complete=complete_rules)
def rule_command(rule: str) -> None:
    """Explain one rule.

    The page describes the fault, why it breaks a lossless fabric, and how to fix it; by code (WD001) or by name
    (watchdog-missing).
    """
    from lossless import api

    explained = api.rule(rule)
    out(wrapped_markdown(explained.page, style_for(sys.stdout)))
    then("lint", "--select", explained.code, because="checks the current folder by it alone")


@click.command("rules", short_help=COMMANDS["rules"])
@written_as("the list is", ("text", "json", "md"))
def rules_command(output_format: str) -> None:
    """List all rules.

    Code, name, severity and requirement of each.
    """
    from lossless import api

    rules = api.rules()
    if output_format == "json":
        out_json([rule.to_data() for rule in rules])
        return
    if output_format == "md":
        heads = ("code", "name", "severity", "checks", "what it says")
        rows = [(r.code, r.name, r.severity, ", ".join(r.subjects), r.summary) for r in rules]
        out_document(markdown_table(heads, rows), "text")
        return
    out(facts([(rule.code, rule.name, rule.severity, rule.summary) for rule in rules], style_for(sys.stdout)))
    next_step("lossless rule CODE  # explains one")


_UNKNOWN = "unknown"


@click.command("profiles", short_help=COMMANDS["profiles"])
@click.argument("name", required=False)
@profiles
def profiles_command(name: str | None, profile_dirs: tuple[str, ...]) -> None:
    """Show the known hardware, with sources.

    Without NAME, all switches and network adapters by the names that an intent uses, those of InfiniBand last; with
    NAME, all facts about that product.
    """
    from lossless import api

    hardware = api.hardware(name, profile_dirs)
    out("\n".join(overview(hardware) if name is None else details(hardware)))
    if name is None:
        next_step("lossless profiles NAME  # shows all that is known of one")


def overview(hardware: Hardware) -> Iterator[str]:
    """Yield the hardware profiles by kind, a row for each product below the heading of its kind."""
    yield "switches"
    yield laid_out([(s.name, f"{s.vendor} {s.product}", s.asic.name, _hwskus(s)) for s in hardware.switches])
    yield ""
    yield "network adapters"
    yield laid_out(
        [(n.name, f"{n.vendor} {n.product}", f"up to {_rates(n.rates_bps[-1:])}") for n in hardware.nics]
    )
    yield from infiniband_overview(hardware)


def details(hardware: Hardware) -> Iterator[str]:
    """Yield the facts of each hardware profile, with sources."""
    for switch in hardware.switches:
        yield from _switch(switch)
    for nic in hardware.nics:
        yield from _nic(nic)
    for infiniband_switch in hardware.infiniband_switches:
        yield from infiniband_switch_lines(infiniband_switch)
    for hca in hardware.hcas:
        yield from hca_lines(hca)


def laid_out(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of facts as indented columns, wrapped to the width of the terminal."""
    return facts(rows, style_for(sys.stdout), "  ")


def infiniband_overview(hardware: Hardware) -> Iterator[str]:
    """Yield the InfiniBand switches and adapters, a row for each below two headings."""
    switches = hardware.infiniband_switches
    yield ""
    yield "InfiniBand switches"
    yield laid_out([(s.name, f"{s.vendor} {s.product}", _ports(s), _managed(s)) for s in switches])
    yield ""
    yield "InfiniBand adapters"
    yield laid_out([(hca.name, hca.product, f"up to {hca.rates[-1]}") for hca in hardware.hcas])


def infiniband_switch_lines(switch: InfinibandSwitchProfile) -> Iterator[str]:
    """Yield the facts of an InfiniBand switch."""
    yield f"{switch.name}: {switch.vendor} {switch.product}"
    yield laid_out(
        [
            ("ports", _ports(switch)),
            ("subnet manager", _managed(switch)),
            ("SHARP", f"generation {switch.sharp}"),
            ("data VLs", str(switch.vls or _UNKNOWN)),
        ]
    )
    yield from _sources(switch.sources)


def hca_lines(hca: HcaProfile) -> Iterator[str]:
    """Yield the facts of an InfiniBand adapter."""
    yield f"{hca.name}: {hca.product}"
    yield laid_out(
        [
            ("InfiniBand", ", ".join(hca.rates)),
            ("ports", f"up to {hca.ports}" if hca.ports else _UNKNOWN),
            ("PCI id", hca.pci_id or _UNKNOWN),
        ]
    )
    yield from _sources(hca.sources)


def _ports(switch: InfinibandSwitchProfile) -> str:
    return " or ".join(f"{count} x {rate}" for rate, count in switch.ports.items())


def _managed(switch: InfinibandSwitchProfile) -> str:
    return "managed" if switch.managed else "externally managed"


def _hwskus(switch: SwitchProfile) -> str:
    return f"{len(switch.hwskus)} HWSKU{'s' if len(switch.hwskus) != 1 else ''}"


def _switch(switch: SwitchProfile) -> Iterator[str]:
    asic = switch.asic
    yield f"{switch.name}: {switch.vendor} {switch.product}"
    yield laid_out(
        [
            ("platform", switch.platform),
            ("ASIC", asic.name),
            ("packet buffer", _bytes(asic.buffer_bytes)),
            ("buffer parts", _known(asic.buffer_parts)),
            *([("queues at", "ingress, virtual output queues")] if asic.voq else []),
            ("cell", _bytes(asic.cell_bytes)),
            ("headroom", f"{asic.formula} formula" if asic.formula else "rows only, no formula"),
            ("cages", f"{len(switch.cages)} at {_rates(switch.speeds_bps)}"),
            ("queues", _known(switch.queues)),
            ("priority groups", _known(switch.priority_groups)),
            ("largest MTU", _bytes(switch.max_mtu)),
            ("formats", ", ".join(_format(name, switch.formats.get(name)) for name in switch.runs)),
            ("load balancing", "; ".join(_choices(*of) for of in switch.load_balancing.items()) or _UNKNOWN),
        ]
    )
    for hwsku in switch.hwskus:
        yield from _hwsku(hwsku, is_default=hwsku.name == switch.default_hwsku)
    asic_sources = {
        "ASIC": asic.source,
        "packet buffer": asic.buffer_source,
        "buffer parts": asic.buffer_parts_source,
        "cell": asic.cell_source,
    }
    formats = {name: names.source for name, names in switch.formats.items()}
    balancing = {"balancing": "; ".join(of.source for of in switch.load_balancing.values())}
    yield from _sources(asic_sources | dict(switch.sources) | formats | balancing)


def _choices(system: str, known: OfferedChoices) -> str:
    offered = [
        f"{choice} at {_rates(known.speeds_bps[choice])}" if choice in known.speeds_bps else choice
        for choice in known.offers
    ]
    lacks = f" (not {', '.join(known.lacks)})" if known.lacks else ""
    return f"{system}: {', '.join(offered)}{lacks}"


def _format(name: str, names: PortNaming | None) -> str:
    if names is None:
        return name
    whole, split = (
        pattern.format(index=1, lane=1, number=0, part=1) for pattern in (names.whole, names.split)
    )
    return f"{name} (ports {whole}, {split})" if whole != split else f"{name} (ports {whole})"


def _hwsku(hwsku: Hwsku, *, is_default: bool) -> Iterator[str]:
    speeds = sorted({port.speed_bps for port in hwsku.ports})
    ports = f"{len(hwsku.ports)} at {_rates(speeds)}" if hwsku.ports else _UNKNOWN
    lengths = sorted({row.cable_m for row in hwsku.headroom})
    headroom = f"{_rates(hwsku.speeds())}; cables {', '.join(f'{m}m' for m in lengths)}"
    places = ", ".join(defaults.template for defaults in hwsku.buffers)
    yield ""
    yield f"HWSKU {hwsku.name}{' (default)' if is_default else ''}"
    yield laid_out(
        [
            ("ports", ports),
            ("headroom rows", headroom if hwsku.headroom else "none"),
            ("buffer defaults", places or "none"),
            ("source", hwsku.source or _UNKNOWN),
        ]
    )


def _nic(nic: NicProfile) -> Iterator[str]:
    stall = nic.stall_prevention
    yield f"{nic.name}: {nic.vendor} {nic.product}"
    yield laid_out(
        [
            ("driver", nic.driver),
            ("rates", _rates(nic.rates_bps)),
            ("InfiniBand", ", ".join(nic.infiniband) or "none"),
            ("ports", f"up to {nic.ports}" if nic.ports else _UNKNOWN),
            ("PCI id", _known(nic.pci_id)),
            ("Ultra Ethernet", "yes" if nic.ultra_ethernet else _UNKNOWN),
            ("CNP", f"DSCP {_known(nic.cnp_dscp)}, priority {_known(nic.cnp_priority)}"),
            ("stall prevention", f"{stall.tunable}, {stall.default_ms} ms" if stall else _UNKNOWN),
            ("out of order", _order(nic.reorder)),
            ("rate control", _shipped(nic)),
        ]
    )
    if nic.dcqcn:
        rows = [("parameter", "default", "unit", "source")]
        rows += [(key, str(p.default), p.unit, p.source) for key, p in nic.dcqcn.items()]
        yield ""
        yield f"DCQCN defaults of the firmware{_of_another(nic.shipped_control)}"
        yield laid_out(rows)
    further = {
        "stall prevention": stall,
        "out of order": nic.reorder,
        "rate control": nic.shipped_control,
    }
    yield from _sources(dict(nic.sources) | {key: of.source for key, of in further.items() if of})


def _order(known: PacketReorder | None) -> str:
    if known is None or not known.able:
        return _UNKNOWN if known is None else "no, it takes packets in order"
    frames = f"up to {known.frames:,} frames ahead" if known.frames else "how many is unknown"
    return f"yes, {frames}" + (f"; by {known.setting}" if known.setting else "")


def _shipped(nic: NicProfile) -> str:
    known = nic.shipped_control
    if known is None or known.algorithm is None:
        return _UNKNOWN
    return f"{known.algorithm} as shipped{'' if nic.dcqcn else ', its parameters are unknown'}"


def _of_another(known: ShippedControl | None) -> str:
    return f", as {known.defaults_of} prints them" if known and known.defaults_of else ""


def _sources(sources: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "sources"
    yield laid_out([(key, source) for key, source in sources.items() if source])


def _rates(rates_bps: Iterable[int]) -> str:
    from lossless.ground.basics.units import format_rate

    return ", ".join(map(format_rate, rates_bps))


def _bytes(size_bytes: int | None) -> str:
    from lossless.ground.basics.units import format_bytes

    return _UNKNOWN if size_bytes is None else format_bytes(size_bytes)


def _known(value: int | str | None) -> str:
    return _UNKNOWN if value is None else str(value)


_HEADS = ("format", "system", "reads", "writes", "checked with")


@click.command("formats", short_help=COMMANDS["formats"])
@written_as("the list is", ("text", "json", "md"))
def formats_command(output_format: str) -> None:
    """List the systems of switches that are read and written.

    The first column is the word that hardware.ROLE.format of an intent takes.
    """
    from lossless import api

    formats = api.formats()
    if output_format == "json":
        out_json([known._asdict() for known in formats])
    elif output_format == "md":
        out_document(markdown_table(_HEADS, formats), "text")
    else:
        out(facts([_HEADS, *formats], style_for(sys.stdout)))
        next_step("lossless lint FILE  # checks a file of any of them")


@click.command("schema", short_help=COMMANDS["schema"])
@click.option("--config", is_flag=True, help="That of lossless.toml instead.")
@click.option(
    "--of", "command", metavar="COMMAND", help="That of what COMMAND writes with --format json instead."
)
def schema_command(config: bool, command: str | None) -> None:
    """Print the JSON Schema of intents, settings or output.

    Save it, and name it in the first line of the file that an editor shall check:

    \b
    # yaml-language-server: $schema=FILE   intent, YAML language server
    #:schema FILE                          lossless.toml, Even Better TOML
    """
    from lossless import api

    if command is not None:
        if config:
            raise click.UsageError("--config and --of are two schemas; name one")
        out_json(api.document_schema(command))
        return
    out_json(api.configuration_schema() if config else api.intent_schema())
    first = "#:schema FILE" if config else "# yaml-language-server: $schema=FILE"
    next_step(
        f"begin {'lossless.toml' if config else 'the intent'} with {first}, where FILE is what you save this as"
    )


VARIABLE = "_LOSSLESS_COMPLETE"
"""The environment variable with which a shell requests the completions of a line."""

_LASTING = {
    "bash": """echo 'eval "$(lossless completion bash)"' >> ~/.bashrc  # for every new shell""",
    "zsh": """echo 'eval "$(lossless completion zsh)"' >> ~/.zshrc  # for every new shell; after compinit""",
    "fish": "lossless completion fish > ~/.config/fish/completions/lossless.fish  # for every new shell",
}
"""The command that makes each shell complete from now on."""


@click.command("completion", short_help=COMMANDS["completion"])
@click.argument("shell", type=OneOf([*_LASTING]))
def completion_command(shell: str) -> None:
    """Print the shell completion of commands, options and rules.

    \b
    bash:  eval "$(lossless completion bash)"        in ~/.bashrc
    zsh:   eval "$(lossless completion zsh)"         in ~/.zshrc, after compinit
    fish:  lossless completion fish > ~/.config/fish/completions/lossless.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    # The class for bash starts bash first, to ask for its version.
    out(ShellComplete.source(kind(group, {}, "lossless", VARIABLE)).strip())
    # A shell that evaluates it as it starts shall print nothing.
    next_step(_LASTING[shell], quiet=not sys.stdout.isatty())

"""The one table from rule code to module. A code and its name, once shipped, never change meaning.

In which dict a rule stands says what it is given, and so when it is loaded at all.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.apart_table import CABLED, KEPT, SIMULATED
from lossless.checks.rules.host_table import ATTACHED_HOSTS, HOSTS, INTENDED_HOSTS, OF_HOSTS
from lossless.checks.rules.subnet_table import ACROSS_SUBNETS, SUBNET
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from lossless.checks.rules.base import Gap, Hit, Rule
    from lossless.checks.rules.selectors import Codes

FABRIC: dict[str, str] = {
    "BUF001": "buffers.buf001_headroom_below_cable",
    "BUF002": "buffers.buf002_headroom_below_need",
    "BUF003": "buffers.buf003_headroom_row_missing",
    "BUF004": "buffers.buf004_cable_length_missing",
    "BUF007": "buffers.buf007_headroom_oversubscribed",
    "BUF013": "buffers.buf013_egress_limit_below_ingress",
    "CLS001": "classification.cls001_rdma_dscp_not_lossless",
    "CLS002": "classification.cls002_other_dscp_lossless",
    "CLS007": "classification.cls007_cnp_class_unsafe",
    "CLS012": "classification.cls012_control_traffic_lossless",
    "ECN001": "ecn.ecn001_lossless_queue_without_ecn",
    "ECN002": "ecn.ecn002_marking_step_with_ramp",
    "ECN003": "ecn.ecn003_marking_probability_zero",
    "ECN004": "ecn.ecn004_marking_starts_after_pfc",
    "ECN005": "ecn.ecn005_full_marking_after_pfc",
    "ECN007": "ecn.ecn007_marking_within_one_packet",
    "ECN009": "ecn.ecn009_thresholds_for_unlike_speeds",
    "ECN010": "ecn.ecn010_storage_default_thresholds",
    "ECN012": "ecn.ecn012_threshold_beyond_queue_limit",
    "PFC001": "pfc.pfc001_pfc_priorities_mismatch",
    "PFC002": "pfc.pfc002_too_many_lossless_priorities",
    "PFC005": "pfc.pfc005_pfc_path_misaligned",
    "SCH001": "scheduling.sch001_lossless_share_too_small",
    "SCH004": "scheduling.sch004_bulk_class_strict",
    "WD001": "watchdog.wd001_watchdog_missing",
    "WD002": "watchdog.wd002_watchdog_mask_empty",
    "WD003": "watchdog.wd003_watchdog_timer_range",
    "WD004": "watchdog.wd004_watchdog_timer_below_poll",
    "WD005": "watchdog.wd005_watchdog_restoration_unset",
    "WD006": "watchdog.wd006_watchdog_restores_too_soon",
    "WD008": "watchdog.wd008_watchdog_outlasts_transport",
    "WD010": "watchdog.wd010_watchdog_detection_between_polls",
    "WD011": "watchdog.wd011_watchdog_only_alerts",
    "WD012": "watchdog.wd012_watchdog_actions_mixed",
    "WD013": "watchdog.wd013_watchdog_polls_too_often",
}
"""Rules that are given a view, of an intent or of one deployed device."""

INTENT: dict[str, str] = {
    "CLS006": "classification.cls006_tos_dscp_unit_slip",
    "CLS008": "classification.cls008_cnp_marking_mismatch",
    "ECN011": "ecn.ecn011_curve_for_deaf_senders",
    "HST001": "hosts.hst001_nccl_ib_tc_not_lossless",
    "PFC003": "pfc.pfc003_pfc_one_sided",
    "PFC008": "pfc.pfc008_pfc_at_super_spines",
    "PFC009": "pfc.pfc009_pfc_oversubscribed_uplinks",
    "SCH003": "scheduling.sch003_class_without_share",
    "TOP001": "topology.top001_oversubscription_undeclared",
    "TOP002": "topology.top002_port_budget",
    "TOP003": "topology.top003_port_speed_missing",
    "TOP004": "topology.top004_up_again_after_down",
    "TOP005": "topology.top005_buffers_wait_in_circle",
    "TOP006": "topology.top006_bounce_in_same_priority",
    "TOP007": "topology.top007_mac_forgotten_before_arp",
    "TOP008": "topology.top008_rdma_bridged",
    "TOP009": "topology.top009_oversubscribed_after_failures",
    "TOP014": "topology.top014_cluster_contradicted",
    "CLS005": "classification.cls005_dscp_name_mismatch",
    "CLS015": "classification.cls015_nccl_control_class",
    "ECN016": "ecn.ecn016_tos_says_congested",
    "HST003": "hosts.hst003_ucx_marks_one_way",
    "HST004": "hosts.hst004_one_queue_pair_a_connection",
    "HST006": "hosts.hst006_service_level_on_ethernet",
    "HST008": "hosts.hst008_traffic_classes_disagree",
    "HST010": "hosts.hst010_names_match_more",
    "NIC001": "nics.nic001_dcqcn_not_on_lossless_priority",
    "NIC003": "nics.nic003_nic_kinds_mixed",
    "NIC004": "nics.nic004_cnp_interval_too_long",
    "NIC005": "nics.nic005_dcqcn_cannot_slow_down",
    "NIC006": "nics.nic006_dcqcn_alpha_forgets",
    "NIC007": "nics.nic007_dcqcn_increase_inverted",
    "NIC009": "nics.nic009_nic_trusts_pcp",
    "NIC010": "nics.nic010_settings_lost_at_reboot",
    "NIC011": "nics.nic011_bypassing_library_lossy",
    "NIC014": "nics.nic014_cable_too_long_for_nic",
    "NIC015": "nics.nic015_mtu_ladder",
    "NIC018": "nics.nic018_loopback_rdma",
    "PFC006": "pfc.pfc006_global_pause_beside_pfc",
    "PFC010": "pfc.pfc010_dcbx_may_override",
    "PFC012": "pfc.pfc012_lossless_class_undecided",
    "TEL001": "telemetry.tel001_pauses_unseen",
    "TEL003": "telemetry.tel003_storms_unannounced",
    "WD009": "watchdog.wd009_watchdog_outlasts_job",
    "WD015": "watchdog.wd015_nic_storms_too_long",
    "CLS011": "classification.cls011_storage_in_rdma_class",
    "ISO001": "isolation.iso001_management_on_fabric",
    "ISO002": "isolation.iso002_network_path_undecided",
    "ISO003": "isolation.iso003_rdma_dscp_open",
}
"""Rules that are given the view of an intent, and need what only an intent says."""

MANAGED: dict[str, str] = {
    "MGD001": "managed.mgd001_fabric_run_by_cloud",
    "MGD002": "managed.mgd002_variable_without_effect",
    "MGD003": "managed.mgd003_variable_the_cloud_decides",
}
"""Rules that are given the view of an intent for a fabric that a cloud runs; no other is then."""

DEVICE: dict[str, str] = {
    "BUF008": "buffers.buf008_reserved_beyond_chip",
    "BUF010": "buffers.buf010_alpha_differs_on_like_ports",
    "BUF011": "buffers.buf011_pause_without_hysteresis",
    "BUF012": "buffers.buf012_headroom_not_backed",
    "BUF014": "buffers.buf014_lossy_pool_beyond_ingress",
    "BUF015": "buffers.buf015_headroom_without_pause",
    "BUF017": "buffers.buf017_small_packets_assumed_few",
    "BUF019": "buffers.buf019_headroom_on_down_ports",
    "BUF021": "buffers.buf021_admin_status_missing",
    "BUF022": "buffers.buf022_lossless_queue_without_buffer",
    "CFG001": "configuration.cfg001_number_not_canonical",
    "CFG002": "configuration.cfg002_reference_dangling",
    "CFG005": "configuration.cfg005_repeated_key",
    "CFG007": "configuration.cfg007_buffer_model_contradicted",
    "CFG008": "configuration.cfg008_port_unknown",
    "CFG009": "configuration.cfg009_pfc_port_without_neighbor",
    "CLS003": "classification.cls003_dscp_map_with_holes",
    "CLS004": "classification.cls004_pfc_without_trust",
    "CLS009": "classification.cls009_dscp_rewritten",
    "CLS010": "classification.cls010_tunnel_hides_class",
    "CLS013": "classification.cls013_flooding_lossless",
    "ECN014": "ecn.ecn014_profile_name_unknown_to_tools",
    "ISO004": "isolation.iso004_shadow_class_on_downlink",
    "ISO005": "isolation.iso005_internal_port_lossless",
    "PFC011": "pfc.pfc011_pfc_asymmetric",
    "PFC014": "pfc.pfc014_lag_members_differ",
    "PFC016": "pfc.pfc016_map_unbound",
    "SCH005": "scheduling.sch005_lossless_queue_shaped",
    "SCH006": "scheduling.sch006_rate_unit_slip",
    "SWS001": "sonic.sws001_map_entry_unreadable",
    "SWS002": "sonic.sws002_map_entry_out_of_range",
    "SWS003": "sonic.sws003_wred_profile_refused",
    "SWS004": "sonic.sws004_scheduler_refused",
    "SWS005": "sonic.sws005_watchdog_row_refused",
    "SWS006": "sonic.sws006_index_refused",
    "SWS007": "sonic.sws007_rows_overlap",
    "SWS008": "sonic.sws008_ports_joined",
    "SWS009": "sonic.sws009_pfc_mask_misread",
    "SWS010": "sonic.sws010_global_row_ignored",
    "SWS011": "sonic.sws011_buffer_value_unreadable",
    "SWS012": "sonic.sws012_lossless_pool_renamed",
    "SWS013": "sonic.sws013_threshold_contradicts_pool",
    "SWS014": "sonic.sws014_buffer_profile_misplaced",
    "SWS015": "sonic.sws015_cable_length_unread",
    "TEL001": "telemetry.tel001_pauses_unseen",
    "TOP006": "topology.top006_bounce_in_same_priority",
    "TEL002": "telemetry.tel002_headroom_unwatched",
    "WD014": "watchdog.wd014_big_red_switch_on",
    "WD016": "watchdog.wd016_watchdog_counters_off",
}
"""Rules that are given one deployed device: its rows as they stand, and the model they make."""

ONLY_WITH: dict[str, str] = {
    "CLS009": "TC_TO_DSCP_MAP",
    "CLS010": "TUNNEL",
    "CLS013": "VLAN_MEMBER",
    "PFC014": "PORTCHANNEL_MEMBER",
    "TOP006": "TUNNEL",
}
"""Rules of DEVICE that judge one table which few devices have, and that table: without it they are not loaded."""

SCHEMA: dict[str, str] = {
    "SCM001": "schema.scm001_field_unknown",
    "SCM002": "schema.scm002_value_refused",
    "SCM003": "schema.scm003_reference_without_row",
    "SCM004": "schema.scm004_constraint_broken",
    "SCM005": "schema.scm005_field_missing",
    "SCM006": "schema.scm006_key_malformed",
    "SCM007": "schema.scm007_table_without_schema",
    "SCM008": "schema.scm008_release_differs",
}
"""Rules that are given a deployed device which SONiC's models refuse in part."""

NORMALISED: dict[str, str] = {
    "CFG012": "configuration.cfg012_form_normalised",
}
"""Rules that are given a deployed device of which something had to be normalised to be read."""

INTENDED: dict[str, str] = {
    "BUF005": "buffers.buf005_cable_longer_than_configured",
    "CFG004": "configuration.cfg004_drift_from_intent",
    "PFC007": "pfc.pfc007_pfc_beyond_the_intent",
}
"""Rules that are given a deployed device together with the switch that an intent makes of it."""

ACROSS: dict[str, str] = {
    "BUF010": "buffers.buf010_alpha_differs_on_like_ports",
    "CFG011": "roles.cfg011_role_configured_unlike",
    "CLS014": "roles.cls014_map_name_ambiguous",
    "ECN015": "roles.ecn015_marking_differs_in_role",
    "LNK001": "links.lnk001_link_speed_differs",
    "LNK002": "links.lnk002_link_mtu_differs",
    "LNK003": "links.lnk003_link_cable_length_differs",
    "LNK004": "links.lnk004_link_fec_differs",
    "LNK005": "links.lnk005_neighbor_contradicted",
    "PFC003": "pfc.pfc003_pfc_one_sided",
    "PFC004": "pfc.pfc004_priority_changes_on_the_wire",
    "PFC013": "pfc.pfc013_macsec_drops_pauses",
    "TOP004": "topology.top004_up_again_after_down",
    "TOP005": "topology.top005_buffers_wait_in_circle",
    "WD018": "watchdog.wd018_watchdog_tiers_inverted",
}
"""Rules that are given all deployed devices together: both ends of every link, all switches of a role.

They judge by their function ``across``; one that stands in another dict too has a ``check`` beside it.
"""

_KINDS = (
    FABRIC,
    INTENT,
    HOSTS,
    INTENDED_HOSTS,
    MANAGED,
    DEVICE,
    SCHEMA,
    NORMALISED,
    INTENDED,
    ACROSS,
    SUBNET,
    ACROSS_SUBNETS,
    CABLED,
    SIMULATED,
    KEPT,
)
MODULES: dict[str, str] = dict(sorted(item for kind in _KINDS for item in kind.items()))


class LoadedRule(NamedTuple):
    """A rule with its documentation and what judges: ``check``, or ``across`` for all devices together."""

    rule: Rule
    check: Callable[[Any], Iterator[Hit | Gap]]
    documentation: str


def load(code: str) -> LoadedRule:
    """Return one rule.

    Raises:
        LosslessError: no such code.
    """
    if code not in MODULES:
        raise LosslessError(f"no rule {code!r}")
    alone = code not in ACROSS or any(code in kind for kind in (FABRIC, INTENT, DEVICE))
    return _load(MODULES[code], "check" if alone else "across")


def load_all(codes: Iterable[str] | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules of some codes, or all."""
    return tuple(load(code) for code in sorted(MODULES if codes is None else codes))


@cache
def for_intents(chosen: Codes | None = None, *, managed: bool = False) -> tuple[LoadedRule, ...]:
    """Return the rules that are given the view of an intent; of those ``chosen``, here and below."""
    return _loaded(MANAGED if managed else {**FABRIC, **INTENT}, chosen)


@cache
def for_hosts(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given a view of hosts that were read."""
    return _loaded({**{code: MODULES[code] for code in OF_HOSTS}, **HOSTS}, chosen)


@cache
def for_intended_hosts(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given a host that was read together with its intent."""
    return _loaded(INTENDED_HOSTS, chosen)


@cache
def for_attached_hosts(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given hosts that were read together with the switches they hang on."""
    return _loaded(ATTACHED_HOSTS, chosen, "attached")


@cache
def for_views_of_devices(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given the view of one deployed device."""
    return _loaded(FABRIC, chosen)


def for_devices(tables: Collection[str], chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given one deployed device with its rows, by the tables it has."""
    return _for_devices(tuple(code for code, table in ONLY_WITH.items() if table not in tables), chosen)


@cache
def _for_devices(without: tuple[str, ...], chosen: Codes | None) -> tuple[LoadedRule, ...]:
    return _loaded({code: module for code, module in DEVICE.items() if code not in without}, chosen)


@cache
def for_refused_devices(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given a device which SONiC's models refuse in part."""
    return _loaded(SCHEMA, chosen)


@cache
def for_normalised_devices(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given a device of which something had to be normalised to be read."""
    return _loaded(NORMALISED, chosen)


@cache
def for_intended_devices(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given a device together with its intent."""
    return _loaded(INTENDED, chosen)


@cache
def for_subnets(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given one InfiniBand subnet."""
    return _loaded(SUBNET, chosen)


@cache
def for_all_subnets(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given all InfiniBand subnets of a run together."""
    return _loaded(ACROSS_SUBNETS, chosen)


@cache
def for_cabling(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given the cables of an intent against those that files tell of."""
    return _loaded(CABLED, chosen)


@cache
def for_runs(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given what runs of the packet-level model showed."""
    return _loaded(SIMULATED, chosen)


@cache
def for_kept(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given what keeps findings back."""
    return _loaded(KEPT, chosen)


@cache
def for_all_devices(chosen: Codes | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules that are given all deployed devices together."""
    return _loaded(ACROSS, chosen, "across")


def _loaded(
    modules: Mapping[str, str], chosen: Codes | None, function: str = "check"
) -> tuple[LoadedRule, ...]:
    wanted = sorted(code for code in modules if chosen is None or code in chosen)
    return tuple(_load(modules[code], function) for code in wanted)


def _load(name: str, function: str) -> LoadedRule:
    module = import_module(f"lossless.checks.rules.{name}")
    return LoadedRule(module.RULE, getattr(module, function), module.__doc__ or "")


def code_of(name: str) -> str | None:
    """Return the code of a rule by its code or its readable name, None where there is none."""
    if name.upper() in MODULES:
        return name.upper()
    wanted = "_" + name.replace("-", "_")
    return next((code for code, module in MODULES.items() if module.endswith(wanted)), None)

"""The registry: one row a rule, from its code to its module, what it is given and what else it needs.

A code and its name, once shipped, never change meaning. Severity, summary and sources stand in the docstring of the
rule (:mod:`lossless.checks.rules.documentation`); which rule takes the place of which other in
:mod:`lossless.checks.rules.precedence`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lossless.checks.rules.base import MissingInput, Violation

Codes = frozenset[str]

Subject = Literal[
    "fabric",
    "buffers",
    "intent",
    "cloud",
    "device",
    "devices",
    "hosts",
    "host",
    "attached hosts",
    "subnet",
    "subnets",
    "cabling",
    "runs",
    "running device",
    "running fabric",
    "suppressions",
]
"""What a rule is given.

``fabric``: the view of an intent, or of one deployed device; ``buffers``: the same with the buffers that its switches
compute for themselves; ``intent``: the view of an intent alone; ``cloud``: that
of a fabric that a cloud runs. ``device``: one deployed device with its rows; ``devices``: all of them together, to the
function ``across``. ``hosts``: a view of hosts that were read; ``host``: one of them beside the host of an intent;
``attached hosts``: devices and hosts together, to the function ``attached``. ``subnet`` and ``subnets``: one InfiniBand
subnet, and all of a run. ``cabling``: cables of an intent against those in files; ``runs``: what the packet-level model
showed; ``running device``: one device as captures of running state show it; ``running fabric``: all of them, to the
function ``throughout``; ``suppressions``: suppressions and baselines. All others are given to the function ``check``.
"""
_FUNCTIONS = {"devices": "across", "attached hosts": "attached", "running fabric": "throughout"}


class RuleRow(NamedTuple):
    """One rule. ``needs`` is what a subject must have for the rule to be loaded at all, empty where nothing.

    For a device that is a table of CONFIG_DB, ``refusals`` of SONiC's models, ``normalised forms``, or an ``intent``.
    """

    code: str
    module: str
    subjects: tuple[Subject, ...]
    needs: str = ""

    @property
    def name(self) -> str:
        """The readable name: that of its file, without the code."""
        return self.module.rpartition(".")[2].partition("_")[2].replace("_", "-")


def _row(code: str, module: str, *subjects: Subject, needs: str = "") -> RuleRow:
    return RuleRow(code, module, subjects, needs)


# fmt: off
_ROWS = (
    _row("APP001", "applied.app001_qos_not_loaded", "running device"),
    _row("APP002", "applied.app002_lossless_group_unbound", "running device"),
    _row("APP004", "applied.app004_watchdog_not_running", "running device"),
    _row("APP005", "applied.app005_nic_pfc_not_as_intended", "running device"),
    _row("BUF001", "buffers.buf001_headroom_below_cable", "buffers"),
    _row("BUF002", "buffers.buf002_headroom_below_need", "buffers"),
    _row("BUF003", "buffers.buf003_headroom_row_missing", "fabric"),
    _row("BUF004", "buffers.buf004_cable_length_missing", "fabric"),
    _row("BUF005", "buffers.buf005_cable_longer_than_configured", "device", needs="intent"),
    _row("BUF007", "buffers.buf007_headroom_oversubscribed", "buffers"),
    _row("BUF008", "buffers.buf008_reserved_beyond_chip", "device"),
    _row("BUF010", "buffers.buf010_alpha_differs_on_like_ports", "device", "devices"),
    _row("BUF011", "buffers.buf011_pause_without_hysteresis", "device"),
    _row("BUF012", "buffers.buf012_headroom_not_backed", "device"),
    _row("BUF013", "buffers.buf013_egress_limit_below_ingress", "buffers"),
    _row("BUF014", "buffers.buf014_lossy_pool_beyond_ingress", "device"),
    _row("BUF015", "buffers.buf015_headroom_without_pause", "device"),
    _row("BUF017", "buffers.buf017_small_packets_assumed_few", "device"),
    _row("BUF019", "buffers.buf019_headroom_on_down_ports", "device"),
    _row("BUF021", "buffers.buf021_admin_status_missing", "device"),
    _row("BUF022", "buffers.buf022_lossless_queue_without_buffer", "device"),
    _row("BUF023", "buffers.buf023_profile_list_short", "device"),
    _row("BUF024", "buffers.buf024_group_profile_replaced", "device"),
    _row("BUF025", "buffers.buf025_headroom_row_much_longer", "intent"),
    _row("CAP003", "captures.cap003_counters_not_polled", "running device"),
    _row("CAP004", "captures.cap004_counter_saturated", "running device"),
    _row("CFG001", "configuration.cfg001_number_not_canonical", "device"),
    _row("CFG002", "configuration.cfg002_reference_dangling", "device"),
    _row("CFG004", "configuration.cfg004_drift_from_intent", "device", needs="intent"),
    _row("CFG005", "configuration.cfg005_repeated_key", "device"),
    _row("CFG007", "configuration.cfg007_buffer_model_contradicted", "device"),
    _row("CFG008", "configuration.cfg008_port_unknown", "device"),
    _row("CFG009", "configuration.cfg009_pfc_port_without_neighbor", "device"),
    _row("CFG011", "roles.cfg011_role_configured_unlike", "devices"),
    _row("CFG012", "configuration.cfg012_form_normalised", "device", needs="normalised forms"),
    _row("CLS001", "classification.cls001_rdma_dscp_not_lossless", "fabric"),
    _row("CLS002", "classification.cls002_other_dscp_lossless", "fabric"),
    _row("CLS003", "classification.cls003_dscp_map_with_holes", "device"),
    _row("CLS004", "classification.cls004_pfc_without_trust", "device"),
    _row("CLS005", "classification.cls005_dscp_name_mismatch", "intent"),
    _row("CLS006", "classification.cls006_tos_dscp_unit_slip", "intent", "hosts"),
    _row("CLS007", "classification.cls007_cnp_class_unsafe", "fabric"),
    _row("CLS008", "classification.cls008_cnp_marking_mismatch", "intent", "hosts"),
    _row("CLS009", "classification.cls009_dscp_rewritten", "device", needs="TC_TO_DSCP_MAP"),
    _row("CLS010", "classification.cls010_tunnel_hides_class", "device", needs="TUNNEL"),
    _row("CLS011", "classification.cls011_storage_in_rdma_class", "intent"),
    _row("CLS012", "classification.cls012_control_traffic_lossless", "fabric"),
    _row("CLS013", "classification.cls013_flooding_lossless", "device", needs="VLAN_MEMBER"),
    _row("CLS014", "roles.cls014_map_name_ambiguous", "devices"),
    _row("CLS015", "classification.cls015_nccl_control_class", "intent", "hosts"),
    _row("CTR001", "counters.ctr001_lossless_queue_dropped", "running device"),
    _row("CTR002", "counters.ctr002_pause_on_lossy_priority", "running device"),
    _row("CTR003", "counters.ctr003_no_marks_above_kmax", "running device"),
    _row("CTR006", "counters.ctr006_discards_outside_buffers", "running device"),
    _row("ECN001", "ecn.ecn001_lossless_queue_without_ecn", "fabric"),
    _row("ECN002", "ecn.ecn002_marking_step_with_ramp", "fabric"),
    _row("ECN003", "ecn.ecn003_marking_probability_zero", "fabric"),
    _row("ECN004", "ecn.ecn004_marking_starts_after_pfc", "buffers"),
    _row("ECN005", "ecn.ecn005_full_marking_after_pfc", "buffers"),
    _row("ECN007", "ecn.ecn007_marking_within_one_packet", "fabric"),
    _row("ECN009", "ecn.ecn009_thresholds_for_unlike_speeds", "fabric"),
    _row("ECN010", "ecn.ecn010_storage_default_thresholds", "fabric"),
    _row("ECN011", "ecn.ecn011_curve_for_deaf_senders", "intent"),
    _row("ECN012", "ecn.ecn012_threshold_beyond_queue_limit", "fabric"),
    _row("ECN014", "ecn.ecn014_profile_name_unknown_to_tools", "device"),
    _row("ECN015", "roles.ecn015_marking_differs_in_role", "devices"),
    _row("ECN016", "ecn.ecn016_tos_says_congested", "intent", "hosts"),
    _row("HCT002", "host_counters.hct002_global_pause", "running device"),
    _row("HCT003", "host_counters.hct003_rdma_on_priority_0", "running device"),
    _row("HCT005", "host_counters.hct005_receiver_starves", "running device"),
    _row("HCT006", "host_counters.hct006_lane_bad", "running device"),
    _row("HCT007", "host_counters.hct007_link_layers_mixed", "running device"),
    _row("HCT008", "host_counters.hct008_completion_error", "running device"),
    _row("HST001", "hosts.hst001_nccl_ib_tc_not_lossless", "intent", "hosts"),
    _row("HST003", "hosts.hst003_ucx_marks_one_way", "intent", "hosts"),
    _row("HST004", "hosts.hst004_one_queue_pair_a_connection", "intent", "hosts"),
    _row("HST006", "hosts.hst006_service_level_on_ethernet", "intent", "hosts"),
    _row("HST007", "hosts.hst007_operator_defaults", "hosts"),
    _row("HST008", "hosts.hst008_traffic_classes_disagree", "intent", "hosts"),
    _row("HST009", "hosts.hst009_host_differs_from_intent", "host", needs="intent"),
    _row("HST010", "hosts.hst010_names_match_more", "intent", "hosts"),
    _row("IB001", "infiniband.ib001_manager_priorities", "subnet"),
    _row("IB002", "infiniband.ib002_routing_engine_unfit", "subnet"),
    _row("IB003", "infiniband.ib003_roots_not_the_top", "subnet"),
    _row("IB004", "infiniband.ib004_lanes_insufficient", "subnet"),
    _row("IB005", "infiniband.ib005_sl2vl_incomplete", "subnet"),
    _row("IB006", "infiniband.ib006_link_rate_impossible", "subnet"),
    _row("IB007", "infiniband.ib007_manager_nowhere", "subnet"),
    _row("IB008", "infiniband.ib008_sharp_manager_apart", "subnet"),
    _row("IB009", "infiniband.ib009_sharp_on_manager_port", "subnet"),
    _row("IB010", "infiniband.ib010_sharp_trees_short", "subnet"),
    _row("IB011", "infiniband.ib011_sharp_generation_short", "subnet"),
    _row("IB012", "infiniband.ib012_default_partition_open", "subnet"),
    _row("IB013", "infiniband.ib013_nccl_pkey_index", "subnet"),
    _row("IB014", "infiniband.ib014_packet_lifetimes", "subnet"),
    _row("IB015", "infiniband.ib015_routing_engine_unknown", "subnet"),
    _row("IB016", "infiniband.ib016_boolean_silently_false", "subnet"),
    _row("IB017", "infiniband.ib017_option_out_of_range", "subnet"),
    _row("IB018", "infiniband.ib018_option_unreadable", "subnet"),
    _row("IB019", "infiniband.ib019_option_unknown", "subnet"),
    _row("IB020", "infiniband.ib020_credit_loop", "subnet"),
    _row("IB021", "infiniband.ib021_traffic_class_without_effect", "subnet"),
    _row("IB022", "infiniband.ib022_line_cut", "subnet"),
    _row("IB023", "infiniband.ib023_partition_file_empty", "subnet"),
    _row("IB024", "infiniband.ib024_partition_of_limited_members", "subnet"),
    _row("IB025", "infiniband.ib025_manager_not_full_member", "subnet"),
    _row("IB026", "infiniband.ib026_partition_group_unrealizable", "subnet"),
    _row("IB027", "infiniband.ib027_service_level_starved", "subnet"),
    _row("IB028", "infiniband.ib028_service_level_without_qos", "subnet"),
    _row("IB029", "infiniband.ib029_nccl_service_level", "subnet"),
    _row("IB030", "infiniband.ib030_other_managers_ignored", "subnet"),
    _row("IB031", "infiniband.ib031_lids_reassigned", "subnet"),
    _row("IB032", "infiniband.ib032_management_key_lease", "subnet"),
    _row("IB033", "infiniband.ib033_sweeps_off", "subnet"),
    _row("IB034", "infiniband.ib034_management_packets_unlimited", "subnet"),
    _row("IB035", "infiniband.ib035_partitions_not_enforced", "subnet"),
    _row("IB036", "infiniband.ib036_lmc_with_fat_tree", "subnet"),
    _row("IB037", "infiniband.ib037_sharp_without_tree_routing", "subnet"),
    _row("IB038", "infiniband.ib038_sharp_enabled_misread", "subnet"),
    _row("IB039", "infiniband.ib039_subnet_prefix_shared", "subnets"),
    _row("IB040", "infiniband.ib040_leaf_oversubscribed", "subnet"),
    _row("IB041", "infiniband.ib041_policy_overrides_partition", "subnet"),
    _row("IB042", "infiniband.ib042_partition_key_shared", "subnet"),
    _row("IB043", "infiniband.ib043_job_host_outside_partition", "subnet"),
    _row("IB044", "infiniband.ib044_both_members_full_only", "subnet"),
    _row("IB045", "infiniband.ib045_policy_names_nothing", "subnet"),
    _row("IB046", "infiniband.ib046_job_ignores_path_level", "subnet"),
    _row("IBC001", "subnet_counters.ibc001_discards_under_congestion", "running device"),
    _row("IBC003", "subnet_counters.ibc003_cable_bad", "running device"),
    _row("IBC004", "subnet_counters.ibc004_manager_silent", "running device"),
    _row("IBC005", "subnet_counters.ibc005_link_slower_than_possible", "running device"),
    _row("ISO001", "isolation.iso001_management_on_fabric", "intent"),
    _row("ISO002", "isolation.iso002_network_path_undecided", "intent"),
    _row("ISO003", "isolation.iso003_rdma_dscp_open", "intent"),
    _row("ISO004", "isolation.iso004_shadow_class_on_downlink", "device"),
    _row("ISO005", "isolation.iso005_internal_port_lossless", "device"),
    _row("LNK001", "links.lnk001_link_speed_differs", "devices"),
    _row("LNK002", "links.lnk002_link_mtu_differs", "devices"),
    _row("LNK003", "links.lnk003_link_cable_length_differs", "devices"),
    _row("LNK004", "links.lnk004_link_fec_differs", "devices"),
    _row("LNK005", "links.lnk005_neighbor_contradicted", "devices"),
    _row("LNK006", "links.lnk006_link_not_cabled", "cabling"),
    _row("LNK007", "links.lnk007_cable_not_declared", "cabling"),
    _row("LNK008", "links.lnk008_cables_crossed", "cabling"),
    _row("LNK009", "links.lnk009_cable_length_unlike_declared", "cabling"),
    _row("LNK010", "links.lnk010_speed_unlike_declared", "cabling"),
    _row("MGD001", "managed.mgd001_fabric_run_by_cloud", "cloud"),
    _row("MGD002", "managed.mgd002_variable_without_effect", "cloud"),
    _row("MGD003", "managed.mgd003_variable_the_cloud_decides", "cloud"),
    _row("NIC001", "nics.nic001_dcqcn_not_on_lossless_priority", "intent", "hosts", "attached hosts"),
    _row("NIC003", "nics.nic003_nic_kinds_mixed", "intent", "hosts"),
    _row("NIC004", "nics.nic004_cnp_interval_too_long", "intent", "hosts"),
    _row("NIC005", "nics.nic005_dcqcn_cannot_slow_down", "intent", "hosts"),
    _row("NIC006", "nics.nic006_dcqcn_alpha_forgets", "intent", "hosts"),
    _row("NIC007", "nics.nic007_dcqcn_increase_inverted", "intent", "hosts"),
    _row("NIC009", "nics.nic009_nic_trusts_pcp", "intent", "hosts"),
    _row("NIC010", "nics.nic010_settings_lost_at_reboot", "intent"),
    _row("NIC011", "nics.nic011_bypassing_library_lossy", "intent", "hosts"),
    _row("NIC013", "nics.nic013_rdma_share_of_nic", "hosts"),
    _row("NIC014", "nics.nic014_cable_too_long_for_nic", "intent", "hosts"),
    _row("NIC015", "nics.nic015_mtu_ladder", "intent", "hosts", "attached hosts"),
    _row("NIC016", "nics.nic016_roce_v1_in_use", "hosts"),
    _row("NIC018", "nics.nic018_loopback_rdma", "intent"),
    _row("NIC019", "nics.nic019_nic_dscp_map_differs", "hosts"),
    _row("PFC001", "pfc.pfc001_pfc_priorities_mismatch", "fabric"),
    _row("PFC002", "pfc.pfc002_too_many_lossless_priorities", "fabric"),
    _row("PFC003", "pfc.pfc003_pfc_one_sided", "intent", "devices", "hosts"),
    _row("PFC004", "pfc.pfc004_priority_changes_on_the_wire", "devices"),
    _row("PFC005", "pfc.pfc005_pfc_path_misaligned", "fabric"),
    _row("PFC006", "pfc.pfc006_global_pause_beside_pfc", "intent", "hosts"),
    _row("PFC007", "pfc.pfc007_pfc_beyond_the_intent", "device", needs="intent"),
    _row("PFC008", "pfc.pfc008_pfc_at_super_spines", "intent"),
    _row("PFC009", "pfc.pfc009_pfc_oversubscribed_uplinks", "intent"),
    _row("PFC010", "pfc.pfc010_dcbx_may_override", "intent", "hosts"),
    _row("PFC011", "pfc.pfc011_pfc_asymmetric", "device"),
    _row("PFC012", "pfc.pfc012_lossless_class_undecided", "intent"),
    _row("PFC013", "pfc.pfc013_macsec_drops_pauses", "devices"),
    _row("PFC014", "pfc.pfc014_lag_members_differ", "device", needs="PORTCHANNEL_MEMBER"),
    _row("PFC016", "pfc.pfc016_map_unbound", "device"),
    _row("PFC017", "pfc.pfc017_tier_without_pfc", "intent"),
    _row("SCH001", "scheduling.sch001_lossless_share_too_small", "fabric"),
    _row("SCH003", "scheduling.sch003_class_without_share", "intent"),
    _row("SCH004", "scheduling.sch004_bulk_class_strict", "fabric"),
    _row("SCH005", "scheduling.sch005_lossless_queue_shaped", "device"),
    _row("SCH006", "scheduling.sch006_rate_unit_slip", "device"),
    _row("SCM001", "schema.scm001_field_unknown", "device", needs="refusals"),
    _row("SCM002", "schema.scm002_value_refused", "device", needs="refusals"),
    _row("SCM003", "schema.scm003_reference_without_row", "device", needs="refusals"),
    _row("SCM004", "schema.scm004_constraint_broken", "device", needs="refusals"),
    _row("SCM005", "schema.scm005_field_missing", "device", needs="refusals"),
    _row("SCM006", "schema.scm006_key_malformed", "device", needs="refusals"),
    _row("SCM007", "schema.scm007_table_without_schema", "device", needs="refusals"),
    _row("SCM008", "schema.scm008_release_differs", "device", needs="refusals"),
    _row("SIM001", "simulation.sim001_simulated_unsafe", "runs"),
    _row("SIM002", "simulation.sim002_simulated_edge", "runs"),
    _row("SIM003", "simulation.sim003_pfc_carries_load", "runs"),
    _row("STM001", "storms.stm001_storm_going_on", "running device"),
    _row("STM002", "storms.stm002_storm_propagated", "running device"),
    _row("STM003", "storms.stm003_storm_source", "running fabric"),
    _row("STM004", "storms.stm004_watchdog_counts_nothing", "running device"),
    _row("SUP001", "suppressions.sup001_suppression_unused", "suppressions"),
    _row("SUP002", "suppressions.sup002_suppression_expired", "suppressions"),
    _row("SUP003", "suppressions.sup003_baseline_stale", "suppressions"),
    _row("SWS001", "sonic.sws001_map_entry_unreadable", "device"),
    _row("SWS002", "sonic.sws002_map_entry_out_of_range", "device"),
    _row("SWS003", "sonic.sws003_wred_profile_refused", "device"),
    _row("SWS004", "sonic.sws004_scheduler_refused", "device"),
    _row("SWS005", "sonic.sws005_watchdog_row_refused", "device"),
    _row("SWS006", "sonic.sws006_index_refused", "device"),
    _row("SWS007", "sonic.sws007_rows_overlap", "device"),
    _row("SWS008", "sonic.sws008_ports_joined", "device"),
    _row("SWS009", "sonic.sws009_pfc_mask_misread", "device"),
    _row("SWS010", "sonic.sws010_global_row_ignored", "device"),
    _row("SWS011", "sonic.sws011_buffer_value_unreadable", "device"),
    _row("SWS012", "sonic.sws012_lossless_pool_renamed", "device"),
    _row("SWS013", "sonic.sws013_threshold_contradicts_pool", "device"),
    _row("SWS014", "sonic.sws014_buffer_profile_misplaced", "device"),
    _row("SWS015", "sonic.sws015_cable_length_unread", "device"),
    _row("TEL001", "telemetry.tel001_pauses_unseen", "intent", "device"),
    _row("TEL002", "telemetry.tel002_headroom_unwatched", "device"),
    _row("TEL003", "telemetry.tel003_storms_unannounced", "intent"),
    _row("TOP001", "topology.top001_oversubscription_undeclared", "intent"),
    _row("TOP002", "topology.top002_port_budget", "intent"),
    _row("TOP003", "topology.top003_port_speed_missing", "intent"),
    _row("TOP004", "topology.top004_up_again_after_down", "intent", "devices"),
    _row("TOP005", "topology.top005_cyclic_buffer_dependency", "intent", "devices"),
    _row("TOP006", "topology.top006_bounce_in_same_priority", "intent", "device", needs="TUNNEL"),
    _row("TOP007", "topology.top007_mac_forgotten_before_arp", "intent"),
    _row("TOP008", "topology.top008_rdma_bridged", "intent"),
    _row("TOP009", "topology.top009_oversubscribed_after_failures", "intent"),
    _row("TOP014", "topology.top014_cluster_contradicted", "intent"),
    _row("WD001", "watchdog.wd001_watchdog_missing", "fabric"),
    _row("WD002", "watchdog.wd002_watchdog_mask_empty", "fabric"),
    _row("WD003", "watchdog.wd003_watchdog_timer_range", "fabric"),
    _row("WD004", "watchdog.wd004_watchdog_timer_below_poll", "fabric"),
    _row("WD005", "watchdog.wd005_watchdog_restoration_unset", "fabric"),
    _row("WD006", "watchdog.wd006_watchdog_restores_too_soon", "fabric"),
    _row("WD008", "watchdog.wd008_watchdog_outlasts_transport", "fabric", "hosts", "attached hosts"),
    _row("WD009", "watchdog.wd009_watchdog_outlasts_job", "intent", "hosts"),
    _row("WD010", "watchdog.wd010_watchdog_detection_between_polls", "fabric"),
    _row("WD011", "watchdog.wd011_watchdog_only_alerts", "fabric"),
    _row("WD012", "watchdog.wd012_watchdog_actions_mixed", "fabric"),
    _row("WD013", "watchdog.wd013_watchdog_polls_too_often", "fabric"),
    _row("WD014", "watchdog.wd014_big_red_switch_on", "device"),
    _row("WD015", "watchdog.wd015_nic_storms_too_long", "intent", "hosts", "attached hosts"),
    _row("WD016", "watchdog.wd016_watchdog_counters_off", "device"),
    _row("WD018", "watchdog.wd018_watchdog_tiers_inverted", "devices"),
)
# fmt: on
RULES: dict[str, RuleRow] = {row.code: row for row in _ROWS}
"""All rules by their code, in its order."""


class LoadedRule(NamedTuple):
    """A rule and its function for one subject."""

    code: str
    check: Callable[[Any], Iterator[Violation | MissingInput]]


def load(code: str) -> LoadedRule:
    """Return one rule with its function for the first of its subjects.

    Raises:
        LosslessError: no such code.
    """
    if code not in RULES:
        raise LosslessError(f"no rule {code!r}")
    return _load(code, RULES[code].subjects[0])


def rules_for(
    *subjects: Subject, chosen: Codes | None = None, has: Iterable[str] | None = None
) -> tuple[LoadedRule, ...]:
    """Return the rules for some subjects; of those ``chosen``, where it is given.

    ``has`` is what the subject at hand has: a rule that needs something else is left out. None: all are returned.
    """
    return _rules_for(subjects, chosen, None if has is None else needs().intersection(has))


@cache
def _rules_for(
    subjects: tuple[Subject, ...], chosen: Codes | None, has: frozenset[str] | None
) -> tuple[LoadedRule, ...]:
    return tuple(
        _load(row.code, subject)
        for row in _ROWS
        for subject in subjects
        if subject in row.subjects
        and (chosen is None or row.code in chosen)
        and (has is None or not row.needs or row.needs in has)
    )


@cache
def codes_for(subject: Subject, needs: str | None = None) -> Codes:
    """Return the codes of the rules for a subject; with ``needs``, of those that need just that."""
    return frozenset(
        row.code for row in _ROWS if subject in row.subjects and (needs is None or row.needs == needs)
    )


@cache
def needs() -> frozenset[str]:
    """Return everything that some rule needs."""
    return frozenset(row.needs for row in _ROWS if row.needs)


def module_of(code: str) -> str:
    """Return the dotted name of a rule's module."""
    return f"lossless.checks.rules.{RULES[code].module}"


def _load(code: str, subject: Subject) -> LoadedRule:
    return LoadedRule(code, getattr(import_module(module_of(code)), _FUNCTIONS.get(subject, "check")))


def code_of(name: str) -> str | None:
    """Return the code of a rule by its code or its readable name, None where there is none."""
    return name.upper() if name.upper() in RULES else _codes_by_name().get(name)


@cache
def _codes_by_name() -> dict[str, str]:
    return {row.name: row.code for row in _ROWS}

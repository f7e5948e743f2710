"""Rules on InfiniBand subnets, in the dicts of :mod:`lossless.checks.rules.table`, by what they are given."""

from __future__ import annotations

SUBNET: dict[str, str] = {
    "IB001": "infiniband.ib001_manager_priorities",
    "IB002": "infiniband.ib002_routing_engine_unfit",
    "IB003": "infiniband.ib003_roots_not_the_top",
    "IB004": "infiniband.ib004_lanes_insufficient",
    "IB005": "infiniband.ib005_sl2vl_incomplete",
    "IB006": "infiniband.ib006_link_rate_impossible",
    "IB007": "infiniband.ib007_manager_nowhere",
    "IB008": "infiniband.ib008_sharp_manager_apart",
    "IB009": "infiniband.ib009_sharp_on_manager_port",
    "IB010": "infiniband.ib010_sharp_trees_short",
    "IB011": "infiniband.ib011_sharp_generation_short",
    "IB012": "infiniband.ib012_default_partition_open",
    "IB013": "infiniband.ib013_nccl_pkey_index",
    "IB014": "infiniband.ib014_packet_lifetimes",
    "IB015": "infiniband.ib015_routing_engine_unknown",
    "IB016": "infiniband.ib016_boolean_silently_false",
    "IB017": "infiniband.ib017_option_out_of_range",
    "IB018": "infiniband.ib018_option_unreadable",
    "IB019": "infiniband.ib019_option_unknown",
    "IB020": "infiniband.ib020_credit_loop",
    "IB021": "infiniband.ib021_traffic_class_without_effect",
    "IB022": "infiniband.ib022_line_cut",
    "IB023": "infiniband.ib023_partition_file_empty",
    "IB024": "infiniband.ib024_partition_of_limited_members",
    "IB025": "infiniband.ib025_manager_not_full_member",
    "IB026": "infiniband.ib026_partition_group_unrealizable",
    "IB027": "infiniband.ib027_service_level_starved",
    "IB028": "infiniband.ib028_service_level_without_qos",
    "IB029": "infiniband.ib029_nccl_service_level",
    "IB030": "infiniband.ib030_other_managers_ignored",
    "IB031": "infiniband.ib031_lids_reassigned",
    "IB032": "infiniband.ib032_management_key_lease",
    "IB033": "infiniband.ib033_sweeps_off",
    "IB034": "infiniband.ib034_management_packets_unlimited",
    "IB035": "infiniband.ib035_partitions_not_enforced",
    "IB036": "infiniband.ib036_lmc_with_fat_tree",
    "IB037": "infiniband.ib037_sharp_without_tree_routing",
    "IB038": "infiniband.ib038_sharp_enabled_misread",
    "IB040": "infiniband.ib040_leaf_oversubscribed",
    "IB041": "infiniband.ib041_policy_overrides_partition",
}
"""Rules that are given one InfiniBand subnet: of an intent, or of an opensm.conf with the files beside it."""

ACROSS_SUBNETS: dict[str, str] = {
    "IB039": "infiniband.ib039_subnet_prefix_shared",
}
"""Rules that are given all InfiniBand subnets of a run together."""

"""Settings that all switches of a role should have alike, read off one device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.fabric.across import Setting

if TYPE_CHECKING:
    from lossless.rules.device import Device


def settings_of(device: Device) -> tuple[Setting, ...]:
    """Return what a device says of the settings that its role shares."""
    return tuple(
        Setting(
            f"DSCP_TO_TC_MAP|{name}",
            tuple(sorted(row.fields.items())),
            name,
            device.tables.origin("DSCP_TO_TC_MAP", row),
        )
        for name, row in device.tables.table("DSCP_TO_TC_MAP").items()
    )

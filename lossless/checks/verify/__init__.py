"""Running state: rules over captures of devices."""

"""From deployed configurations back to an intent: what most ports do is declared, what differs is listed."""

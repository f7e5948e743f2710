"""Changes of an InfiniBand subnet in service: files of its managers, safe mixtures of old and new tables, and steps."""

"""Reports: one module per output format. Functions from findings to text; nothing here prints."""

"""The language server: the findings of ``lossless lint`` while an intent or a config_db.json is edited."""

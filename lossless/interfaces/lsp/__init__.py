"""The language server: what ``lossless lint`` says, while an intent or a config_db.json is written in an editor."""

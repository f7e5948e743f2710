"""The language server: the findings of ``lossless lint`` while an intent or a switch configuration is edited."""

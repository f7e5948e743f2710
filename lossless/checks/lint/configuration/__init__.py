"""Settings in ``lossless.toml``, or in ``[tool.lossless]`` of a ``pyproject.toml``, and the files they apply to."""

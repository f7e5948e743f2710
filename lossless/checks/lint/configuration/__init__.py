"""``lossless.toml``, or ``[tool.lossless]`` of a ``pyproject.toml``: which holds for a file, and what it says."""

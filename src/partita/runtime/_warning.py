"""Log warnings for code that rarely warns: `logging` is slow to load, so it is loaded with the first warning."""

from __future__ import annotations


def warn(logger: str, message: str, *values: object) -> None:
    """Log a warning, as if the caller had called the logger."""
    import logging  # noqa: PLC0415 - slow to load

    logging.getLogger(logger).warning(message, *values, stacklevel=2)

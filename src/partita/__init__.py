"""Partita: an access-pattern-first DynamoDB data layer for Python.

The public names are those of `partita._public`. They are loaded when the first of them is asked for, so that importing
one module of the package, as the pytest plugin and the command line do, does not load all of it.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    return getattr(import_module("partita._public"), name)


def __dir__() -> list[str]:
    return [*globals(), *import_module("partita._public").__all__]

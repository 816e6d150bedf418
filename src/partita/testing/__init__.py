"""For tests of programs that use Partita: a fake clock, faults on demand, and budgets as assertions.

The names are loaded when the first of them is asked for: every pytest run imports this package for its plugin.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'partita.testing' has no attribute {name!r}")
    return getattr(import_module("partita.testing._public"), name)


def __dir__() -> list[str]:
    return [*globals(), *import_module("partita.testing._public").__all__]

"""Public names that are loaded on first access.

`from partita.store import GetItem` loads the module of GetItem, and no other module of the package. Type checkers read
the same names in the package's `__init__.pyi`. This module is loaded with `import partita`, so at import time it uses
only modules that Python has already loaded at startup.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def late_names(
    package: str, modules: "Mapping[str, tuple[str, ...]]"
) -> "tuple[Callable[[str], object], Callable[[], list[str]], list[str]]":
    """Return the `__getattr__`, `__dir__` and `__all__` of a package whose names are loaded on first access.

    Args:
        package: the name of the package.
        modules: the public names of each of its modules. Each module is an attribute too, even before it is loaded.
    """
    places = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def load(name: str) -> object:
        if name in modules:
            return _imported(f"{package}.{name}")
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        loaded = getattr(_imported(places[name]), name)
        setattr(sys.modules[package], name, loaded)
        return loaded

    def names() -> list[str]:
        return [*{**vars(sys.modules[package]), **places}]

    return load, names, sorted(places, key=lambda name: (not name.isupper(), name))


def _imported(module: str) -> object:
    """Import a module with garbage collection disabled: loading creates many objects, none of which are garbage."""
    import gc
    from importlib import import_module

    if not gc.isenabled():
        return import_module(module)
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.enable()

"""Public names that are loaded when they are asked for.

`from partita.store import GetItem` loads the module of GetItem, and none of the others that the package has. Type
checkers read the same names in the `__init__.pyi` beside it. This module is loaded with `import partita`, so it needs
nothing that Python has not loaded by itself.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def late_names(
    package: str, modules: "Mapping[str, tuple[str, ...]]"
) -> "tuple[Callable[[str], object], Callable[[], list[str]], list[str]]":
    """What a package needs for names that are loaded late: its `__getattr__`, its `__dir__` and its `__all__`.

    Args:
        package: the name of the package.
        modules: what is public in each of its modules. Each is an attribute, too, whether it was loaded or not.
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
    """A module, imported without looking for garbage: what is loaded stays, and there is much of it."""
    import gc
    from importlib import import_module

    if not gc.isenabled():
        return import_module(module)
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.enable()

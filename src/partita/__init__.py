"""Partita: an access-pattern-first DynamoDB data layer for Python.

The public names are those of `partita._public`. They are loaded when the first of them is asked for, so that importing
one module of the package, as the pytest plugin and the command line do, does not load all of it.
"""


def __getattr__(name: str) -> object:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    from partita import _public

    return getattr(_public, name)


def __dir__() -> list[str]:
    from partita import _public

    return [*globals(), *_public.__all__]

"""The command line: the same verbs as in Python, on the services that are installed.

The public names are those of `partita.cli._public`. They are loaded when the first of them is asked for: the help
of the program needs none of them.
"""


def __getattr__(name: str) -> object:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'partita.cli' has no attribute {name!r}")
    from partita.cli import _public

    return getattr(_public, name)


def __dir__() -> list[str]:
    from partita.cli import _public

    return [*globals(), *_public.__all__]

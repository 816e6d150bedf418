"""The command line: the same verbs as in Python, on the services that are installed."""

from partita.cli._main import main

__all__ = ["main"]

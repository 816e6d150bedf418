"""The command line, as its own tests run it."""

from tests.cli.conftest import folder, run

__all__ = ["folder", "run"]

"""The fixtures `folder` and `run` of the command line's tests."""

from tests.cli.conftest import folder, run

__all__ = ["folder", "run"]

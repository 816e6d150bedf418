"""A session on the sample's table."""

from tests.model.conftest import db

__all__ = ["db"]

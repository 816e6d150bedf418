"""The fixture `db`: a session on a store with the sample's table."""

from tests.model.conftest import db

__all__ = ["db"]

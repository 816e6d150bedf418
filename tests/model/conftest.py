"""The fixture `db`: a session on a store with the sample's table."""

from __future__ import annotations

import pytest
from tests.model.sample import SAMPLES

from partita import Session


@pytest.fixture
def db(partita_db: Session) -> Session:
    """A session on an empty store that has the sample's table."""
    partita_db.create_tables(SAMPLES)
    return partita_db

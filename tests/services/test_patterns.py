"""The access patterns of all services: the library lets a docstring be left out, a service does not."""

from __future__ import annotations

import pytest

from partita.service import Service, discover


@pytest.mark.parametrize("service", discover(), ids=lambda service: service.name)
def test_every_pattern_of_a_service_has_a_docstring(service: Service) -> None:
    patterns = [pattern for table in service.tables for pattern in table.patterns.values()]
    assert patterns
    assert [pattern.name for pattern in patterns if not pattern.doc] == []

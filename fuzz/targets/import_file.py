"""The list of countries that `partita countries import` reads."""

from __future__ import annotations

from functools import cache
from typing import Final

from partita import EmbeddedStore, Session
from partita.errors import OperationError
from partita_services.countries.imports import propose, read_csv
from partita_services.countries.iso import Event
from partita_services.countries.model import TABLE, Country
from partita_services.countries.responses import csv_text

MAX_PROPOSED: Final = 8
"""Longer lists are only parsed, because proposing changes reads once per line."""


def import_file(data: bytes) -> None:
    """Read a list or refuse it; it is the same after exporting and reading it again, and changes can be proposed."""
    try:
        events = read_csv(data.decode("utf-8-sig"))
    except (OperationError, UnicodeDecodeError):
        return
    assert read_csv(csv_text(map(_country, events))) == events
    if len(events) <= MAX_PROPOSED:
        _check_proposals(events)


def _country(event: Event) -> Country:
    assert event.content is not None
    content = event.content
    return Country(alpha2=event.alpha2, alpha3=content.alpha3, numeric=content.numeric, name=content.name)


def _check_proposals(events: tuple[Event, ...]) -> None:
    try:
        proposals = _session().run(propose(events, whole=True))
    except OperationError:
        return
    assert {proposal.event for proposal in proposals} == set(events)
    assert {proposal.verb for proposal in proposals} <= {"create"}


@cache
def _session() -> Session:
    session = Session(EmbeddedStore(":memory:"))
    session.create_tables([TABLE])
    return session

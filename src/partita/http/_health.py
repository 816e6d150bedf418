"""Whether the store answers."""

from __future__ import annotations

from collections.abc import Sequence

from partita import AsyncSession
from partita.service import Service
from partita.store import DescribeTable, ListTables


async def ask_store(session: AsyncSession, services: Sequence[Service]) -> None:
    """Ask for something small: a table of the services, which all of their roles may see, unlike a list of all tables.

    Raises:
        PartitaError: it does not answer, or the table is not there.
    """
    tables = [table for service in services for table in service.tables]
    await session.store.execute_async(DescribeTable(tables[0].name) if tables else ListTables())

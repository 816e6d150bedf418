"""Whether the store responds."""

from __future__ import annotations

from collections.abc import Sequence

from partita import AsyncSession
from partita.service import Service
from partita.store import DescribeTable, ListTables


async def check_store(session: AsyncSession, services: Sequence[Service]) -> None:
    """Send a small request: for a table of the services, which all of their roles may see, unlike a list of all tables.

    Raises:
        PartitaError: the store does not respond, or the table does not exist.
    """
    tables = [table for service in services for table in service.tables]
    await session.store.execute_async(DescribeTable(tables[0].name) if tables else ListTables())

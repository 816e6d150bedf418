"""Concurrent callers of the Accounts API: the balance of each account is linearizable, even if responses are lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import httpx
from tests.histories._linearizable import Operation, is_linearizable

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.http import AppState, Caller, Identity
from partita.store import TransactWriteItems
from partita.testing import FaultyStore
from partita_services.accounts.bootstrap import SERVICE

ACCOUNTS = ("acc-1", "acc-2")
CALLERS = 4
CALLS = 12
UNAVAILABLE = 503


def balance(state: int, operation: Operation) -> tuple[bool, int]:
    """Model an account whose balance never goes below zero: a larger withdrawal is refused."""
    is_unknown = operation.returned is None
    if operation.kind == "read":
        return is_unknown or operation.told == state, state
    after = state + operation.value
    done = after >= 0
    return is_unknown or operation.told == done, after if done else state


class Api:
    """Calls the API, and records the operations on each account."""

    def __init__(self, client: httpx.AsyncClient, store: FaultyStore) -> None:
        self.history: dict[str, list[Operation]] = {pk: [] for pk in ACCOUNTS}
        self._client = client
        self._store = store
        self._ticks = 0

    def _tick(self) -> int:
        self._ticks += 1
        return self._ticks

    async def call(self, name: str) -> None:
        """Make random calls, one after another."""
        random = Random(name)
        for number in range(CALLS):
            pk, amount = random.choice(ACCOUNTS), random.randrange(-30, 30)
            if number == CALLS // 2:
                self._store.unavailable(on=TransactWriteItems, happens=random.random() < 0.5)
            if amount % 3 == 0:
                await self._read(name, pk)
            else:
                await self._move(name, pk, amount)

    async def _read(self, name: str, pk: str) -> None:
        begun = self._tick()
        response = await self._client.get(f"/accounts/{pk}", params={"consistent": "true"})
        assert response.status_code == httpx.codes.OK
        self.history[pk].append(Operation(name, begun, self._tick(), "read", told=response.json()["balance"]))

    async def _move(self, name: str, pk: str, amount: int) -> None:
        begun, kind = self._tick(), "deposit" if amount > 0 else "withdraw"
        response = await self._client.post(f"/accounts/{pk}/{kind}", json={"amount": abs(amount)})
        assert response.status_code in {httpx.codes.CREATED, httpx.codes.CONFLICT, UNAVAILABLE}
        ended = None if response.status_code == UNAVAILABLE else self._tick()
        done = response.status_code == httpx.codes.CREATED
        self.history[pk].append(Operation(name, begun, ended, kind, amount, told=done))


async def test_the_balance_of_an_account_has_one_history(tmp_path: Path) -> None:
    identity = Identity(b"k" * 32)
    headers = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    with EmbeddedStore(tmp_path / "accounts.db", durable=False) as embedded:
        store = FaultyStore(embedded)
        session = AsyncSession(store)
        await session.create_tables(SERVICE.tables)
        transport = httpx.ASGITransport(build_app([SERVICE], AppState(session, identity)))
        base = "http://test/accounts/api"
        async with httpx.AsyncClient(transport=transport, base_url=base, headers=headers) as client:
            for pk in ACCOUNTS:
                await client.post("/accounts", json={"pk": pk, "name": pk, "balance": 20})
            api = Api(client, store)
            await asyncio.gather(*(api.call(f"caller-{number}") for number in range(CALLERS)))
    operations = [each for history in api.history.values() for each in history]
    assert len(operations) == CALLERS * CALLS
    assert any(each.returned is None for each in operations)
    for pk, history in api.history.items():
        assert is_linearizable(history, balance, 20), f"{pk}: {history}"

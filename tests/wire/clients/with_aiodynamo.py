"""aiodynamo, on aiohttp; boto3 reads the stream, because aiodynamo cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
from aiodynamo.client import Client
from aiodynamo.credentials import Key, StaticCredentials
from aiodynamo.errors import ItemNotFound, TransactionCanceled
from aiodynamo.expressions import F, HashKey
from aiodynamo.http.aiohttp import AIOHTTP
from aiodynamo.models import (
    BatchGetRequest,
    BatchWriteRequest,
    KeySchema,
    KeySpec,
    KeyType,
    PayPerRequest,
    StreamSpecification,
)
from aiodynamo.operations import Put
from tests.wire.clients.client import KEY, REGION, SECRET, TABLE, USER, Task, key, streamed
from yarl import URL


class Aiodynamo:
    def __init__(self, url: str) -> None:
        self._url = url
        self._runner = asyncio.Runner()
        self._session = self._runner.run(_session())
        credentials = StaticCredentials(Key(KEY, SECRET))
        self._client = Client(AIOHTTP(self._session), credentials, REGION, endpoint=URL(url))

    def create(self) -> None:
        keys = KeySchema(KeySpec("user", KeyType.string), KeySpec("task", KeyType.string))
        stream = StreamSpecification(enabled=True)
        self._run(self._client.create_table(TABLE, PayPerRequest(), keys, stream=stream, wait_for_active=True))

    def put(self, task: Task) -> None:
        self._run(self._client.put_item(TABLE, task))

    def get(self, number: str) -> Task | None:
        try:
            return self._run(self._client.get_item(TABLE, key(number), consistent_read=True))  # type: ignore[no-any-return]
        except ItemNotFound:
            return None

    def rename(self, number: str, title: str) -> None:
        self._run(self._client.update_item(TABLE, key(number), F("title").set(title)))

    def add_together(self, *tasks: Task) -> bool:
        puts = [Put(TABLE, task, F("task").does_not_exist()) for task in tasks]
        try:
            self._run(self._client.transact_write_items(puts))
        except TransactionCanceled:
            return False
        return True

    def put_batch(self, *tasks: Task) -> None:
        self._run(self._client.batch_write({TABLE: BatchWriteRequest(items_to_put=list(tasks))}))

    def get_batch(self, *numbers: str) -> list[Task]:
        request = BatchGetRequest(keys=[key(number) for number in numbers])
        return self._run(self._client.batch_get({TABLE: request})).items[TABLE]  # type: ignore[no-any-return]

    def query(self) -> list[Task]:
        return self._run(self._queried())  # type: ignore[no-any-return]

    async def _queried(self) -> list[Task]:
        return [item async for item in self._client.query(TABLE, HashKey("user", USER))]

    def changes(self) -> list[tuple[str, str]]:
        return streamed(self._url)

    def close(self) -> None:
        self._run(self._session.close())
        self._runner.close()

    def _run(self, call: Any) -> Any:
        return self._runner.run(call)


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession()

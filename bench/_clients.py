"""DynamoDB clients behind one interface: a get, a put and a query of one partition, all of the same items."""

from __future__ import annotations

from typing import Any, Final, Protocol

import aiohttp
import boto3
from aiodynamo.client import Client
from aiodynamo.credentials import Key, StaticCredentials
from aiodynamo.expressions import HashKey
from aiodynamo.http.aiohttp import AIOHTTP
from pydynox import DynamoDBClient
from pynamodb.attributes import BooleanAttribute, MapAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.models import Model
from yarl import URL

from partita.expressions._ast import KeyCondition
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, QueryTable, TableSchema
from partita.store._dynamodb_json import wire_item
from partita.store.remote import Credentials, RemoteStore

TABLE: Final = "bench"
PARTITION: Final = "USER#ada"
ITEMS: Final = 100
REGION: Final = "us-east-1"
NAME: Final = "bench"


def key_of(n: int) -> dict[str, Any]:
    return {"pk": PARTITION, "sk": f"TASK#{n:06}"}


def item_of(n: int) -> dict[str, Any]:
    """An item of about 450 bytes."""
    return {
        **key_of(n),
        "title": "A task with a title of the usual length",
        "status": "pending",
        "priority": 3,
        "done": False,
        "created": 1_767_268_800 + n,
        "notes": "x" * 200,
        "tags": {"home", "work"},
        "owner": {"name": "Ada", "email": "ada@example.org"},
    }


class Blocking(Protocol):
    """A client whose calls block."""

    def get(self, n: int) -> object: ...

    def put(self, n: int) -> object: ...

    def query(self) -> int: ...


class Awaited(Protocol):
    """A client whose calls are awaited."""

    async def get(self, n: int) -> object: ...

    async def put(self, n: int) -> object: ...

    async def query(self) -> int: ...


QUERY: Final = QueryTable(TABLE, KeyCondition((("pk", PARTITION),)))


class Ours:
    """The remote store with blocking calls."""

    def __init__(self, url: str) -> None:
        self.store = RemoteStore(url, region=REGION, credentials=Credentials(NAME, NAME))

    def fill(self) -> None:
        self.store.execute(CreateTable(TableSchema(TABLE, KeyAttribute("pk"), KeyAttribute("sk"))))
        for n in range(ITEMS):
            self.put(n)

    def get(self, n: int) -> object:
        return self.store.execute(GetItem(TABLE, key_of(n))).item

    def put(self, n: int) -> object:
        return self.store.execute(PutItem(TABLE, item_of(n)))

    def query(self) -> int:
        return len(self.store.execute(QUERY).items)


class OursAwaited:
    """The remote store with awaited calls."""

    def __init__(self, url: str) -> None:
        self.store = RemoteStore(url, region=REGION, credentials=Credentials(NAME, NAME))

    async def get(self, n: int) -> object:
        return (await self.store.execute_async(GetItem(TABLE, key_of(n)))).item

    async def put(self, n: int) -> object:
        return await self.store.execute_async(PutItem(TABLE, item_of(n)))

    async def query(self) -> int:
        return len((await self.store.execute_async(QUERY)).items)


class Boto3:
    """The low-level client of boto3, whose values keep their type tags."""

    def __init__(self, url: str) -> None:
        keys = {"aws_access_key_id": NAME, "aws_secret_access_key": NAME}
        self.client = boto3.client("dynamodb", endpoint_url=url, region_name=REGION, **keys)

    def get(self, n: int) -> object:
        return self.client.get_item(TableName=TABLE, Key=wire_item(key_of(n)))["Item"]

    def put(self, n: int) -> object:
        return self.client.put_item(TableName=TABLE, Item=wire_item(item_of(n)))

    def query(self) -> int:
        values = {":p": {"S": PARTITION}}
        page = self.client.query(TableName=TABLE, KeyConditionExpression="pk = :p", ExpressionAttributeValues=values)
        return len(page["Items"])


class PynamoDB:
    """A model of PynamoDB."""

    def __init__(self, url: str) -> None:
        class Task(Model):
            class Meta:
                table_name = TABLE
                host = url
                region = REGION
                aws_access_key_id = NAME
                aws_secret_access_key = NAME

            pk = UnicodeAttribute(hash_key=True)
            sk = UnicodeAttribute(range_key=True)
            title = UnicodeAttribute()
            status = UnicodeAttribute()
            priority = NumberAttribute()
            done = BooleanAttribute()
            created = NumberAttribute()
            notes = UnicodeAttribute()
            tags = UnicodeSetAttribute()
            owner: MapAttribute[str, str] = MapAttribute()  # type: ignore[no-untyped-call]

        self.model = Task

    def get(self, n: int) -> object:
        return self.model.get(*key_of(n).values())

    def put(self, n: int) -> object:
        return self.model(**item_of(n)).save()

    def query(self) -> int:
        return len(list(self.model.query(PARTITION)))


class Pydynox:
    """The client of pydynox with blocking calls."""

    def __init__(self, url: str) -> None:
        self.client = DynamoDBClient(region=REGION, access_key=NAME, secret_key=NAME, endpoint_url=url)

    def get(self, n: int) -> object:
        return self.client.sync_get_item(TABLE, key_of(n))

    def put(self, n: int) -> object:
        return self.client.sync_put_item(TABLE, item_of(n))

    def query(self) -> int:
        values = {":p": PARTITION}
        return len(list(self.client.sync_query(TABLE, "pk = :p", expression_attribute_values=values)))


class PydynoxAwaited:
    """The client of pydynox with awaited calls."""

    def __init__(self, url: str) -> None:
        self.client = DynamoDBClient(region=REGION, access_key=NAME, secret_key=NAME, endpoint_url=url)

    async def get(self, n: int) -> object:
        return await self.client.get_item(TABLE, key_of(n))

    async def put(self, n: int) -> object:
        return await self.client.put_item(TABLE, item_of(n))

    async def query(self) -> int:
        values = {":p": PARTITION}
        return len([item async for item in self.client.query(TABLE, "pk = :p", expression_attribute_values=values)])


class Aiodynamo:
    """The client of aiodynamo, on aiohttp."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        keys = StaticCredentials(Key(NAME, NAME))
        self.client = Client(AIOHTTP(session), keys, REGION, endpoint=URL(url))

    async def get(self, n: int) -> object:
        return await self.client.get_item(TABLE, key_of(n))

    async def put(self, n: int) -> object:
        return await self.client.put_item(TABLE, item_of(n))

    async def query(self) -> int:
        return len([item async for item in self.client.query(TABLE, HashKey("pk", PARTITION))])

"""Regions: one store for all of them, or one for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from tests.wire.support import TASKS, serving, task

from partita import EmbeddedStore
from partita.wire import RegionStores
from partita.wire._execution import MAX_REGIONS
from partita.wire._faults import Fault
from partita.wire._parameters import region_of


def client_in(region: str, address: tuple[str, int]) -> Any:
    url = f"http://{address[0]}:{address[1]}"
    return boto3.client("dynamodb", region, endpoint_url=url, aws_access_key_id="a", aws_secret_access_key="b")


@pytest.fixture
def apart(store: EmbeddedStore, tmp_path: Path) -> Iterator[tuple[str, int]]:
    """The address of a server with a separate store for each region."""
    stores = RegionStores(store, lambda region: EmbeddedStore(tmp_path / f"{region}.db", durable=False))
    with serving(store, regions=stores) as address:
        yield address
    stores.close()


def test_the_region_is_that_of_the_signature() -> None:
    signed = "AWS4-HMAC-SHA256 Credential=id/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
    assert region_of({"authorization": signed}) == "eu-west-1"
    others = ("", "Bearer x", "Credential=id/1/a b/c/d")
    assert [region_of({"authorization": text}) for text in others] == ["us-east-1"] * 3
    assert region_of({}) == "us-east-1"


def test_one_store_has_the_tables_of_all_regions(address: tuple[str, int]) -> None:
    client_in("eu-west-1", address).create_table(**TASKS)
    assert client_in("us-west-2", address).list_tables()["TableNames"] == ["tasks"]


def test_regions_that_are_apart_have_tables_of_their_own(apart: tuple[str, int], store: EmbeddedStore) -> None:
    home, there = client_in("us-east-1", apart), client_in("eu-west-1", apart)
    for client, user in ((home, "here"), (there, "there")):
        client.create_table(**TASKS)
        client.put_item(TableName="tasks", Item=task(user, "1"))
    found = [client.scan(TableName="tasks")["Items"][0]["user"]["S"] for client in (home, there)]
    assert found == ["here", "there"]
    there.delete_table(TableName="tasks")
    assert (there.list_tables()["TableNames"], home.list_tables()["TableNames"]) == ([], ["tasks"])


def test_a_region_that_cannot_be_is_refused(apart: tuple[str, int]) -> None:
    with pytest.raises(ClientError, match="There is no region nowhere here"):
        client_in("nowhere", apart).list_tables()


def test_a_server_opens_a_limited_number_of_regions(store: EmbeddedStore) -> None:
    stores = RegionStores(store, lambda _: store)
    for number in range(1, MAX_REGIONS):
        stores.of(f"eu-west-{number}")
    with pytest.raises(Fault, match="This server has 64 regions open") as refused:
        stores.of("us-west-1")
    assert refused.value.kind == "LimitExceededException"
    assert stores.of("eu-west-1") is store

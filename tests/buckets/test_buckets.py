"""Buckets in a folder and in S3 behave in the same way, and give access to nothing outside."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session as BotocoreSession
from moto import mock_aws

from partita.buckets import Buckets, Encryption, FolderBuckets, open_buckets
from partita.buckets.s3 import S3Buckets
from partita.errors import BucketNotFound, ObjectChanged, OperationError
from partita.runtime._private_files import HAS_MODES
from partita.store.remote import Credentials

KEYS = Credentials("key", "secret")
NUMBERS = count()


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[S3Buckets, Any]]:
    """S3, emulated by moto in this process, and a client that creates buckets."""
    with mock_aws():
        client = BotocoreSession().create_client(
            "s3", region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
        )
        yield S3Buckets(region="us-east-1", credentials=KEYS), client


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Buckets, str]:
    """Buckets, and the name of an empty one."""
    name = f"one-{next(NUMBERS)}"
    if request.param == "folder":
        (tmp_path / name).mkdir()
        return FolderBuckets(tmp_path), name
    buckets, client = request.getfixturevalue("s3")
    client.create_bucket(Bucket=name)
    return buckets, name


def test_objects_are_listed_by_prefix_and_read_as_they_were_written(place: tuple[Buckets, str]) -> None:
    buckets, name = place
    for key in ("b/2", "a", "b/1"):
        buckets.write(name, key, key.encode(), Encryption("AES256"))
    assert [each.key for each in buckets.objects(name)] == ["a", "b/1", "b/2"]
    found = [*buckets.objects(name, "b/")]
    assert [(each.key, each.size) for each in found] == [("b/1", 3), ("b/2", 3)]
    with buckets.open(found[0]) as file:
        assert file.readline() == b"b/1"


def test_an_object_that_was_written_again_is_another_one(place: tuple[Buckets, str]) -> None:
    buckets, name = place
    buckets.write(name, "a", b"first")
    (found,) = buckets.objects(name)
    buckets.write(name, "a", b"second, and longer")
    with pytest.raises(ObjectChanged):
        buckets.open(found)


def test_a_bucket_that_is_not_there_is_said(place: tuple[Buckets, str]) -> None:
    buckets, _ = place
    with pytest.raises(BucketNotFound, match="two"):
        list(buckets.objects("two"))
    with pytest.raises(BucketNotFound, match="two"):
        buckets.write("two", "a", b"")


@pytest.mark.parametrize("key", ["../two/a", "a/../../b", "/etc/passwd", "a//b", "a\\..\\b", "", "a\0b", "."])
def test_no_key_leads_out_of_the_folder(tmp_path: Path, key: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    buckets = FolderBuckets(tmp_path)
    with pytest.raises(OperationError):
        buckets.write("one", key, b"")
    for bucket in ("..", "one/../two", ""):
        with pytest.raises(OperationError):
            list(buckets.objects(bucket))
    assert [*tmp_path.rglob("*.*")] == []


@pytest.mark.req("X04")
@pytest.mark.skipif(not HAS_MODES, reason="Windows has no file modes")
def test_an_object_in_a_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    FolderBuckets(tmp_path).write("one", "folder/object", b"")
    folder = tmp_path / "one" / "folder"
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, folder / "object")] == [0o700, 0o600]


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    for folder in (outside, root / "one"):
        folder.mkdir(parents=True)
    (root / "one" / "link").symlink_to(outside)
    (root / "whole").symlink_to(outside)
    buckets = FolderBuckets(root)
    with pytest.raises(OperationError, match="points outside"):
        buckets.write("one", "link/a", b"")
    with pytest.raises(BucketNotFound):
        buckets.write("whole", "a", b"")
    assert [*outside.iterdir()] == []


@pytest.mark.parametrize("address", ["nowhere", "http://x", "s3://?unknown=1", "s3://?endpoint=ftp://x"])
def test_an_address_that_is_not_understood_is_refused(address: str) -> None:
    with pytest.raises(OperationError):
        open_buckets(address)


def test_an_address_names_a_folder_or_s3(tmp_path: Path) -> None:
    assert isinstance(open_buckets(str(tmp_path)), FolderBuckets)
    assert isinstance(open_buckets("s3://?endpoint=http://127.0.0.1:9000&region=eu-west-1"), S3Buckets)

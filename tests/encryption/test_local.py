"""Keys in a file: only its owner may read them; they are rotated, and identified by their names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.encryption.sample import ADA, PEOPLE, FixedKeys, person

from partita import EmbeddedStore, Session, insert
from partita.encryption import KeyChain, LocalKeys
from partita.errors import FieldSealed, OperationError, SecretExposed, UnknownKey
from partita.operations import reseal, scan_items


def sealed_by(store: EmbeddedStore) -> bytes:
    """Return the name of the key that wrapped the data key of a stored secret."""
    (item,) = Session(store).maintenance("look").run(scan_items(PEOPLE))
    head: bytes = item["iban"]
    return head[head.index(b"L\x01") + 2 :][:1]


def test_a_file_of_keys_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made = LocalKeys.create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    data = made.new_key()
    assert LocalKeys.from_file(path).unwrap(data.wrapped) == data.key
    assert len(data.key) == 64
    with pytest.raises(FileExistsError):
        LocalKeys.create(path)


@pytest.mark.skipif(os.name != "posix", reason="there are no such modes")
def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    LocalKeys.create(path)
    path.chmod(0o644)
    with pytest.raises(SecretExposed, match="chmod 600"):
        LocalKeys.from_file(path)


def test_a_rotated_file_seals_with_the_new_key_and_opens_with_all(tmp_path: Path, partita_store: EmbeddedStore) -> None:
    path = tmp_path / "keys.json"
    before = Session(partita_store, keys=LocalKeys.create(path))
    before.create_tables([PEOPLE])
    saved = before.run(insert(ADA))
    assert sealed_by(partita_store) == b"1"

    after = Session(partita_store, keys=LocalKeys.rotate(path))
    assert LocalKeys.from_file(path).current == "2"
    assert after.run(person("ada")) == saved
    resealed = after.run(reseal(saved))
    assert resealed == saved.model_copy(update={"version": 2})
    assert sealed_by(partita_store) == b"2"

    old_file, new_file = before, Session(partita_store, keys=LocalKeys({"2": LocalKeys.from_file(path).keys["2"]}, "2"))
    assert new_file.run(person("ada")) == resealed
    with pytest.raises(FieldSealed, match="The key file has no key '2'"):
        old_file.run(person("ada"))


def test_a_chain_leads_from_one_provider_to_another(tmp_path: Path, partita_store: EmbeddedStore) -> None:
    fixed = Session(partita_store, keys=FixedKeys())
    fixed.create_tables([PEOPLE])
    saved = fixed.run(insert(ADA))
    local = LocalKeys.create(tmp_path / "keys.json")
    chain = Session(partita_store, keys=KeyChain(local, FixedKeys()))
    assert chain.run(person("ada")) == saved
    resealed = chain.run(reseal(saved))
    assert Session(partita_store, keys=local).run(person("ada")) == resealed


def test_resealing_needs_a_version_and_a_secret() -> None:
    from tests.encryption.sample import Old
    from tests.model.sample import Task

    with pytest.raises(OperationError, match="Old has no version"):
        reseal(Old(name="a", pin="1"))
    with pytest.raises(OperationError, match="Task has no encrypted field"):
        reseal(Task(user_id="u", task_id="t"))


def test_what_is_not_a_file_of_keys_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="There is no key file"):
        LocalKeys.from_file(tmp_path / "none")
    path = tmp_path / "keys.json"
    path.touch(mode=0o600)
    with pytest.raises(OperationError, match="is not a key file"):
        LocalKeys.from_file(path)
    with pytest.raises(OperationError, match="Each key must have 32 bytes"):
        LocalKeys({"1": b"short"}, "1")


@pytest.mark.parametrize("wrapped", [b"", b"L", b"K123", b"L\x019" + bytes(72), b"L\x011" + bytes(72), b"L\x011"])
def test_what_another_provider_wrapped_is_unknown(tmp_path: Path, wrapped: bytes) -> None:
    with pytest.raises(UnknownKey):
        LocalKeys.create(tmp_path / "keys.json").unwrap(wrapped)


def test_keys_are_not_printed(tmp_path: Path) -> None:
    keys = LocalKeys.create(tmp_path / "keys.json")
    assert repr(keys) == "LocalKeys(current='1', 1 keys)"
    assert repr(keys.new_key()) == "DataKey(…)"

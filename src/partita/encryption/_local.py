"""Keys in a file: the current key, which seals, and previous keys, which can still open.

The file is JSON: `{"current": "2", "keys": {"1": "<base64>", "2": "<base64>"}}`. Only its owner can read it.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from partita.encryption._provider import DATA_KEY_BYTES, DataKey
from partita.errors import OperationError, SecretExposed, UnknownKey
from partita.runtime import create_private, protecting_command, write_private

_MARK: Final = b"L"
_KEY_BYTES: Final = 32


class _File(Struct, frozen=True):
    current: str
    keys: dict[str, str]


class LocalKeys:
    """Wraps data keys with keys from a file, by AES key wrapping (RFC 3394)."""

    def __init__(self, keys: Mapping[str, bytes], current: str) -> None:
        """Use keys that are already in memory.

        Args:
            keys: the keys, 32 random bytes each, by name.
            current: the name of the key that wraps new data keys; the others only unwrap.

        Raises:
            OperationError: there is no key with the name `current`, or a key has another length.
        """
        if current not in keys or any(len(key) != _KEY_BYTES for key in keys.values()):
            raise OperationError(f"Each key must have {_KEY_BYTES} bytes, and one must be named {current!r}.")
        self.keys = dict(keys)
        self.current = current

    def __repr__(self) -> str:
        return f"LocalKeys(current={self.current!r}, {len(self.keys)} keys)"

    @classmethod
    def from_file(cls, path: Path | str) -> LocalKeys:
        """Read keys from a file.

        Raises:
            SecretExposed: other users can read or replace the file.
            OperationError: the file does not exist, or is not a key file.
        """
        path = Path(path)
        if not path.is_file():
            raise OperationError(f"There is no key file at {path}.", hint="Create one with LocalKeys.create(path).")
        if advice := protecting_command(path):
            raise SecretExposed(f"Other users can read or replace the keys in {path}.", hint=advice)
        try:
            file = msgspec.json.decode(path.read_bytes(), type=_File)
            return cls({name: base64.b64decode(key, validate=True) for name, key in file.keys.items()}, file.current)
        except (msgspec.DecodeError, binascii.Error) as error:
            raise OperationError(f"{path} is not a key file: {error}.") from None

    @classmethod
    def create(cls, path: Path | str) -> LocalKeys:
        """Create a file with one new key, which only its owner can read.

        Raises:
            FileExistsError: the path exists already.
        """
        create_private(Path(path))
        return _written(cls({"1": secrets.token_bytes(_KEY_BYTES)}, "1"), Path(path))

    @classmethod
    def rotate(cls, path: Path | str) -> LocalKeys:
        """Add a new key to a file and make it the current one; previous keys still open what they sealed."""
        before = cls.from_file(path).keys
        name = str(1 + max((int(each) for each in before if each.isdecimal()), default=0))
        return _written(cls({**before, name: secrets.token_bytes(_KEY_BYTES)}, name), Path(path))

    def new_key(self) -> DataKey:
        """Create a data key, wrapped by the current key."""
        from cryptography.hazmat.primitives.keywrap import aes_key_wrap  # noqa: PLC0415 - slow to load

        key, name = secrets.token_bytes(DATA_KEY_BYTES), self.current.encode()
        wrapped = aes_key_wrap(self.keys[self.current], key)
        return DataKey(key, _MARK + bytes([len(name)]) + name + wrapped)

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return the data key.

        Raises:
            UnknownKey: the file does not have the key that wrapped it.
        """
        from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap  # noqa: PLC0415 - as above

        if wrapped[:1] != _MARK or len(wrapped) < len(_MARK) + 1:
            raise UnknownKey("It was not sealed with keys from a file.")
        name_end = 2 + wrapped[1]
        name = wrapped[2:name_end].decode(errors="replace")
        if name not in self.keys:
            raise UnknownKey(f"The key file has no key {name!r}.")
        try:
            return aes_key_unwrap(self.keys[name], wrapped[name_end:])
        except (InvalidUnwrap, ValueError):
            raise UnknownKey(f"It was sealed with a different key {name!r} than the one in the key file.") from None


def _written(keys: LocalKeys, path: Path) -> LocalKeys:
    """Replace the file atomically: a reader finds either the old keys or the new ones, never a partial file."""
    encoded = {name: base64.b64encode(key).decode() for name, key in keys.keys.items()}
    write_private(path, msgspec.json.format(msgspec.json.encode(_File(keys.current, encoded))))
    return keys

"""The format of a sealed value, and which values of a request or response are sealed.

A sealed value consists of a four-byte marker, the length of a header in two bytes, the header in MessagePack (the names
of the item's key attributes, and the wrapped data key), and the value, sealed with AES-SIV. Header, table, attribute
and the item's key are authenticated with it, so a sealed value can only be opened in the place where it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from partita.expressions import IfNotExists, Operand, Path, SetAction, Value
from partita.store import BatchWriteItem, PutItem, Request, TransactWriteItems, UpdateItem
from partita.values import SEAL, Item, Plaintext, encode_item

_LENGTH_BYTES: Final = 2
_TAG_BYTES: Final = 16
_WRAPPED_BYTES: Final = 75
"""The length of a data key wrapped with a key from a file; with KMS it is about a hundred bytes longer."""

Seal: TypeAlias = Callable[["Place", Any], bytes]
"""Seals the value of one attribute."""


class Place(Struct, frozen=True):
    """The place of a sealed value."""

    table: str
    attribute: str
    key: Item

    def bound_to(self, head: bytes) -> list[bytes]:
        """Return the data that is authenticated with the value."""
        key = encode_item({name: self.key[name] for name in sorted(self.key)})
        return [head, self.table.encode(), self.attribute.encode(), key]


class Head(Struct, frozen=True, array_like=True):
    """The header of a sealed value."""

    key_names: tuple[str, ...]
    wrapped: bytes

    def packed(self) -> bytes:
        """Return the header as bytes, after the marker of a sealed value."""
        head = msgspec.msgpack.encode(self)
        return SEAL + len(head).to_bytes(_LENGTH_BYTES, "big") + head


def split(sealed: bytes) -> tuple[Head, bytes, bytes]:
    """Return the header of a sealed value, the header as bytes, and the ciphertext.

    Raises:
        ValueError: the value is incomplete.
    """
    begin = len(SEAL) + _LENGTH_BYTES
    end = begin + int.from_bytes(sealed[len(SEAL) : begin], "big")
    try:
        return msgspec.msgpack.decode(sealed[begin:end], type=Head), sealed[:end], sealed[end:]
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


def has_plaintext(request: Request[Any]) -> bool:
    """Whether a request contains values that must be sealed before it is sent."""
    if isinstance(request, PutItem):
        return any(type(value) is Plaintext for value in request.item.values())
    if isinstance(request, UpdateItem):
        return any(_plaintext_in(action.operand) for action in request.update.sets)
    if isinstance(request, BatchWriteItem | TransactWriteItems):
        parts = request.writes if isinstance(request, BatchWriteItem) else request.actions
        return any(isinstance(part, Request) and has_plaintext(part) for part in parts)
    return False


def _plaintext_in(operand: Operand) -> bool:
    literal = operand.default if isinstance(operand, IfNotExists) else operand
    return isinstance(literal, Value) and isinstance(literal.value, Plaintext)


def sealed_request(request: Any, seal: Seal) -> Any:
    """Return the request with the values of all encrypted fields sealed."""
    if isinstance(request, PutItem):
        item = {name: _sealed(request, name, value, seal) for name, value in request.item.items()}
        return replace(request, item=item)
    if isinstance(request, UpdateItem):
        sets = tuple(_sealed_action(request, action, seal) for action in request.update.sets)
        return replace(request, update=replace(request.update, sets=sets))
    if isinstance(request, BatchWriteItem):
        return replace(request, writes=tuple(sealed_request(write, seal) for write in request.writes))
    if isinstance(request, TransactWriteItems):
        return replace(request, actions=tuple(sealed_request(action, seal) for action in request.actions))
    return request


def _sealed(put: PutItem, name: str, value: Any, seal: Seal) -> Any:
    if not isinstance(value, Plaintext):
        return value
    return seal(Place(put.table, name, {each: put.item[each] for each in value.key_names}), value.value)


def _sealed_action(update: UpdateItem, action: SetAction, seal: Seal) -> SetAction:
    operand = action.operand
    if not _plaintext_in(operand):
        return action
    place = Place(update.table, str(action.path.parts[0]), update.key)
    literal: Any = operand.default if isinstance(operand, IfNotExists) else operand
    sealed = Value(seal(place, literal.value.value))
    path: Path = action.path
    return SetAction(path, IfNotExists(operand.path, sealed) if isinstance(operand, IfNotExists) else sealed)


def as_if_sealed(request: Any) -> Any:
    """Return the request in its final size: values to seal are replaced by as many bytes, without using a key."""

    def stand_in(place: Place, value: Any) -> bytes:
        head = Head(tuple(sorted(place.key)), bytes(_WRAPPED_BYTES)).packed()
        return head + bytes(_TAG_BYTES + len(encode_item({"v": value})))

    return sealed_request(request, stand_in) if has_plaintext(request) else request

"""The keys of one session: seals what it writes and opens what it reads, with data keys that it remembers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from partita.encryption._provider import DataKey, KeyProvider
from partita.encryption._sealing import Head, Place, has_plaintext, sealed_request, split
from partita.errors import ConditionFailed, PartitaError, TransactionCancelled, UnknownKey
from partita.runtime import Blocking, Clock, run
from partita.store import (
    BatchGetResponse,
    BatchWriteItem,
    BatchWriteResponse,
    ItemResponse,
    PageResponse,
    TransactGetResponse,
    TransactWriteItems,
    WriteResponse,
)
from partita.values import Item, Plaintext, UnopenedValue, decode_item, encode_item, is_sealed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

R = TypeVar("R")

KeyCalls: TypeAlias = Generator[Blocking, Any, R]
"""Work that may have to ask the provider: it yields blocking calls, and is sent what they give."""

KEY_SECONDS: Final = 3_600
"""As long does one data key seal; then the provider is asked for another."""

_MAX_REMEMBERED: Final = 1_000


class FieldKeys:
    """Seals and opens encrypted fields. Safe for any number of threads."""

    def __init__(self, provider: KeyProvider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock
        self._current: tuple[DataKey, float] | None = None
        self._ciphers: dict[bytes, AESSIV | UnknownKey] = {}

    def seal(self, request: R) -> KeyCalls[R]:
        """The request as it is sent: nothing in it is readable that must not be."""
        if not has_plaintext(request):  # type: ignore[arg-type]  # a pause has none
            return request
        wrapped = yield from self._current_key()
        cipher = self._ciphers[wrapped]

        def sealed(place: Place, value: Any) -> bytes:
            assert not isinstance(cipher, UnknownKey)  # noqa: S101 - it was just made
            head = Head(tuple(sorted(place.key)), wrapped).packed()
            return head + cipher.encrypt(encode_item({"v": value}), place.bound_to(head))

        return sealed_request(request, sealed)  # type: ignore[no-any-return]

    def _current_key(self) -> KeyCalls[bytes]:
        if self._current is None or self._clock() >= self._current[1]:
            made: DataKey = yield Blocking(self._provider.new_key)
            self._remember(made.wrapped, made.key)
            self._current = made, self._clock() + KEY_SECONDS
        wrapped = self._current[0].wrapped
        if wrapped not in self._ciphers:
            self._remember(wrapped, self._current[0].key)
        return wrapped

    def _remember(self, wrapped: bytes, key: bytes | UnknownKey) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415 - slow to load

        if len(self._ciphers) >= _MAX_REMEMBERED:
            self._ciphers.clear()
        self._ciphers[wrapped] = key if isinstance(key, UnknownKey) else AESSIV(key)

    def open(self, request: Any, sent: Any, response: R) -> KeyCalls[R]:
        """The response with what was sealed in it; what cannot be opened says why, to whoever reads it."""
        if isinstance(response, BatchWriteResponse) and isinstance(request, BatchWriteItem):
            pairs = zip(request.writes, sent.writes, strict=True)
            return replace(response, unprocessed=tuple(plain for plain, each in pairs if each in response.unprocessed))
        if isinstance(response, PageResponse):
            return replace(response, items=(yield from self._open_all(response.items, [request.table])))
        if isinstance(response, BatchGetResponse | TransactGetResponse):
            tables = [get.table for get in request.gets]
            return replace(response, items=(yield from self._open_all(response.items, tables)))
        if isinstance(response, ItemResponse) and response.item is not None:
            return replace(response, item=(yield from self._open_item(request.table, response.item)))
        if isinstance(response, WriteResponse) and response.attributes is not None:
            return replace(response, attributes=(yield from self._open_item(request.table, response.attributes)))
        return response

    def open_error(self, request: Any, error: PartitaError) -> KeyCalls[None]:
        """Open the items that an error shows."""
        if isinstance(error, ConditionFailed) and error.item is not None:
            error.item = yield from self._open_item(request.table, error.item)
        if isinstance(error, TransactionCancelled) and isinstance(request, TransactWriteItems):
            for reason, action in zip(error.reasons, request.actions, strict=True):
                if reason.item is not None:
                    reason.item = yield from self._open_item(action.table, reason.item)

    def _open_all(self, items: list[Any], tables: list[str]) -> KeyCalls[list[Any]]:
        opened = []
        for place, item in enumerate(items):
            table = tables[place] if len(tables) > 1 else tables[0]
            opened.append(None if item is None else (yield from self._open_item(table, item)))
        return opened

    def open_item(self, table: str, item: Item) -> Item:
        """An item from elsewhere, such as a change stream, with what was sealed in it. It may block."""
        return run(self._open_item(table, item), lambda blocking: blocking.call())

    def _open_item(self, table: str, item: Item) -> KeyCalls[Item]:
        sealed = list(_sealed_names(item))
        if not sealed:
            return item
        opened = dict(item)
        for name in sealed:
            opened[name] = yield from self._open_value(table, name, item)
        return opened

    def _open_value(self, table: str, name: str, item: Item) -> KeyCalls[Any]:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - slow to load

        try:
            head, bound, sealed = split(item[name])
            place = Place(table, name, {each: item[each] for each in head.key_names})
        except (ValueError, KeyError):
            return UnopenedValue("it is not whole, or the item's key was not read with it")
        cipher = yield from self._cipher(head.wrapped)
        if isinstance(cipher, UnknownKey):
            return UnopenedValue(cipher.message.removesuffix("."))
        try:
            return Plaintext(decode_item(cipher.decrypt(sealed, place.bound_to(bound)))["v"], head.key_names)
        except InvalidTag:
            return UnopenedValue("it was altered, or was sealed for another item, attribute or table")

    def _cipher(self, wrapped: bytes) -> KeyCalls[Any]:
        if wrapped not in self._ciphers:
            try:
                self._remember(wrapped, (yield Blocking(lambda: self._provider.unwrap(wrapped))))
            except UnknownKey as error:
                self._remember(wrapped, error)
        return self._ciphers[wrapped]


def _sealed_names(item: Item) -> Iterator[str]:
    return (name for name, value in item.items() if is_sealed(value))

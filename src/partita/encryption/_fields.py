"""The keys of one session: seals the fields that it writes and opens those that it reads, with cached data keys."""

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
"""Work that may have to call the provider: it yields blocking calls, and is sent their results."""

KEY_SECONDS: Final = 3_600
"""How long one data key is used for sealing, before a new one is requested from the provider."""

_MAX_REMEMBERED: Final = 1_000


class FieldKeys:
    """Seals and opens encrypted fields. Safe for any number of threads."""

    def __init__(self, provider: KeyProvider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock
        self._current: tuple[DataKey, float] | None = None
        self._ciphers: dict[bytes, AESSIV | UnknownKey] = {}

    def seal(self, request: R) -> KeyCalls[R]:
        """Return the request to send, with all values of encrypted fields sealed."""
        if not has_plaintext(request):  # type: ignore[arg-type]  # a pause has none
            return request
        wrapped = yield from self._current_key()
        cipher = self._ciphers[wrapped]

        def sealed(place: Place, value: Any) -> bytes:
            assert not isinstance(cipher, UnknownKey)  # noqa: S101 - it was just created
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
        """Return the response with its sealed values opened; one that cannot be opened becomes an `UnopenedValue`."""
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
        """Open the sealed values in the items that an error carries."""
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
        """Return an item from elsewhere, such as a change stream, with its sealed values opened. It may block."""
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
            return UnopenedValue("it is incomplete, or the item's key was not read with it")
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

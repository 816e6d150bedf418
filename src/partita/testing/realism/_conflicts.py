"""Running transactions: they hold their items, and conflicting requests are refused."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from partita.errors import Reason, TokenInProgress, TransactionCancelled, TransactionConflict
from partita.store import TransactGetItems, TransactWriteItems
from partita.testing.realism._parts import ItemKey

_HELD = Reason("TransactionConflict", "Transaction is ongoing for the item")


class RunningTransactions:
    """The items that running transactions hold, and their tokens."""

    def __init__(self) -> None:
        self._held: set[ItemKey] = set()
        self._tokens: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def running(self, request: TransactWriteItems, items: Iterable[ItemKey]) -> Iterator[None]:
        """Let the transaction hold these items while the block runs.

        Raises:
            TokenInProgress: a transaction with the same token is running.
            TransactionCancelled: another transaction holds one of the items.
        """
        held = list(items)
        with self._lock:
            if request.token is not None and request.token in self._tokens:
                message = "Transaction with the given client token is already in progress"
                raise TokenInProgress(message)
            self._refuse(held)
            self._held.update(held)
            if request.token is not None:
                self._tokens.add(request.token)
        try:
            yield
        finally:
            with self._lock:
                self._held.difference_update(held)
                self._tokens.discard(request.token or "")

    def refuse_transaction(self, _: TransactGetItems, items: Iterable[ItemKey]) -> None:
        """Refuse to read items in a transaction while another one writes them.

        Raises:
            TransactionCancelled: another transaction holds one of the items.
        """
        with self._lock:
            self._refuse(list(items))

    def _refuse(self, items: list[ItemKey]) -> None:
        reasons = [_HELD if item in self._held else Reason() for item in items]
        if _HELD in reasons:
            raise TransactionCancelled(reasons)

    def refuse_write(self, item: ItemKey) -> None:
        """Refuse to write an item that a transaction holds.

        Raises:
            TransactionConflict: a transaction holds the item.
        """
        if self.is_held(item):
            raise TransactionConflict(_HELD.message or "")

    def is_held(self, item: ItemKey) -> bool:
        """Whether a transaction holds the item."""
        with self._lock:
            return item in self._held

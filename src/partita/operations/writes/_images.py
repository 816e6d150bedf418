"""Images: an item before and after a write, both from the single request that wrote it."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from partita.model import Entity
from partita.operations._operation import Context, Operation, Requests
from partita.store import DeleteItem, PutItem, UpdateItem

E = TypeVar("E", bound=Entity)
O = TypeVar("O", covariant=True)  # noqa: E741, PLC0105 - O for old
N = TypeVar("N", covariant=True)  # noqa: PLC0105 - N for new


class Images(Struct, Generic[O, N], frozen=True):
    """An item before and after a write; None stands for no item."""

    old: O
    new: N


class ImagedWrite(Protocol):
    """A write that can return the item that was stored before it."""

    def default_name(self) -> str:
        """Its name if no access pattern was declared."""
        ...

    def images_requests(self, context: Context) -> Requests[Images[Any, Any]]:
        """Send the write with a request that returns the old item."""
        ...


class WriteImages(Operation[Images[O, N]], Generic[O, N], frozen=True):
    """A write whose result is the item before and after it: `db.run(put(task).images()).old`."""

    write: ImagedWrite

    def default_name(self) -> str:
        """The name of the write itself."""
        return self.write.default_name()

    def requests(self, context: Context) -> Requests[Images[O, N]]:
        """Send the write with a request that returns the old item; compute the new one from it."""
        return self.write.images_requests(context)


class PutImages(WriteImages[E | None, E], Generic[E], frozen=True):
    """A put or insert, with the entity it replaced: None if there was none, or it did not fit the entity."""

    sends = (PutItem,)


class UpdateImages(WriteImages[E, E], Generic[E], frozen=True):
    """An update, with the item before and after it."""

    sends = (UpdateItem,)


class UpsertImages(WriteImages[E | None, E], Generic[E], frozen=True):
    """An upsert, with the item before and after it; the old one is None if the upsert created it."""

    sends = (UpdateItem,)


class DeleteImages(WriteImages[E | None, None], Generic[E], frozen=True):
    """A delete, with the item that it deleted; the new one is None."""

    sends = (DeleteItem,)

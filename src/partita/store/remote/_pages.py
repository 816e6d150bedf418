"""Pages of queries and scans: decoded in general, or by the shape that the pages of the same source had before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from partita.expressions import Projection
from partita.store._requests import QueryTable, ScanTable
from partita.store.remote._responses import PageOutput, TaggedItem, plain
from partita.store.remote._shapes import Page, Shape, decoder_for, shape_of, widened

MIN_BYTES: Final = 4_096
"""Smaller pages gain nothing."""
MAX_SOURCES: Final = 256
MAX_SHAPES: Final = 8
"""As often the shape of a source is widened; then its items are taken to be too different."""

Source: TypeAlias = tuple[str, str | None, Projection | None]
"""What items are read from: a table, an index, and which attributes of it."""


class Learned(Struct, frozen=True):
    """What is known of a source: before its second page nothing, since who asks once would gain nothing by it."""

    shape: Shape | None = None
    decode: Callable[[Any], Page] | None = None
    shapes: int = 0
    """How many it has had."""


class PageDecoder:
    """Decodes the pages of one store. Safe for threads: what is learned is replaced as a whole, never changed."""

    def __init__(self) -> None:
        self._learned: dict[Source, Learned] = {}

    def decode(self, request: QueryTable | ScanTable, body: Any) -> Page:
        """The response, and its items without tags.

        Raises:
            msgspec.DecodeError: it is not a page.
        """
        source = (request.table, request.index, request.projection)
        learned = self._learned.get(source)
        if learned is not None and learned.decode is not None and len(body) >= MIN_BYTES:
            try:
                return learned.decode(body)
            except msgspec.ValidationError:
                pass  # another shape, or one that is refused in general, too
        output = _decode(body)
        if len(body) >= MIN_BYTES and output.items:
            self._learn(source, learned, output.items)
        return output, [plain(item) for item in output.items]

    def shape(self, request: QueryTable | ScanTable) -> Shape | None:
        """The shape that pages of this source are decoded by, if there is one."""
        learned = self._learned.get((request.table, request.index, request.projection))
        return None if learned is None else learned.shape

    def _learn(self, source: Source, known: Learned | None, items: list[TaggedItem]) -> None:
        if known is not None:
            self._learned[source] = _more(known, items)
        elif len(self._learned) < MAX_SOURCES:
            self._learned[source] = Learned()


def _more(known: Learned, items: list[TaggedItem]) -> Learned:
    """What is known when these items, too, did not have the shape."""
    if known.shapes == MAX_SHAPES:
        return HOPELESS
    shape = shape_of(items) if known.shape is None else widened(known.shape, shape_of(items))
    try:
        return HOPELESS if shape == known.shape else Learned(shape, decoder_for(shape), known.shapes + 1)
    except ValueError:
        return HOPELESS


HOPELESS: Final = Learned(shapes=MAX_SHAPES)
"""Its pages are decoded in general."""

_decode: Final[Callable[[Any], PageOutput[TaggedItem]]] = msgspec.json.Decoder(PageOutput[TaggedItem]).decode

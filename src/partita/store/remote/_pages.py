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
"""So many shapes a source may have had, each wider than the last; then its items are too different."""

Source: TypeAlias = tuple[str, str | None, Projection | None]
"""What items are read from: a table, an index, and which attributes of it."""


class SourceShape(Struct, frozen=True):
    """What is known of a source: after its first page nothing yet, since who asks once would gain nothing by it."""

    shape: Shape | None = None
    decode: Callable[[Any], Page] | None = None
    shapes: int = 0
    """How many it has had."""


class PageDecoder:
    """Decodes the pages of one store. Safe for threads: what is known of a source is replaced, never changed."""

    def __init__(self) -> None:
        self._known: dict[Source, SourceShape] = {}

    def decode(self, request: QueryTable | ScanTable, body: Any) -> Page:
        """The response, and its items without tags.

        Raises:
            msgspec.DecodeError: it is not a page.
        """
        source = (request.table, request.index, request.projection)
        known = self._known.get(source)
        if known is not None and known.decode is not None and len(body) >= MIN_BYTES:
            try:
                return known.decode(body)
            except (msgspec.ValidationError, UnicodeDecodeError):
                pass  # another shape, or one that is refused in general, too
        output = _decode(body)
        if len(body) >= MIN_BYTES and output.items:
            self._learn(source, known, output.items)
        return output, [plain(item) for item in output.items]

    def shape(self, request: QueryTable | ScanTable) -> Shape | None:
        """The shape that pages of this source are decoded by, if there is one."""
        known = self._known.get((request.table, request.index, request.projection))
        return None if known is None else known.shape

    def _learn(self, source: Source, known: SourceShape | None, items: list[TaggedItem]) -> None:
        if known is not None:
            self._known[source] = _with_items(known, items)
        elif len(self._known) < MAX_SOURCES:
            self._known[source] = SourceShape()


def _with_items(known: SourceShape, items: list[TaggedItem]) -> SourceShape:
    """What is known of a source once it had these items, too, which its shape did not fit."""
    if known.shapes == MAX_SHAPES:
        return NO_SHAPE
    shape = shape_of(items) if known.shape is None else widened(known.shape, shape_of(items))
    try:
        return NO_SHAPE if shape == known.shape else SourceShape(shape, decoder_for(shape), known.shapes + 1)
    except ValueError:
        return NO_SHAPE


NO_SHAPE: Final = SourceShape(shapes=MAX_SHAPES)
"""Of a source whose items are too different: its pages are decoded in general, for good."""

_decode: Final[Callable[[Any], PageOutput[TaggedItem]]] = msgspec.json.Decoder(PageOutput[TaggedItem]).decode

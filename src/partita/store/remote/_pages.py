"""Decoding pages of queries and scans: with a general decoder, or one for the shape of the source's earlier pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from partita.expressions import Projection
from partita.store._received import TaggedItem, plain
from partita.store._requests import QueryTable, ScanTable
from partita.store.remote._responses import PageOutput
from partita.store.remote._shapes import Page, Shape, decoder_for, shape_of, widened

MIN_BYTES: Final = 4_096
"""Smaller pages do not benefit from a special decoder."""
MAX_SOURCES: Final = 256
MAX_SHAPES: Final = 8
"""After a source has had this many shapes, each wider than the last, its items are considered too different."""

Source: TypeAlias = tuple[str, str | None, Projection | None]
"""The source of items: a table, an index, and the projected attributes."""


class SourceShape(Struct, frozen=True):
    """The shape of a source; empty after its first page, because a single request would not benefit from it."""

    shape: Shape | None = None
    decode: Callable[[Any], Page] | None = None
    shapes: int = 0
    """The number of shapes that the source has had."""


class PageDecoder:
    """Decodes the pages of one store. Thread-safe: the entry of a source is replaced and never mutated."""

    def __init__(self) -> None:
        self._known: dict[Source, SourceShape] = {}

    def decode(self, request: QueryTable | ScanTable, body: Any) -> Page:
        """The decoded response, and its items without tags.

        Raises:
            msgspec.DecodeError: the body is not a page.
        """
        source = (request.table, request.index, request.projection)
        known = self._known.get(source)
        if known is not None and known.decode is not None and len(body) >= MIN_BYTES:
            try:
                return known.decode(body)
            except (msgspec.ValidationError, UnicodeDecodeError):
                pass  # a page of another shape, or invalid: the general decoder decides
        output = _decode(body)
        if len(body) >= MIN_BYTES and output.items:
            self._learn(source, known, output.items)
        return output, [plain(item) for item in output.items]

    def shape(self, request: QueryTable | ScanTable) -> Shape | None:
        """The shape with which pages of this source are decoded, if there is one."""
        known = self._known.get((request.table, request.index, request.projection))
        return None if known is None else known.shape

    def _learn(self, source: Source, known: SourceShape | None, items: list[TaggedItem]) -> None:
        if known is not None:
            self._known[source] = _with_items(known, items)
        elif len(self._known) < MAX_SOURCES:
            self._known[source] = SourceShape()


def _with_items(known: SourceShape, items: list[TaggedItem]) -> SourceShape:
    """The entry of a source, extended by items that did not match its shape."""
    if known.shapes == MAX_SHAPES:
        return NO_SHAPE
    shape = shape_of(items) if known.shape is None else widened(known.shape, shape_of(items))
    try:
        return NO_SHAPE if shape == known.shape else SourceShape(shape, decoder_for(shape), known.shapes + 1)
    except ValueError:
        return NO_SHAPE


NO_SHAPE: Final = SourceShape(shapes=MAX_SHAPES)
"""The entry of a source whose items are too different: its pages always use the general decoder."""

_decode: Final[Callable[[Any], PageOutput[TaggedItem]]] = msgspec.json.Decoder(PageOutput[TaggedItem]).decode

"""Vectors in memory as one matrix, and exact search in it.

The 32-bit dot products of all rows with the query, computed at memory speed, select the candidates: their error is
bounded, and every row within that bound of the last match is scored again with 64 bits. So the result is the same as
with 64 bits for all rows, except that scores are rounded to 32 bits, like those of AWS.

`vecdot` processes row by row in one thread. A matrix product would be distributed to threads that wait for each other,
which takes many times longer on a machine with other load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partita.store._schema import Distance

Floats: TypeAlias = NDArray[np.float32]
Scores: TypeAlias = list[tuple[int, float]]
"""Identifiers of rows with their scores, the nearest first; equal scores in arbitrary order."""

_SPARE: Final = 1.25
_ROUNDING: Final = 2.0**-24
_LEAST_REACH: Final = 2.0**-100
_MOST_REACH: Final = 2.0**126
"""Between these, products with 32 bits neither overflow nor lose more than `_ROUNDING`."""
_LARGEST: Final = float(np.finfo(np.float32).max)
"""Greater scores are rounded to this one."""
_FEW: Final = 4
"""If fewer than one in this many rows match the filters, only matching rows are multiplied."""
_RESCORED: Final = 8_192
_MISSING: Final = -1
_OVERHEAD: Final = 120
"""The size of a row's entry in the dictionary of identifiers, in bytes."""


class Matrix:
    """The vectors of one index by row identifier, with the values of the search attributes."""

    def __init__(self, dimensions: int, distance: Distance, parts: int) -> None:
        self.version = -1
        self._dimensions = dimensions
        self._distance = distance
        self._rows: Floats = np.empty((0, dimensions), np.float32)
        self._norms = np.empty(0, np.float64)
        self._ids = np.empty(0, np.int64)
        self._codes = np.empty((parts, 0), np.int32)
        self._values: tuple[dict[Any, int], ...] = tuple({} for _ in range(parts))
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    @property
    def memory_bytes(self) -> int:
        """The memory that it takes in bytes, including spare capacity."""
        arrays = (self._rows, self._norms, self._ids, self._codes)
        return sum(array.nbytes for array in arrays) + _OVERHEAD * len(self)

    def reserve(self, count: int) -> None:
        """Grow the arrays to at least `count` rows."""
        if count <= len(self._ids):
            return
        room = count if not len(self) else int(count * _SPARE)
        self._rows = _grown(self._rows, (room, self._dimensions))
        self._norms, self._ids = _grown(self._norms, (room,)), _grown(self._ids, (room,))
        codes = np.empty((len(self._codes), room), np.int32)
        codes[:, : self._codes.shape[1]] = self._codes
        self._codes = codes

    def put(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add or replace rows, each of which is an identifier, filter values and the vector as bytes."""
        new = sum(row[0] not in self._places for row in rows)
        self.reserve(len(self) + new)
        places = np.fromiter((self._places.setdefault(row[0], len(self._places)) for row in rows), np.intp, len(rows))
        vectors = np.frombuffer(b"".join([row[-1] for row in rows]), "<f4").reshape(len(rows), self._dimensions)
        self._rows[places] = vectors
        self._norms[places] = np.linalg.norm(vectors.astype(np.float64), axis=1)
        self._ids[places] = [row[0] for row in rows]
        for part, values in enumerate(self._values):
            self._codes[part, places] = [_code(values, row[1 + part]) for row in rows]

    def keep(self, ids: Sequence[int]) -> None:
        """Remove all rows except those with these identifiers."""
        gone = self._places.keys() - set(ids)
        for row_id in gone:
            place, last = self._places.pop(row_id), len(self._places)
            if place != last:
                self._rows[place], self._norms[place] = self._rows[last], self._norms[last]
                self._ids[place], self._codes[:, place] = self._ids[last], self._codes[:, last]
                self._places[int(self._ids[last])] = place

    def nearest(self, vector: Sequence[float], top: int, equal: Sequence[tuple[int, Any]]) -> tuple[Scores, int]:
        """The nearest rows, including all with the same score as the last one; and the number of rows compared.

        `equal` contains the required values of search attributes, each with the position of its attribute.
        """
        query = np.asarray(vector, np.float32)
        chosen = self._chosen(equal)
        count = len(self) if chosen is None else len(chosen)
        if not count:
            return [], 0
        keys, error = self._keys(query, chosen)
        top = min(top, count)
        bound = np.partition(keys, top - 1)[top - 1] + 2 * error
        candidates = np.flatnonzero((keys <= bound) | np.isposinf(keys))
        if chosen is not None:
            candidates = chosen[candidates]
        scores = self._scores(query, candidates)
        order = np.argsort(-scores if self._distance == "DOT_PRODUCT" else scores, kind="stable")
        last = scores[order[top - 1]]
        end = top + int(np.count_nonzero(scores[order[top:]] == last))
        found = order[:end]
        return list(zip(self._ids[candidates[found]].tolist(), scores[found].tolist(), strict=True)), count

    def _chosen(self, equal: Sequence[tuple[int, Any]]) -> NDArray[np.intp] | None:
        """The positions of the rows that have all required values; None for all rows."""
        mask: NDArray[np.bool_] | None = None
        for part, value in equal:
            codes = self._codes[part, : len(self)]
            same = codes == self._values[part].get(value, len(self._values[part]))
            mask = same if mask is None else mask & same
        return None if mask is None else np.flatnonzero(mask)

    def _keys(self, query: Floats, chosen: NDArray[np.intp] | None) -> tuple[NDArray[np.float64], float]:
        """Sort keys that approximate the order of the scores, smallest first; and a bound of their error.

        The products have 32 bits. A row for which these are not enough has an infinite key, and must be scored.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            products, norms = self._products(query, chosen)
        dots: NDArray[np.float64] = products.astype(np.float64)
        norm = float(np.linalg.norm(query.astype(np.float64)))
        least, largest, unfit = float(norms.min()), float(norms.max()), None
        if least * norm <= _LEAST_REACH or largest * norm >= _MOST_REACH:
            reach = norms * norm  # at least as much as any sum of a row's products
            unfit = ((reach <= _LEAST_REACH) | (reach >= _MOST_REACH)) & (reach != 0)
            largest = float(norms.max(where=~unfit, initial=0.0))
        wrong = (self._dimensions + 4) * _ROUNDING / (1 - (self._dimensions + 4) * _ROUNDING)
        if self._distance == "COSINE":
            keys, error = -dots / np.where(norms > 0, norms, 1.0), 2 * wrong * norm
        elif self._distance == "DOT_PRODUCT":
            keys, error = -dots, 2 * wrong * norm * largest
        else:
            keys, error = norms * norms - 2.0 * dots, 4 * wrong * (norm + largest) ** 2
        if unfit is not None:
            keys[unfit] = np.inf
        return keys, error

    def _products(self, query: Floats, chosen: NDArray[np.intp] | None) -> tuple[Floats, NDArray[np.float64]]:
        """The products of the rows with the query, and the lengths of the rows."""
        count = len(self)
        if chosen is None:
            return np.vecdot(self._rows[:count], query), self._norms[:count]
        if len(chosen) * _FEW < count:
            return np.vecdot(self._rows[chosen], query), self._norms[chosen]
        return np.vecdot(self._rows[:count], query)[chosen], self._norms[chosen]

    def _scores(self, query: Floats, places: NDArray[np.intp]) -> Floats:
        """The scores of rows, computed with 64 bits and rounded to 32 bits."""
        exact, scores = query.astype(np.float64), np.empty(len(places), np.float32)
        norm = float(np.linalg.norm(exact))
        for start in range(0, len(places), _RESCORED):
            part = places[start : start + _RESCORED]
            rows = self._rows[part].astype(np.float64)
            if self._distance == "EUCLIDEAN":
                scores[start : start + _RESCORED] = np.minimum(np.linalg.norm(rows - exact, axis=1), _LARGEST)
                continue
            dots = (rows * exact).sum(axis=1)
            if self._distance == "COSINE":
                norms = self._norms[part] * norm
                dots = np.clip(1.0 - dots / np.where(norms > 0, norms, 1.0), 0.0, 2.0)
            scores[start : start + _RESCORED] = np.clip(dots, -_LARGEST, _LARGEST)
        return scores


def _code(values: dict[Any, int], value: Any) -> int:
    """The integer code of a value, which is assigned on first use."""
    return _MISSING if value is None else values.setdefault(value, len(values))


def _grown(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    larger = np.empty(shape, array.dtype)
    larger[: len(array)] = array
    return larger

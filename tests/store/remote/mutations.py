"""Every change of a JSON document at one place, as a broken or hostile server could send it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

ALIKE = [str(number * sys.hash_info.modulus) for number in range(1, 5_001)]
"""Numbers with the same hash in Python."""

WRONG: list[Any] = [
    *(None, True, 1, -1, 1.5, 10**30, "", "x", "1" * 5_000, [], {}, [1], [{}], {"a": "b"}),
    *({"S": 1}, {"N": "NaN"}, {"N": "9" * 5_000}, {"NS": ["x"]}, {"NS": []}, {"NS": ALIKE}, {"L": [{"NS": ALIKE}]}),
    *({"X": 1}, {"S": "a", "N": "1"}, {"M": {"a": 1}}, {"L": [1]}, {"B": "!"}, {"B": 5}, {"BOOL": "x"}, {"SS": "ab"}),
]
"""What is put in place of each part."""


def mutations(document: Any) -> Iterator[Any]:
    """The document with one part missing or replaced, for each part and replacement."""
    yield from WRONG
    if isinstance(document, dict):
        for name, part in document.items():
            yield {other: value for other, value in document.items() if other != name}
            yield from ({**document, name: changed} for changed in mutations(part))
    elif isinstance(document, list):
        for place, part in enumerate(document):
            yield [*document[:place], *document[place + 1 :]]
            yield from ([*document[:place], changed, *document[place + 1 :]] for changed in mutations(part))

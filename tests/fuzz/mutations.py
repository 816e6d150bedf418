"""Nearly valid inputs: seeds with a few random edits, the same ones in every run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

MAX_EDITS = 4


def mutations(seeds: Sequence[bytes], words: Sequence[bytes], count: int) -> Iterator[bytes]:
    random = Random(1)
    for _ in range(count):
        data = random.choice(seeds)
        for _ in range(random.randint(1, MAX_EDITS)):
            data = edited(data, random.choice(seeds), random.choice(words), random)
        yield data


def edited(data: bytes, other: bytes, word: bytes, random: Random) -> bytes:
    start, end = sorted(random.randint(0, len(data)) for _ in range(2))
    end = min(end, start + 8)
    return random.choice(
        [
            data[:start] + data[end:],
            data[:start] + word + data[start:],
            data[:start] + word + data[end:],
            data[:start] + bytes([random.randrange(256)]) + data[start + 1 :],
            data[:end] + data[start:],
            data[:start] + other[random.randint(0, len(other)) :],
        ]
    )

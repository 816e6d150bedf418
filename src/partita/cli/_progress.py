"""Progress bars for long operations, on the standard error if it is a terminal. The standard output is unaffected."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from partita.folder import StepProgress
from partita.store.embedded import Progress


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Yield a function that updates one bar, called with the amount done and the approximate total."""
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def show(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(min(done, bar.length) - bar.pos)

        yield show
        bar.update((bar.length or 1) - bar.pos)


@contextmanager
def progress_bars() -> Iterator[StepProgress]:
    """Yield a function that shows one bar for each named step; the steps follow one another."""
    with ExitStack() as last:
        shown: dict[str, Progress] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in shown:
                last.close()
                shown[step] = last.enter_context(progress_bar(step))
            shown[step](done, total)

        yield show

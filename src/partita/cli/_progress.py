"""Progress bars of what takes long, on standard error where that is a terminal: standard output stays as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from partita.folder import StepProgress
from partita.store.embedded import Progress


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """One bar; it is given what is done, and about how much there is to do."""
    with click.progressbar(length=1, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def show(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(min(done, bar.length) - bar.pos)

        yield show
        bar.update((bar.length or 1) - bar.pos)


@contextmanager
def progress_bars() -> Iterator[StepProgress]:
    """A bar for each of several steps, which come one after the other; each has a name."""
    with ExitStack() as last:
        shown: dict[str, Progress] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in shown:
                last.close()
                shown[step] = last.enter_context(progress_bar(step))
            shown[step](done, total)

        yield show

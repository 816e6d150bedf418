"""A consumer that shares a stream with others: it reads only the shards whose leases it holds.

    look     read the group; end the lives of silent workers; release shards beyond its share; take free shards
    read     changes of its shards, after the positions of the sink
    commit   the sink accepts changes, positions and the fences of the leases in one commit, or refuses them

If a worker stalls and its shard is taken over, the sink refuses its commit, or it has committed changes that the other
worker then skips.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random, SystemRandom
from types import TracebackType
from typing import Final, Self
from zlib import crc32

from msgspec import Struct, field

from partita.change._change import ItemChange
from partita.change._consumer import BATCH, Consumer
from partita.change._sink import Advance, FencedSink
from partita.change._stream import ChangeStream, Lag
from partita.change.shared._group import GroupView, view_of
from partita.change.shared._held import HeldShards
from partita.change.shared._lags import ShardLags
from partita.change.shared._member import Heart, Member, Membership, Watch
from partita.change.shared._model import WHOLE, end
from partita.errors import ConditionFailed, LeaseLost, PartitaError, RebuildRequired
from partita.model import Table
from partita.runtime import Clock, new_ulid, system_clock
from partita.store import Shard, Store

logger: Final = logging.getLogger("partita.change")


class ShardBatch(Struct, frozen=True):
    """Changes that were read from some shards, and the positions after them."""

    changes: Sequence[ItemChange]
    advance: Advance
    finished: tuple[str, ...]
    """Closed shards whose last changes are in this batch."""
    more: bool


NOTHING: Final = ShardBatch((), Advance({}, {}), (), more=False)
_AT_ONCE: Final = float("-inf")


class Upkeep(Struct, frozen=True):
    """A task of a sink that one worker must run alone, after all changes were read."""

    is_due: Callable[[], bool]
    run: Callable[[], object]


class Outside(Struct, frozen=True):
    """The environment of a worker: clocks, identifiers, pauses and random numbers; tests pass their own."""

    clock: Clock = system_clock
    """Returns the time, for the lag and for snapshots."""
    monotonic: Callable[[], float] = time.monotonic
    """Measures how long other workers were silent."""
    ids: Callable[[], str] = new_ulid
    """Returns identifiers that no two workers share."""
    pause: Callable[[float], object] = time.sleep
    """Waits for other workers to release their shards, for records that DynamoDB delivers late, and before retries."""
    random: Random = field(default_factory=SystemRandom)
    """Spreads retries."""


class SharedConsumer:
    """Reads a table's stream into a sink, together with the other workers of the same group."""

    def __init__(  # noqa: PLR0913 - one for each setting
        self,
        store: Store,
        table: Table,
        sink: FencedSink,
        membership: Membership,
        *,
        batch: int = BATCH,
        needs_rebuild: Callable[[], bool] = bool,
        upkeep: Upkeep | None = None,
        outside: Outside | None = None,
        start: float | None = None,
    ) -> None:
        """Set up a consumer; nothing is read yet.

        Args:
            store: the store that has the table.
            table: a declared table whose stream has new and old images.
            sink: the sink that the changes are applied to; other workers write to it, too.
            membership: the name of this worker, and what it shares with the others.
            batch: about how many changes the sink commits at once.
            needs_rebuild: whether the sink must be loaded again, regardless of its positions.
            upkeep: a task that one worker must run alone, after all changes were read.
            outside: clocks, identifiers and pauses; tests pass their own.
            start: a new sink gets the changes from this time on, and no snapshot; see `Consumer`.
        """
        outside = outside or Outside()
        self._sink = sink
        self._policy = membership.policy
        self._leases = membership.leases
        stream = membership.stream(table.name)
        self._group = stream.group
        self._batch = batch
        self._needs_rebuild = needs_rebuild
        self._upkeep = upkeep
        self._clock, self._now, self._pause = outside.clock, outside.monotonic, outside.pause
        self._alone = Consumer(
            store, table, sink, batch=batch, clock=self._clock, pause=self._pause, random=outside.random, start=start
        )
        self._stream = ChangeStream(store, table)
        self._lags = ShardLags(outside.clock)
        self._member = Member(membership, stream, outside.monotonic, outside.ids, self._lags.seconds)
        self._watch = Watch(self._policy.seconds)
        self._held = HeldShards(membership.leases, stream.group)
        self._life: str | None = None
        self._shards: dict[str, Shard] = {}
        self._gone: frozenset[str] = frozenset()
        self._to_do_alone: Callable[[], int] | None = None
        """The action that this worker must run alone."""
        self._loaded: int | None = None
        self._heart = Heart(self._member, self._policy.every)
        self._next_look = _AT_ONCE
        """When the group is to be checked again."""

    @property
    def held(self) -> Mapping[str, int]:
        """The shards that this worker holds, with the fences of their leases."""
        return self._held.fences

    def beat(self) -> None:
        """Write a heartbeat; from any thread."""
        self._member.beat()

    def step(self) -> bool:
        """Check the group if that is due, and apply one batch to the sink; return whether there may be more."""
        self.look_if_due()
        batch = self.read()
        self.commit(batch)
        return batch.more

    def __enter__(self) -> Self:
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the shards to other workers, and end this worker's life."""
        self._heart.stop()
        with suppress(PartitaError):  # without heartbeats, the others will consider it dead
            self.leave()

    def run(self, stop: threading.Event, idle: Callable[[], object]) -> None:
        """Step until `stop` is set. `idle` is called when all changes were read, and decides how long to wait.

        Raises:
            PartitaError: the store or the sink failed. The shards are left to other workers.
        """
        try:
            while not stop.is_set():
                if not self.step():
                    self._maintain()
                    idle()
        except BaseException:
            with suppress(PartitaError):
                self.leave()
            raise

    def prepare(self) -> int | None:
        """Check the group until some worker has loaded the sink; return how many items this one loaded, if it did."""
        self.look()
        while self._to_do_alone is not None or not self._sink.positions():
            self._pause(self._policy.every / 5)
            self.look()
        return self._loaded

    def catch_up(self, progress: Callable[[int], object] | None = None) -> int:
        """Step until the sink has all changes, whichever worker reads them; return how many this one read."""
        self.prepare()
        count = 0
        while True:
            self.look_if_due()
            batch = self.read()
            self.commit(batch)
            count += len(batch.changes)
            if progress is not None:
                progress(len(batch.changes))
            if not batch.more and self._finish_catching_up():
                return count

    def _finish_catching_up(self) -> bool:
        """Wait a little if the sink lacks changes, otherwise do the upkeep; return whether nothing is left to do."""
        self._sink.refresh()
        if self.lag().records:
            self._pause(self._policy.every / 50)  # other workers hold shards, or a dead worker's are not free yet
            return False
        self._maintain()
        if self._to_do_alone is not None:
            self.look()
        return self._to_do_alone is None

    def leave(self) -> None:
        """Leave all shards to other workers at once."""
        self._held.drop()
        self._member.leave()

    def rebuild(self) -> int:
        """Load the sink again; return the number of items. The other workers release their shards first, and wait."""
        loaded: list[int] = []

        def load() -> int:
            loaded.append(self._alone.rebuild())
            return loaded[0]

        self._to_do_alone = load
        self.look()
        while not loaded:
            self._pause(self._policy.every / 5)
            self.look()
        return loaded[0]

    def lag(self) -> Lag:
        """Return the lag of the sink in all shards, whichever workers read them.

        Raises:
            RebuildRequired: changes were missed.
        """
        return self._stream.lag(self._sink.positions() or self._stream.start(), self._clock())

    # Checking the group

    def look_if_due(self) -> None:
        """Check the group if the last check was too long ago, or if something has changed."""
        if self._now() >= self._next_look:
            self.look()

    def look(self) -> None:
        """Find out which workers are alive, release shards beyond this worker's share, and take free ones.

        Raises:
            PartitaError: the store or the sink failed.
        """
        self._next_look = self._now() + self._policy.every
        me = self._live()
        view = self._read_group()
        self._held.see(view, me)
        if view.owner(WHOLE) not in (None, me):
            self._held.give_back(self._held.fences)
            return
        self._to_do_alone = self._to_do_alone or self._needed()
        if self._to_do_alone is not None:
            self._work_alone(view, me, self._to_do_alone)
        elif view.owner(WHOLE) == me:
            self._held.give_whole(me)
        else:
            self._share(view, me)

    def _needed(self) -> Callable[[], int] | None:
        """Return the action required before anything can be read: load the sink, or rebuild it."""
        if not self._held:
            self._sink.refresh()
        positions = self._sink.positions()
        if not positions:
            return self._load
        try:
            shards = self._stream.checked(positions)
        except RebuildRequired:
            return self._alone.rebuild
        self._shards = {shard.id: shard for shard in shards}
        self._gone = frozenset(positions) - self._shards.keys()
        return self._alone.rebuild if self._needs_rebuild() else None

    def _load(self) -> int:
        self._loaded = self._alone.step()
        return self._loaded

    def _share(self, view: GroupView, me: str) -> None:
        readable = view.readable(list(self._shards.values()))
        self._give(view, me, readable)
        self._take(view, me, readable)
        if me == min(view.workers, default=me):
            self._held.forget(view, self._shards)

    def _live(self) -> str:
        if self._member.worker is None:
            self._held.drop()
        self._life = self._member.live()
        return self._life

    def _read_group(self) -> GroupView:
        """Return the group without dead workers; the worker that first finds one dead ends its life."""
        view = self._leases.run(view_of(self._group))
        dead = [each for each in self._watch.dead(dict(view.workers), self._now()) if each.worker != self._life]
        for each in dead:
            try:
                self._leases.run(end(each))
            except ConditionFailed:
                return self._leases.run(view_of(self._group))  # that worker is alive, or another has ended its life
            logger.warning("%s was silent for %g seconds; its shards are free.", each.name, self._policy.seconds)
        return view.without(each.worker for each in dead)

    def _give(self, view: GroupView, me: str, readable: Sequence[str]) -> None:
        surplus = len(self._held) - view.quotas(len(readable)).get(me, 0)
        wanted = min(surplus, view.missing(readable, me))
        self._held.give_back(sorted(self._held.fences)[: max(0, wanted)])

    def _take(self, view: GroupView, me: str, readable: Sequence[str]) -> None:
        free = [shard for shard in readable if view.owner(shard) is None]
        room = view.quotas(len(readable)).get(me, 0) - len(self._held)
        if free and room > 0:
            self._sink.refresh()
            fences = self._sink.fences()  # higher than those of the leases if these were restored from a backup
            # Each worker starts at another shard, so two workers that check at once seldom try to take the same one.
            start = crc32(me.encode()) % len(free)
            for shard in (free[start:] + free[:start])[:room]:
                self._held.take(view, shard, me, fences.get(shard, 0))

    # Reading and writing

    def read(self) -> ShardBatch:
        """Read changes of this worker's shards, fairly from each."""
        if self._member.worker != self._life or self._life is None:
            self._held.drop()
            self._next_look = _AT_ONCE
        numbers = self._held.fences
        held = [shard for name, shard in self._shards.items() if name in numbers]
        if not held:
            return NOTHING
        positions = self._sink.positions()
        try:
            found, finished = self._stream.read_shards(held, positions, self._batch)
        except RebuildRequired:
            self._next_look = _AT_ONCE
            return NOTHING
        self._lags.read(found.changes)
        fences = {shard.id: numbers[shard.id] for shard in held}
        return ShardBatch(found.changes, Advance(found.positions, fences, self._gone), tuple(finished), found.more)

    def commit(self, batch: ShardBatch) -> None:
        """Apply a batch to the sink; if another worker has taken over a shard, drop the batch and all shards."""
        positions = self._sink.positions()
        is_news = any(positions.get(shard) != at for shard, at in batch.advance.positions.items())
        try:
            if batch.changes or is_news:
                self._sink.apply_fenced(batch.changes, batch.advance)
        except LeaseLost:
            self._lose()
            return
        self._lags.committed(batch.changes, more=batch.more)
        for shard in batch.finished:
            self._held.finish(shard, batch.advance.fences[shard])
            self._next_look = _AT_ONCE  # the children of the shard may be read now

    def _lose(self) -> None:
        self._held.drop()
        self._next_look = _AT_ONCE

    # Working alone

    def _maintain(self) -> None:
        upkeep = self._upkeep
        if upkeep is None or self._to_do_alone is not None or not self._held or not upkeep.is_due():
            return

        def keep_up() -> int:
            caught_up = self._alone.catch_up()
            upkeep.run()
            return caught_up

        self._to_do_alone = keep_up
        self._next_look = _AT_ONCE

    def _work_alone(self, view: GroupView, me: str, act: Callable[[], int]) -> None:
        """Run an action if no other worker holds a shard. Otherwise try again, after the others released theirs."""
        self._next_look = self._now() + self._policy.every / 5
        if not self._held.take_whole(view, me):
            return
        view = self._read_group()
        if any(view.owner(shard) not in (None, me) for shard in view.leases):
            return
        self._to_do_alone = None
        try:
            self._sink.refresh()
            self._alone.forget()
            act()
        finally:
            self._next_look = _AT_ONCE
            self._held.give_whole(me)

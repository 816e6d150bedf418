"""A consumer that shares a stream with others: it reads the shards whose leases it has, and no others.

    look     see the group; take a worker for dead that was silent; give what is more than its share; take what is free
    read     changes of its shards, after the positions of the sink
    commit   the sink takes changes, positions and the numbers of the leases in one commit, or refuses them

Whoever was overtaken while it stood still is refused by the sink, or has written what the other then passes over.
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
    """Changes of some shards that were read, and where that leads to."""

    changes: Sequence[ItemChange]
    advance: Advance
    finished: tuple[str, ...]
    """Shards that are closed, and of which this is the last."""
    more: bool


NOTHING: Final = ShardBatch((), Advance({}, {}), (), more=False)


class Upkeep(Struct, frozen=True):
    """Something that a sink needs to be done alone, when all was read."""

    is_due: Callable[[], bool]
    run: Callable[[], object]


class Outside(Struct, frozen=True):
    """What a worker takes from the outside; tests pass their own."""

    clock: Clock = system_clock
    """The time, for the lag and for snapshots."""
    monotonic: Callable[[], float] = time.monotonic
    """Measures how long others were silent."""
    ids: Callable[[], str] = new_ulid
    """Gives identifiers that no two workers share."""
    pause: Callable[[float], object] = time.sleep
    """Waits: for others to give back their shards, for records that DynamoDB delivers late, and before retries."""
    random: Random = field(default_factory=SystemRandom)
    """Spreads retries."""


class SharedConsumer:
    """Reads a table's stream into a sink, together with others that name the same group."""

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
            store: where the table is.
            table: a declared table whose stream has new and old images.
            sink: where the changes go; others write to it, too.
            membership: as whom it shares the stream.
            batch: about how many changes the sink commits at once.
            needs_rebuild: whether the sink must be loaded again, whatever its positions say.
            upkeep: what the sink needs to be done alone, when all was read.
            outside: time and identifiers; tests pass their own.
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
        self._wish: Callable[[], int] | None = None
        """What is to be done alone."""
        self._loaded: int | None = None
        self._heart = Heart(self._member, self._policy.every)
        self._look_at = float("-inf")

    @property
    def held(self) -> Mapping[str, int]:
        """The shards that it has, with the numbers of their leases."""
        return self._held.fences

    def beat(self) -> None:
        """Say that it lives; from any thread."""
        self._member.beat()

    def step(self) -> bool:
        """Look at the group if that is due, and bring one batch into the sink; says whether there may be more."""
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
        """Leave its shards to others, and live no longer."""
        self._heart.stop()
        with suppress(PartitaError):  # it is silent from now on, which says the same
            self.leave()

    def run(self, stop: threading.Event, idle: Callable[[], object]) -> None:
        """Step until `stop` is set; `idle` is called when all was read, and waits as long as it likes.

        Raises:
            PartitaError: the store or the sink is in trouble. Its shards are left to others.
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
        """Look until the sink is loaded, by whomever; gives how many items this one has loaded, if it did."""
        self.look()
        while self._wish is not None or not self._sink.positions():
            self._pause(self._policy.every / 5)
            self.look()
        return self._loaded

    def catch_up(self, progress: Callable[[int], object] | None = None) -> int:
        """Step until the sink has everything that is there, whoever reads it; gives how many changes it read itself."""
        self.prepare()
        count = 0
        while True:
            self.look_if_due()
            batch = self.read()
            self.commit(batch)
            count += len(batch.changes)
            if progress is not None:
                progress(len(batch.changes))
            if not batch.more and self._is_caught_up():
                return count

    def _is_caught_up(self) -> bool:
        self._sink.refresh()
        if self.lag().records:
            self._pause(self._policy.every / 50)  # others have shards, or those of one that is dead are not free yet
            return False
        self._maintain()
        if self._wish is not None:
            self.look()
        return self._wish is None

    def leave(self) -> None:
        """Leave all shards to others, at once."""
        self._held.drop()
        self._member.leave()

    def rebuild(self) -> int:
        """Load the sink again, and say how many items that were. The others give back their shards first, and wait."""
        loaded: list[int] = []

        def load() -> int:
            loaded.append(self._alone.rebuild())
            return loaded[0]

        self._wish = load
        self.look()
        while not loaded:
            self._pause(self._policy.every / 5)
            self.look()
        return loaded[0]

    def lag(self) -> Lag:
        """The lag of the sink in all shards, whoever reads them.

        Raises:
            RebuildRequired: changes were missed.
        """
        return self._stream.lag(self._sink.positions() or self._stream.start(), self._clock())

    # Looking at the group

    def look_if_due(self) -> None:
        """Look at the group, where that was not done for a while, or something has changed."""
        if self._now() >= self._look_at:
            self.look()

    def look(self) -> None:
        """See who lives, give what is more than its share, and take what is free.

        Raises:
            PartitaError: the store or the sink is in trouble.
        """
        self._look_at = self._now() + self._policy.every
        me = self._live()
        view = self._seen()
        self._held.see(view, me)
        if view.owner(WHOLE) not in (None, me):
            self._held.give_back(self._held.fences)
            return
        self._wish = self._wish or self._needed()
        if self._wish is not None:
            self._work_alone(view, me, self._wish)
        elif view.owner(WHOLE) == me:
            self._held.give_whole(me)
        else:
            self._share(view, me)

    def _needed(self) -> Callable[[], int] | None:
        """What must be done before anything can be read: load the sink, or load it again."""
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

    def _seen(self) -> GroupView:
        """The group, without those who are dead: who sees it first ends their lives."""
        view = self._leases.run(view_of(self._group))
        dead = [each for each in self._watch.dead(dict(view.workers), self._now()) if each.worker != self._life]
        for each in dead:
            try:
                self._leases.run(end(each))
            except ConditionFailed:
                return self._leases.run(view_of(self._group))  # it lives, or another has ended it
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
            fences = self._sink.fences()  # they are higher where the leases were restored from a backup
            # Each begins elsewhere, so that two who look at once seldom want the same.
            start = crc32(me.encode()) % len(free)
            for shard in (free[start:] + free[:start])[:room]:
                self._held.take(view, shard, me, fences.get(shard, 0))

    # Reading and writing

    def read(self) -> ShardBatch:
        """Changes of its shards, fairly from each."""
        if self._member.worker != self._life or self._life is None:
            self._held.drop()
            self._look_at = float("-inf")
        numbers = self._held.fences
        held = [shard for name, shard in self._shards.items() if name in numbers]
        if not held:
            return NOTHING
        positions = self._sink.positions()
        try:
            found, finished = self._stream.read_shards(held, positions, self._batch)
        except RebuildRequired:
            self._look_at = float("-inf")
            return NOTHING
        self._lags.read(found.changes)
        fences = {shard.id: numbers[shard.id] for shard in held}
        return ShardBatch(found.changes, Advance(found.positions, fences, self._gone), tuple(finished), found.more)

    def commit(self, batch: ShardBatch) -> None:
        """Bring a batch into the sink; shards that another has by now are left to it."""
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
            self._look_at = float("-inf")  # its children may be read

    def _lose(self) -> None:
        self._held.drop()
        self._look_at = float("-inf")

    # Working alone

    def _maintain(self) -> None:
        upkeep = self._upkeep
        if upkeep is None or self._wish is not None or not self._held or not upkeep.is_due():
            return

        def keep_up() -> int:
            caught_up = self._alone.catch_up()
            upkeep.run()
            return caught_up

        self._wish = keep_up
        self._look_at = float("-inf")

    def _work_alone(self, view: GroupView, me: str, act: Callable[[], int]) -> None:
        """Do something while nobody else has a shard. The others learn of it when they look; then it is tried again."""
        self._look_at = self._now() + self._policy.every / 5
        if not self._held.take_whole(view, me):
            return
        view = self._seen()
        if any(view.owner(shard) not in (None, me) for shard in view.leases):
            return
        self._wish = None
        try:
            self._sink.refresh()
            self._alone.forget()
            act()
        finally:
            self._look_at = float("-inf")
            self._held.give_whole(me)

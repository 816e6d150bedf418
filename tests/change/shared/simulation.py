"""A simulated fleet: a stream whose shards split and merge, workers that are killed and paused, and one sink.

python -m tests.change.shared.simulation SEEDS [FIRST]

Nothing sleeps, and only the seed is random: time passes in ticks, and a paused worker may have read a batch that it
commits when it continues, long after other workers have taken over its shards.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence

from msgspec import Struct
from tests.change.model import TABLE
from tests.change.shared.streaming import SimulatedStream

from partita import EmbeddedStore, Session
from partita.change import Advance, ItemChange, Snapshot
from partita.change.shared import LEASES_TABLE, LeasePolicy, Membership, Outside, ShardBatch, SharedConsumer
from partita.testing import Crash

TICK = 1.0
KEYS = 2_000
BATCH = 400


class SimulatedSink:
    """Checks that each change of a key is the next one, and records how late it was."""

    def __init__(self, positions: Mapping[str, int]) -> None:
        self.at = dict(positions)
        self.numbers: dict[str, int] = {}
        self.applied: dict[str, int] = {}
        self.refused = 0
        self.lags: list[float] = []
        self.now = 0.0
        self.crash_after_commit = False

    def positions(self) -> Mapping[str, int]:
        return self.at

    def fences(self) -> Mapping[str, int]:
        return self.numbers

    def refresh(self) -> None: ...

    def apply(self, batch: Sequence[ItemChange], positions: Mapping[str, int]) -> None:  # noqa: ARG002 - sink interface
        raise AssertionError("nobody works alone here")

    def load(self, snapshot: Snapshot) -> None:  # noqa: ARG002 - sink interface
        raise AssertionError("nobody works alone here")

    def apply_fenced(self, batch: Sequence[ItemChange], advance: Advance) -> None:
        try:
            positions, numbers = advance.after(self.at, self.numbers)
        except Exception:
            self.refused += 1
            raise
        for change in batch:
            if change.sequence > self.at.get(change.shard, 0):
                key, number = change.keys["PK"], change.record.new["n"]  # type: ignore[index]
                assert number == self.applied.get(key, 0) + 1, f"{key}: {number} after {self.applied.get(key, 0)}"
                self.applied[key] = number
                self.lags.append(self.now - change.at)
        self.at, self.numbers = positions, numbers
        if self.crash_after_commit:
            self.crash_after_commit = False
            raise Crash


class SimulatedWorker(Struct):
    """A process: its consumer, a batch that is read and not written, and the time until which it is paused."""

    consumer: SharedConsumer
    pending: ShardBatch | None = None
    still_until: float = 0.0
    next_beat: float = 0.0


class Faults(Struct, frozen=True):
    """The average number of seconds between two faults of each kind; 0 for never."""

    kill: float = 60.0
    stand_still: float = 40.0
    crash: float = 60.0
    reshard: float = 3.0
    spacing: float = 0.0
    """Seconds after the end of a fault in which no other one begins."""


ONE_AT_A_TIME = Faults(kill=30, stand_still=30, crash=30, spacing=40)


class Outcome(Struct, frozen=True):
    """The result of a run."""

    changes: int
    shards: int
    kills: int
    pauses: int
    refused: int
    """Commits of workers whose shards had been taken over."""
    max_lag: float
    spread: int
    """The largest difference in the number of shards of two workers at the end."""


class Simulation:
    """One run from a seed."""

    def __init__(self, seed: int, *, shards: int = 200, workers: int = 4, faults: Faults | None = None) -> None:
        self.rng = random.Random(seed)
        self.now = 0.0
        self.policy = LeasePolicy()
        self.faults = faults or Faults()
        self.stream = SimulatedStream(shards, counts=seed % 2 == 0)
        self.sink = SimulatedSink(self.stream.start())
        self.leases = Session(EmbeddedStore(":memory:", durable=False))
        self.leases.create_tables([LEASES_TABLE])
        self.written: dict[str, int] = {}
        self.lives = 0
        self.kills = self.pauses = 0
        self.calm_until = 0.0
        self.workers = [self._start() for _ in range(workers)]

    def _start(self) -> SimulatedWorker:
        self.lives += 1
        name = f"worker-{self.lives}"
        outside = Outside(clock=self.clock, monotonic=self.clock, ids=self._new_id)
        membership = Membership(self.leases, "group", name, self.policy)
        return SimulatedWorker(SharedConsumer(self.stream, TABLE, self.sink, membership, batch=BATCH, outside=outside))

    def clock(self) -> float:
        return self.now

    def _new_id(self) -> str:
        self.lives += 1
        return f"life-{self.rng.randrange(10**9):09}-{self.lives}"

    def run(self, seconds: float, *, faulty: bool = True, writes: int = 20) -> None:
        """Run the simulation for this time."""
        for _ in range(int(seconds / TICK)):
            self.now += TICK
            self.sink.now = self.now
            for _ in range(writes):
                self._write()
            if faulty:
                self._fail()
            for number in self.rng.sample(range(len(self.workers)), len(self.workers)):
                self._turn(number)

    def _write(self) -> None:
        key = f"key-{self.rng.randrange(KEYS)}"
        self.written[key] = self.written.get(key, 0) + 1
        self.stream.write(key, self.written[key], self.now)

    def _happens(self, every: float) -> bool:
        return every > 0 and self.rng.random() < TICK / every

    def _fail(self) -> None:
        if self._happens(self.faults.reshard):
            self.stream.reshard(self.rng)
        if self.now >= self.calm_until and self._happens(self.faults.kill):
            self._kill(self.rng.randrange(len(self.workers)))
            self.calm_until = self.now + self.faults.spacing
        if self.now >= self.calm_until and self._happens(self.faults.stand_still):
            self.pauses += 1
            length = self.rng.uniform(0, 3 * self.policy.seconds)
            self.rng.choice(self.workers).still_until = self.now + length
            self.calm_until = self.now + (length + self.faults.spacing if self.faults.spacing else 0)
        if self.now >= self.calm_until and self._happens(self.faults.crash):
            self.sink.crash_after_commit = True
            self.calm_until = self.now + self.faults.spacing

    def _kill(self, number: int) -> None:
        self.kills += 1
        self.workers[number] = self._start()

    def _turn(self, number: int) -> None:
        worker = self.workers[number]
        if self.now < worker.still_until:
            return
        try:
            self._work(worker)
        except Crash:
            self._kill(number)

    def _work(self, worker: SimulatedWorker) -> None:
        if worker.pending is not None:  # it may have been paused after it read this
            worker.consumer.commit(worker.pending)
            worker.pending = None
        if self.now >= worker.next_beat:
            worker.consumer.beat()
            worker.next_beat = self.now + self.policy.every
        worker.consumer.look_if_due()
        worker.pending = worker.consumer.read()
        if self.rng.random() < 0.5:
            worker.consumer.commit(worker.pending)
            worker.pending = None

    def outcome(self) -> Outcome:
        """Check that the sink has everything, and return the figures of the run."""
        assert self.sink.applied == self.written
        held = [len(worker.consumer.held) for worker in self.workers]
        return Outcome(
            sum(self.written.values()),
            len(self.stream.shards),
            self.kills,
            self.pauses,
            self.sink.refused,
            max(self.sink.lags),
            max(held) - min(held),
        )


def simulate(seed: int, *, seconds: float = 200.0, faults: Faults | None = None, shards: int = 200) -> Outcome:
    """Run with faults, then without any until everything is read."""
    simulation = Simulation(seed, shards=shards, faults=faults)
    simulation.run(seconds)
    simulation.run(simulation.policy.takeover_seconds + 3 * simulation.policy.seconds, faulty=False, writes=5)
    simulation.run(20, faulty=False, writes=0)
    return simulation.outcome()


def main(seeds: str, first: str = "0") -> None:
    """Run many seeds, each with faults at any time and with one fault at a time; print the outcomes."""
    for seed in range(int(first), int(first) + int(seeds)):
        print(seed, simulate(seed), flush=True)  # noqa: T201 - a command
        print(seed, simulate(seed, faults=ONE_AT_A_TIME), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

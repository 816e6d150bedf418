"""Run one simulation from its seed, and return its result."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from msgspec import Struct
from tests.simulation._disk import SimulatedDisk
from tests.simulation._faults import Fault, Faults
from tests.simulation._server import make_template
from tests.simulation._world import Scenario, Violated, World
from tests.simulation.scenarios.accounts import Accounts
from tests.simulation.scenarios.commitcollect import CommitCollect
from tests.simulation.scenarios.countries import Countries
from tests.simulation.scenarios.events import Events
from tests.simulation.scenarios.items import Items
from tests.simulation.scenarios.lake import LakeItems
from tests.simulation.scenarios.messages import Messages
from tests.simulation.scenarios.todo import Todo

from partita import EmbeddedStore, Session, new_ulid
from partita.store import Store

SCENARIOS: Final[Mapping[str, Callable[[], Scenario]]] = {
    "accounts": Accounts,
    "events": Events,
    "items": Items,
    "messages": Messages,
    "todo": Todo,
    "lake": LakeItems,
    "commitcollect": CommitCollect,
    "countries": Countries,
}

CHECK_EVERY: Final = 10
SETTLE_EVERY: Final = 25
SETTLE_STEPS: Final = 20_000
_SHM: Final = Path("/dev/shm")  # noqa: S108 - a folder in memory, used only if it exists


class Plan(Struct, frozen=True):
    """The parameters of a run; the same plan always produces the same run."""

    seed: int
    steps: int = 200
    scenario: str = ""
    """The name of the scenario; if it is empty, the seed chooses one."""
    without: frozenset[int] = frozenset()
    """The numbers of the faults that are left out."""
    check_every: int = CHECK_EVERY

    @property
    def chosen(self) -> str:
        """The name of the scenario to run."""
        return self.scenario or list(SCENARIOS)[self.seed % len(SCENARIOS)]


class Result(Struct, frozen=True):
    """The result of a run."""

    plan: Plan
    steps: int
    seconds: float
    """The simulated time at the end of the run."""
    executed: int
    crashes: int
    faults: tuple[Fault, ...]
    digest: str
    failure: str | None = None
    trace: tuple[str, ...] = ()


def _as_it_is(store: EmbeddedStore) -> Store:
    return store


def simulate(
    plan: Plan,
    *,
    wrap: Callable[[EmbeddedStore], Store] | None = None,
    scenario: Callable[[], Scenario] | None = None,
    keep_trace: bool = False,
) -> Result:
    """Run a plan. `wrap` may wrap the server's store, and `scenario` replaces the scenario that the plan names."""
    made = (scenario or SCENARIOS[plan.chosen])()
    faults = Faults(Random(f"faults of {plan.seed}"), without=plan.without, spared=made.spared)
    with _quiet(), _room() as folder, SimulatedDisk() as disk:
        template = _template(plan.chosen, made)
        world = World(plan.seed, faults, disk, (template, folder), made, wrap or _as_it_is, keep_trace=keep_trace)
        with new_ulid.using(world.kernel.clock, Random(f"ids of {plan.seed}")):
            try:
                failure = _play(world, made, plan)
            finally:
                world.end()
        return Result(
            plan,
            world.kernel.steps,
            world.kernel.now,
            world.network.executed,
            world.server.crashes,
            tuple(faults.happened),
            world.kernel.trace.digest,
            failure,
            tuple(world.kernel.trace.lines or ()),
        )


def _play(world: World, scenario: Scenario, plan: Plan) -> str | None:
    """Run the steps with faults, then run without faults until everything is settled. Return the failure, or None."""
    try:
        scenario.start(world)
        while world.kernel.steps < plan.steps and world.kernel.step():
            _check(world, scenario, plan)
        world.calm()
        while not _is_settled(world, scenario):
            if world.kernel.steps > plan.steps + SETTLE_STEPS:
                raise Violated("the work was not completed after the faults ended")  # noqa: TRY301 - handled like any other failure
            scenario.check(world)
        if world.kernel.failure is not None:
            raise world.kernel.failure  # noqa: TRY301
        scenario.check(world)
        scenario.check_end(world)
        world.server.verify()
        _note_items(world, scenario)
    except Exception as error:  # noqa: BLE001 - any error is a failure of the run
        return f"{type(error).__name__}: {error}"
    return None


def _is_settled(world: World, scenario: Scenario) -> bool:
    """Whether the run has failed or is settled. If neither, run more steps; True if there are none left."""
    if world.kernel.failure is not None or scenario.is_settled(world):
        return True
    return not all(world.kernel.step() for _ in range(SETTLE_EVERY))


def _check(world: World, scenario: Scenario, plan: Plan) -> None:
    if world.kernel.steps % plan.check_every == 0 and world.server.is_whole:
        scenario.check(world)


def _note_items(world: World, scenario: Scenario) -> None:
    """Add the stored items to the trace."""
    for table in scenario.tables:
        for item in world.items(table):
            world.kernel.trace.add(repr(sorted((name, str(value)) for name, value in item.items())))


_TEMPLATES: Final[dict[str, tempfile.TemporaryDirectory[str]]] = {}


def _template(name: str, scenario: Scenario) -> Path:
    """Return the folder with the initial files of a scenario, which are created once per process."""
    if name not in _TEMPLATES:
        _TEMPLATES[name] = tempfile.TemporaryDirectory(dir=_place())
        folder = Path(_TEMPLATES[name].name)
        make_template(folder, lambda store: Session(store).create_tables(scenario.tables), scenario.queues)
    return Path(_TEMPLATES[name].name)


@contextmanager
def _room() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=_place()) as folder:
        yield Path(folder)


def _place() -> Path | None:
    return _SHM if _SHM.is_dir() else None


@contextmanager
def _quiet() -> Iterator[None]:
    """Disable logging, because the faults cause many expected log messages."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)

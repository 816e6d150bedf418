"""`partita worker`: processes that do the background work of services."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from multiprocessing import connection, get_context, parent_process
from multiprocessing.context import SpawnProcess
from typing import Any, Final

import click
from msgspec import Struct
from msgspec.structs import replace

from partita import Session
from partita.cli._data_folder import EMBEDDED, DataFolder, store_and_queue_options
from partita.cli._extras import require
from partita.cli._installation import installation_of, metering_queues, opening, prepare_reports, process_name
from partita.cli._names import chosen_services, named
from partita.cli._signals import on_stop_signal, stop_signals
from partita.cli._vanished import await_folder
from partita.cli.data import POLICY, check_lake, filling, is_captured, lake_option, reach_lake
from partita.cli.processes import WORK_SECONDS, ConnectionBoard, ProcessChannel, Restarts
from partita.queue import MeteredQueue
from partita.reports import ProcessFigures, Reporter, reporting
from partita.service import Service, WorkerContext

logger: Final = logging.getLogger("partita.worker")

_SPAWN: Final = get_context("spawn")  # a fork would share the open database


@click.command()
@chosen_services
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Number of processes.")
@store_and_queue_options
@lake_option(required=False)
def worker(services: Sequence[Service], data: DataFolder, workers: int, lake: str | None) -> None:
    """Do the background work of services until Ctrl-C or SIGTERM.

    Work that has begun is finished. With --lake, the processes also fill that lake, and share the shards of each stream
    with all other processes that fill it. Any number of workers may run, on any machines that share store and queue.
    """
    with_work = [service for service in services if has_work(service, lake)]
    if not with_work:
        raise click.ClickException("None of these services has work for workers.")
    if lake is not None:
        require("lake")
        reach_lake(lake, data)
    with _opened(with_work, data, None) as work:  # errors are reported here, once, and not by each process
        if lake is not None:
            check_lake(lake, with_work, work.session.store, data)
    stop = threading.Event()
    on_stop_signal(stop.set)
    if lake is not None:
        click.echo(f"If a worker is killed, others take over within {POLICY.takeover_seconds:g} seconds.")
    with working(with_work, data, workers, lake=lake) as busy:
        click.echo(f"{workers} at work for {', '.join(busy)}. Stop with Ctrl-C.")
        stop.wait()
    click.echo("Stopped.")


def has_work(service: Service, lake: str | None) -> bool:
    """Whether a worker has something to do for a service: the service's own work, or filling a lake."""
    return service.worker is not None or (lake is not None and is_captured(service))


def default_workers(data: DataFolder) -> int:
    """How many workers a server starts by default: one if everything is in one folder, because no others may exist."""
    return 1 if (data.store, data.queue) == (EMBEDDED, EMBEDDED) else 0


@contextmanager
def working(
    services: Sequence[Service], data: DataFolder, workers: int, url: str | None = None, lake: str | None = None
) -> Iterator[list[str]]:
    """Run worker processes while the block runs, and yield the names of the services that they work for.

    A process that dies is replaced. At the end, all finish the work that they have begun. `url` is where the services
    are served, and `lake` is a lake that the workers also fill.
    """
    busy = [service.name for service in services if has_work(service, lake)]
    pool = WorkerPool(workers if busy else 0, busy, data, url, lake)
    try:
        yield busy
    finally:
        pool.stop()


class WorkerPool:
    """Worker processes, and a thread that replaces those that die."""

    def __init__(
        self, workers: int, services: Sequence[str], data: DataFolder, url: str | None, lake: str | None = None
    ) -> None:
        self._work = (services, data, url, lake)
        self._restarts = Restarts()
        self._started_at: dict[int, float] = {}
        self._due: dict[int, float] = {}
        """When the processes that have ended are replaced, by their numbers."""
        self._stop, self._stopping = _SPAWN.Pipe()
        self._processes = [self._start(number) for number in range(workers)]
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()

    def _start(self, number: int) -> SpawnProcess:
        self._started_at[number] = time.monotonic()
        process = _SPAWN.Process(target=run_worker, args=self._work)
        process.start()
        return process

    def _watch(self) -> None:
        """Sleep until a process dies, and replace it after a pause, which grows if it ends soon after each start."""
        while True:
            alive = [each.sentinel for number, each in enumerate(self._processes) if number not in self._due]
            next_due = min(self._due.values(), default=None)
            seconds = None if next_due is None else max(0.0, next_due - time.monotonic())
            if self._stopping in connection.wait([self._stopping, *alive], seconds):
                return
            for number, process in enumerate(self._processes):
                if process.exitcode is not None and number not in self._due:
                    self._replace_ended(number, process)
            for number in [number for number, due in self._due.items() if due <= time.monotonic()]:
                del self._due[number]
                self._processes[number] = self._start(number)

    def _replace_ended(self, number: int, process: SpawnProcess) -> None:
        now = time.monotonic()
        wait = self._restarts.pause(number, now - self._started_at[number])
        logger.warning("Worker %s ended with %s, and is replaced in %.0f s.", process.pid, process.exitcode, wait)
        self._due[number] = now + wait

    def stop(self) -> None:
        """Stop all processes after they finish the work that they have begun. Kill those that do not, if stuck."""
        self._stop.close()
        self._watcher.join()
        self._stopping.close()
        deadline = time.monotonic() + WORK_SECONDS
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.exitcode is None:
                logger.error("Worker %s did not stop, and is killed.", process.pid)
                process.kill()
                process.join()


def run_worker(services: Sequence[str], data: DataFolder, url: str | None, lake: str | None = None) -> None:
    """Run a worker process until it receives SIGTERM or its parent is gone."""
    stop = threading.Event()
    for number in stop_signals():  # signals of the terminal also reach the parent, which decides when to stop
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_stop_with_parent, args=(stop,), daemon=True).start()
    data = replace(data, is_in_use=True)
    await_folder(data, stop)
    if not stop.is_set():
        work_for([service for name in services if (service := named(name)) is not None], data, url, stop, lake)


def run_worker_process(
    channel: ProcessChannel,
    _number: int,
    _board: ConnectionBoard,
    services: Sequence[Service],
    data: DataFolder,
    url: str | None,
) -> None:
    """Run a worker in a process that the supervisor of a server has forked, until it sends `Stop`."""
    stop, data = threading.Event(), replace(data, is_in_use=True)
    channel.on_stop(stop.set, stop.set)
    await_folder(data, stop)
    if not stop.is_set():
        work_for(services, data, url, stop)


def _stop_with_parent(stop: threading.Event) -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        stop.set()


def work_for(
    services: Sequence[Service], data: DataFolder, url: str | None, stop: threading.Event, lake: str | None = None
) -> None:
    """Work for services, each in a thread, until `stop` is set. The first error ends the work for all services.

    The consumption is reported regularly, and for the last time at the end.
    """
    name = process_name()
    with _opened(services, data, url) as work, filling(lake, services, work.session.store, data):
        reporter = Reporter(work.session, work.counted, name=name, services=[service.name for service in services])
        with reporting(reporter), ThreadPoolExecutor(max(1, len(services))) as pool:
            done = [
                pool.submit(
                    service.worker,
                    WorkerContext(work.session.of_service(service.name), work.resources.get(service.name), name, stop),
                )
                for service in services
                if service.worker is not None
            ]
            if done:
                wait(done, return_when=FIRST_EXCEPTION)
            else:  # filling the lake is the only work
                stop.wait()
            stop.set()
        for worker in done:
            worker.result()


class OpenWork(Struct, frozen=True):
    """The open resources of workers: the store, and what each service needs in addition, such as its queues."""

    session: Session
    resources: dict[str, Any]
    queues: dict[str, MeteredQueue]

    def counted(self) -> ProcessFigures:
        """The consumption so far."""
        return ProcessFigures(self.session.meter.usage(), tuple(queue.usage for queue in self.queues.values()))


@contextmanager
def _opened(services: Sequence[Service], data: DataFolder, url: str | None) -> Iterator[OpenWork]:
    """Open the store, create the tables of the services, and open the other resources that their workers need."""
    queues: dict[str, MeteredQueue] = {}
    installation = metering_queues(queues, installation_of(data, url))
    with closing(data.open_store()) as store, opening(services, installation) as resources:
        session = Session(store, keys=data.keys())
        for service in services:
            session.create_tables(service.tables)
        prepare_reports(session)
        yield OpenWork(session, resources, queues)

"""A pytest plugin: tests are collected once, and run by workers that are forks of the collecting process.

So a worker starts with all modules imported, and shares their memory with the other workers. pytest-xdist, whose
options and marks are used here, starts workers that each import and collect everything. This plugin is active with
`--dist=loadgroup`.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from _pytest.capture import CaptureManager
from tests.ending import finish_undisturbed, interrupt_on_sigterm
from tests.scheduling import GroupScheduling, units_of

EVERY = 1.0
"""The seconds after which silent workers are checked, because a fork of a test may hold open a dead worker's pipe."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two more than the number of cores, because tests wait for browsers, servers and disks."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Unregister the part of pytest-xdist that would prevent collection in this process."""
    if config.getoption("dist") == "loadgroup":
        config.pluginmanager.unregister(name="dsession")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    config = session.config
    if config.getoption("dist") != "loadgroup" or config.getoption("collectonly") or session.testsfailed:
        return None
    workers: list[str] = config.getoption("tx") or []
    Run(session).all(len(workers))
    return True


Message = list[int] | None
"""A message to a worker: tests to run after those that it has; empty after the last ones; None to run no more."""


class Worker:
    """A fork that runs tests, as seen from the collecting process."""

    def __init__(self, name: str, session: pytest.Session, others: Sequence[Connection]) -> None:
        self.name = name
        # The terminal reporter reads these attributes of the worker that ran a test.
        self.gateway = SimpleNamespace(id=name)
        python = {"sysplatform": sys.platform, "version_info": sys.version_info, "executable": sys.executable}
        self.workerinfo = {"id": name, **python}
        self.connection, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            for end in (self.connection, *others):
                end.close()
            _work(name, session, theirs)
        theirs.close()

    def run(self, tests: Sequence[int]) -> None:
        """Run these tests, after those that the worker already has."""
        self._send(list(tests))

    def finish(self) -> None:
        """End after the tests that the worker already has."""
        self._send([])

    def stop(self) -> None:
        """End after the current test."""
        self._send(None)

    def interrupt(self) -> None:
        """End immediately, after the teardown of fixtures."""
        os.kill(self.pid, signal.SIGTERM)
        self.connection.close()

    def _send(self, message: Message) -> None:
        with suppress(BrokenPipeError):  # the worker has died, which is noticed when its reports are read
            self.connection.send(message)

    def ended(self, options: int = 0) -> str | None:
        """Wait for the end of the worker, and return how it ended; None if it has not, with `os.WNOHANG`."""
        pid, status = os.waitpid(self.pid, options)
        if pid == 0:
            return None
        self.connection.close()
        code = os.waitstatus_to_exitcode(status)
        return signal.Signals(-code).name if code < 0 else f"status {code}"


class Run:
    """Runs all tests of a session in workers."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._scheduling = GroupScheduling(units_of(session.items))
        self._workers: dict[Connection, Worker] = {}
        self._started = 0
        _folders(session.config).getbasetemp()  # in it, each worker creates its own folder

    def all(self, count: int) -> None:
        """Run all tests in this number of workers.

        Raises:
            Session.Failed: the maximum number of failures was reached.
            Session.Interrupted: a plugin has requested a stop.
        """
        try:
            self._run(count)
        except BaseException:
            for worker in self._workers.values():
                worker.interrupt()
            for worker in self._workers.values():
                worker.ended()
            raise
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _run(self, count: int) -> None:
        self._start(count)
        while self._workers:
            ready = wait(list(self._workers), EVERY)
            for worker in list(self._workers.values()):
                if worker.connection in ready:
                    self._receive(worker)
                elif not ready and (how := worker.ended(os.WNOHANG)) is not None:
                    self._end(worker, how)
            if self._session.shouldfail or self._session.shouldstop:
                self._stop()
            self._start(count)

    def _start(self, count: int) -> None:
        """Start workers up to this number, while there are tests for them."""
        while self._scheduling.is_waiting and len(self._workers) < count:
            worker = Worker(f"gw{self._started}", self._session, list(self._workers))
            self._started += 1
            self._workers[worker.connection] = worker
            self._scheduling.begin(worker)

    def _stop(self) -> None:
        self._scheduling.stop()
        for worker in self._workers.values():
            worker.stop()

    def _receive(self, worker: Worker) -> None:
        hook = self._session.config.hook
        try:
            index, reports = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            self._end(worker, worker.ended())
            return
        for report in reports:
            self._log(worker, hook.pytest_report_from_serializable(config=self._session.config, data=report))
        item = self._session.items[index]
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        self._scheduling.complete(worker, index)

    def _end(self, worker: Worker, how: str | None) -> None:
        del self._workers[worker.connection]
        index = self._scheduling.end(worker)
        if how != "status 0" and index is not None:
            item = self._session.items[index]
            said = f"worker {worker.name} ended with {how} while it ran {item.nodeid}"
            self._log(worker, pytest.TestReport(item.nodeid, item.location, {}, "failed", said, "call"))

    def _log(self, worker: Worker, report: Any) -> None:
        report.node = worker
        self._session.config.hook.pytest_runtest_logreport(report=report)


class Reports:
    """The reporter of a worker: collects the reports of a test until they are sent."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reports: list[Any] = []
        self._tw = config.get_terminal_writer()  # which other plugins read from the reporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def take(self) -> list[Any]:
        """Return the reports since the last call."""
        taken, self._reports = self._reports, []
        return taken


class Tests:
    """The tests that a worker has to run, as it receives them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ahead: deque[int] = deque()
        self._is_last = self._is_stopped = False

    def __iter__(self) -> Iterator[tuple[int, int | None]]:
        """Yield each test, and the one that follows it."""
        self._hear()
        while self._ahead and not self._is_stopped:
            index = self._ahead.popleft()
            yield index, self._ahead[0] if self._ahead else None
            self._hear()

    def _hear(self) -> None:
        """Receive messages until the next two tests are known."""
        while self._connection.poll(None if self._must_wait() else 0):
            try:
                message: Message = self._connection.recv()
            except EOFError:
                message = None
            self._ahead.extend(message or ())
            self._is_last |= not message
            self._is_stopped |= message is None
            if self._is_stopped:
                break

    def _must_wait(self) -> bool:
        return len(self._ahead) < 2 and not self._is_last


def _work(name: str, session: pytest.Session, connection: Connection) -> NoReturn:
    """Run tests in a worker until there are no more."""
    status = 1
    try:
        reports = _become(name, session.config)
        try:
            _run_tests(session, reports, connection)
        finally:
            finish_undisturbed()
            session._setupstate.teardown_exact(None)
        status = 0
    except KeyboardInterrupt:
        status = 2
    finally:
        if status == 1:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _become(name: str, config: pytest.Config) -> Reports:
    """Replace what the worker inherited by its own: folder of temporary files, output, reporter, and signals."""
    interrupt_on_sigterm()
    os.environ["PYTEST_XDIST_WORKER"] = name
    folders = _folders(config)
    folders._basetemp = folders.getbasetemp() / name
    folders._basetemp.mkdir(mode=0o700)
    capture = config.pluginmanager.getplugin("capturemanager")
    assert isinstance(capture, CaptureManager)
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    reports = Reports(config)
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(reports, "terminalreporter")
    return reports


def _folders(config: pytest.Config) -> pytest.TempPathFactory:
    factory: object = vars(config)["_tmp_path_factory"]
    assert isinstance(factory, pytest.TempPathFactory)
    return factory


def _run_tests(session: pytest.Session, reports: Reports, connection: Connection) -> None:
    for index, following in Tests(connection):
        nextitem = None if following is None else session.items[following]
        session.config.hook.pytest_runtest_protocol(item=session.items[index], nextitem=nextitem)
        connection.send((index, reports.take()))

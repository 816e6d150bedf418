"""Mixed load on the services over HTTP, and a check that all acknowledged writes are stored."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.cli.processes.servers import Client, Command, authorization
from tests.faults._report import Tally

from partita import EmbeddedStore, Session
from partita.store import ScanTable
from partita_services.accounts.model import accounts_of
from partita_services.events.model import request_by_id
from partita_services.todo.model import TABLE as TASKS

CREATED: Final = (200, 201, 202)
FROM, TO, OWNER = "acc-1001", "acc-1004", "demo"


class Load:
    """The writes that were acknowledged to callers, over all rounds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.titles: list[str] = []
        self.deleted: list[str] = []
        self.requests: list[str] = []
        self.transfers = 0
        self._numbers = itertools.count()

    @property
    def acknowledged(self) -> int:
        return len(self.titles) + 2 * len(self.deleted) + len(self.requests) + self.transfers

    def call(self, address: tuple[str, int], until: threading.Event, limit: int) -> None:
        """Call all services in turn, until enough writes are acknowledged or the server is gone."""
        with suppress(OSError), Client(address, authorization(self.folder)) as client:
            events = [each["eventId"] for each in client.json("GET", "/events/api/events")["items"]]
            while self.acknowledged < limit and not until.is_set():
                self._write(address, client, events)
        until.set()

    def _write(self, address: tuple[str, int], client: Client, events: list[str]) -> None:
        self._add_task(client)
        self._transfer(client)
        self._apply(address, events[next(self._numbers) % len(events)])

    def _add_task(self, client: Client) -> None:
        title = f"task {next(self._numbers)}"
        status, _ = client.send("POST", "/todo/api/tasks", {"title": title})
        if status in CREATED:
            self.titles.append(title)

    def _transfer(self, client: Client) -> None:
        body = {"from": FROM, "to": TO, "amount": 1}
        status, _ = client.send("POST", "/accounts/api/transfers", body)
        self.transfers += status in CREATED

    def _apply(self, address: tuple[str, int], event: str) -> None:
        user = f"user{next(self._numbers)}"
        with Client(address, authorization(self.folder, user)) as client:
            status, applied = client.send("POST", f"/events/api/events/{event}/requests")
        if status in CREATED:
            self.requests.append(json.loads(applied)["requestId"])

    def check(self, tally: Tally, money: int) -> None:
        """Compare the stored data with the acknowledged writes."""
        with EmbeddedStore(self.folder / "partita.db") as store:
            store.verify()
            db = Session(store)
            found = [str(title) for title in _titles(store) if str(title).startswith("task ")]
            tally.compare(self.titles, found)
            tally.expect(not set(self.deleted) & set(found), "a deleted task is still there")
            tally.lost += sum(db.run(request_by_id(each)) is None for each in self.requests)
            tally.expect(money_of(db) == money, "money was created or lost")


def _titles(store: EmbeddedStore) -> Iterator[object]:
    start = None
    while True:
        page = store.execute(ScanTable(TASKS.name, start=start))
        yield from (item["title"] for item in page.items if "title" in item)
        if page.last_key is None:
            return
        start = page.last_key


def money_of(db: Session) -> int:
    """Return the total balance of the accounts between which money is moved."""
    return sum(each.balance for each in db.run(accounts_of(OWNER).walk(max_items=1_000)))


def killed_under_load(load: Load, command: Command, limit: int, rng: random.Random, callers: int = 3) -> None:
    """Call a server from several threads, and kill all its processes when enough writes are acknowledged."""
    until = threading.Event()
    threads = [threading.Thread(target=load.call, args=(command.address, until, limit)) for _ in range(callers)]
    for thread in threads:
        thread.start()
    until.wait(60)
    until.wait(rng.random() / 50)
    os.killpg(command.process.pid, signal.SIGKILL)
    for thread in threads:
        thread.join()

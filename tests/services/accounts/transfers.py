"""A program that transfers between accounts forever and prints what was acknowledged, to be killed by a test."""

from __future__ import annotations

import random
import sys
import threading
import time

from partita import EmbeddedStore, Session
from partita.errors import VersionConflict
from partita_services.accounts.handlers import InsufficientFunds, TransferOrder, transfer

NAMES = ("a", "b", "c")


def run(db: Session, chance: random.Random) -> None:
    """Transfer forever."""
    while True:
        source, target = chance.sample(NAMES, 2)
        order = TransferOrder.model_validate({"from": source, "to": target, "amount": chance.randint(1, 40)})
        try:
            done = db.run(db.run(transfer(order, time.time())).run())
        except (VersionConflict, InsufficientFunds):
            continue
        for account in (done.source, done.target):
            sys.stdout.write(f"{account.data.pk} {account.last_write}\n")
        sys.stdout.flush()


def main() -> None:
    """Transfer with several threads on the database that was named."""
    db = Session(EmbeddedStore(sys.argv[1]))
    for number in range(4):
        threading.Thread(target=run, args=(db, random.Random(int(sys.argv[2]) * 10 + number))).start()


if __name__ == "__main__":
    main()

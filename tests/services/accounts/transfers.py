"""A program that transfers between accounts forever and prints what was acknowledged, to be killed by a test."""

from __future__ import annotations

import random
import sys
import threading
import time
from functools import partial

from partita import EmbeddedStore, Procedure, Session, new_ulid, retry_on_conflict
from partita.recipes.idempotency import run_plan
from partita_services.accounts.access import Actor
from partita_services.accounts.model import Entry
from partita_services.accounts.movements import InsufficientFunds, Occasion, TransferOrder, transfer

NAMES = ("a", "b", "c")


def _transferred(order: TransferOrder, occasion: Occasion) -> Procedure[Entry]:
    return run_plan(transfer(order, occasion))


def run(db: Session, rng: random.Random) -> None:
    """Transfer between random accounts forever, and print each acknowledged entry."""
    while True:
        source, target = rng.sample(NAMES, 2)
        order = TransferOrder.model_validate({"from": source, "to": target, "amount": rng.randint(1, 40)})
        occasion = Occasion(Actor("ann"), time.time(), new_ulid())
        try:
            entry = db.run(retry_on_conflict(partial(_transferred, order, occasion)))
        except InsufficientFunds:
            continue
        sys.stdout.write("".join(f"{pk} {entry.entry_id}\n" for pk in (source, target)))
        sys.stdout.flush()


def main() -> None:
    """Run transfers in several threads on the database that the first argument names."""
    db = Session(EmbeddedStore(sys.argv[1]))
    for number in range(4):
        threading.Thread(target=run, args=(db, random.Random(int(sys.argv[2]) * 10 + number))).start()


if __name__ == "__main__":
    main()

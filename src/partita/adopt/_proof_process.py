"""Prove a model in a separate process: read the request from standard input, and write the response."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import msgspec

from partita.adopt._proof import ProofRequest, ProofResponse, prove
from partita.errors import PartitaError
from partita.model import Table
from partita.store import plain_item


def respond(request: ProofRequest) -> ProofResponse:
    """Import the file, find its table, and prove it if the request contains items."""
    try:
        module = _imported(Path(request.path))
        table = _table_in(module, request.name)
    except PartitaError as error:
        return ProofResponse(error=str(error))
    except Exception as error:  # noqa: BLE001 - importing a module may raise anything
        return ProofResponse(error=f"{type(error).__name__}: {error}")
    if request.items is None:
        return ProofResponse(table.name)
    return ProofResponse(table.name, prove(table, [plain_item(item) for item in request.items]))


def _imported(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.resolve().parent))  # it may import its neighbours, as when it is run as a script
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None:
        raise ValueError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    return module


def _table_in(module: ModuleType, name: str | None) -> Table:
    tables = {key: value for key, value in vars(module).items() if isinstance(value, Table)}
    if name is None and len(tables) == 1:
        return next(iter(tables.values()))
    if name in tables:
        return tables[name]
    there = ", ".join(tables) or "none"
    raise ValueError(f"Specify which table to use, as in {module.__name__}.py:TABLE; there is: {there}.")


if __name__ == "__main__":
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=ProofRequest)
    with contextlib.redirect_stdout(sys.stderr):  # output of the module must not get into the response
        answer = respond(asked)
    sys.stdout.buffer.write(msgspec.json.encode(answer))

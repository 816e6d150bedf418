"""The program of the servers in browser tests: the command line, forked from a process with all modules loaded."""

from __future__ import annotations

import os

from partita.cli import main as command_line

LOADED = (
    "partita.app",
    "partita.cli.serving",
    "partita.console",
    "partita_services.accounts.http",
    "partita_services.commitcollect.http",
    "partita_services.countries.http",
    "partita_services.events.http",
    "partita_services.todo.http",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)


def main(*arguments: str) -> None:
    """Run a command, with standard error redirected to standard output."""
    os.dup2(1, 2)
    command_line(list(arguments), standalone_mode=False)

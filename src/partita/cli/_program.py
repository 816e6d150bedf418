"""The program `partita`: its list of commands, and its help, which is printed without loading any of them.

This module imports nothing that Python does not load anyway when it starts.
"""

import os
import sys

FEW_COLLECTIONS = 50_000
"""Threshold of the garbage collector. Imports create many objects, and nearly all of them stay alive."""
GROUP = "partita.services"
COMMANDS = {
    "serve": ("serving._serve:serve", "Serve the services until Ctrl-C or SIGTERM."),
    "worker": ("serving._worker:worker", "Do the background work of services until Ctrl-C or SIGTERM."),
    "patterns": ("model._patterns:patterns", "List the access patterns and their budgets."),
    "explain": ("model._explain:explain", "Show the request that an access pattern sends, and its cost."),
    "cost": ("model._cost:cost", "Compare the cost of access patterns with their budgets."),
    "docs": ("model._docs:docs", "Write a page on the model of each service."),
    "openapi": ("model._openapi:openapi", "Write the OpenAPI description of each service."),
    "new": ("model._new:new", "Generate an entity or a service, with its tests."),
    "adopt": ("model._adopt:adopt", "Write a model for an existing table, and prove it."),
    "seed": ("data._seed:seed", "Fill the services with sample data."),
    "token": ("serving._token:token", "Print a token for calling the services."),
    "tokens": ("serving._tokens:tokens", "Revoke tokens, and replace the key that signs them."),
    "schema": ("model._schema:schema", "Check and renew the schema snapshots of versioned tables."),
    "tables": ("data._tables:tables", "Create, compare and update the declared tables in a store."),
    "deploy": ("model._deploy:deploy", "Derive infrastructure from the model."),
    "migrate": ("model._migrate:migrate", "Count and rewrite stored items of old data versions."),
    "cdc": ("data._cdc:cdc", "Change data capture: write every change into a lake."),
    "lake": ("data._lake:lake", "Query the lake with SQL."),
    "personal": ("data._personal:personal", "Export or erase everything a service stores about a user."),
    "copy": ("data._copy:copy", "Copy tables from one store to another."),
    "export": ("data._files:export", "Write tables into the files of a new folder."),
    "import": ("data._files:import_", "Read exported files into tables."),
    "load": ("data.loading._load:load", "Write the items of files, or of objects in S3, into a table."),
    "backup": ("data._backup:backup", "Archive the databases and the queues while they are in use."),
    "branch": ("data._branch:branch", "Create cheap copies of the data folder, and switch between them."),
    "restore": ("data._restore:restore", "Replace the contents of the data folder with a backup."),
    "points": ("points._commands:points", "Continuous backups: restore tables to an instant."),
    "check": ("data._check:check", "Verify that the database and the queues are consistent."),
    "compact": ("data._compact:compact", "Rewrite the database without its free space."),
    "sweep": ("data._sweep:sweep", "Delete expired items now."),
    "dynamodb": ("serving._dynamodb:dynamodb", "Serve the database over DynamoDB's own protocol."),
    "queue": ("data._queue:queue", "Manage the queues of services and their dead letters."),
    "completion": ("model._completion:completion", "Print the completion script for a shell."),
}
"""For each command: its module in this package with its name there, and one line of help."""

_USAGE = """\
Usage: partita [OPTIONS] COMMAND [ARGS]...

  Run, inspect and maintain services that are built on Partita.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
"""
_SERVICES = "\nServices, each with its own commands (partita SERVICE --help):\n"


def run() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--help"], ["-h"]) and sys.stdout is not None and _said(help_text()):
        return
    import gc

    gc.set_threshold(FEW_COLLECTIONS)
    try:
        from partita.cli import main

        main(prog_name="partita")
    except KeyboardInterrupt:  # during imports; once a command runs, click handles it
        sys.exit("\nAborted!")


def _said(text: str) -> bool:
    """Print a text. If that fails, return False: the command line then tries again and reports the error."""
    try:
        print(text, end="", flush=True)
    except OSError:
        return False
    return True


def help_text() -> str:
    """The output of `partita --help`."""
    width = max(map(len, COMMANDS))
    commands = "".join(f"  {name:<{width}}  {COMMANDS[name][1]}\n" for name in sorted(COMMANDS))
    services = "".join(f"  {name}\n" for name in service_names())
    return f"{_USAGE}{commands}{_SERVICES if services else ''}{services}"


def service_names() -> list[str]:
    """The names of the installed services, sorted.

    They are found as by `importlib.metadata`, which is not used because importing it takes longer than starting Python.
    """
    files: dict[str, str] = {}
    for folder in sys.path:
        for entry in _entries(folder or os.curdir):
            if entry.endswith((".dist-info", ".egg-info")):  # of two with the same name, Python imports the first
                files.setdefault(_distribution(entry), os.path.join(folder, entry, "entry_points.txt"))
    return sorted({name for file in files.values() for name in _names_in(file)})


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # an entry of the path may be missing, or an archive
        return []


def _distribution(entry: str) -> str:
    return entry.partition("-")[0].lower().replace(".", "_")


def _names_in(file: str) -> list[str]:
    """The names in the section of Partita's services of an `entry_points.txt`."""
    _, _, section = _read(file).partition(f"[{GROUP}]".encode())
    lines = section.partition(b"\n[")[0].decode().splitlines()
    return [name.strip() for name, separator, _ in (line.partition("=") for line in lines) if separator]


def _read(file: str) -> bytes:
    """The contents of a file, or `b""` if it is missing, as in most distributions. `open` takes three times as long."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)

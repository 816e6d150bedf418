"""The program `partita`: which commands there are, and its help, for which none of them is loaded.

This module imports nothing that Python has not loaded by itself when it starts.
"""

import os
import sys

FEW_COLLECTIONS = 50_000
"""So many objects are made before garbage is looked for: loading makes many, and nearly all of them stay."""
GROUP = "partita.services"
COMMANDS = {
    "serve": ("serving._serve:serve", "Serve the services until Ctrl-C or SIGTERM."),
    "worker": ("serving._worker:worker", "Work for the services until Ctrl-C or SIGTERM."),
    "patterns": ("model._patterns:patterns", "List the access patterns, with their budgets."),
    "explain": ("model._explain:explain", "Show the request of an access pattern, and its cost."),
    "cost": ("model._cost:cost", "Compare the cost of access patterns with their budgets."),
    "docs": ("model._docs:docs", "Write a page on the model of each service."),
    "openapi": ("model._openapi:openapi", "Write the OpenAPI description of each service."),
    "new": ("model._new:new", "Write an entity or a service that passes lint and tests."),
    "adopt": ("model._adopt:adopt", "Write a model for a table that exists, and prove it."),
    "seed": ("data._seed:seed", "Fill the services with sample data."),
    "token": ("serving._token:token", "Print a token to call the services with."),
    "tokens": ("serving._tokens:tokens", "The keys that sign tokens, and the tokens that were revoked."),
    "schema": ("model._schema:schema", "Schema snapshots of the versioned tables."),
    "tables": ("data._tables:tables", "The declared tables, in a store."),
    "deploy": ("model._deploy:deploy", "Infrastructure from the model."),
    "migrate": ("model._migrate:migrate", "Data versions of the stored items."),
    "cdc": ("data._cdc:cdc", "Change data capture into a lake."),
    "lake": ("data._lake:lake", "SQL over the lake."),
    "personal": ("data._personal:personal", "What a service keeps of one user: all of it, or its end."),
    "copy": ("data._copy:copy", "Copy tables from one store to another."),
    "export": ("data._files:export", "Write tables into the files of a new folder."),
    "import": ("data._files:import_", "Read exported files into tables."),
    "load": ("data.loading._load:load", "Put the items of files, or of S3, into a table."),
    "backup": ("data._backup:backup", "Archive the databases and the queues, while they are in use."),
    "branch": ("data._branch:branch", "Copies of the data folder to try something on."),
    "restore": ("data._restore:restore", "Put a backup in the place of what is there."),
    "points": ("points._commands:points", "Continuous backups, and tables as they were at an instant."),
    "check": ("data._check:check", "Prove that the database and the queues are sound."),
    "compact": ("data._compact:compact", "Write the database again without what is free in it."),
    "sweep": ("data._sweep:sweep", "Delete the items whose time has come."),
    "dynamodb": ("serving._dynamodb:dynamodb", "Serve the database to any DynamoDB tool."),
    "queue": ("data._queue:queue", "The queues in which work waits."),
    "completion": ("model._completion:completion", "Print the completion script for a shell."),
}
"""Each command by its name: its module below this package and its name there, and one line of help."""

_USAGE = """\
Usage: partita [OPTIONS] COMMAND [ARGS]...

  Run and look into services that are built on Partita.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
"""
_SERVICES = "\nServices, with commands of their own (partita SERVICE --help):\n"


def run() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--help"], ["-h"]) and sys.stdout is not None and _said(help_text()):
        return
    import gc

    gc.set_threshold(FEW_COLLECTIONS)
    try:
        from partita.cli import main

        main()
    except KeyboardInterrupt:  # while it is loaded: a command that is interrupted ends by itself
        sys.exit("\nAborted!")


def _said(text: str) -> bool:
    """Print a text; where that cannot be, the command line tries it again and says why."""
    try:
        print(text, end="", flush=True)
    except OSError:
        return False
    return True


def help_text() -> str:
    """What `partita --help` prints."""
    width = max(map(len, COMMANDS))
    commands = "".join(f"  {name:<{width}}  {COMMANDS[name][1]}\n" for name in sorted(COMMANDS))
    services = "".join(f"  {name}\n" for name in service_names())
    return f"{_USAGE}{commands}{_SERVICES if services else ''}{services}"


def service_names() -> list[str]:
    """The names of the installed services, in order.

    They are read as `importlib.metadata` reads them, which alone takes longer to load than Python to start.
    """
    files: dict[str, str] = {}
    for folder in sys.path:
        for entry in _entries(folder or os.curdir):
            if entry.endswith((".dist-info", ".egg-info")):  # of two of one name, the first is the one that is imported
                files.setdefault(_distribution(entry), os.path.join(folder, entry, "entry_points.txt"))
    return sorted({name for file in files.values() for name in _names_in(file)})


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # a path may name what is not there, or an archive
        return []


def _distribution(entry: str) -> str:
    return entry.partition("-")[0].lower().replace(".", "_")


def _names_in(file: str) -> list[str]:
    """The names in our section of a file of entry points."""
    _, _, section = _read(file).partition(f"[{GROUP}]".encode())
    lines = section.partition(b"\n[")[0].decode().splitlines()
    return [name.strip() for name, separator, _ in (line.partition("=") for line in lines) if separator]


def _read(file: str) -> bytes:
    """What is in a file, or nothing: most distributions have none. `open` would take three times as long."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)

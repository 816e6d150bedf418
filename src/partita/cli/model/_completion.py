"""`partita completion`: the script that completes commands, services and patterns in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    To enable completion in bash: eval "$(partita completion bash)"
    """
    root = context.find_root()
    completion_class = get_completion_class(shell)
    assert completion_class is not None  # noqa: S101 - the choices are click's own
    click.echo(completion_class(root.command, {}, "partita", "_PARTITA_COMPLETE").source())

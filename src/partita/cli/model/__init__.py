"""Commands on what is declared: patterns, cost, documentation, schemas, infrastructure."""

from partita.cli.model._adopt import adopt
from partita.cli.model._completion import completion
from partita.cli.model._cost import cost
from partita.cli.model._deploy import deploy
from partita.cli.model._docs import docs
from partita.cli.model._explain import explain
from partita.cli.model._migrate import migrate
from partita.cli.model._new import new
from partita.cli.model._openapi import openapi
from partita.cli.model._patterns import patterns
from partita.cli.model._schema import schema

__all__ = [
    "adopt",
    "completion",
    "cost",
    "deploy",
    "docs",
    "explain",
    "migrate",
    "new",
    "openapi",
    "patterns",
    "schema",
]

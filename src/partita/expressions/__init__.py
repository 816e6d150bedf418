"""Conditions, updates, projections and key conditions: one tree, rendered, parsed and evaluated."""

from partita.expressions._evaluate import evaluate
from partita.expressions._parse import (
    Substitutions,
    parse_condition,
    parse_key_condition,
    parse_projection,
    parse_update,
)
from partita.expressions._render import Renderer
from partita.expressions._update import apply_update

__all__ = [
    "Renderer",
    "Substitutions",
    "apply_update",
    "evaluate",
    "parse_condition",
    "parse_key_condition",
    "parse_projection",
    "parse_update",
]

"""Access patterns: named, typed functions that make operations, and what each of them sends."""

from partita.patterns._arguments import Parameter, UnfitArgument, operation_of, parameters_of
from partita.patterns._describe import Asked, KeyLayout, asked_of_key, layout, type_name
from partita.patterns._key_conditions import span_range
from partita.patterns._patterns import Pattern, collect, get, pattern, query
from partita.patterns._permissions import DeclaredOperation, Permission, sent_by, writes_to

__all__ = [
    "Asked",
    "DeclaredOperation",
    "KeyLayout",
    "Parameter",
    "Pattern",
    "Permission",
    "UnfitArgument",
    "asked_of_key",
    "collect",
    "get",
    "layout",
    "operation_of",
    "parameters_of",
    "pattern",
    "query",
    "sent_by",
    "span_range",
    "type_name",
    "writes_to",
]

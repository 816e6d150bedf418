from partita.patterns._arguments import Parameter, UnfitArgument, operation_of, parameters_of
from partita.patterns._collections import collect
from partita.patterns._counts import count
from partita.patterns._describe import KeyLayout, KeyMatch, key_matches, layout, type_name
from partita.patterns._patterns import Pattern, get, pattern, query
from partita.patterns._permissions import DeclaredOperation, Permission, declare_operation, parts_of
from partita.patterns._searches import search
from partita.patterns._spans import span_range

__all__ = [
    "DeclaredOperation",
    "KeyLayout",
    "KeyMatch",
    "Parameter",
    "Pattern",
    "Permission",
    "UnfitArgument",
    "collect",
    "count",
    "declare_operation",
    "get",
    "key_matches",
    "layout",
    "operation_of",
    "parameters_of",
    "parts_of",
    "pattern",
    "query",
    "search",
    "span_range",
    "type_name",
]

"""Access patterns: named, typed functions that build operations, and the requests that each of them sends."""

from partita._late import late_names

_NAMES = {
    "_arguments": ("Parameter", "UnfitArgument", "operation_of", "parameters_of"),
    "_collections": ("collect",),
    "_counts": ("count",),
    "_describe": ("KeyLayout", "KeyMatch", "key_matches", "layout", "type_name"),
    "_patterns": ("Pattern", "get", "pattern", "query"),
    "_permissions": ("DeclaredOperation", "Permission", "declare_operation", "parts_of"),
    "_searches": ("search",),
    "_spans": ("span_range",),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)

"""Conditions, updates, projections and key conditions: one syntax tree, with rendering, parsing and evaluation."""

from partita._late import late_names

_NAMES = {
    "_ast": (
        "AddAction",
        "And",
        "Arithmetic",
        "BeginsWith",
        "Between",
        "Compare",
        "Condition",
        "Contains",
        "DeleteAction",
        "Exists",
        "HasType",
        "IfNotExists",
        "In",
        "KeyCondition",
        "KeyRange",
        "ListAppend",
        "Missing",
        "Not",
        "Operand",
        "Or",
        "Path",
        "Projection",
        "SetAction",
        "Size",
        "Update",
        "Value",
        "both",
        "paths_in",
    ),
    "_canonical": ("canonical_repr",),
    "_evaluate": ("evaluate",),
    "_parse": ("Substitutions", "parse_condition", "parse_key_condition", "parse_projection", "parse_update"),
    "_paths": ("MISSING", "project", "resolve"),
    "_render": ("Renderer",),
    "_update": ("WRONG_OPERAND", "apply_update", "creates", "touched"),
    "_validate": ("validate_condition", "validate_projection", "validate_update"),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)

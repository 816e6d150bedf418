"""The reserved words of PartiQL, and the precedence of its operators."""

from __future__ import annotations

from typing import Final

_KEYWORDS: Final = """
    absolute action add all allocate alter and any are as asc assertion at authorization avg begin between bit
    bit_length by cascade cascaded case cast catalog char character character_length char_length check close coalesce
    collate collation column commit connect connection constraint constraints continue convert corresponding count
    create cross current current_date current_time current_timestamp current_user cursor date deallocate dec decimal
    declare default deferrable deferred delete desc describe descriptor diagnostics disconnect distinct domain double
    drop else end escape except exception exec execute exists external extract date_add date_diff false fetch first
    float for foreign found from full get global go goto grant group having identity immediate in indicator initially
    inner input insensitive insert int integer intersect interval into is isolation join key language last left level
    like local lower match max min module names national natural nchar next no not null nullif numeric octet_length of
    on only open option or order outer output overlaps pad partial position precision prepare preserve primary prior
    privileges procedure public read real references relative restrict revoke right rollback rows schema scroll
    section select session session_user set size smallint some space sql sqlcode sqlerror sqlstate substring sum
    system_user table temporary then time timestamp to transaction translate translation trim true union unique
    unknown update upper usage user using value values varchar varying view when whenever where with work write zone
    missing pivot unpivot limit tuple remove index conflict do nothing returning modified new old let bool boolean
    string symbol clob blob struct list sexp bag int2 int4 int8 integer2 integer4 integer8 bigint
"""
KEYWORDS: Final = frozenset(_KEYWORDS.split())
"""Reserved words, which cannot be attribute names without quotes."""

_FUNCTIONS: Final = """
    exists count avg max min sum char_length character_length octet_length bit_length upper lower size nullif coalesce
    sexp list bag substring trim extract date_add date_diff cast
"""
FUNCTIONS: Final = frozenset(_FUNCTIONS.split())
"""The keywords that are also functions."""

AGGREGATES: Final = frozenset(("count", "avg", "max", "min", "sum"))

TYPES: Final[dict[str, tuple[str, ...]]] = {
    "missing": (),
    "null": ("NULL",),
    **dict.fromkeys(("bool", "boolean"), ("BOOL",)),
    **dict.fromkeys(("smallint", "int", "int2", "int4", "int8", "bigint"), ("N",)),
    **dict.fromkeys(("integer", "integer2", "integer4", "integer8"), ("N",)),
    **dict.fromkeys(("float", "real", "double_precision", "dec", "decimal", "numeric"), ("N",)),
    **dict.fromkeys(("char", "character", "varchar", "character_varying", "string"), ("S",)),
    **dict.fromkeys(("symbol", "timestamp", "date", "time", "sexp"), ()),
    **dict.fromkeys(("clob", "blob"), ("B",)),
    **dict.fromkeys(("struct", "tuple"), ("M",)),
    "list": ("L",),
    "bag": ("SS", "NS", "BS"),
}
"""The type names after IS, and the corresponding DynamoDB types."""

MERGED: Final[dict[tuple[str, ...], str]] = {
    **{(first, second): f"{first}_{second}" for first in ("modified", "all") for second in ("old", "new")},
    **{(first, "all"): f"{first}_all" for first in ("union", "except", "intersect")},
    **{("not", second): f"not_{second}" for second in ("in", "between", "like")},
    ("is", "not"): "is_not",
    ("character", "varying"): "character_varying",
    ("double", "precision"): "double_precision",
    ("insert", "into"): "insert_into",
    ("on", "conflict"): "on_conflict",
}
"""Sequences of words that form one token."""

PRECEDENCE: Final[dict[str, int]] = {
    **{f"{word}{ending}": 5 for word in ("intersect", "except", "union") for ending in ("", "_all")},
    "or": 10,
    "and": 20,
    "not": 30,
    **dict.fromkeys(("=", "<>", "is", "is_not", "in", "not_in"), 40),
    **dict.fromkeys(("<", "<=", ">", ">=", "between", "not_between", "like", "not_like"), 50),
    **dict.fromkeys(("+", "-", "||"), 60),
    **dict.fromkeys(("*", "/", "%"), 70),
}
"""Precedence of operators: those with a greater number bind more tightly."""

SELECT_PRECEDENCE: Final = 6

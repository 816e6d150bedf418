"""Names for fields and classes, derived from attributes and types that another tool has named."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection
from typing import Final

import partita
from partita.model import Entity, snake

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NOT_WORD: Final = re.compile(r"\W+", re.ASCII)
_KEY_NAME: Final = re.compile(
    r"(?:.*[^a-z])?[a-z]?(?:pk|sk)[0-9]*"  # PK, GSI1SK, gs1pk
    r"|(?:.*[^a-z])?(?:hash|range|partition|sort)(?:[_-]?key)?[0-9]*"
    r"|key|(?:gsi|lsi)[_-]?[0-9].*",
    re.IGNORECASE,
)
_IMPORTED: Final = {"Annotated", "Any", "BaseModel", "ClassVar", "Decimal", "Field", "TABLE", "date", "datetime"}
_TYPES: Final = {"bool", "bytes", "dict", "float", "frozenset", "int", "list", "str"}
"""Built-in types that are used as field annotations: a field with such a name would shadow the type in its class."""
_NOT_A_FIELD: Final = frozenset(("primary", *_IMPORTED, *_TYPES))
_TAKEN: Final = frozenset((*_IMPORTED, *partita.__all__, *dir(builtins)))


def field_name(attribute: str) -> str:
    """Return a valid field name close to that of the attribute: `created_at` for `createdAt`."""
    name = snake(_NOT_WORD.sub("_", attribute)).lower().strip("_")
    name = re.sub("__+", "_", name)
    if not name or name[0].isdigit() or name.startswith("model_"):
        name = f"field_{name}".rstrip("_")
    if keyword.iskeyword(name) or name in _NOT_A_FIELD or hasattr(Entity, name):
        name += "_"
    return name


def is_key_name(attribute: str) -> bool:
    """Whether an attribute is named like one that exists only for a key."""
    return _KEY_NAME.fullmatch(attribute) is not None


def class_name(*texts: str) -> str:
    """Return a class name from words in any spelling: `order-line`, `ORDER_LINE`, `orderLine`."""
    words = [word.lower() for text in texts for word in _WORDS.findall(text)]
    name = "".join(word.capitalize() for word in words) or "Item"
    name = f"Item{name}" if name[0].isdigit() else name
    return f"{name}Item" if name in _TAKEN or keyword.iskeyword(name) else name


def plural(word: str) -> str:
    """Return the plural of a word."""
    if re.search("(s|x|z|ch|sh)$", word):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


def singular(word: str) -> str:
    """Return the singular of a word."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word if word.endswith("ss") else word.removesuffix("s")


def unique(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number appended if it is taken."""
    numbered = (name if number == 1 else f"{name}{number}" for number in range(1, len(taken) + 2))
    return next(each for each in numbered if each not in taken)


def are_related(left: str, right: str) -> bool:
    """Whether two names refer to the same thing: `USER` and `userId`, `taskid` and `task_id`."""
    a, b = (re.sub(r"[\W_]", "", text.lower()) for text in (left, right))
    return bool(a and b) and (a == b or a.startswith(b) or b.startswith(a))


def text_literal(text: str) -> str:
    """Return a string literal as ruff formats it: in double quotes, unless that needs more backslashes."""
    inner = repr(text)[1:-1]
    if repr(text)[0] == '"' or '"' in text:
        return repr(text)
    return f'"{inner}"'

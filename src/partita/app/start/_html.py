"""HTML from Python: elements as values, and strings that are always escaped, never markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final, TypeAlias

_VOID: Final = frozenset({"img", "input", "link", "meta"})
_CODE: Final = re.compile(r"`([^`\n]+)`")


class Markup(str):
    """A string that is already HTML."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"


def tag(name: str, /, *children: Child, **attributes: str | bool | None) -> Markup:
    """Return an element. `class_` is the attribute `class`, `aria_label` is `aria-label`; None and False omit it."""
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    return Markup(f"<{name}{written}>" if name in _VOID else f"<{name}{written}>{_text(children)}</{name}>")


def prose(text: str) -> list[Markup]:
    """Return paragraphs for plain text, in which parts between backticks become code."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return [tag("p", coded(part)) for part in paragraphs if part]


def coded(text: str) -> list[Child]:
    """Return one line of such text."""
    return [tag("code", part) if number % 2 else part for number, part in enumerate(_CODE.split(text))]


def _attribute(key: str, value: str | bool) -> str:  # noqa: FBT001 - HTML has boolean attributes
    name = key.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {name}" if value else ""
    return f' {name}="{html.escape(value)}"'


def _text(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    return html.escape(child, quote=False) if isinstance(child, str) else "".join(map(_text, child))

"""The name of a new entity in all the forms that code needs."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Final

from msgspec import Struct
from pydantic import BaseModel

import partita

_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*")
_SERVICE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_TAKEN: Final = frozenset(
    """
    AlreadyExists Annotated StoredResponse Any BaseModel ClassVar Command ConfigDict CurrentCaller
    Day Db Depends Field Final Flag Idempotency IdempotencyRecord IfMatch ItemMissing Listing Once
    OnceByCaller Paging Path Plan Request Response Sequence Service StringConstraints Text VersionConflict Versioned
    VersionedDelete VersionedInsert VersionedRead VersionedTable VersionedUpdate
    api bob caller created db draft etag fields handlers headers identity only path precondition_problems read
    replaced response responses root stale user_id
    FIELDS OTHER_FIELDS
    """.split()  # noqa: SIM905 - as a set, they would be a page of their own
)
"""What generated code has beside the names of an entity, and neither Partita nor Python has; a test compares."""
_SAID_WITH_AN: Final = re.compile("(?!eu|one|uni|us)[aeiou]")
_OWN_FIELDS: Final = {"primary", "version", "ttl", "limit", "cursor", "data_version", "last_write"}


class Name(Struct, frozen=True):
    """A name in its forms: OrderLine, order_line, order_lines."""

    cls: str
    snake: str

    @classmethod
    def parse(cls, text: str) -> Name:
        """Read `OrderLine`, `order_line` or `order-line`.

        Raises:
            ValueError: it is not a name for an entity.
        """
        name = cls.spell(text)
        if not _NAME.fullmatch(text):
            raise ValueError(f"{text!r} is not a name. Write it as OrderLine or order_line.")
        _refuse_keyword(name.snake)
        if name.snake.startswith("test"):
            raise ValueError(f"{text!r} begins like a test, and pytest would run it as one. Take another name.")
        if taken := name.identifiers & (_TAKEN | {*partita.__all__, *dir(builtins)}):
            raise ValueError(f"{min(taken)!r} has a meaning already. Take another name.")
        return name

    @classmethod
    def spell(cls, text: str) -> Name:
        """The forms of a name, whatever else has it."""
        words = [word.lower() for part in re.split("[_-]", text) for word in _WORDS.findall(part)]
        return cls("".join(word.capitalize() for word in words), "_".join(words))

    @property
    def identifiers(self) -> frozenset[str]:
        """What stands by itself in generated code: the class, one of them, and a versioned table."""
        return frozenset((self.cls, self.snake, self.plural.upper()))

    @property
    def plural(self) -> str:
        """Several of them, as an identifier."""
        return plural(self.snake)

    @property
    def id(self) -> str:
        """The field that identifies one."""
        return f"{self.snake}_id"

    @property
    def path(self) -> str:
        """Several of them, in a URL or as the name of a table."""
        return self.plural.replace("_", "-")

    @property
    def words(self) -> str:
        """One of them, in a sentence."""
        return self.snake.replace("_", " ")

    @property
    def words_plural(self) -> str:
        """Several of them, in a sentence."""
        return self.plural.replace("_", " ")

    @property
    def title_plural(self) -> str:
        """Several of them, at the beginning of a sentence."""
        return self.words_plural.capitalize()

    @property
    def article(self) -> str:
        """`a` or `an`."""
        return article(self.words).partition(" ")[0]


def article(word: str) -> str:
    """A word with its article."""
    words = word.replace("_", " ")
    return f"{'an' if _SAID_WITH_AN.match(words) else 'a'} {words}"


def plural(word: str) -> str:
    """Several of a thing."""
    if re.search("(s|x|z|ch|sh)$", word):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


def singular(word: str) -> str:
    """One of several things."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if re.search("(s|x|z|ch|sh)es$", word):
        return word[:-2]
    return word.removesuffix("s")


def service_name(text: str) -> str:
    """The name of a service, which is a package.

    Raises:
        ValueError: no service can have that name.
    """
    if not _SERVICE.fullmatch(text):
        raise ValueError(f"{text!r} is not a name for a service. Write it as guest_books.")
    _refuse_keyword(text)
    return text


def _refuse_keyword(text: str) -> None:
    if keyword.iskeyword(text):
        raise ValueError(f"{text!r} is a keyword of Python. Take another name.")


def field_name(text: str) -> str:
    """The name of a field.

    Raises:
        ValueError: no entity can have a field of that name.
    """
    if not text.isidentifier() or not text.islower() or text.startswith("_") or keyword.iskeyword(text):
        raise ValueError(f"{text!r} is not a name for a field. Write it as due_date.")
    if text in _OWN_FIELDS or hasattr(BaseModel, text) or text.startswith("model_"):
        raise ValueError(f"A field cannot be named {text!r}: an entity has that already.")
    return text

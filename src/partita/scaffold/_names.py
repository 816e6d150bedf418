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
    """.split()  # noqa: SIM905 - as a set, they would fill a page
)
"""Names in generated code that belong neither to the entity nor to Partita or Python; a test compares them."""
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
            ValueError: it is not a valid name for an entity.
        """
        name = cls.spell(text)
        if not _NAME.fullmatch(text):
            raise ValueError(f"{text!r} is not a name. Use a name like OrderLine or order_line.")
        _refuse_keyword(name.snake)
        if name.snake.startswith("test"):
            raise ValueError(f"{text!r} starts with 'test', so pytest would run it as a test. Choose another name.")
        if taken := name.identifiers & (_TAKEN | {*partita.__all__, *dir(builtins)}):
            raise ValueError(f"{min(taken)!r} already has a meaning. Choose another name.")
        return name

    @classmethod
    def spell(cls, text: str) -> Name:
        """The forms of a name, without checking whether it is taken."""
        words = [word.lower() for part in re.split("[_-]", text) for word in _WORDS.findall(part)]
        return cls("".join(word.capitalize() for word in words), "_".join(words))

    @property
    def identifiers(self) -> frozenset[str]:
        """The identifiers in generated code: the class, an instance, and a versioned table."""
        return frozenset((self.cls, self.snake, self.plural.upper()))

    @property
    def plural(self) -> str:
        """The plural, as an identifier."""
        return plural(self.snake)

    @property
    def id(self) -> str:
        """The name of the identifying field."""
        return f"{self.snake}_id"

    @property
    def path(self) -> str:
        """The plural, in a URL or as the name of a table."""
        return self.plural.replace("_", "-")

    @property
    def words(self) -> str:
        """The singular, in a sentence."""
        return self.snake.replace("_", " ")

    @property
    def words_plural(self) -> str:
        """The plural, in a sentence."""
        return self.plural.replace("_", " ")

    @property
    def title_plural(self) -> str:
        """The plural, at the beginning of a sentence."""
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
    """The plural of a word."""
    if re.search("(s|x|z|ch|sh)$", word):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


def singular(word: str) -> str:
    """The singular of a word."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if re.search("(s|x|z|ch|sh)es$", word):
        return word[:-2]
    return word.removesuffix("s")


def service_name(text: str) -> str:
    """The name of a service, checked to be usable as a package name.

    Raises:
        ValueError: the name is not usable.
    """
    if not _SERVICE.fullmatch(text):
        raise ValueError(f"{text!r} is not a valid name for a service. Use a name like guest_books.")
    _refuse_keyword(text)
    return text


def _refuse_keyword(text: str) -> None:
    if keyword.iskeyword(text):
        raise ValueError(f"{text!r} is a keyword of Python. Choose another name.")


def field_name(text: str) -> str:
    """The name of a field, checked to be usable.

    Raises:
        ValueError: an entity cannot have a field with this name.
    """
    if not text.isidentifier() or not text.islower() or text.startswith("_") or keyword.iskeyword(text):
        raise ValueError(f"{text!r} is not a valid name for a field. Use a name like due_date.")
    if text in _OWN_FIELDS or hasattr(BaseModel, text) or text.startswith("model_"):
        raise ValueError(f"A field cannot be named {text!r}: every entity already has that attribute.")
    return text

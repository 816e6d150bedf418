"""Attribute values of responses: decoded strictly, because a server may be broken or hostile."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert

from partita.errors import ValidationFailed
from partita.store._dynamodb_json import plain_number
from partita.values import MAX_DIGITS, Item, check_hashes

NonEmptyTexts: TypeAlias = Annotated[frozenset[str], Meta(min_length=1)]


class TaggedValue(Struct, gc=False):
    """An attribute value with its type tag; decoding into slots is faster than into a dictionary per value."""

    S: str | UnsetType = UNSET
    N: str | UnsetType = UNSET
    BOOL: bool | UnsetType = UNSET
    M: dict[str, TaggedValue] | UnsetType = UNSET
    SS: NonEmptyTexts | UnsetType = UNSET
    L: list[TaggedValue] | UnsetType = UNSET
    NULL: bool | UnsetType = UNSET
    NS: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    B: bytes | UnsetType = UNSET
    BS: Annotated[frozenset[bytes], Meta(min_length=1)] | UnsetType = UNSET


TaggedItem: TypeAlias = dict[str, TaggedValue]


def received_item(given: Any) -> Item:
    """An item of a decoded JSON response, without type tags.

    Raises:
        ValidationError: it is not an item.
    """
    return plain(convert(given, TaggedItem))


def plain(item: TaggedItem) -> Item:
    """Remove the type tags of an item, in place, and return the same dictionary."""
    result: Item = item  # avoids the cost of a call of `cast` for each item
    for name, tagged in item.items():  # the common types are handled without a call
        if (text := tagged.S) is not UNSET:
            result[name] = text
        elif (digits := tagged.N) is not UNSET:
            whole = digits.isdigit() and digits.isascii() and len(digits) <= MAX_DIGITS
            result[name] = int(digits) if whole else received_number(digits)
        elif (truth := tagged.BOOL) is not UNSET:
            result[name] = truth
        elif (members := tagged.M) is not UNSET:
            result[name] = plain(members)
        elif (texts := tagged.SS) is not UNSET:
            result[name] = texts
        else:
            result[name] = plain_value(tagged)
    return result


def plain_value(tagged: TaggedValue) -> Any:  # noqa: PLR0911 - one line for each type, the common ones first
    """A value without its type tag."""
    if (text := tagged.S) is not UNSET:
        return text
    if (members := tagged.M) is not UNSET:
        return plain(members)
    if (texts := tagged.SS) is not UNSET:
        return texts
    if (digits := tagged.N) is not UNSET:
        return received_number(digits)
    if (elements := tagged.L) is not UNSET:
        return [plain_value(element) for element in elements]
    if tagged.BOOL is not UNSET:
        return tagged.BOOL
    if tagged.NS is not UNSET:
        return _numbers(tagged.NS)
    if tagged.B is not UNSET:
        return tagged.B
    return _null(tagged) if tagged.BS is UNSET else tagged.BS


def received_number(text: str) -> int | Decimal:
    """Parse a number of a response. An invalid number is an error of the response, not of the request.

    Raises:
        ValidationError: the text is not a valid DynamoDB number.
    """
    try:
        return plain_number(text)
    except ValidationFailed as error:
        raise ValidationError(f"{text[:MAX_DIGITS]!r} is not a number") from error


def _numbers(texts: list[str]) -> frozenset[int | Decimal]:
    """Parse a set of numbers. A server could send numbers with equal hashes, which would block its clients for minutes.

    Raises:
        ValidationError: a text is not a number, or too many numbers have the same hash.
    """
    numbers = [received_number(text) for text in texts]
    try:
        check_hashes(numbers)
    except ValidationFailed as error:
        raise ValidationError(error.message.rstrip(".")) from error
    return frozenset(numbers)


def _null(tagged: TaggedValue) -> None:
    if tagged.NULL is UNSET:  # an unknown type must not be read as null, and later written back as null
        raise ValidationError("an attribute value has an unknown type")

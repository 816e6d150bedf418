"""Texts that people can see."""

from __future__ import annotations

import re
from typing import Annotated

import pytest
from pydantic import StringConstraints, TypeAdapter, ValidationError

from partita.recipes.texts import VisibleText

pytestmark = pytest.mark.req("X22")

LINE = VisibleText()
LINES = VisibleText(lines=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Renew the passport",
        "a\u00a0b",
        "Cafe\u0301",
        "\u3000\u65e5\u672c\u8a9e",
        "\u05e9\u05dc\u05d5\u05dd C++\u200e",  # Hebrew, with a mark next to Latin signs
        "\u200f12\u200f \u0634\u0627\u0631\u0639",
        "\u0601\u0662",  # an Arabic sign that precedes a year
        "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",  # Persian
        "PDF\u200c\u0647\u0627",
        "\u0915\u094d\u200d\u0937",  # Hindi, with a joiner
        "\u0915\u094d\u200c",
        "\u1797\u17b6\u179f\u17b6\u200b\u1781\u17d2\u1798\u17c2\u179a",  # Khmer, with a place to break the line
        "\u182e\u1823\u1829\u182d\u1823\u182f\u180b",  # Mongolian, with a variant of a letter
        "\u845b\U000e0100",  # a variant of an ideograph
        "1\ufe0f\u20e3",  # a key
        "\u2764\ufe0f\u200d\U0001f525",  # a heart on fire
        "\U0001f469\U0001f3fd\u200d\U0001f680",  # an astronaut
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # the flag of Scotland
        "\uf8ff",
    ],
)
def test_what_people_write_is_taken_as_it_is(text: str) -> None:
    assert LINE.checked(text) == text
    assert LINES.checked(text) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\u200b", "has an invisible character: U+200B, at position 1"),
        ("Ann\u200bB.", "has an invisible character: U+200B, at position 4"),
        ("\ufeff", "has an invisible character: U+FEFF, at position 1"),
        ("Donau\xaddampfer", "has an invisible character: U+00AD, at position 6"),
        ("Ann\u200d", "has an invisible character: U+200D, at position 4"),
        ("\u200d\u200d", "has an invisible character: U+200D, at position 1"),
        ("\xe9\u200b\u200b\u200b\xe9", "has an invisible character: U+200B, at position 3"),
        ("Ann\u200e", "has an invisible character: U+200E, at position 4"),
        ("\u061c", "has an invisible character: U+061C, at position 1"),
        ("\u3164", "has an invisible character: U+3164, at position 1"),
        ("\u2800", "has an invisible character: U+2800, at position 1"),
        ("a\ufe0f\ufe0f", "has an invisible character: U+FE0F, at position 3"),
        ("a\U000e0041", "has an invisible character: U+E0041, at position 2"),
        ("\U0001f3f4\U000e0041", "has an invisible character: U+E0041, at position 2"),
        ("a\x00", "has a control character: U+0000, at position 2"),
        ("\x07", "has a control character: U+0007, at position 1"),
        ("a\x9bb", "has a control character: U+009B, at position 2"),
        ("a\u202eb", "has a character that changes the direction of text: U+202E, at position 2"),
        ("\u05e9\u2066b", "has a character that changes the direction of text: U+2066, at position 2"),
        ("a\nb", "must be one line without tabs; it has U+000A, at position 2"),
        ("a\tb", "must be one line without tabs; it has U+0009, at position 2"),
        ("a\u2028b", "must be one line without tabs; it has U+2028, at position 2"),
    ],
)
def test_a_line_has_no_hidden_characters(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        LINE.checked(text)


@pytest.mark.parametrize(
    "given", ["a\tb\nc", "a\tb\r\nc", "a\tb\rc", "a\tb\x0bc", "a\tb\x85c", "a\tb\u2028c", "a\tb\u2029c"]
)
def test_lines_have_tabs_and_uniform_line_breaks(given: str) -> None:
    assert LINES.checked(given) == "a\tb\nc"


@pytest.mark.parametrize("text", ["  \n ", "Donau\xad\u200b\ufeffdampfer"])
def test_lines_may_be_blank_and_have_characters_of_pasted_text(text: str) -> None:
    assert LINES.checked(text) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n\x1b[2J", "has a control character: U+001B, at position 3"),
        ("a\u202eb", "has a character that changes the direction of text: U+202E, at position 2"),
        ("\u200b\n\ufeff", "has no visible character"),
    ],
)
def test_lines_have_no_characters_that_control_others(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        LINES.checked(text)


def test_a_field_is_checked_after_its_other_rules() -> None:
    field = TypeAdapter(Annotated[str, StringConstraints(strip_whitespace=True, max_length=3), LINE])
    assert field.validate_python(" abc\n") == "abc"
    with pytest.raises(ValidationError, match="at most 3 characters"):
        field.validate_python("a\u200bbc")


@pytest.mark.parametrize("rule", [LINE, LINES])
def test_the_description_has_a_pattern(rule: VisibleText) -> None:
    pattern = TypeAdapter(Annotated[str, rule]).json_schema()["pattern"]
    assert [bool(re.search(pattern, text)) for text in ("caf\xe9", "", "a\x00", "a\x9b", "a\u202e")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_the_pattern_of_a_field_stays_in_its_description() -> None:
    schema = TypeAdapter(Annotated[str, StringConstraints(pattern="^[^@]+$"), LINE]).json_schema()
    assert schema["pattern"] == "^[^@]+$"
    assert [set(each) for each in schema["allOf"]] == [{"pattern"}]

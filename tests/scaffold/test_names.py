"""Names of new things, in the forms that code needs."""

from __future__ import annotations

import pytest

from partita.scaffold import FieldShape, Name, Shape
from partita.scaffold._names import article, field_name, singular


@pytest.mark.parametrize("text", ["order_line", "OrderLine", "order-line"])
def test_a_name_has_all_its_forms(text: str) -> None:
    name = Name.parse(text)
    assert (name.cls, name.snake, name.plural, name.path) == ("OrderLine", "order_line", "order_lines", "order-lines")
    assert (name.id, name.words_plural, name.title_plural) == ("order_line_id", "order lines", "Order lines")


@pytest.mark.parametrize(
    ("one", "several"),
    [("note", "notes"), ("box", "boxes"), ("city", "cities"), ("toy", "toys"), ("address", "addresses")],
)
def test_one_and_several(one: str, several: str) -> None:
    assert (Name.parse(one).plural, singular(several)) == (several, one)


def test_articles_are_as_they_are_said() -> None:
    assert [article(word) for word in ("user", "entry", "event_log", "unit", "note")] == [
        "a user",
        "an entry",
        "an event log",
        "a unit",
        "a note",
    ]


@pytest.mark.parametrize("text", ["", "9lives", "a b", "class", "Entity", "Task!", "Request", "table", "_x"])
def test_what_is_no_name_or_has_a_meaning_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^'.*'|^'"):
        Name.parse(text)


@pytest.mark.parametrize("text", ["", "Due", "due-date", "version", "copy", "model_x", "_x", "import"])
def test_a_field_that_no_entity_can_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="field"):
        field_name(text)


def test_a_field_has_a_type() -> None:
    assert FieldShape.parse("due:date") == FieldShape("due", "date")
    assert FieldShape.parse("status") == FieldShape("status", "str")
    with pytest.raises(ValueError, match="the type is one of str, int, bool, date"):
        FieldShape.parse("due:day")


def test_a_field_is_there_once() -> None:
    with pytest.raises(ValueError, match="there already: title"):
        Shape(Name.parse("note"), indexes=(FieldShape("title"),)).check()

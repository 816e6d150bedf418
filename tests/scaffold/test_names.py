"""Names of new entities and services, in the forms that code needs."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from symtable import SymbolTable, symtable

import pytest

import partita
from partita.scaffold import FieldShape, Name, Project, Shape, new_entity, new_service
from partita.scaffold._names import _TAKEN, article, field_name, service_name, singular
from partita.scaffold._shape import IN_INDEXES, TYPES


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


@pytest.mark.parametrize(
    "text",
    ["services", "listings", "paths", "roots", "commands", "plans", "tests", "drafts", "filters", "inserts"],
)
def test_a_service_is_about_nothing_that_its_code_has_already(text: str) -> None:
    with pytest.raises(ValueError, match=r" Choose another name\.$"):
        Name.parse(singular(text))


@pytest.mark.parametrize("text", ["match", "case", "client", "store", "handler", "date", "sample"])
def test_what_means_something_elsewhere_is_a_name(text: str) -> None:
    assert Name.parse(text).snake == text


ENTITY = Name("Zebra", "zebra")
"""A word that occurs nowhere in the templates; the names of all fields start with it, too."""


def code_of_every_kind() -> Iterator[str]:
    project = Project(Path("/"), Path("/"), Path("/src"), "zebra_shop")
    fields = tuple(FieldShape(f"zebra_{kind}", kind) for kind in TYPES)
    indexes = tuple(FieldShape(f"zebra_by_{kind}", kind) for kind in IN_INDEXES)
    shapes = [
        Shape(ENTITY, owner, indexes, fields, versioned)
        for owner in (None, "zebra_owner")
        for versioned in (False, True)
    ]
    written = [new_service(project, "zebra_service", shapes[0]), *(new_entity(project, shape) for shape in shapes)]
    return (text for scaffold in written for text in scaffold.files.values())


def style(identifier: str) -> tuple[bool, bool]:
    return identifier.islower(), identifier.isupper()


def beside(scope: SymbolTable) -> Iterator[str]:
    """Yield the identifiers with the scope and style of an identifier of the entity, with which it could clash."""
    for own in ENTITY.identifiers & {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_local()}:
        yield from (each for each in scope.get_identifiers() if style(each) == style(own))
    for inner in scope.get_children():
        yield from beside(inner)


def is_form_of_a_name(identifier: str) -> bool:
    return any(identifier in Name.spell(text).identifiers for text in (identifier, singular(identifier.lower())))


def test_all_that_templates_have_beside_an_entity_is_taken() -> None:
    found = {each for code in code_of_every_kind() for each in beside(symtable(code, "code", "exec"))}
    known = {*partita.__all__, *dir(builtins)}
    assert {each for each in found - known if "zebra" not in each.lower() and is_form_of_a_name(each)} == _TAKEN


@pytest.mark.parametrize("text", ["", "Due", "due-date", "version", "copy", "model_x", "_x", "import"])
def test_a_field_that_no_entity_can_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="field"):
        field_name(text)


@pytest.mark.parametrize("text", ["Notes", "guest-books", "", "class", "import"])
def test_what_is_no_package_is_no_service(text: str) -> None:
    with pytest.raises(ValueError, match=f"^'{text}' is "):
        service_name(text)


def test_a_field_has_a_type() -> None:
    assert FieldShape.parse("due:date") == FieldShape("due", "date")
    assert FieldShape.parse("status") == FieldShape("status", "str")
    with pytest.raises(ValueError, match="the type must be one of str, int, bool, date"):
        FieldShape.parse("due:day")


def test_a_field_is_there_once() -> None:
    with pytest.raises(ValueError, match="only once: title"):
        Shape(Name.parse("note"), indexes=(FieldShape("title"),)).check()
    with pytest.raises(ValueError, match="only once: by_day"):
        Shape(Name.parse("note"), indexes=(FieldShape("day"),), fields=(FieldShape("by_day"),)).check()

"""Names for fields and classes, derived from attributes and types."""

from __future__ import annotations

import keyword

import pytest

from partita.adopt._names import are_related, class_name, field_name, is_key_name, text_literal, unique


@pytest.mark.parametrize(
    ("attribute", "name"),
    [
        ("name", "name"),
        ("createdAt", "created_at"),
        ("first-name", "first_name"),
        ("GSI1PK", "gsi1_pk"),
        ("PK", "pk"),
        ("__edb_v__", "edb_v"),
        ("class", "class_"),
        ("json", "json_"),
        ("primary", "primary_"),
        ("model_fields", "field_model_fields"),
        ("2fa", "field_2fa"),
        ("größe", "gr_e"),
        ("日本", "field"),
        ("date", "date_"),
        ("str", "str_"),
        ("Int", "int_"),
    ],
)
def test_a_field_has_a_name_that_python_takes(attribute: str, name: str) -> None:
    assert field_name(attribute) == name
    assert name.isidentifier()
    assert not keyword.iskeyword(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("order-line", "OrderLine"), ("ORDER_LINE", "OrderLine"), ("orderLine", "OrderLine"), ("2nd", "Item2Nd")],
)
def test_a_class_has_a_name_of_words(text: str, name: str) -> None:
    assert class_name(text) == name


@pytest.mark.parametrize("text", ["Entity", "key", "exception", "none", "table"])
def test_a_class_has_no_name_that_is_taken(text: str) -> None:
    assert class_name(text).endswith("Item")


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert [unique("a", taken) for taken in ([], ["a"], ["a", "a2"])] == ["a", "a2", "a3"]


@pytest.mark.parametrize("name", ["PK", "sk", "GSI1PK", "gs1sk", "gsi1pk", "sk2", "hash_key", "sortKey", "gsi_1_hash"])
def test_a_name_of_a_key(name: str) -> None:
    assert is_key_name(name)


@pytest.mark.parametrize("name", ["task", "email", "api_key", "orange", "risk", "keyword", "id", "status"])
def test_a_name_that_only_looks_like_that_of_a_key(name: str) -> None:
    assert not is_key_name(name)


def test_names_of_one_thing() -> None:
    assert are_related("USER", "userId")
    assert are_related("taskid_", "task_id")
    assert not are_related("USER", "owner")
    assert not are_related("", "owner")


@pytest.mark.parametrize("text", ["a", "it's", 'say "x"', "a\\b", "new\nline", "both ' and \""])
def test_a_text_is_written_as_python_reads_it(text: str) -> None:
    assert eval(text_literal(text)) == text  # noqa: S307 - the test needs Python to evaluate the literal

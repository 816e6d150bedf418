"""Vector indexes in templates and policies, in the documentation of a model, and in the console."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from partita import Dimensions, Entity, Key, Registry, SearchedKb, Table, Vector, VectorIndex, search
from partita.console._declared import PatternView, TableView
from partita.deploy import LeftOut, Provisioned, TableSettings, arns_in, left_out, needs, policy
from partita.deploy._resources import table_resources
from partita.errors import ModelError
from partita.modeldocs._page import _attributes
from partita.service import Service

TABLE = Table("meanings", indexes=[VectorIndex("by-meaning", "embedding", 3, filters=("kind",))], registry=Registry())


class Note(Entity, table=TABLE):
    """A note of a user."""

    primary: ClassVar = Key("NOTE#{user_id}", "{note_id}")
    by_meaning: ClassVar = Key("NOTE#{user_id}", index="by-meaning")

    user_id: str
    note_id: str
    kind: str
    embedding: Annotated[Vector, Dimensions(3)]


@search(Note, Note.by_meaning, budget=SearchedKb(4))
def similar_notes(user_id: str, vector: Vector, top: int) -> None:
    """A user's notes that are most similar to a vector."""


SERVICE = Service("meanings", "Meanings", "Notes by meaning.", (TABLE,), caller=("user_id",))


def test_a_template_has_the_index_and_its_attributes() -> None:
    properties = table_resources(TABLE.schema)["Meanings"]["Properties"]
    assert properties["VectorIndexes"] == [
        {
            "IndexName": "by-meaning",
            "VectorAttribute": {"AttributeName": "embedding"},
            "SearchSchema": [
                {"AttributeName": "by-meaningPK", "SearchSchemaElementType": "HASH"},
                {"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"},
            ],
            "Projection": {"ProjectionType": "ALL"},
            "Dimensions": 3,
            "DistanceFunction": "COSINE",
        }
    ]
    defined = [each["AttributeName"] for each in properties["AttributeDefinitions"]]
    assert defined == ["PK", "SK", "by-meaningPK", "kind"]


def test_a_table_with_vectors_has_no_provisioned_capacity() -> None:
    with pytest.raises(ModelError, match="vector indexes, which DynamoDB supports on demand only"):
        table_resources(TABLE.schema, TableSettings(capacity=Provisioned(1, 1)))


def test_a_policy_allows_the_search_of_that_index_alone() -> None:
    statements = policy(needs(SERVICE, "request"), arns_in("eu-west-1", "1"))["Statement"]
    searching = [each for each in statements if "dynamodb:SearchVectors" in each["Action"]]
    assert searching == [
        {
            "Effect": "Allow",
            "Action": ["dynamodb:SearchVectors"],
            "Resource": ["arn:aws:dynamodb:eu-west-1:1:table/meanings/index/by-meaning"],
        }
    ]


def test_a_caller_cannot_be_held_to_a_partition() -> None:
    """AWS has no condition key for the partition of a search."""
    assert left_out(SERVICE) == (
        LeftOut("similar_notes", "it searches vectors, and a policy cannot limit a search to a partition"),
    )


def test_the_documentation_of_a_model_says_what_is_compared() -> None:
    assert _attributes(TABLE).endswith(
        "vector index by-meaning (`embedding`, 3 dimensions, COSINE; by `by-meaningPK`, `kind`)"
    )


def test_the_console_lists_the_index_and_offers_the_search() -> None:
    (index,) = TableView.of(TABLE).indexes
    assert (index.name, index.key, index.vector) == (
        "by-meaning",
        ["by-meaningPK", "kind"],
        "embedding: 3 dimensions, COSINE",
    )
    view = PatternView.of(TABLE.patterns["similar_notes"])
    assert (view.kind, view.served_by, view.closed) == ("search", "by-meaning", None)
    assert [(each.name, each.form) for each in view.parameters or ()] == [
        ("user_id", "text"),
        ("vector", "json"),
        ("top", "number"),
    ]

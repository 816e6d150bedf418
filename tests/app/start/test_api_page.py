"""API descriptions as pages: a page shows everything that is in its description, and escapes it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from partita.app.start._api_page import ApiSource, api_page
from partita.app.start._operations import Operation, operations
from partita.app.start._schemas import Schemas

pytestmark = pytest.mark.req("X19")

DESCRIPTIONS = sorted((Path(__file__).parents[3] / "docs" / "openapi").glob("*.json"))
SOURCE = ApiSource("toy", "Toy", "Toys.", "/toy/api")


def shown(description: dict[str, Any]) -> str:
    body = api_page(SOURCE, description, "http://here").body
    return bytes(body).decode()


def one(operation: dict[str, Any], path: str = "/things", method: str = "get", **more: Any) -> Operation:
    (found,) = operations({"paths": {path: {method: operation}}, **more}, "http://here/toy/api")
    return found


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: path.stem)
def test_every_operation_and_parameter_of_the_services_is_shown(path: Path) -> None:
    description = json.loads(path.read_text())
    page = shown(description)
    for address, methods in description["paths"].items():
        for method, operation in methods.items():
            article = page.partition(f'id="{operation["operationId"]}"')[2].partition('class="operation"')[0]
            assert f'<span class="method {method}">{method.upper()}</span> <code>{address}</code>' in article
            for parameter in operation.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in article
            for status, response in operation["responses"].items():
                code = response.get("content", {}).get("application/problem+json", {}).get("example", {}).get("code")
                said = f'<th scope="row">{status}</th><td><code>{code}</code>' if code else f"{status} "
                assert said in article
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


async def test_it_is_served_with_the_address_that_it_was_asked_at(client: httpx.AsyncClient) -> None:
    page = (await client.get("/api-docs/toy")).text
    assert "curl" in page
    assert "/toy/api/notes/" in page
    listed = (await client.get("/api-docs/")).text
    assert '<a href="/api-docs/toy">Toy</a>' in listed
    assert (await client.get("/api-docs")).headers["Location"] == "./api-docs/"


def test_text_of_a_description_is_never_markup() -> None:
    page = shown({"paths": {"/<i>": {"get": {"summary": "<u>", "description": "a <b> of `<x>`", "responses": {}}}}})
    assert all(markup not in page for markup in ("<i>", "<u>", "<b>", "<x>"))
    assert "<p>a &lt;b&gt; of <code>&lt;x&gt;</code></p>" in page


def test_a_command_has_what_is_required_and_quotes_it() -> None:
    body = {"content": {"application/json": {"schema": {"properties": {"name": {"examples": ["it's"]}}}}}}
    parameters = [
        {"in": "path", "name": "id", "required": True, "schema": {"examples": ["a b/c"]}},
        {"in": "query", "name": "day", "required": True, "schema": {"type": "string", "format": "date"}},
        {"in": "query", "name": "limit", "schema": {"type": "integer"}},
        {"in": "header", "name": "If-Match", "required": True, "schema": {"examples": ['"1"']}},
    ]
    operation = {"parameters": parameters, "requestBody": body, "security": [{"HTTPBearer": []}], "responses": {}}
    call = one(operation, "/things/{id}", "put").call
    assert call.split(" \\\n  ") == [
        "curl -X PUT 'http://here/toy/api/things/a%20b%2Fc?day=2026-12-24'",
        '-H "Authorization: Bearer $TOKEN"',
        "-H 'If-Match: \"1\"'",
        "-H 'Content-Type: application/json'",
        """-d '{\n  "name": "it'"'"'s"\n}'""",
    ]


@pytest.mark.parametrize(
    ("schema", "kind", "rules", "example"),
    [
        (
            {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            "integer",
            ["1 to 100", "default `20`"],
            20,
        ),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, "date", [], "2026-12-24"),
        ({"$ref": "#/components/schemas/Colour"}, "one of red, blue", [], "red"),
        (
            {"type": "array", "items": {"$ref": "#/components/schemas/Node"}, "maxItems": 3},
            "list of Node",
            ["at most 3 items"],
            None,
        ),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "map to boolean", [], {}),
        ({"const": "x"}, "'x'", [], "x"),
        (
            {"type": "string", "minLength": 2, "examples": ["ab"]},
            "string",
            ["at least 2 characters", "such as `ab`"],
            "ab",
        ),
        ({"type": ["string", "null"]}, "string", [], "text"),
        (
            {"oneOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "boolean"}]},
            "integer or boolean",
            ["above 0"],
            1,
        ),
        ({"allOf": [{"type": "object", "properties": {"a": {"type": "boolean"}}}]}, "object", [], {"a": True}),
        ({"$ref": "#/components/schemas/Gone"}, "Gone", [], "text"),
        ({"type": "boolean", "default": False}, "boolean", ["default `false`"], False),
    ],
)
def test_types_are_in_words(schema: dict[str, Any], kind: str, rules: list[str], example: Any) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    schemas = Schemas({"components": {"schemas": {"Colour": {"enum": ["red", "blue"]}, "Node": node}}})
    row = schemas.field("x", schema, is_required=False)
    assert (row.kind, list(row.rules)) == (kind, rules)
    if example is not None:
        assert schemas.example(schema) == example


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    row = Schemas({"components": {"schemas": {"Node": node}}}).field(
        "x", {"$ref": "#/components/schemas/Node"}, is_required=True
    )
    assert (row.kind, row.inner[0].name, row.inner[0].inner[0].name) == ("Node", "next", "next")


def test_what_is_not_json_has_no_made_up_example() -> None:
    response = {"200": {"description": "OK", "content": {"text/csv": {"schema": {"type": "string"}}}}}
    assert one({"responses": response}).responses[0].content[0].example == ""
    stated = {"200": {"description": "OK", "content": {"text/csv": {"example": "a,b"}}}}
    assert one({"responses": stated}).responses[0].content[0].example == "a,b"


def test_an_operation_without_names_gets_them_from_its_path() -> None:
    found = one({"responses": {}}, "/things/{id}/parts")
    assert (found.identifier, found.group, found.title) == ("get-things-{id}-parts", "things", "GET /things/{id}/parts")
    assert one({"responses": {}, "tags": ["Tools"], "deprecated": True}).group == "Tools"


@pytest.mark.parametrize(
    ("schema", "rules"),
    [
        ({"type": "integer", "minimum": 1.0, "maximum": 3650.0}, ("1 to 3650",)),
        ({"type": "number", "minimum": 0.5, "exclusiveMaximum": 2.0}, ("at least 0.5", "below 2")),
        ({"type": "string", "default": ""}, ('default `""`',)),
        ({"type": "string", "examples": ["one\ntwo"]}, ('such as `"one\\ntwo"`',)),
        ({"type": "string", "examples": ["a `b`"]}, ('such as `"a \\u0060b\\u0060"`',)),
    ],
)
def test_bounds_and_examples_are_written_for_people(schema: dict[str, Any], rules: tuple[str, ...]) -> None:
    assert Schemas({}).field("text", schema, is_required=True).rules == rules

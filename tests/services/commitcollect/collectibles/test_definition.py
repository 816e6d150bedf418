"""Definitions of models in files: reading them, and the errors of files that are not valid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.services.commitcollect.collectibles.test_picture import drawn

from partita.errors import OperationError
from partita_services.commitcollect.collectibles.definition import read_definition
from partita_services.commitcollect.collectibles.model import MAX_PARTS, MAX_PICTURE

pytestmark = pytest.mark.req("C13")

KITE: dict[str, Any] = {
    "model_id": "kite",
    "name": " Kite ",
    "story": "It pulls.",
    "parts": ["Tail"],
    "picture": "it.svg",
}


def written(folder: Path, svg: str | None = None, **changes: Any) -> Path:
    """Write a model as a JSON file, with its picture in the same folder; return the JSON file."""
    (folder / "it.svg").write_text(drawn() if svg is None else svg)
    file = folder / "kite.json"
    file.write_text(json.dumps({name: value for name, value in {**KITE, **changes}.items() if value is not None}))
    return file


def test_a_file_is_read_with_its_picture(tmp_path: Path) -> None:
    kite = read_definition(written(tmp_path))
    assert kite.model.model_dump(exclude_none=True) == {
        "model_id": "kite",
        "name": "Kite",
        "story": "It pulls.",
        "parts_total": 1,
    }
    assert [part.model_dump() for part in kite.stored_parts] == [
        {"model_id": "kite", "part_index": 1, "name": "Tail", "svg": "part-1"}
    ]
    assert kite.stored_picture.svg == drawn()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_id": "A Kite"}, "model_id: String should match"),
        ({"model_id": None}, "model_id: Field required"),
        ({"name": " "}, "name: String should have at least 1 character"),
        ({"parts": []}, "parts: Tuple should have at least 1 item"),
        ({"parts": ["x"] * (MAX_PARTS + 1)}, f"at most {MAX_PARTS} items"),
        ({"parts": ["one", "two"]}, "picture: Value error, The picture has no group with the id part-2"),
        ({"picture": "gone.svg"}, "No such file"),
        ({"picture": 1}, "is not a model"),
        ({"wings": 2}, "wings: Extra inputs"),
    ],
)
def test_a_file_that_is_no_model_is_refused_in_one_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(OperationError) as refused:
        read_definition(written(tmp_path, **changes))
    assert said in refused.value.message
    assert "\n" not in refused.value.message


def test_a_picture_of_too_many_bytes_is_refused(tmp_path: Path) -> None:
    room = MAX_PICTURE - len(drawn("<desc></desc>").encode())
    assert read_definition(written(tmp_path, svg=drawn(f"<desc>{'é' * (room // 2)}</desc>")))
    with pytest.raises(OperationError, match="at most 60,000 bytes"):
        read_definition(written(tmp_path, svg=drawn(f"<desc>{'é' * (room // 2 + 1)}</desc>")))


@pytest.mark.parametrize("text", ["not JSON", "[]", '"kite"', "\xff"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kite.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(OperationError, match=r"kite\.json"):
        read_definition(file)

"""Definitions of models to load: the body of a request, or a JSON file with an SVG file in the same folder.

{"model_id": "lighthouse", "name": "Lighthouse", "story": "…", "parts": ["Rocks", "Lantern"], "picture": "it.svg"}
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, ValidationInfo, field_validator

from partita.errors import OperationError
from partita.recipes.texts import VisibleText
from partita_services.commitcollect.collectibles.model import MAX_PARTS, MAX_PICTURE, Model, Part, Picture
from partita_services.commitcollect.collectibles.picture import check_picture

BUNDLED: Final = Path(__file__).parent / "bundled"

ModelId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60), VisibleText()]


class ModelContent(BaseModel):
    """The definition of a model without its id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ShortText = Field(examples=["Lighthouse"])
    story: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300), VisibleText(lines=True)] = Field(
        examples=["It stands where the land ends."]
    )
    parts: tuple[ShortText, ...] = Field(
        min_length=1, max_length=MAX_PARTS, description="in the order in which they are earned", examples=[["Rocks"]]
    )
    picture: str = Field(
        max_length=MAX_PICTURE,
        description="SVG with a group `part-1`, `part-2` … for each part",
        examples=['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><g id="part-1"/></svg>'],
    )

    @field_validator("picture")
    @classmethod
    def _is_safe(cls, picture: str, info: ValidationInfo) -> str:
        if len(picture.encode()) > MAX_PICTURE:
            raise ValueError(f"A picture may have at most {MAX_PICTURE:,} bytes.")
        return check_picture(picture, len(info.data.get("parts", ())))


class ModelDefinition(ModelContent):
    """The definition of a model to load."""

    model_id: ModelId

    @property
    def model(self) -> Model:
        """The item to store for the model."""
        return Model(model_id=self.model_id, name=self.name, story=self.story, parts_total=len(self.parts))

    @property
    def stored_parts(self) -> list[Part]:
        """The items to store for its parts."""
        return [
            Part(model_id=self.model_id, part_index=index, name=name, svg=f"part-{index}")
            for index, name in enumerate(self.parts, start=1)
        ]

    @property
    def stored_picture(self) -> Picture:
        """The item to store for its picture."""
        return Picture(model_id=self.model_id, svg=self.picture)


def read_definition(file: Path) -> ModelDefinition:
    """Read a model from a JSON file, which names the file of its picture in the same folder.

    Raises:
        OperationError: one of the files cannot be read, or is not valid.
    """
    try:
        given: Any = json.loads(file.read_text(encoding="utf-8"))
        named = given.pop("picture", "") if isinstance(given, dict) else None
        if not isinstance(named, str):
            raise OperationError(f"{file} is not a model.", hint="It must be JSON; `picture` names an SVG file.")
        picture = (file.parent / named).read_text(encoding="utf-8")
        return ModelDefinition(**given, picture=picture)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, TypeError) as error:
        raise OperationError(f"{file} cannot be read ({error}).") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise OperationError(f"{file} is not a model: {where}: {first['msg'].rstrip('.')}.") from None


@cache
def bundled() -> tuple[ModelDefinition, ...]:
    """Return the bundled models, which are read and checked once."""
    return tuple(read_definition(file) for file in sorted(BUNDLED.glob("*.json")))

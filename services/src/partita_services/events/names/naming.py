"""The name of an applicant: given with the request, and shown to others only as long as the applicant allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from partita import Procedure
from partita.recipes.texts import VisibleText
from partita_services.events.model import Request
from partita_services.events.names.model import name_request
from partita_services.events.reading import show_request
from partita_services.events.terms import Status
from partita_services.events.waitlist.model import requests_by_ids

MAX_NAME: Final = 80
MAX_NAMES: Final = 25
"""The maximum number of requests whose names are read at once."""

DisplayName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME),
    VisibleText(),
    Field(examples=["Ann B."]),
]


class Applicant(BaseModel):
    """The name of an applicant, and whether others may see it."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    display_name: Annotated[DisplayName | None, Field(description="the name of the applicant")] = None
    shows_name: Annotated[
        bool,
        Field(examples=[True], description="whether operators may see the name, and everybody in the list of winners"),
    ] = False

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.shows_name and self.display_name is None:
            raise ValueError("showsName needs a displayName")
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return the object itself, because it is immutable, and FastAPI copies a default for every request."""
        return self


NAMELESS: Final = Applicant()


def rename(request_id: str, user_id: str, applicant: Applicant) -> Procedure[Request]:
    """Change the name on a request of the user, or remove it.

    Raises:
        ItemMissing: the user has no such request.
    """
    request = yield from show_request(request_id, user_id)
    return (yield from name_request(request, applicant.display_name, shows_name=applicant.shows_name))


def shown_names(event_id: str, request_ids: Sequence[str]) -> Procedure[dict[str, str]]:
    """The names of users who have a seat at an event and allow everybody to see their name, by request id."""
    found = yield from requests_by_ids(list(dict.fromkeys(request_ids)))
    return {
        each.request_id: name
        for each in found
        if each is not None
        and each.event_id == event_id
        and each.status is Status.SUCCEEDED
        and (name := each.shown_name) is not None
    }

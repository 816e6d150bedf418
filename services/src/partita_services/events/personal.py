"""What Events keeps of a user, as the user gets it."""

from __future__ import annotations

from typing import Final

from partita.recipes.personal import PersonalData, PersonalItems
from partita_services.events.model import requests_of_user

PERSONAL: Final = PersonalData(
    PersonalItems(
        "requests",
        requests_of_user,
        stays="A request proves in which order seats were given, to everybody who waited. It expires by itself.",
    ),
)

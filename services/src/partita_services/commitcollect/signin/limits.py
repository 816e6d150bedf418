"""How many requests a user who is logged in may send."""

from __future__ import annotations

from typing import ClassVar, Final

from partita import Key
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita_services.commitcollect.model import TABLE


class CallerBucket(RateBucket, table=TABLE):
    """What is left of a user's requests."""

    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))

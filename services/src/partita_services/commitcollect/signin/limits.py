"""The rate limit of signed-in users."""

from __future__ import annotations

from typing import ClassVar, Final

from partita import Key
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita_services.commitcollect.model import TABLE


class CallerBucket(RateBucket, table=TABLE):
    """The remaining requests of a user's rate limit."""

    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))

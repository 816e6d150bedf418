"""A store that asks any DynamoDB endpoint: the second opinion that tests compare with."""

from tests.referee._server import ministack, ministack_version, moto
from tests.referee._store import Referee

__all__ = ["Referee", "ministack", "ministack_version", "moto"]

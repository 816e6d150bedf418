"""A store on any DynamoDB endpoint, with which the tests compare ours."""

from tests.referee._server import ministack, ministack_version, moto
from tests.referee._store import Referee

__all__ = ["Referee", "ministack", "ministack_version", "moto"]

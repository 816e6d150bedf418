"""Errors in the format of Strava's API."""

from __future__ import annotations

from typing import Any


class StravaFault(Exception):
    """A refused request."""

    def __init__(self, status: int, message: str, resource: str, field: str, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.resource = resource
        self.field = field
        self.code = code

    def shown(self) -> dict[str, Any]:
        """The body of the response."""
        error = {"resource": self.resource, "field": self.field, "code": self.code}
        return {"message": self.message, "errors": [error]}


def bad_request(resource: str, field: str, code: str = "invalid") -> StravaFault:
    """An invalid request."""
    return StravaFault(400, "Bad Request", resource, field, code)


def unauthorized(resource: str = "Athlete", field: str = "access_token") -> StravaFault:
    """A token that is not valid or has expired."""
    return StravaFault(401, "Authorization Error", resource, field, "invalid")


def forbidden(field: str) -> StravaFault:
    """A token whose scopes do not allow it."""
    return StravaFault(401, "Authorization Error", "AccessToken", field, "missing")


def not_found(resource: str) -> StravaFault:
    """Something that does not exist, or that the athlete does not show."""
    return StravaFault(404, "Record Not Found", resource, "id", "not found")


def exhausted() -> StravaFault:
    """A request over the limit of this window."""
    return StravaFault(429, "Rate Limit Exceeded", "Application", "overall rate limit", "exceeded")

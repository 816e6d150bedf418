"""Parameters of path, query, headers and cookies, as FastAPI reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_params_to_args

Source = Callable[[Request], Mapping[str, Any]]


class Parameters:
    """The parameters of one callee."""

    __slots__ = ("groups",)

    def __init__(self, groups: tuple[tuple[Any, Source], ...]) -> None:
        self.groups = groups

    @classmethod
    def of(cls, dependant: Dependant) -> Self | None:
        """The parameters that a callee takes; None where it takes none."""
        groups: list[tuple[Any, Source]] = [
            (dependant.path_params, lambda request: request.path_params),
            (dependant.query_params, lambda request: request.query_params),
            (dependant.header_params, lambda request: request.headers),
            (dependant.cookie_params, lambda request: request.cookies),
        ]
        taken = tuple((fields, source) for fields, source in groups if fields)
        return cls(taken) if taken else None

    def read(self, request: Request, arguments: dict[str, Any], errors: list[Any]) -> None:
        """Add the values to the arguments, and what is wrong with them to the errors."""
        for fields, source in self.groups:
            values, wrong = request_params_to_args(fields, source(request))
            arguments.update(values)
            errors.extend(wrong)

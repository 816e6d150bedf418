"""The inputs of a route: dependencies and parameters, in FastAPI's order, from a list that is built once.

FastAPI's dependencies are a tree. Here each of them is a call in a list, after all calls that it depends on; the route
itself is the last call. So no tree is walked for a request, and only the functions themselves are awaited.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.params import Form
from pydantic_core import PydanticUndefined

from partita.app.direct._body import body_reader
from partita.app.direct._parameters import readers_of

_REFUSED: Final = object()
"""The result of a dependency that was not called because its parameters are invalid."""


class Call:
    """One call: of a dependency, or of the route."""

    __slots__ = ("body", "call", "from_calls", "is_coroutine", "readers", "request", "response")

    def __init__(self, dependant: Dependant, from_calls: tuple[tuple[str | None, int], ...], *, embeds: bool) -> None:
        """Describe the call; `from_calls` names the earlier calls whose results it needs, by their numbers."""
        assert dependant.call is not None  # noqa: S101 - every dependency and every route has one
        self.call: Callable[..., Any] = dependant.call
        self.is_coroutine = _is_coroutine(self.call)
        self.from_calls = from_calls
        self.readers = readers_of(dependant)
        self.body = body_reader(dependant.body_params, embeds=embeds) if dependant.body_params else None
        self.request = dependant.request_param_name or dependant.http_connection_param_name
        self.response = dependant.response_param_name


class Calls:
    """All calls of a route, in FastAPI's order."""

    def __init__(self, dependant: Dependant, *, embeds: bool) -> None:
        self._calls: list[Call] = []
        self._known: dict[Any, int] = {}
        self._add(dependant, embeds=embeds)

    def _add(self, dependant: Dependant, *, embeds: bool) -> int:
        """Add the calls that a route or dependency needs, then its own call, and return the number of that call."""
        needed = [(child.name, self._number_of(child, embeds=embeds)) for child in dependant.dependencies]
        self._calls.append(Call(dependant, tuple(needed), embeds=embeds))
        number = len(self._calls) - 1
        self._known.setdefault(_identity(dependant), number)
        return number

    def _number_of(self, dependant: Dependant, *, embeds: bool) -> int:
        known = self._known.get(_identity(dependant)) if dependant.use_cache else None
        return self._add(dependant, embeds=embeds) if known is None else known

    @property
    def takes_response(self) -> bool:
        """Whether the route or one of its dependencies sets headers or the status of the response."""
        return any(each.response is not None for each in self._calls)

    async def run(self, request: Request, body: Any, response: Response | None) -> Any:
        """Run all calls and return the result of the route.

        Raises:
            RequestValidationError: the request is invalid; the route was not called.
        """
        results: list[Any] = []
        errors: list[Any] = []
        for each in self._calls:
            arguments = _arguments(each, results, errors, request, body)
            if arguments is None:
                results.append(_REFUSED)
                continue
            if each.response is not None:
                arguments[each.response] = response
            if each.is_coroutine:
                results.append(await each.call(**arguments))
            else:
                results.append(await run_in_threadpool(each.call, **arguments))
        if results[-1] is _REFUSED:
            raise RequestValidationError(errors, body=None if body is PydanticUndefined else body)
        return results[-1]


def _arguments(call: Call, results: list[Any], errors: list[Any], request: Request, body: Any) -> dict[str, Any] | None:
    """Return the arguments of a call; None if the request is invalid, after adding to `errors`."""
    arguments: dict[str, Any] = {}
    is_refused = False
    for name, number in call.from_calls:
        result = results[number]
        if result is _REFUSED:
            is_refused = True
        elif name is not None:
            arguments[name] = result
    before = len(errors)
    for read in call.readers:
        values, wrong = read(request)
        arguments.update(values)
        errors.extend(wrong)
    if call.body is not None:
        values, wrong = call.body(body)
        arguments.update(values)
        errors.extend(wrong)
    if is_refused or len(errors) > before:
        return None
    if call.request is not None:
        arguments[call.request] = request
    return arguments


def is_direct(dependant: Dependant) -> bool:
    """Whether a route or dependency, with all that it depends on, can be expressed as `Call` objects."""
    return (
        dependant.call is not None
        and not _is_generator(dependant.call)
        and dependant.websocket_param_name is None
        and dependant.background_tasks_param_name is None
        and dependant.security_scopes_param_name is None
        and not any(isinstance(field.field_info, Form) for field in dependant.body_params)
        and all(map(is_direct, dependant.dependencies))
    )


def _is_coroutine(call: Callable[..., Any]) -> bool:
    return any(map(inspect.iscoroutinefunction, _functions(call)))


def _is_generator(call: Callable[..., Any]) -> bool:
    """Whether a function is a generator, whose end runs after the response, in FastAPI's exit stacks."""
    return any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in _functions(call))


def _functions(call: Callable[..., Any]) -> tuple[Any, Any]:
    return call, getattr(call, "__call__", None)  # noqa: B004 - for an instance, its method


def _identity(dependant: Dependant) -> tuple[Any, ...]:
    """The identity of a dependency: dependencies with an equal identity run only once for a request."""
    scopes: Mapping[str, None] = dict.fromkeys(
        [*(dependant.parent_oauth_scopes or ()), *(dependant.own_oauth_scopes or ())]
    )
    return dependant.call, tuple(sorted(scopes))

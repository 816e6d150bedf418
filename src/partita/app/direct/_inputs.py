"""What a route is called with: dependencies and parameters, in FastAPI's order, from a tree that is made once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_body_to_args
from fastapi.params import Form

from partita.app.direct._parameters import readers_of

_UNSOLVED: Final = object()
_REFUSED: Final = object()
"""The parameters of the dependency are wrong, so that it was not called."""


class Inputs:
    """What is known of one request: the request, its body, and the dependencies that are solved so far."""

    __slots__ = ("body", "errors", "request", "response", "solved")

    def __init__(self, request: Request, body: Any, response: Response | None, dependencies: int) -> None:
        self.request = request
        self.body = body
        self.response = response
        self.errors: list[Any] = []
        self.solved: list[Any] = [_UNSOLVED] * dependencies


class Callee:
    """A route, or a dependency of one: what it takes."""

    __slots__ = (
        "body",
        "call",
        "children",
        "embeds",
        "is_cached",
        "is_coroutine",
        "name",
        "readers",
        "request",
        "response",
        "slot",
    )

    def __init__(self, dependant: Dependant, slots: dict[Any, int], *, embeds: bool) -> None:
        assert dependant.call is not None  # noqa: S101 - every dependency and every route has one
        self.call: Callable[..., Any] = dependant.call
        self.is_coroutine = _is_coroutine(self.call)
        self.name = dependant.name
        self.is_cached = dependant.use_cache
        self.slot = slots.setdefault(_identity(dependant), len(slots))
        self.children = tuple(Callee(child, slots, embeds=embeds) for child in dependant.dependencies)
        self.readers = readers_of(dependant)
        self.body = dependant.body_params
        self.embeds = embeds
        self.request = dependant.request_param_name or dependant.http_connection_param_name
        self.response = dependant.response_param_name

    async def arguments(self, inputs: Inputs) -> dict[str, Any] | None:
        """The arguments of the call; None where something of the request is wrong, and the errors say what."""
        arguments: dict[str, Any] = {}
        refused = False
        for child in self.children:
            solved = inputs.solved[child.slot]
            if solved is _UNSOLVED or not child.is_cached:
                solved = inputs.solved[child.slot] = await child.solve(inputs)
            if solved is _REFUSED:
                refused = True
            elif child.name is not None:
                arguments[child.name] = solved
        errors = inputs.errors
        before = len(errors)
        for read in self.readers:
            values, wrong = read(inputs.request)
            arguments.update(values)
            errors.extend(wrong)
        if self.body:
            values, wrong = await request_body_to_args(self.body, inputs.body, self.embeds)
            arguments.update(values)
            errors.extend(wrong)
        if refused or len(errors) > before:
            return None
        if self.request is not None:
            arguments[self.request] = inputs.request
        if self.response is not None:
            arguments[self.response] = inputs.response
        return arguments

    async def solve(self, inputs: Inputs) -> Any:
        """What the dependency gives."""
        arguments = await self.arguments(inputs)
        if arguments is None:
            return _REFUSED
        if self.is_coroutine:
            return await self.call(**arguments)
        return await run_in_threadpool(self.call, **arguments)


def is_direct(dependant: Dependant) -> bool:
    """Whether a `Callee` can be made of a route or dependency, and of all that it depends on."""
    return (
        dependant.call is not None
        and not _is_generator(dependant.call)
        and dependant.websocket_param_name is None
        and dependant.background_tasks_param_name is None
        and dependant.security_scopes_param_name is None
        and not any(isinstance(field.field_info, Form) for field in dependant.body_params)
        and all(map(is_direct, dependant.dependencies))
    )


def takes_response(callee: Callee) -> bool:
    """Whether a route, or something that it depends on, sets headers or the status of the response."""
    return callee.response is not None or any(map(takes_response, callee.children))


def _is_coroutine(call: Callable[..., Any]) -> bool:
    return any(map(inspect.iscoroutinefunction, _functions(call)))


def _is_generator(call: Callable[..., Any]) -> bool:
    """Whether something is to be done after the response, which FastAPI keeps exit stacks for."""
    return any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in _functions(call))


def _functions(call: Callable[..., Any]) -> tuple[Any, Any]:
    return call, getattr(call, "__call__", None)  # noqa: B004 - of an instance it is its method


def _identity(dependant: Dependant) -> tuple[Any, ...]:
    """What makes two dependencies one: they are solved once for a request."""
    scopes: Mapping[str, None] = dict.fromkeys(
        [*(dependant.parent_oauth_scopes or ()), *(dependant.own_oauth_scopes or ())]
    )
    return dependant.call, tuple(sorted(scopes))

"""Lifecycles: the states of an entity's field and the declared transitions, compiled to conditions on updates.

class RequestLife(Lifecycle[Request, Status]):
    state = f(Request.status)
    start = Status.RECEIVED
    forward_only = True

    queue = Transition(Status.RECEIVED, to=Status.QUEUED)
    reject = Transition(Status.RECEIVED, Status.QUEUED, to=Status.REJECTED)

db.run(RequestLife.queue(request, f(Request.queued_at).set(now)))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConditionFailed, IllegalTransition, ModelError, OperationError
from partita.expressions import Condition
from partita.model import Change, Entity, EntitySchema, Ref, schema_of
from partita.operations import Get, Label, Update, update

__all__ = ["Lifecycle", "Move", "StateMachine", "Transition"]

E = TypeVar("E", bound=Entity)
S = TypeVar("S", bound=Enum)


class Transition(Generic[S]):
    """A declared move from one of several states to another; as an attribute of the lifecycle it is the `Move`."""

    __slots__ = ("name", "sources", "target")

    def __init__(self, *sources: S, to: S) -> None:
        self.sources = sources
        self.target = to
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: None, owner: type[Lifecycle[E, S]]) -> Move[E]:
        return owner.declared.moves[self.name]


class Move(Struct, Generic[E], frozen=True, dict=True):
    """A transition of one entity, which can be called to make it."""

    schema: EntitySchema[E]
    state: Ref[Any]
    name: str
    sources: tuple[Enum, ...]
    target: Enum

    @cached_property
    def allowed(self) -> Condition:
        """The condition that the state is one of the sources. All updates share it, so it is checked only once."""
        condition = self.state.is_in(self.sources)
        self.schema.check_condition(condition)
        return condition

    @cached_property
    def _entering(self) -> Change:
        return self.state.set(self.target)

    @cached_property
    def _label(self) -> Label:
        return Label(f"{self.schema.name}.{self.name}")

    def __call__(self, at: E | Get[E], *changes: Change) -> Update[E]:
        """Return the update that makes the move, with further changes, for an entity or an item named by a get pattern.

        Raises:
            OperationError: one of the changes sets the state.
        """
        name = self.state.path.parts[0]
        if name in [change.path.parts[0] for change in changes]:
            raise OperationError(f"{self.name} already sets the state.", hint="Leave that change out.")
        change = update(at, self._entering, *changes)
        return replace(change, condition=self.allowed, label=self._label, failure=self.explain)

    def explain(self, failed: ConditionFailed) -> ConditionFailed:
        """The failed condition in terms of the lifecycle.

        A state that forbids the move takes precedence over a changed version, because reading again would not help.
        """
        if failed.current is None:
            return failed
        state: Enum = getattr(failed.current, self.schema.fields[str(self.state.path.parts[0])])
        if state in self.sources:
            return failed
        allowed = ", ".join(source.name for source in self.sources)
        message = f"{self.schema.name}: cannot {self.name} from {state.name}, only from {allowed}."
        return IllegalTransition(message, item=failed.item, current=failed.current)


class Lifecycle(Generic[E, S]):
    """The states of an entity's field and the transitions between them. Subclass it, and declare the transitions.

    Raises (when the class is created):
        ModelError: a state cannot be reached, a transition is invalid, or it leads back in spite of `forward_only`.
    """

    state: Ref[S]
    start: S
    forward_only: ClassVar[bool] = False
    """Whether a state may be entered only once."""

    declared: ClassVar[StateMachine]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        entity, states = get_args(cls.__orig_bases__[0])  # type: ignore[attr-defined]
        cls.declared = _declared(cls.__name__, schema_of(entity), states, vars(cls))
        cls.declared.check()

    @classmethod
    def mermaid(cls) -> str:
        """The lifecycle as a Mermaid state diagram, for documentation."""
        return "\n".join(("stateDiagram-v2", *(f"    {line}" for line in cls.declared.arrows())))


class StateMachine(Struct, frozen=True):
    """The states and moves that the body of a lifecycle declares."""

    name: str
    schema: EntitySchema[Any]
    states: type[Enum]
    state: Ref[Any]
    start: Enum
    forward_only: bool
    moves: Mapping[str, Move[Any]]

    def arrows(self) -> Iterator[str]:
        """The lines of a state diagram."""
        yield f"[*] --> {self.start.name}"
        for move in self.moves.values():
            for source in move.sources:
                yield f"{source.name} --> {move.target.name}: {move.name}"
        for state in self.states:
            if not any(state in move.sources for move in self.moves.values()):
                yield f"{state.name} --> [*]"

    def reachable(self, start: Enum) -> set[Enum]:
        """The states that can be reached by one or more moves."""
        reached: set[Enum] = set()
        frontier = {start}
        while frontier:
            frontier = {move.target for move in self.moves.values() if frontier & set(move.sources)} - reached
            reached |= frontier
        return reached

    def check(self) -> None:
        """Validate the declaration."""
        self._check_field()
        for move in self.moves.values():
            if not move.sources:
                raise self._error(f".{move.name} has no source states.")
            for state in (*move.sources, move.target):
                if not isinstance(state, self.states):
                    raise self._error(f".{move.name}: {state!r} is not a {self.states.__name__}.")
        reached = self.reachable(self.start) | {self.start}
        if lost := [state.name for state in self.states if state not in reached]:
            raise self._error(f": no transition leads to {', '.join(lost)}.")
        if self.forward_only and (again := [state.name for state in self.states if state in self.reachable(state)]):
            raise self._error(f" is forward only, but leads back to {', '.join(again)}.")

    def _check_field(self) -> None:
        attribute = self.state.path.parts[0]
        for name, field in self.schema.cls.model_fields.items():
            if self.schema.attribute(name) == attribute and field.annotation is self.states:
                if not field.is_required() and field.default is not self.start:
                    owner = self.schema.name
                    raise self._error(f" starts at {self.start!r}, but {owner}.{name} is {field.default!r} by default.")
                return
        raise self._error(f": {self.schema.name} has no field {attribute!r} of {self.states.__name__}.")

    def _error(self, message: str) -> ModelError:
        return ModelError(f"{self.name}{message}", owner=self.schema.cls)


def _declared(name: str, schema: EntitySchema[Any], states: type[Enum], body: Mapping[str, Any]) -> StateMachine:
    if missing := [needed for needed in ("state", "start") if needed not in body]:
        hint = "Write state = f(Request.status) and start = Status.RECEIVED."
        raise ModelError(f"{name} does not define {' and '.join(missing)}.", owner=schema.cls, hint=hint)
    state, start = body["state"], body["start"]
    transitions = [value for value in body.values() if isinstance(value, Transition)]
    moves = {t.name: Move(schema, state, t.name, t.sources, t.target) for t in transitions}
    return StateMachine(name, schema, states, state, start, body.get("forward_only", False), moves)

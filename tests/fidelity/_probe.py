"""Probes, and the result of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from tests.fidelity._checks import Different
from tests.fidelity._client import Api, Refused

Outcome: TypeAlias = Literal["same", "different", "absent"]
ProbeFunction: TypeAlias = Callable[..., None]

TIERS: Final = {1: "core", 2: "complete", 3: "strict"}
"""What nearly every program uses; other documented behaviour; limits, messages and the order of checks."""


class Probe(Struct, frozen=True):
    """One fact about DynamoDB, and the function that checks whether an endpoint behaves so."""

    name: str
    area: str
    rules: tuple[int, ...]
    tier: int
    billed: bool
    """Whether it costs more on AWS than requests and a few seconds of storage: there it runs only with `--billed`."""
    races: bool
    """Whether its outcome depends on the order of threads, so that the table of docs/wire.md leaves it out."""
    ask: Callable[[Api], None]


class Result(Struct, frozen=True):
    """The outcome of a probe, and the reason if it is not `same`."""

    name: str
    area: str
    tier: int
    rules: tuple[int, ...]
    outcome: Outcome
    detail: str = ""
    races: bool = False


_PROBES: Final[list[Probe]] = []


def probe(
    *rules: int,
    rule: int | None = None,
    tier: int = 1,
    billed: bool = False,
    races: bool = False,
    cases: Mapping[str, tuple[Any, ...]] | None = None,
) -> Callable[[ProbeFunction], ProbeFunction]:
    """Declare a probe of rules in docs/dynamodb-rules.md; with `cases`, one per case, called with its arguments."""
    numbers = (*rules, rule) if rule is not None else rules

    def declare(ask: ProbeFunction) -> ProbeFunction:
        area = ask.__module__.rpartition(".")[2]
        name = ask.__name__.replace("_", " ")
        for case, arguments in (cases or {"": ()}).items():
            full = f"{name} [{case}]" if case else name
            _PROBES.append(Probe(full, area, numbers, tier, billed, races, _bound(ask, arguments)))
        return ask

    return declare


def _bound(ask: ProbeFunction, arguments: tuple[Any, ...]) -> Callable[[Api], None]:
    return lambda api: ask(api, *arguments)


def all_probes() -> list[Probe]:
    """Return every probe of every module in `probes/`."""
    from tests.fidelity import probes

    for module in sorted(found.name for found in iter_modules(probes.__path__)):
        import_module(f"{probes.__name__}.{module}")
    return list(_PROBES)


def run_probe(probe: Probe, api: Api) -> Result:
    """Run the probe on an endpoint."""
    outcome, detail = _ask(probe, api)
    return Result(probe.name, probe.area, probe.tier, probe.rules, outcome, detail, probe.races)


def _ask(probe: Probe, api: Api) -> tuple[Outcome, str]:
    try:
        probe.ask(api)
    except Different as difference:
        return "different", str(difference)
    except Refused as refusal:
        return ("absent" if refusal.is_absent else "different"), f"refused with {refusal}"
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return "different", f"a response of another form: {error!r}"
    return "same", ""

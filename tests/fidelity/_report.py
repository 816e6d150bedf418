"""Formats results as tables for people, and as a file to send back."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
from tests.fidelity._probe import TIERS, Outcome, Result

_BEGIN: Final = "<!-- fidelity: python -m tests.fidelity --write -->"
_END: Final = "<!-- /fidelity -->"
_ACCOUNT: Final = re.compile(r"\b\d{12}\b")
_OUTCOMES: Final[tuple[Outcome, ...]] = ("same", "different", "absent")


def divergence(results: Sequence[Result]) -> float:
    """Return the share of all probes in which the endpoint differs from AWS."""
    return _share(results, "different")


def coverage(results: Sequence[Result]) -> float:
    """Return the share of all probes whose operations the endpoint knows."""
    return 1 - _share(results, "absent")


def _share(results: Sequence[Result], outcome: Outcome) -> float:
    return sum(result.outcome == outcome for result in results) / max(1, len(results))


def percent(share: float) -> str:
    """Format a share with one decimal, or with two if rounding would turn it into 0 % or 100 %."""
    text = f"{share:.1%}"
    if (text == "0.0%" and share) or (text == "100.0%" and share < 1):
        text = f"{share:.2%}"
    return text.replace("%", " %")


def rule_table(results: Sequence[Result]) -> str:
    """Return a table with the number of probes and their outcomes by rule, or by area if they have no rule."""
    rules = sorted({rule for result in results for rule in result.rules})
    rows = [(f"rule {rule}", [result for result in results if rule in result.rules]) for rule in rules]
    unruled = [result for result in results if not result.rules]
    rows += [(area, part) for area, part in _by_area(unruled).items()]
    lines = [f"{'':16}{'probes':>8}{'same':>8}{'different':>11}{'absent':>8}"]
    for name, part in [*rows, ("all", list(results))]:
        counts = [sum(result.outcome == outcome for result in part) for outcome in _OUTCOMES]
        lines.append(f"{name:16}{len(part):>8}{counts[0]:>8}{counts[1]:>11}{counts[2]:>8}")
    return "\n".join(lines)


def failures(results: Iterable[Result]) -> str:
    """Return every probe that is not `same`, with the details."""
    lines = []
    for result in results:
        if result.outcome != "same":
            lines += [f"{result.outcome}: {result.area}: {result.name}", f"    {result.detail}"]
    return "\n".join(lines)


def summary(results: Sequence[Result]) -> str:
    """Return divergence and coverage in one line."""
    return f"divergence {percent(divergence(results))}, coverage {percent(coverage(results))}, {len(results)} probes"


def docs_table(by_target: Mapping[str, Sequence[Result]]) -> str:
    """Return the table of docs/wire.md: divergence and coverage of each engine, by area and by tier."""
    targets = list(by_target)
    first = [result for result in by_target[targets[0]] if not result.races]
    groups = [(area, [result.name for result in part]) for area, part in _by_area(first).items()]
    groups += [
        (f"**{name}**", [result.name for result in first if result.tier == tier]) for tier, name in TIERS.items()
    ]
    groups.append(("**all**", [result.name for result in first]))
    head = " | ".join(f"{target}: divergence | coverage" for target in targets)
    lines = [f"| | probes | {head} |", f"| --- | ---: |{' ---: | ---: |' * len(targets)}"]
    for name, names in groups:
        wanted = set(names)
        cells = []
        for target in targets:
            part = [result for result in by_target[target] if result.name in wanted]
            cells += [percent(divergence(part)), percent(coverage(part))]
        lines.append(f"| {name} | {len(names)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_area(results: Iterable[Result]) -> dict[str, list[Result]]:
    areas: dict[str, list[Result]] = {}
    for result in results:
        areas.setdefault(result.area, []).append(result)
    return dict(sorted(areas.items()))


def table_in(page: str) -> str:
    """Return the table that the page has now."""
    return page.partition(_BEGIN)[2].partition(_END)[0].strip()


def with_table(page: str, table: str) -> str:
    """Return the page with its table replaced by this one."""
    before, _, rest = page.partition(_BEGIN)
    after = rest.partition(_END)[2]
    return f"{before}{_BEGIN}\n\n{table}\n\n{_END}{after}"


def write_report(path: Path, endpoint: str, results: Sequence[Result]) -> None:
    """Write a report that can be sent back: results, endpoint and versions, with account numbers masked."""
    report = {
        "endpoint": endpoint,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "partita": version("partita"),
        "python": platform.python_version(),
        "divergence": divergence(results),
        "coverage": coverage(results),
        "results": results,
    }
    text = msgspec.json.format(msgspec.json.encode(report), indent=1).decode()
    path.write_text(_ACCOUNT.sub("000000000000", text), encoding="utf-8")

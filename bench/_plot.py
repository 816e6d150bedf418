"""Plots of a run as SVG: how far each ratio is from its requirement, and how much it spreads.

To the right of the middle line a bar is met; the axis shows how many times better than required a ratio is.
"""

from __future__ import annotations

import math
from typing import Final
from xml.sax.saxutils import escape

from bench._run import Line, Run

WIDTH: Final = 860
_LEFT: Final = 360
"""The left edge of the plot; the names are to the left of it."""
_RIGHT: Final = 190
_ROW: Final = 24
_TOP: Final = 52
_BOTTOM: Final = 48
_SPAN: Final = WIDTH - _LEFT - _RIGHT
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#222}.small{font-size:11px;fill:#666}"
    ".required{stroke:#666;stroke-dasharray:4 3}.grid{stroke:#ddd}"
    ".met{stroke:#1a7f37;fill:#1a7f37}.missed{stroke:#b3261e;fill:#b3261e}line.met,line.missed{stroke-width:3}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#999}.grid{stroke:#333}.required{stroke:#999}"
    ".met{stroke:#4ac26b;fill:#4ac26b}.missed{stroke:#ff8a80;fill:#ff8a80}}"
)


def svg(run: Run, title: str) -> str:
    """Draw all lines of a run."""
    decades = _decades(run.lines)
    height = _TOP + _ROW * len(run.lines) + _BOTTOM
    rows = "".join(_row(line, _TOP + _ROW * number, decades) for number, line in enumerate(run.lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<title>{escape(title)}</title>"
        f"<style>{_STYLE}</style>"
        f'<text x="0" y="16" font-weight="bold">{escape(title)}</text>'
        f"{_axis(decades, height)}{rows}"
        f'<text class="small" x="0" y="{height - 8}">{escape(caption(run))}</text></svg>\n'
    )


def caption(run: Run) -> str:
    """The command and the commit, which every plot shows."""
    return f"{run.command} at {run.commit}, {run.date[:10]}, {run.machine['cores']} cores"


def better(line: Line, ratio: float) -> float:
    """How many times better a ratio is than required."""
    return ratio / line.bar.ratio if line.bar.sense == "at least" else line.bar.ratio / ratio


def _decades(lines: tuple[Line, ...]) -> float:
    """The number of powers of ten on each side of the plot; at least one half."""
    reached = [abs(math.log10(better(line, ratio))) for line in lines for ratio in (line.low, line.high)]
    return max(0.5, *reached) * 1.05 if reached else 0.5


def _x(times: float, decades: float) -> float:
    return round(_LEFT + _SPAN * (math.log10(times) / decades + 1) / 2, 1)


def _axis(decades: float, height: int) -> str:
    bottom = height - _BOTTOM + 6
    ticks = [times for times in (0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100) if abs(math.log10(times)) <= decades]
    lines = "".join(
        f'<line class="{"required" if times == 1 else "grid"}" x1="{_x(times, decades)}" x2="{_x(times, decades)}" '
        f'y1="{_TOP - 14}" y2="{bottom}"/>'
        f'<text class="small" text-anchor="middle" x="{_x(times, decades)}" y="{bottom + 14}">{times:g}</text>'
        for times in ticks
    )
    middle = _x(1, decades)
    return (
        f'{lines}<text class="small" text-anchor="middle" x="{middle}" y="{_TOP - 20}">required; times better →</text>'
    )


def _row(line: Line, y: int, decades: float) -> str:
    kind = "met" if line.passed else "missed"
    ends = sorted(_x(better(line, ratio), decades) for ratio in (line.low, line.high))
    return (
        f'<text x="0" y="{y + 4}">{escape(line.name)}</text>'
        f'<line class="{kind}" x1="{ends[0]}" x2="{ends[1]}" y1="{y}" y2="{y}"/>'
        f'<circle class="{kind}" cx="{_x(better(line, line.ratio), decades)}" cy="{y}" r="4"/>'
        f'<text x="{WIDTH - _RIGHT + 12}" y="{y + 4}">{line.ratio:.2f}x, {line.bar}</text>'
    )

"""The samples of a soak as SVG: one line for each measure, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

from tests.soak._samples import MEASURES, Measure, Sample

WIDTH: Final = 860
_HEIGHT: Final = 110
_TOP: Final = 34
_BAND: Final = 70
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#222}polyline{fill:none;stroke:#0b57d0;stroke-width:1.5}"
    ".axis{stroke:#ccc}@media(prefers-color-scheme:dark){text{fill:#ddd}polyline{stroke:#8ab4f8}.axis{stroke:#444}}"
)


def svg(samples: Sequence[Sample], title: str) -> str:
    """Return the plot of all measures."""
    rows = "".join(_row(measure, samples, _TOP + _HEIGHT * number) for number, measure in enumerate(MEASURES))
    height = _TOP + _HEIGHT * len(MEASURES)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
        f'<text x="0" y="16" font-weight="bold">{escape(title)}</text>{rows}</svg>\n'
    )


def _row(measure: Measure, samples: Sequence[Sample], top: int) -> str:
    values = [getattr(sample, measure.field) for sample in samples]
    highest, last = max(values, default=0) or 1, max((sample.seconds for sample in samples), default=0) or 1
    points = " ".join(
        f"{WIDTH * sample.seconds / last:.1f},{top + 20 + _BAND * (1 - value / highest):.1f}"
        for sample, value in zip(samples, values, strict=True)
    )
    bottom = top + 20 + _BAND
    label = f"{measure.name}: 0 to {highest:,.1f}, over {last / 60:,.1f} minutes"
    return (
        f'<text x="0" y="{top + 12}">{escape(label)}</text>'
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{bottom}" y2="{bottom}"/><polyline points="{points}"/>'
    )

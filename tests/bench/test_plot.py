"""Plots and tables of a run, and those in the documentation."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from bench.__main__ import PLOTS, SUITES, TITLES, draw, records
from bench._compare import Bar
from bench._page import MISSED, tables_of, with_tables
from bench._plot import better, svg
from bench._run import Line, Run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def line(name: str, ratio: float, bar: Bar) -> Line:
    return Line("reads", name, 1, 1, ratio, ratio * 0.9, ratio * 1.1, 5, bar, bar.met_by(ratio))


def measured(*lines: Line) -> Run:
    machine: dict[str, str | int | float] = {"cores": 2, "processor": "Z80", "load": 0.5}
    versions = {"python": "3.11.7"}
    return Run("python -m bench reads", "abc1234", "2026-01-02T03:04:05+00:00", 1, machine, versions, lines, ())


def plotted(*lines: Line) -> ET.Element:
    return ET.fromstring(svg(measured(*lines), "Reads <from> a file"))  # noqa: S314 - trusted: generated above


def circles(plot: ET.Element) -> list[tuple[str, float]]:
    return [(each.attrib["class"], float(each.attrib["cx"])) for each in plot.iter(f"{SVG}circle")]


def test_what_is_met_is_right_of_what_is_required() -> None:
    plot = plotted(
        line("fast", 4, Bar("at least", 2)),
        line("small", 0.25, Bar("at most", 0.5)),
        line("slow", 1, Bar("at least", 2)),
        line("large", 1, Bar("at most", 0.5)),
    )
    (required,) = (float(each.attrib["x1"]) for each in plot.iter(f"{SVG}line") if each.attrib["class"] == "required")
    assert [(kind, place > required) for kind, place in circles(plot)] == [
        ("met", True),
        ("met", True),
        ("missed", False),
        ("missed", False),
    ]
    assert circles(plot)[0][1] == circles(plot)[1][1]  # both are twice as good as required


def test_a_plot_names_its_command_and_commit() -> None:
    texts = [each.text for each in plotted(line("fast & far", 100, Bar("at least", 2))).iter(f"{SVG}text")]
    assert texts[0] == "Reads <from> a file"
    assert "fast & far" in texts
    assert texts[-1] == "python -m bench reads at abc1234, 2026-01-02, 2 cores"


def test_a_plot_of_nothing_can_be_drawn() -> None:
    assert circles(plotted()) == []


def test_better_says_how_many_times() -> None:
    assert better(line("", 1, Bar("at most", 0.5)), 0.25) == 2


def test_every_suite_has_a_title() -> None:
    assert TITLES.keys() == SUITES.keys()


def blank(*names: str) -> str:
    return "# Page\n" + "".join(f"<!-- figures: {name} -->\nold\n<!-- end of figures -->\n" for name in names)


def test_the_tables_of_a_page_are_written_from_the_records(tmp_path: Path) -> None:
    page, folder = tmp_path / "speed.md", tmp_path / "speed"
    page.write_text(blank("reads", "wire", MISSED), encoding="utf-8")
    draw(measured(line("fast", 4, Bar("at least", 2)), line("slow", 1, Bar("at least", 2))), folder)
    text = page.read_text(encoding="utf-8")
    assert "| fast | 1000.0 ms | 1000.0 ms | 4.00 | 3.60 to 4.40 | at least 2x |\n" in text
    assert "`python -m bench reads` at abc1234, 2026-01-02, 2 cores of Z80, load 0.5, Python 3.11.7.\n" in text
    assert "<!-- figures: wire -->\nold\n" in text  # it has no record
    assert "1 of 2 lines meet their bars. The others:" in text
    missed = "slow | 1000.0 ms | 1000.0 ms | 1.00 | 0.90 to 1.10 | at least 2x **missed** |\n"
    assert f"| {missed}" in text
    assert f"| reads: {missed}" in text
    assert with_tables(text, records(folder)) == text


def test_a_page_says_if_all_bars_are_met() -> None:
    met = {"reads": measured(line("fast", 4, Bar("at least", 2)))}
    assert "All 1 lines meet their bars." in with_tables(blank(MISSED), met)


def test_the_tables_of_the_documentation_are_those_of_its_records() -> None:
    found = records(PLOTS)
    assert sorted(tables_of(PAGE)) == sorted([*found, MISSED])
    assert with_tables(PAGE, found) == PAGE


@pytest.mark.parametrize("plot", sorted(PLOTS.glob("*.svg")), ids=lambda plot: plot.stem)
def test_a_plot_of_the_documentation_is_drawn_from_the_record_beside_it(plot: Path) -> None:
    record = msgspec.json.decode(plot.with_suffix(".json").read_bytes(), type=Run)
    assert plot.read_text(encoding="utf-8") == svg(record, TITLES[plot.stem])
    assert f"performance/{plot.name}" in PAGE

"""Imports of the ISO list and of other lists: proposals first, then the changes, and nothing the second time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.recipes.interleaving import overtaken

from partita import Session
from partita.cli import main
from partita.errors import AlreadyExists, OperationError
from partita.service import discover
from partita.store import TransactWriteItems
from partita.testing import FakeClock
from partita_services.countries.bootstrap import SERVICE, seed
from partita_services.countries.handlers import CountryGone, export_all, restore_country, show_country
from partita_services.countries.imports import apply, propose, read_csv
from partita_services.countries.iso import iso_events
from partita_services.countries.model import HISTORY
from partita_services.countries.responses import csv_text

HEADER = "alpha2Code,alpha3Code,numericCode,name\n"
LIST = f"{HEADER}BO,BOL,068,Bolivia\nCL,CHL,152,Chile\n"


def imported(db: Session, text: str) -> list[tuple[str, str]]:
    """Import a list as the whole list, and return what was proposed."""
    proposals = db.run(propose(read_csv(text), whole=True))
    for proposal in proposals:
        db.run(apply(proposal.event))
    return [(proposal.verb, proposal.event.alpha2) for proposal in proposals]


@pytest.fixture
def iso_db(partita_db: Session, fake_clock: FakeClock) -> Session:
    for step in seed(fake_clock()):
        partita_db.run(step)
    return partita_db


def test_it_is_found_by_its_entry_point() -> None:
    assert SERVICE in discover()


@pytest.mark.req("R06", "X02")
def test_the_sample_data_is_the_whole_standard(iso_db: Session) -> None:
    with iso_db.meter.watch() as seen:
        current = iso_db.run(export_all()).items
    assert len(current) == 249
    assert [run.read for run in seen] == [9.5]
    assert {country.numeric for country in current if country.alpha2 in ("AF", "BO", "ZW")} == {"004", "068", "716"}


@pytest.mark.req("R06")
def test_all_31_withdrawn_entries_are_versions_of_the_past(iso_db: Session) -> None:
    import pycountry

    found = [
        (version.expires, datetime.fromisoformat(f"{entry.withdrawal_date}-01-01"[:10]).replace(tzinfo=UTC))
        for entry in pycountry.historic_countries
        for version in iso_db.run(HISTORY.versions(entry.alpha_2))
        if (version.name, version.alpha3, version.deleted) == (entry.name, entry.alpha_3, False)
    ]
    assert len(found) == 31
    assert [(ended, until) for ended, until in found if ended != until] == []


@pytest.mark.req("R06", "R03")
@pytest.mark.parametrize(
    ("code", "year", "name"),
    [
        ("104", 1985, "Burma, Socialist Republic of the Union of"),
        ("104", 1995, "Myanmar"),
        ("AI", 1975, "French Afars and Issas"),
        ("AI", 1980, None),
        ("AI", 1990, "Anguilla"),
        ("CS", 1990, "Czechoslovakia, Czechoslovak Socialist Republic"),
        ("CS", 2000, None),
        ("CS", 2005, "Serbia and Montenegro"),
        ("ROM", 2000, "Romania"),
        ("ROM", 2010, None),
        ("TR", 2020, "Turkey"),
        ("TR", 2025, "Türkiye"),
        ("891", 1999, "Yugoslavia, (Socialist) Federal Republic of"),
        ("891", 2004, "Serbia and Montenegro"),
    ],
)
def test_codes_mean_what_they_meant_then(iso_db: Session, code: str, year: int, name: str | None) -> None:
    instant = datetime(year, 6, 1, tzinfo=UTC)
    if name is None:
        with pytest.raises(CountryGone):
            iso_db.run(show_country(code, instant))
    else:
        assert iso_db.run(show_country(code, instant)).name == name


@pytest.mark.req("R06", "X02")
def test_importing_the_same_list_again_adds_no_version(iso_db: Session, fake_clock: FakeClock) -> None:
    fake_clock.advance(86_400)
    assert iso_db.run(propose(iso_events(), whole=True)) == ()
    for step in seed(fake_clock()):
        with pytest.raises(AlreadyExists):
            iso_db.run(step)
    assert imported(iso_db, csv_text(iso_db.run(export_all()))) == []


@pytest.mark.req("R06", "X02")
def test_two_processes_may_import_the_list_at_the_same_time(partita_db: Session, fake_clock: FakeClock) -> None:
    *earlier, change = seed(fake_clock())
    *_, of_rival = seed(fake_clock())
    for step in earlier:
        partita_db.run(step)
    lost = overtaken(partita_db, change, lambda: partita_db.run(of_rival), on=TransactWriteItems)
    assert isinstance(lost, AlreadyExists)


@pytest.mark.req("R06")
def test_sample_data_leaves_the_changes_of_operators_alone(iso_db: Session, fake_clock: FakeClock) -> None:
    fake_clock.advance(60)
    proposals = iso_db.run(propose(read_csv(LIST), whole=False))
    assert [(p.verb, p.event.alpha2, [(d.field, d.after) for d in p.differences]) for p in proposals] == [
        ("revise", "BO", [("name", "Bolivia")])
    ]
    iso_db.run(apply(proposals[0].event))
    for step in seed(fake_clock()):
        with pytest.raises(AlreadyExists):
            iso_db.run(step)
    assert iso_db.run(show_country("BO")).name == "Bolivia"


@pytest.mark.req("R06")
def test_an_interrupted_import_is_completed_by_the_next(partita_db: Session) -> None:
    events = iso_events()
    for event in events[:290]:
        partita_db.run(apply(event))
    proposals = partita_db.run(propose(events))
    assert [proposal.event for proposal in proposals] == list(events[290:])
    for proposal in proposals:
        partita_db.run(apply(proposal.event))
    assert partita_db.run(propose(events, whole=True)) == ()


@pytest.mark.req("R06")
def test_a_whole_list_creates_revises_deletes_and_restores(partita_db: Session, fake_clock: FakeClock) -> None:
    assert imported(partita_db, LIST) == [("create", "BO"), ("create", "CL")]
    fake_clock.advance(60)
    assert imported(partita_db, LIST.replace("Bolivia", "Plurinational").replace("CL,CHL,152,Chile\n", "")) == [
        ("delete", "CL"),
        ("revise", "BO"),
    ]
    fake_clock.advance(60)
    assert imported(partita_db, LIST) == [("revise", "BO"), ("restore", "CL")]
    assert len(partita_db.run(HISTORY.versions("BO"))) == 3


@pytest.mark.req("R06")
def test_the_events_of_the_standard_keep_their_order(partita_db: Session) -> None:
    assert [proposal.event for proposal in partita_db.run(propose(iso_events(), whole=True))] == list(iso_events())


@pytest.mark.req("R06", "R02")
def test_a_code_is_handed_over_when_its_country_has_given_it_up(partita_db: Session) -> None:
    imported(partita_db, HEADER + "AA,AAA,001,A\nBB,BBB,002,B\nCC,CCC,003,C\nDD,DDD,004,D\nEE,EEE,005,E\n")
    handed_over = HEADER + "AA,AAA,002,A\nBB,BBB,003,B\nCC,CCC,004,C\nEE,DDD,006,E\n"
    assert imported(partita_db, handed_over) == [
        ("delete", "DD"),
        ("revise", "CC"),
        ("revise", "BB"),
        ("revise", "AA"),
        ("revise", "EE"),
    ]
    assert imported(partita_db, handed_over) == []
    assert [partita_db.run(show_country(code)).alpha2 for code in ("002", "003", "004", "DDD")] == [
        "AA",
        "BB",
        "CC",
        "EE",
    ]


@pytest.mark.req("R06", "R02")
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (  # two countries exchange their codes
            "AA,AAA,002,A\nBB,BBB,001,B\nCC,CCC,003,See\n",
            "AA would get the numeric '002' of BB; BB would get the numeric '001' of AA",
        ),
        ("AA,CCC,001,A\nBB,BBB,002,B\nCC,CCC,003,C\n", "AA would get the alpha3 'CCC' of CC"),  # CC keeps its code
        ("AA,AAA,009,A\nBB,BBB,009,B\nCC,CCC,003,C\n", "BB would get the numeric '009' of AA"),  # two get one code
    ],
)
def test_codes_that_never_become_free_are_named_before_anything_is_written(
    partita_db: Session, rows: str, said: str
) -> None:
    imported(partita_db, HEADER + "AA,AAA,001,A\nBB,BBB,002,B\nCC,CCC,003,C\n")
    with pytest.raises(OperationError) as refused:
        partita_db.run(propose(read_csv(HEADER + rows), whole=True))
    assert refused.value.message == f"Codes are taken: {said}."
    assert "first import a list in which one has a free code" in refused.value.hint


@pytest.mark.req("R06", "R02")
def test_codes_are_exchanged_in_two_steps(partita_db: Session) -> None:
    for rows in ("AA,AAA,001,A\nBB,BBB,002,B\n", "AA,AAA,009,A\nBB,BBB,002,B\n", "AA,AAA,002,A\nBB,BBB,001,B\n"):
        imported(partita_db, HEADER + rows)
    assert [partita_db.run(show_country(code)).alpha2 for code in ("001", "002")] == ["BB", "AA"]


@pytest.mark.req("R06")
def test_an_export_changes_nothing_where_countries_have_no_numeric_code(iso_db: Session, fake_clock: FakeClock) -> None:
    fake_clock.advance(60)
    for alpha2 in ("PZ", "VD"):
        plan = iso_db.run(restore_country(alpha2, None))
        assert iso_db.run(plan.run()).numeric is None
    text = csv_text(iso_db.run(export_all()))
    assert text.count(",,") == 2
    assert imported(iso_db, text) == []


@pytest.mark.req("R06")
def test_a_list_takes_a_numeric_code_away_and_gives_it_again(partita_db: Session) -> None:
    for text in (LIST, LIST.replace("068", ""), LIST):
        imported(partita_db, text)
    assert [version.numeric for version in partita_db.run(HISTORY.versions("BO"))] == ["068", None, "068"]


@pytest.mark.req("R06")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name\nBolivia\n", "The list has no column 'alpha2Code', 'alpha3Code', 'numericCode'"),
        (LIST.replace("068", "68"), "Line 2 is not a country"),
        (LIST.replace("CL,", "cl,"), "Line 3 is not a country"),
        (LIST.replace("CL,", "\ncl,"), "Line 4 is not a country"),
        ("name,alpha2Code,alpha3Code,numericCode\nBolivia,BO,BOL\n", "Line 2 is not a country"),
        (LIST + "\nBO,BOL,068,Bolivia again\n", "Lines 2 and 5 both have the code BO"),
        (LIST + "KR,KOR,410,Korea, Republic of\n", "Line 4 has more values than columns"),
        (LIST + 'PE,PER,604,"Peru\nUY,URY,858,Uruguay\n', "Line 5 is not CSV: unexpected end of data"),
        (LIST + 'PE,PER,604,"Peru" (Republic)\n', "Line 4 is not CSV"),
        (LIST + f"PE,PER,604,{'x' * 5_000_000}\n", "Line 4 is not CSV: field larger than field limit"),
    ],
)
def test_a_list_that_is_none_is_refused_before_anything_is_written(text: str, said: str) -> None:
    with pytest.raises(OperationError, match=said):
        read_csv(text)


@pytest.mark.req("R06", "X04")
def test_a_line_that_is_no_country_names_its_columns_and_nothing_of_the_code() -> None:
    with pytest.raises(OperationError) as caught:
        read_csv(f"{HEADER}DE,DEU\n")
    assert caught.value.message == (
        "Line 2 is not a country: name: String should have at least 1 character; "
        "numericCode: String should match pattern '^[0-9]{3}$'."
    )


@pytest.mark.req("R06")
def test_a_list_without_a_column_is_told_which_it_needs() -> None:
    with pytest.raises(OperationError) as caught:
        read_csv("name\nBolivia\n")
    assert caught.value.hint == "A list has the columns alpha2Code, alpha3Code, numericCode, name."


@pytest.mark.req("R06")
def test_the_command_shows_first_and_writes_when_it_is_told(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["countries", "import", *arguments, "--data", str(tmp_path / "data")])
        assert result.exit_code == 0, result.output
        return result.output

    file = tmp_path / "list.csv"
    file.write_text(LIST, encoding="utf-8")
    shown = run(str(file))
    assert [line.split() for line in shown.splitlines()[1:3]] == [
        ["create", "BO", "now", "Bolivia"],
        ["create", "CL", "now", "Chile"],
    ]
    assert shown.endswith("2 versions would be added; --apply adds them.\n")
    assert run(str(file)) == shown
    assert run(str(file), "--apply").endswith("2 versions added.\n")
    assert run(str(file), "--apply") == "Nothing to change.\n"
    file.write_text(LIST.replace("Chile", "Republic of Chile"), encoding="utf-8")
    assert "name: Chile -> Republic of Chile" in run(str(file))


@pytest.mark.req("R06")
def test_a_list_is_text_in_utf_8(tmp_path: Path) -> None:
    def run(content: bytes) -> tuple[int, str]:
        file = tmp_path / "list.csv"
        file.write_bytes(content)
        result = CliRunner().invoke(main, ["countries", "import", str(file), "--data", str(tmp_path / "data")])
        return result.exit_code, result.output

    text = LIST + "CI,CIV,384,Côte d'Ivoire\r\n"
    assert run(text.encode("utf-8-sig")) == run(text.encode())
    assert run(text.encode())[0] == 0
    code, said = run(text.encode("latin-1"))
    assert (code, said) == (1, f"Error: Line 4 of {tmp_path / 'list.csv'} is not UTF-8 text. Save it as UTF-8.\n")

"""The entry point of CommitCollect, its sample data, its settings, and the budgets of its patterns."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.services.commitcollect.world import TRACE

from partita import Session
from partita.cli import DataFolder, installation_of, main
from partita.cost import measure
from partita.errors import AlreadyExists, OperationError
from partita.service import discover
from partita.testing import FakeClock
from partita_services.commitcollect.bootstrap import SERVICE, open_tools
from partita_services.commitcollect.milestones.awarding import award_earned
from partita_services.commitcollect.milestones.progress import measure as measure_progress
from partita_services.commitcollect.milestones.progress import parts_earned
from partita_services.commitcollect.model import MilestoneStatus, awards_for, awards_of, milestones_of
from partita_services.commitcollect.samples.data import SAMPLE_USER, seed
from partita_services.commitcollect.strava import settings


def test_it_is_found_by_its_entry_point() -> None:
    assert SERVICE in discover()


@pytest.mark.req("X02")
def test_the_sample_data_is_written_once(partita_db: Session, fake_clock: FakeClock) -> None:
    for write in seed(fake_clock()):
        partita_db.run(write)
    fake_clock.advance(86_400)
    for write in seed(fake_clock()):
        with pytest.raises(AlreadyExists):
            partita_db.run(write)


@pytest.mark.req("C12", "X02")
def test_the_samples_have_earned_what_they_have(partita_db: Session, fake_clock: FakeClock) -> None:
    for write in seed(fake_clock()):
        partita_db.run(write)
    milestones = partita_db.run(milestones_of(SAMPLE_USER)).items
    assert {one.status for one in milestones} == set(MilestoneStatus) - {MilestoneStatus.CANCELLED}
    for one, progress in zip(milestones, partita_db.run(measure_progress(SAMPLE_USER, milestones)), strict=True):
        earned = parts_earned(progress.value, one.target, one.parts_total)
        awards = partita_db.run(awards_for(SAMPLE_USER, one.milestone_id))
        assert (one.parts_earned, [award.part_index for award in awards]) == (earned, list(range(1, earned + 1)))
    before = partita_db.run(awards_of(SAMPLE_USER).page(100)).items
    partita_db.run(award_earned(SAMPLE_USER, fake_clock(), TRACE))
    assert partita_db.run(awards_of(SAMPLE_USER).page(100)).items == before


@pytest.mark.req("C24")
def test_every_pattern_stays_within_its_budget() -> None:
    measured = measure(SERVICE)
    assert [one.pattern for one in measured if one.verdict == "over"] == []
    assert len([one for one in measured if one.verdict == "within"]) > 40


@pytest.mark.req("C02")
def test_what_is_not_set_is_made_from_the_secret_of_the_installation(tmp_path: Path) -> None:
    installation = installation_of(DataFolder(tmp_path), "http://127.0.0.1:8000")
    made, again = settings.read(installation, {}), settings.read(installation, {})
    assert made == again
    assert made.strava_url == "http://127.0.0.1:8000/strava-simulator"
    address, _, key = made.webhook_url.rpartition("/")
    assert address == "http://127.0.0.1:8000/commitcollect/webhooks/strava"
    assert len(bytes.fromhex(key)) == 16
    assert len({made.client_secret, made.verify_token, made.token_key.hex()}) == 3
    other = settings.read(installation_of(DataFolder(tmp_path / "other")), {})
    assert other.token_key != made.token_key
    assert other.webhook_key != key


@pytest.mark.req("C02", "C08")
def test_the_environment_decides(tmp_path: Path) -> None:
    key = bytes(range(32))
    environment = {
        settings.STRAVA_URL: "https://www.strava.com/",
        settings.CLIENT_ID: "4711",
        settings.CLIENT_SECRET: "s",
        settings.VERIFY_TOKEN: "v",
        settings.TOKEN_KEY: base64.b64encode(key).decode(),
        settings.PUBLIC_URL: "https://collect.example",
    }
    assert settings.read(installation_of(DataFolder(tmp_path)), environment) == settings.Settings(
        "https://collect.example", "https://www.strava.com", "4711", "s", "v", key
    )


@pytest.mark.req("C02")
@pytest.mark.parametrize("key", ["short", "c2hvcnQ=", "%%%"])
def test_a_key_that_is_none_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(OperationError, match="32 bytes in base 64"):
        settings.read(installation_of(DataFolder(tmp_path)), {settings.TOKEN_KEY: key})


@pytest.mark.req("C02", "C08")
@pytest.mark.parametrize(
    "url",
    [
        "http://www.strava.com",
        "HTTP://strava.test",
        "http://127.0.0.1.strava.test",
        "http://localhost@strava.test",
        "http://0.0.0.0:80",
        "http://",
        "http://[",
        "//www.strava.com",
        "ftp://127.0.0.1",
        "strava.test",
    ],
)
def test_a_strava_that_would_read_tokens_in_plain_text_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(OperationError, match="tokens would be sent in plain text"):
        settings.read(installation_of(DataFolder(tmp_path)), {settings.STRAVA_URL: url})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8322", "http://localhost:8322", "http://[::1]:1", "https://s.test"])
def test_a_strava_over_https_or_of_this_machine_is_taken(tmp_path: Path, url: str) -> None:
    made = settings.read(installation_of(DataFolder(tmp_path)), {settings.STRAVA_URL: f"{url}/"})
    assert (made.strava_url, made.has_simulator) == (url, False)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (settings.STRAVA_URL, "http://www.strava.com", "tokens would be sent in plain text. Set an https:// address"),
        (settings.SIMULATOR, "yes", "cannot be 'yes'. Leave it unset, or set it to 'everyone'."),
        (settings.TOKEN_KEY, "short", "must be 32 bytes in base 64. Generate a key"),
    ],
)
def test_a_wrong_setting_ends_the_start_with_one_line(tmp_path: Path, name: str, value: str, said: str) -> None:
    command = ["serve", "commitcollect", "--port", "0", "--data", str(tmp_path), "--no-seed"]
    result = CliRunner().invoke(main, command, env={name: value})
    assert (result.exit_code, said in result.output, len(result.output.splitlines())) == (1, True, 1)


def test_its_tools_are_opened_and_closed(tmp_path: Path) -> None:
    with open_tools(installation_of(DataFolder(tmp_path))) as tools:
        assert tools.queue.name == "commitcollect"
    assert (tmp_path / "queue-commitcollect.db").exists()

"""`partita copy`: what it prints, copies and rejects."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.transfer.support import contents, fill, order

from partita import EmbeddedStore
from partita.store import PutItem, ScanTable, TableNames, named_store
from partita.transfer import tables_of


def made(path: Path, items: int = 30) -> str:
    with EmbeddedStore(path, durable=False) as store:
        fill(store, items)
    return str(path)


def test_a_file_is_copied_to_another(run: Run, tmp_path: Path) -> None:
    source, target = made(tmp_path / "a.db"), str(tmp_path / "b.db")
    result = run("copy", "--from", source, "--to", target, "--yes")
    assert result.exit_code == 0, result.output
    assert "orders  30" in result.output
    assert "Neither side charges for units" in result.output
    assert "The target is equal to the source" in result.output
    verified = run("copy", "--from", source, "--to", target, "--verify")
    assert (verified.exit_code, "30 items compared, 0 differ." in verified.output) == (0, True)


def test_a_data_folder_is_copied_to_another(seeded: Run, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert seeded("copy", "--from", "embedded", "--to", str(other), "--yes", "todo").exit_code == 0
    with EmbeddedStore(other / "partita.db") as store:
        assert tables_of(store) == ("todo-app-data",)
    assert seeded("copy", "--from", str(folder), "--to", str(other), "--verify", "todo").exit_code == 0


def test_tables_are_not_copied_to_themselves(run: Run, tmp_path: Path) -> None:
    """With --follow, each change would cause another one."""
    source = made(tmp_path / "a.db")
    (tmp_path / "link.db").symlink_to(source)
    result = run("copy", "--from", source, "--to", str(tmp_path / "link.db"), "--replace", "--yes")
    assert (result.exit_code, "The source and the target are the same tables." in result.output) == (2, True)
    prefixed = run("copy", "--from", source, "--to", source, "--to-prefix", "copy-", "--yes", "orders")
    assert prefixed.exit_code == 0
    with EmbeddedStore(source) as store:
        assert contents(named_store(store, TableNames(prefix="copy-"))) == contents(store)


def test_a_comparison_is_not_followed(run: Run, tmp_path: Path) -> None:
    result = run("copy", "--from", "a.db", "--to", "b.db", "--verify", "--follow")
    assert (result.exit_code, "Give --verify or --follow, not both." in result.output) == (2, True)


def test_what_differs_is_printed(run: Run, tmp_path: Path) -> None:
    source, target = made(tmp_path / "a.db"), str(tmp_path / "b.db")
    assert run("copy", "--from", source, "--to", target, "--yes", "orders").exit_code == 0
    with EmbeddedStore(target) as store:
        store.execute(PutItem("orders", order(400)))
    result = run("copy", "--from", source, "--to", target, "--verify")
    assert result.exit_code == 1
    assert 'orders {"customer":{"S":"customer-1"},"number":{"N":"400"}}: only in the target' in result.output
    assert "30 items compared, 1 differ." in result.output


def test_it_asks_before_it_begins(run: Run, tmp_path: Path) -> None:
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    result = run("copy", "--from", source, "--to", str(target))
    assert result.exit_code == 1
    assert "Copy? [y/N]" in result.output
    with EmbeddedStore(target) as store:
        assert tables_of(store) == ()


def test_tables_may_have_other_names_there(run: Run, tmp_path: Path) -> None:
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    assert run("copy", "--from", source, "--to", str(target), "--to-prefix", "dev-", "--yes").exit_code == 0
    with EmbeddedStore(target) as store:
        assert len(contents(named_store(store, TableNames(prefix="dev-")))) == 30


def test_what_cannot_be_copied_is_said_in_one_line(run: Run, tmp_path: Path) -> None:
    source, target = made(tmp_path / "a.db"), made(tmp_path / "b.db", 1)
    ends = ("copy", "--from", source, "--to", target, "--yes")
    assert run(*ends).output.splitlines()[-1].startswith("Error: The table orders of the target is not empty.")
    assert "neither a table nor a service 'xyz'. The store has: orders." in run(*ends, "xyz").output
    assert "x.db does not exist." in run("copy", "--from", str(tmp_path / "x.db"), "--to", target, "--yes").output
    assert "There is no database in" in run("copy", "--from", str(tmp_path / "x"), "--to", target, "--yes").output
    assert run(*ends, "--replace").exit_code == 0


def test_a_sample_for_development_is_masked(seeded: Run, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "dev"
    ends = ("copy", "--from", str(folder), "--to", str(other), "--yes", "todo")
    result = seeded(*ends, "--sample", "50", "--mask")
    assert result.exit_code == 0, result.output
    assert "todo-app-data: " in result.output
    with EmbeddedStore(other / "partita.db") as store:
        found = repr(store.execute(ScanTable("todo-app-data")).items)
    assert "TASK#" in found
    assert "demo" not in found
    assert "--mask needs --sample" in seeded(*ends, "--mask").output

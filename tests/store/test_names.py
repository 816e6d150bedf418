"""Table names by stage or tenant: each declared table has a stored name, and no two have the same."""

from __future__ import annotations

import pytest

from partita import TableNames
from partita.errors import OperationError

STORED = {
    "a prefix": (TableNames(prefix="dev-"), "orders", "dev-orders"),
    "no prefix": (TableNames(prefix=""), "orders", "orders"),
    "a mapping": (TableNames({"orders": "orders-2024"}), "orders", "orders-2024"),
    "named, beside a prefix": (TableNames({"orders": "orders-2024"}, prefix="dev-"), "orders", "orders-2024"),
    "not named, beside a prefix": (TableNames({"orders": "orders-2024"}, prefix="dev-"), "users", "dev-users"),
    "two that change places": (TableNames({"orders": "users", "users": "orders"}), "users", "orders"),
}


@pytest.mark.parametrize(("names", "declared", "stored"), STORED.values(), ids=STORED.keys())
def test_a_name_leads_there_and_back(names: TableNames, declared: str, stored: str) -> None:
    assert (names.stored(declared), names.declared(stored)) == (stored, declared)


NOT_OURS = {
    "of another stage": (TableNames(prefix="dev-"), "prod-orders"),
    "the prefix itself": (TableNames(prefix="dev-"), "dev-"),
    "declared, but stored under another name": (TableNames({"orders": "orders-2024"}, prefix=""), "orders"),
    "not in the mapping": (TableNames({"orders": "orders-2024"}), "users"),
}


@pytest.mark.parametrize(("names", "stored"), NOT_OURS.values(), ids=NOT_OURS.keys())
def test_a_stored_table_may_belong_to_someone_else(names: TableNames, stored: str) -> None:
    assert names.declared(stored) is None


def test_a_table_that_the_mapping_does_not_name_is_refused() -> None:
    with pytest.raises(OperationError, match=r"'orders' is not in the mapping of names\. It contains users, bills"):
        TableNames({"users": "people", "bills": "bills-2"}).stored("orders")


def test_two_tables_of_one_stored_name_are_refused() -> None:
    with pytest.raises(OperationError, match="'users' and 'orders' would both be stored as 'both'"):
        TableNames({"orders": "both", "users": "both"})


@pytest.mark.parametrize("prefix", ["", "dev-"])
def test_a_prefix_does_not_lead_to_a_name_that_is_taken(prefix: str) -> None:
    names = TableNames({"orders": f"{prefix}users"}, prefix=prefix)
    with pytest.raises(OperationError, match=f"'users' and 'orders' would both be stored as '{prefix}users'"):
        names.stored("users")


@pytest.mark.parametrize("prefix", ["dev/", "dev*", "dév-", "d" * 253, "dev\n"])
def test_a_prefix_that_no_name_can_begin_with_is_refused(prefix: str) -> None:
    with pytest.raises(OperationError, match="is not a valid prefix of table names"):
        TableNames(prefix=prefix)


@pytest.mark.parametrize("stored", ["", "ab", "a/b", "n" * 256, "abc\n"])
def test_a_name_that_dynamodb_does_not_take_is_refused(stored: str) -> None:
    with pytest.raises(OperationError, match="is not a valid name for the table 'orders'"):
        TableNames({"orders": stored})


def test_nothing_at_all_is_refused() -> None:
    with pytest.raises(OperationError, match="Neither table names nor a prefix"):
        TableNames()


def test_only_names_that_differ_change_something() -> None:
    same = (TableNames(prefix=""), TableNames({"orders": "orders"}, prefix=""))
    other = (TableNames(prefix="dev-"), TableNames({"orders": "orders"}), TableNames({"a": "orders"}, prefix=""))
    assert ([names.changes_nothing for names in same], [names.changes_nothing for names in other]) == (
        [True, True],
        [False, False, False],
    )

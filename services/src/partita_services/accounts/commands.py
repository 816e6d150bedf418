"""`partita accounts …`: the audit of the ledgers."""

from __future__ import annotations

from contextlib import closing

import click

from partita import Session
from partita.cli import DataFolder, echo_table, store_options
from partita_services.accounts.audit import AuditReport, audit, carry_forward


@click.group()
def accounts() -> None:
    """Check the accounts."""


@accounts.command("audit")
@click.option(
    "--carry-forward",
    "is_carried",
    is_flag=True,
    help="Write a first entry for accounts that were stored before ledgers existed.",
)
@store_options
def audit_ledgers(data: DataFolder, *, is_carried: bool) -> None:
    """Add up every ledger, and compare the sum with the balance. Exits with 1 if they differ."""
    with closing(data.open_store(must_exist=True)) as store:
        session = Session(store)
        report = audit(session)
        if is_carried:
            for finding in report.findings:
                if finding.can_be_carried_forward:
                    carry_forward(session, finding.account)
                    click.echo(f"{finding.account}: {finding.balance} carried forward.")
            report = audit(session)
    _show(report)


def _show(report: AuditReport) -> None:
    added_up = f"{report.accounts} accounts with {report.entries} entries"
    if not report.findings:
        click.echo(f"{added_up}: every balance is the sum of its entries.")
        return
    rows = [(each.account, each.what, str(each.balance), str(each.entries)) for each in report.findings]
    echo_table(("account", "problem", "stored", "sum of its entries"), rows)
    if any(each.can_be_carried_forward for each in report.findings):
        click.echo("Some accounts have no entries: --carry-forward writes their first entry.")
    raise click.ClickException(f"{len(report.findings)} of {added_up} do not add up.")

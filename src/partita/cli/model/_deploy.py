"""`partita deploy`: derive infrastructure from the model, and compare it with a running endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import click
import msgspec

from partita.cli._data_folder import prefix_option
from partita.cli._installation import LEASES, with_leases
from partita.cli._names import chosen_services, services_argument
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli.data import diff
from partita.deploy import (
    DOCKERFILE,
    ROLES,
    Containers,
    Functions,
    Need,
    Provisioned,
    RoleName,
    TableSettings,
    arns_in,
    left_out,
    needs,
    policy,
    template,
)
from partita.reports import REPORTS, with_reports
from partita.service import Service
from partita.store import TableNames

if TYPE_CHECKING:
    from partita.deploy import Arns


@click.group()
def deploy() -> None:
    """Derive infrastructure from the model."""


deploy.add_command(diff)


def _check_key(context: click.Context, parameter: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's
    if value not in ("aws-owned", "aws-managed") and not value.startswith("arn:"):
        raise click.BadParameter("Must be aws-owned, aws-managed, or the ARN of a key.")
    return value


@deploy.command()
@chosen_services
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to write to.")
@click.option(
    "--provisioned",
    type=(click.IntRange(min=1), click.IntRange(min=1)),
    metavar="READ WRITE",
    help="Capacity units of each table and global index. Default: on demand.",
)
@click.option(
    "--encryption",
    default="aws-owned",
    show_default=True,
    callback=_check_key,
    help="Key that encrypts the tables: aws-owned, aws-managed, or the ARN of a key of your own.",
)
@click.option(
    "--tag", "tags", type=(str, str), metavar="KEY VALUE", multiple=True, help="Tag of every table; may be repeated."
)
@click.option("--alarm-topic", metavar="ARN", help="SNS topic that alarms are sent to.")
@click.option(
    "--compute",
    type=click.Choice(["lambda", "container"]),
    help="Run the services as functions of AWS Lambda, or as tasks of Amazon ECS. Default: neither.",
)
@click.option("--lake", metavar="s3://BUCKET/PREFIX", help="With --compute lambda: write changes to this lake.")
@click.option("--disposable", is_flag=True, help="For trials: tables may be deleted, and have no backups.")
@prefix_option
def synth(  # noqa: PLR0913 - one for each option
    services: Sequence[Service],
    out: Path,
    provisioned: tuple[int, int] | None,
    encryption: str,
    tags: Sequence[tuple[str, str]],
    alarm_topic: str | None,
    table_prefix: str,
    *,
    compute: str | None,
    lake: str | None,
    disposable: bool,
) -> None:
    """Write a CloudFormation template for each service.

    Also writes one for the table of reports if a service has workers, and one for the table of leases if the changes of
    a service can be written to a lake. With --compute container, also writes the Dockerfile of the image.
    """
    if lake is not None and compute != "lambda":
        raise click.UsageError("--lake needs --compute lambda. Otherwise, fill the lake with `partita cdc run`.")
    runs_on = {"lambda": Functions(lake=lake), "container": Containers(), None: None}[compute]
    settings = TableSettings(
        capacity=Provisioned(*provisioned) if provisioned else "on-demand",
        recovery=not disposable,
        protected=not disposable,
        retained=not disposable,
        encryption=encryption,
        tags=dict(tags),
        alarm_topic=alarm_topic,
    )
    out.mkdir(parents=True, exist_ok=True)
    for service in with_leases(with_reports(services)):
        path = out / f"{service.name}.template.json"
        own = None if service in (REPORTS, LEASES) else runs_on  # the services write to these tables themselves
        made = template(service, settings, table_names=TableNames(prefix=table_prefix), compute=own)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n")
        click.echo(path)
    if compute == "container":
        (out / "Dockerfile").write_text(DOCKERFILE, encoding="utf-8")
        click.echo(out / "Dockerfile")


@deploy.command()
@services_argument
@click.option(
    "--role", "roles", type=click.Choice(get_args(RoleName)), multiple=True, help="Only this role; may be repeated."
)
@click.option("--region", default="*", show_default=True, help="Region in the names of resources.")
@click.option("--account", default="*", show_default=True, help="Account in the names of resources.")
@prefix_option
@json_option
def iam(
    services: Sequence[Service], roles: Sequence[str], region: str, account: str, table_prefix: str, *, as_json: bool
) -> None:
    """Print the policy of each role.

    Each line names the access patterns that need it.

    For credentials of a single caller, also prints what they do not allow, and why. With --json, prints the policies in
    the format that IAM accepts.
    """
    wanted = cast("Sequence[RoleName]", roles or tuple(ROLES))
    services = with_leases(with_reports(services))
    found = {service.name: _needs(service, wanted) for service in services}
    arns = arns_in(region, account, table_names=TableNames(prefix=table_prefix))
    if as_json:
        echo_json({name: {role: policy(each, arns) for role, each in found[name].items()} for name in found})
        return
    for service in services:
        for role, each in found[service.name].items():
            click.secho(f"{service.name}, {role}: {ROLES[role]}", bold=True)
            echo_table(("ACTION", "RESOURCE", "NEEDED BY"), _rows(each, arns))
            if role == "caller":
                _echo_left_out(service)
            click.echo()


def _needs(service: Service, roles: Sequence[RoleName]) -> dict[RoleName, tuple[Need, ...]]:
    return {role: needed for role in roles if (needed := needs(service, role))}


def _echo_left_out(service: Service) -> None:
    click.echo()
    echo_table(("LEFT OUT", "BECAUSE"), [(each.name, each.reason) for each in left_out(service)])


def _rows(needed: Sequence[Need], arns: Arns) -> list[tuple[str, str, str]]:
    lines: dict[tuple[str, str], list[str]] = {}
    for need in needed:
        own = f" where the key is {need.partition}" if need.partition else ""
        lines.setdefault((need.action, f"{arns(need.resource)}{own}"), []).append(need.by)
    return [(action, resource, ", ".join(dict.fromkeys(by))) for (action, resource), by in sorted(lines.items())]

"""`partita deploy`: templates, policies with the reason for each statement, and differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita.cli._installation import LEASES
from partita.deploy import arns_in, needs, policy
from partita.reports import REPORTS
from partita_services.todo.bootstrap import SERVICE as TODO

pytestmark = pytest.mark.req("A07")


def test_synth_writes_a_template_for_each_service(run: Run, tmp_path: Path) -> None:
    result = run("deploy", "synth", "accounts", "countries", "--out", str(tmp_path / "new"))
    files = [tmp_path / "new" / f"{name}.template.json" for name in ("accounts", "countries", "partita-leases")]
    assert (result.exit_code, result.output.split()) == (0, [str(file) for file in files])
    assert [sorted(json.loads(file.read_text())) for file in files] == [
        ["AWSTemplateFormatVersion", "Description", "Outputs", "Resources"]
    ] * 3


def test_the_table_in_which_workers_report_has_a_template_of_its_own(run: Run, tmp_path: Path) -> None:
    assert run("deploy", "synth", "events", "--out", str(tmp_path)).exit_code == 0
    resources = json.loads((tmp_path / "partita.template.json").read_text())["Resources"]
    assert {"PartitaReports", "RequestPolicy", "WorkerPolicy"} <= resources.keys()
    allowed = resources["WorkerPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    actions = {action for statement in allowed for action in statement["Action"]}
    assert {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:Query"} <= actions


def test_the_settings_of_tables_can_be_chosen(run: Run, tmp_path: Path) -> None:
    chosen = "--provisioned 5 2 --encryption aws-managed --tag team north --alarm-topic arn:aws:sns:::t --disposable"
    assert run("deploy", "synth", "todo", "--out", str(tmp_path), *chosen.split()).exit_code == 0
    resources = json.loads((tmp_path / "todo.template.json").read_text())["Resources"]
    table = resources["TodoAppData"]
    properties = table["Properties"]
    assert (table["DeletionPolicy"], properties["DeletionProtectionEnabled"]) == ("Delete", False)
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": False}
    assert properties["ProvisionedThroughput"] == {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    assert properties["SSESpecification"]["SSEType"] == "KMS"
    assert properties["Tags"] == [{"Key": "team", "Value": "north"}]
    assert resources["BudgetsExceeded"]["Properties"]["AlarmActions"] == ["arn:aws:sns:::t"]


def test_what_services_run_on_can_be_chosen(run: Run, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path))
    assert run("deploy", "synth", "todo", *out, "--compute", "lambda", "--lake", "s3://lake/x").exit_code == 0
    resources = json.loads((tmp_path / "todo.template.json").read_text())["Resources"]
    assert {"RequestFunction", "WorkerFunction", "StreamFunction"} <= resources.keys()
    result = run("deploy", "synth", "todo", *out, "--compute", "container")
    assert result.output.split()[-1] == str(tmp_path / "Dockerfile")
    assert "HEALTHCHECK" in (tmp_path / "Dockerfile").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lake", "s3://lake/x"], "--lake needs --compute lambda"),
        (["--compute", "lambda", "--lake", "/tmp/lake"], "Write s3://BUCKET/PREFIX"),  # noqa: S108 - never created
    ],
)
def test_a_lake_of_functions_is_on_s3(run: Run, tmp_path: Path, options: list[str], message: str) -> None:
    result = run("deploy", "synth", "todo", "--out", str(tmp_path), *options)
    assert result.exit_code != 0
    assert message in result.output + result.stderr
    assert "Traceback" not in result.output + result.stderr


def test_iam_names_the_patterns_that_need_each_line(run: Run) -> None:
    lines = run("deploy", "iam", "todo", "--role", "request").output.splitlines()
    assert lines[0] == "todo, request: Answers requests."
    arn = "arn:aws:dynamodb:*:*:table/todo-app-data"
    assert [line.split(maxsplit=2) for line in lines if "BatchGetItem" in line or "GSI1" in line] == [
        ["dynamodb:BatchGetItem", arn, "tasks_by_ids"],
        ["dynamodb:Query", f"{arn}/index/GSI1", "tasks_by_status, tasks_with_status, completed_tasks"],
    ]


def test_iam_says_which_keys_are_a_callers_own(run: Run) -> None:
    output = run("deploy", "iam", "todo", "--role", "caller").output
    assert "table/todo-app-data where the key is TASK#${aws:PrincipalTag/user_id}  " in output


def test_iam_says_what_a_caller_may_not_do_and_why(run: Run) -> None:
    lines = run("deploy", "iam", "todo", "--role", "caller").output.splitlines()
    reasons = dict(line.split(maxsplit=1) for line in lines[lines.index("") + 1 :] if line)
    assert reasons["create_task"] == "it could put an item into anyone's part of the index GSI1"
    assert reasons["claim_on"] == "the partition UNIQUE#{field}#{value} does not begin with the caller"
    assert "delete_task" not in reasons


def test_iam_prints_the_policies_as_aws_takes_them(run: Run) -> None:
    result = run("deploy", "iam", "todo", "--role", "request", "--region", "eu-north-1", "--account", "1", "--json")
    arns = arns_in("eu-north-1", "1")
    both = {service.name: {"request": policy(needs(service, "request"), arns)} for service in (TODO, REPORTS, LEASES)}
    assert both == json.loads(result.output)


def test_roles_that_need_nothing_are_left_out(run: Run) -> None:
    roles = json.loads(run("deploy", "iam", "accounts", "--json").output)["accounts"]
    assert sorted(roles) == ["cdc", "maintenance", "request"]


def test_diff_compares_with_what_is_stored(run: Run) -> None:
    run("tables", "create", "accounts")
    before = run("deploy", "diff", "todo")
    assert (before.exit_code, "is missing" in before.output) == (1, True)
    run("tables", "create", "todo")
    assert run("deploy", "diff", "todo").output == "The store has everything that is declared.\n"


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("--provisioned -1 0", "-1 is not in the range x>=1."),
        ("--provisioned 1 0", "0 is not in the range x>=1."),
        ("--encryption aws-managd", "Must be aws-owned, aws-managed, or the ARN of a key."),
        ("--encryption alias/mine", "Must be aws-owned, aws-managed, or the ARN of a key."),
    ],
)
def test_settings_that_aws_would_refuse_are_refused(chosen: str, said: str, run: Run, tmp_path: Path) -> None:
    result = run("deploy", "synth", "todo", "--out", str(tmp_path / "new"), *chosen.split())
    assert (result.exit_code, said in result.output, (tmp_path / "new").exists()) == (2, True, False)


def test_a_key_of_ones_own_is_named_by_its_arn(run: Run, tmp_path: Path) -> None:
    arn = "arn:aws:kms:eu-north-1:1:key/k"
    assert run("deploy", "synth", "todo", "--out", str(tmp_path), "--encryption", arn).exit_code == 0
    assert arn in (tmp_path / "todo.template.json").read_text()

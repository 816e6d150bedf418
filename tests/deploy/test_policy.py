"""The permissions that each role needs, and the policy that is derived from them."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest
from fastapi import APIRouter
from msgspec.structs import replace

from partita import (
    Encrypted,
    Entity,
    Index,
    Key,
    LocalIndex,
    Put,
    Registry,
    Table,
    Transaction,
    UpsertImages,
    f,
    get,
    pattern,
    put,
    query,
    transact,
    update,
    upsert,
)
from partita.deploy import ROLES, LeftOut, Need, Resource, RoleName, arns_in, left_out, needs, policy
from partita.errors import ModelError
from partita.model import schema_of
from partita.patterns import declare_operation
from partita.queue import QueuePolicy
from partita.recipes.leases import LeaseRecord, Leases
from partita.recipes.versioned._migrations import Migrations
from partita.recipes.versioned._table import VersionedTable
from partita.service import Service, WorkerContext, discover
from partita.store import BatchWriteItem, ConditionCheck, DeleteItem, PutItem, TableNames, UpdateItem

pytestmark = pytest.mark.req("A07")

TABLE = Table("jobs", indexes=[Index("GSI1")], registry=Registry())
RATES = Table("rates", hash="pk", range=None, stream="NEW_AND_OLD_IMAGES", registry=Registry())
UNSAID = Table("unsaid", registry=Registry())


class Job(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "JOB#{job_id}")
    by_state: ClassVar = Key("STATE#{state}", "JOB#{job_id}", index="GSI1")

    user_id: str
    job_id: str
    state: str = "new"


class JobLease(LeaseRecord, table=TABLE):
    primary: ClassVar = Key("LEASE#{name}", "LEASE")


class Rate(Entity, table=RATES):
    primary: ClassVar = Key("{pk}")

    pk: str
    per_mille: int


@get(Job)
def job_by_id(user_id: str, job_id: str) -> None:
    """One job."""


@query(Job, Job.by_state)
def jobs_in(state: str) -> None:
    """Jobs in one state."""


@pattern()
def add_job(job: Job) -> Put[Job]:
    """Add a job."""
    return put(job)


@pattern()
def restate(job: Job) -> UpsertImages[Job]:
    """Create a job or set its state, and return both images."""
    return upsert(job, f(Job.state).set(job.state)).images()


@pattern(writes={Job: (UpdateItem,), JobLease: (ConditionCheck,)})
def finish(job: Job) -> Transaction:
    """Finish a job, while the lease is held."""
    return transact(update(job, f(Job.state).set("done")))


@get(Rate)
def rate(pk: str) -> None:
    """A rate."""


class Thing(Entity, table=UNSAID):
    primary: ClassVar = Key("THING#{name}", "THING")

    name: str


@pattern()
def change_all(thing: Thing) -> Transaction:
    """Change everything."""
    return transact(put(thing))


LEASES = Leases(JobLease)
VersionedTable(
    rate,
    data_version=2,
    example=Rate(pk="eur", per_mille=1),
    migrations=Migrations({1: lambda item: {**item, "per_mille": 1}}),
)


def work(context: WorkerContext) -> None:
    """Do nothing."""


SERVICE = Service(
    name="jobs",
    title="Jobs",
    summary="Things to be done.",
    tables=(TABLE, RATES),
    router=APIRouter,
    worker=work,
    roles={
        "worker": (jobs_in, finish, "JobLease.acquire", "JobLease.release"),
        "request": (jobs_in,),
        "nobody": ("JobLease.renew", "JobLease.check", "job_lease_by_name"),
    },
    caller=("user_id",),
    queues={"jobs": QueuePolicy()},
)
JOBS, STATES, QUEUE = Resource("table", "jobs"), Resource("index", "jobs", "GSI1"), Resource("queue", "jobs")
DEAD = Resource("dead letters", "jobs")


def on_items(role: RoleName) -> set[tuple[str, Resource, str]]:
    found = [need for need in needs(SERVICE, role) if need.by != "start" and need.action.startswith("dynamodb:")]
    return {(need.action, need.resource, need.by) for need in found}


def test_what_no_role_lists_is_the_request_paths() -> None:
    assert on_items("request") == {
        ("dynamodb:GetItem", JOBS, "job_by_id"),
        ("dynamodb:Query", STATES, "jobs_in"),
        ("dynamodb:PutItem", JOBS, "add_job"),
        ("dynamodb:UpdateItem", JOBS, "restate"),
        ("dynamodb:GetItem", Resource("table", "rates"), "rate"),
        ("dynamodb:GetItem", Resource("table", "rates"), "Rate.read_strong"),
        ("dynamodb:PutItem", Resource("table", "rates"), "Rate.update"),
    }


def test_workers_need_what_their_role_lists() -> None:
    assert on_items("worker") == {
        ("dynamodb:Query", STATES, "jobs_in"),
        ("dynamodb:UpdateItem", JOBS, "finish"),
        ("dynamodb:ConditionCheckItem", JOBS, "finish"),
        ("dynamodb:UpdateItem", JOBS, "JobLease.acquire"),
        ("dynamodb:UpdateItem", JOBS, "JobLease.release"),
    }


def test_change_capture_reads_the_streams_that_have_both_images() -> None:
    stream, by = Resource("stream", "rates"), "change stream"
    assert on_items("cdc") == {
        ("dynamodb:DescribeTable", Resource("table", "rates"), by),
        ("dynamodb:DescribeStream", stream, by),
        ("dynamodb:GetRecords", stream, by),
        ("dynamodb:GetShardIterator", stream, by),
    }


def test_maintenance_scans_and_rewrites_what_may_be_old() -> None:
    assert on_items("maintenance") == {
        ("dynamodb:Scan", JOBS, "scan"),
        ("dynamodb:Scan", Resource("table", "rates"), "scan"),
        ("dynamodb:PutItem", Resource("table", "rates"), "Rate.backfill"),
    }


def test_each_role_needs_its_side_of_the_queue() -> None:
    asked = {
        role: {(need.action, need.resource) for need in needs(SERVICE, role) if need.action.startswith("sqs:")}
        for role in ROLES
    }
    opening = {(f"sqs:{action}", place) for action in ("GetQueueAttributes", "GetQueueUrl") for place in (QUEUE, DEAD)}
    receiving = ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage")
    sending = {("sqs:SendMessage", QUEUE)}
    assert asked == {
        "request": opening | sending,
        "worker": opening | sending | {(action, QUEUE) for action in receiving},
        "cdc": set(),
        "maintenance": opening | sending | {(action, DEAD) for action in receiving},
        "caller": set(),
    }


OWN = "USER#${aws:PrincipalTag/user_id}"


def test_a_caller_needs_what_begins_with_the_caller() -> None:
    assert needs(SERVICE, "caller") == (Need("dynamodb:GetItem", JOBS, "job_by_id", OWN),)


def test_a_caller_writes_only_where_no_index_can_be_reached() -> None:
    """A policy can restrict the table's key, but not the key of a global index, which is a plain attribute."""

    def writing(*indexes: Index | LocalIndex) -> Service:
        table = Table("letters", indexes=indexes, registry=Registry())

        class Letter(Entity, table=table):
            primary: ClassVar = Key("USER#{user_id}", "LETTER#{number:04}")

            user_id: str
            number: int

        for request in (PutItem, BatchWriteItem, UpdateItem, DeleteItem, ConditionCheck):
            declare_operation(schema_of(Letter), request.__name__, "Something with letters.", request)
        return replace(SERVICE, tables=(table,), roles={})

    def allowed(service: Service) -> list[str]:
        return [need.action.partition(":")[2] for need in needs(service, "caller")]

    for harmless in ((), (LocalIndex("LSI1"),), (Index("GSI1", hash="PK"),)):
        everything = ["PutItem", "BatchWriteItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"]
        assert everything == allowed(writing(*harmless))
    # No letter is in the index, but an item with the attributes of its key would be.
    assert allowed(writing(Index("GSI1"))) == ["DeleteItem", "ConditionCheckItem"]


def test_what_a_caller_may_not_do_is_said_with_the_reason() -> None:
    assert left_out(SERVICE) == (
        LeftOut("jobs_in", "the partition STATE#{state} does not begin with the caller"),
        LeftOut("add_job", "it could put an item into anyone's part of the index GSI1"),
        LeftOut("restate", "it could put an item into anyone's part of the index GSI1"),
        LeftOut("rate", "the partition {pk} does not begin with the caller"),
        LeftOut("Rate.read_strong", "the partition {pk} does not begin with the caller"),
        LeftOut("Rate.update", "the partition {pk} does not begin with the caller"),
    )
    assert left_out(replace(SERVICE, caller=())) == ()


def test_other_parts_of_a_callers_key_may_be_anything() -> None:
    table = Table("drafts", registry=Registry())

    class Draft(Entity, table=table):
        primary: ClassVar = Key("DRAFT#{user_id}#{year:04}", "DRAFT")

        user_id: str
        year: int

    @get(Draft)
    def draft(user_id: str, year: int) -> None: ...

    (need,) = needs(replace(SERVICE, tables=(table,), roles={}), "caller")
    assert need.partition == "DRAFT#${aws:PrincipalTag/user_id}#*"


def test_a_role_lists_what_is_declared() -> None:
    with pytest.raises(ModelError, match=r"the role 'worker' uses 'JobLease\.hold', which is not declared"):
        needs(replace(SERVICE, roles={"worker": ("JobLease.hold",)}), "worker")


def test_a_pattern_must_say_what_it_sends() -> None:
    with pytest.raises(ModelError, match="change_all does not declare which requests it sends"):
        needs(replace(SERVICE, tables=(UNSAID,), roles={}), "request")


def test_a_policy_has_one_statement_for_what_is_allowed_alike() -> None:
    needed = [
        Need("dynamodb:PutItem", JOBS, "a"),
        Need("dynamodb:GetItem", JOBS, "b"),
        Need("dynamodb:GetItem", JOBS, "c"),
        Need("dynamodb:Query", STATES, "d"),
        Need("dynamodb:Query", Resource("index", "jobs", "GSI0"), "e"),
    ]
    table = "arn:aws:dynamodb:eu-north-1:1:table/jobs"
    assert policy(needed, arns_in("eu-north-1", "1")) == {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:PutItem"], "Resource": [table]},
            {
                "Effect": "Allow",
                "Action": ["dynamodb:Query"],
                "Resource": [f"{table}/index/GSI0", f"{table}/index/GSI1"],
            },
        ],
    }


def test_own_keys_are_a_condition_that_a_request_without_keys_does_not_pass() -> None:
    needed = [Need("dynamodb:GetItem", JOBS, "a", "B#*"), Need("dynamodb:GetItem", JOBS, "b", "A#1")]
    (statement,) = policy(needed, arns_in("*", "*"))["Statement"]
    assert statement["Condition"] == {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["A#1", "B#*"]},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        (JOBS, "arn:aws:dynamodb:eu-north-1:1:table/jobs"),
        (STATES, "arn:aws:dynamodb:eu-north-1:1:table/jobs/index/GSI1"),
        (Resource("stream", "jobs"), "arn:aws:dynamodb:eu-north-1:1:table/jobs/stream/*"),
        (QUEUE, "arn:aws:sqs:eu-north-1:1:jobs.fifo"),
        (DEAD, "arn:aws:sqs:eu-north-1:1:jobs-dead.fifo"),
    ],
)
def test_resources_are_named_as_aws_names_them(resource: Resource, expected: str) -> None:
    assert expected == arns_in("eu-north-1", "1")(resource)


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        (JOBS, "arn:aws:dynamodb:*:1:table/dev-jobs"),
        (STATES, "arn:aws:dynamodb:*:1:table/dev-jobs/index/GSI1"),
        (Resource("stream", "jobs"), "arn:aws:dynamodb:*:1:table/dev-jobs/stream/*"),
        (Resource("table", "users"), "arn:aws:dynamodb:*:1:table/people"),
        (QUEUE, "arn:aws:sqs:*:1:dev-jobs.fifo"),
        (DEAD, "arn:aws:sqs:*:1:dev-jobs-dead.fifo"),
    ],
)
def test_resources_of_a_stage_have_its_names(resource: Resource, expected: str) -> None:
    names = TableNames({"users": "people"}, prefix="dev-")
    assert expected == arns_in("*", "1", table_names=names)(resource)


def test_patterns_of_one_name_on_two_tables_are_both_needed() -> None:
    left, right = (Table(name, registry=Registry()) for name in ("left", "right"))

    for table in (left, right):

        class Thing(Entity, table=table):
            primary: ClassVar = Key("THING#{name}", "THING")

            name: str

        @get(Thing)
        def thing(name: str) -> None: ...

    found = needs(replace(SERVICE, tables=(left, right), roles={}), "request")
    assert [need.resource.name for need in found if need.by == "thing"] == ["left", "right"]


MOST_CHARACTERS = 6_144
"""The maximum size of a managed policy, without white space."""


@pytest.mark.parametrize("service", discover(), ids=lambda service: service.name)
def test_every_policy_is_small_enough_for_aws(service: Service) -> None:
    arns = arns_in("ap-southeast-2", "123456789012")
    sizes = {role: len(json.dumps(policy(needs(service, role), arns), separators=(",", ":"))) for role in ROLES}
    assert {role for role, size in sizes.items() if size > MOST_CHARACTERS} == set()


class Vault(Entity, table=Table("vaults", registry=Registry())):
    primary: ClassVar = Key("VAULT#{user_id}", "VAULT")

    user_id: str
    pin: Encrypted[str]


def test_who_seals_fields_may_use_the_key_and_nothing_else_of_kms() -> None:
    """A caller's own credentials must not allow it, because their holder could decrypt the data of others."""
    vaults = schema_of(Vault).table
    sealed = replace(SERVICE, tables=(*SERVICE.tables, vaults), encryption_key="1234-5678")
    using: tuple[RoleName, ...] = ("request", "worker")
    others: tuple[RoleName, ...] = ("cdc", "maintenance", "caller")
    for role in using:
        found = {need.action for need in needs(sealed, role) if need.action.startswith("kms:")}
        assert found == {"kms:Decrypt", "kms:GenerateDataKey"}
    for role in others:
        assert not any(need.action.startswith("kms:") for need in needs(sealed, role))
    written = policy(needs(sealed, "request"), arns_in("eu-central-1", "123456789012"))
    (statement,) = [each for each in written["Statement"] if "kms:Decrypt" in each["Action"]]
    assert statement["Resource"] == ["arn:aws:kms:eu-central-1:123456789012:key/1234-5678"]
    for without in (replace(sealed, encryption_key=None), replace(SERVICE, encryption_key="1234-5678")):
        assert not any(need.action.startswith("kms:") for need in needs(without, "request"))

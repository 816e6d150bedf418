"""Tables written by PynamoDB, pydynox and boto3: a model for each, and updates that the tool can still read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest
from pydynox import DynamoDBClient, ModelConfig
from pydynox import Model as DynoxModel
from pydynox.attributes import (
    BooleanAttribute as DynoxBoolean,
)
from pydynox.attributes import (
    DatetimeAttribute,
    StringAttribute,
    StringSetAttribute,
)
from pydynox.attributes import (
    NumberAttribute as DynoxNumber,
)
from pynamodb.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    DiscriminatorAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
)
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from tests.adopt.conftest import Server
from tests.wire.clients.client import KEY, REGION, SECRET

JUNE = datetime(2026, 6, 1, 8, 30, 0, 250_000, tzinfo=UTC)


class Pynamo:
    """PynamoDB models with a date as sort key, a discriminator and an index."""

    def __init__(self, url: str) -> None:
        class ByAuthor(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
            class Meta:
                index_name = "by_author"
                projection = AllProjection()

            author = UnicodeAttribute(hash_key=True)
            created = UTCDateTimeAttribute(range_key=True)

        class Post(Model):
            class Meta:
                table_name = "posts"
                host = url
                region = REGION
                aws_access_key_id = KEY
                aws_secret_access_key = SECRET
                billing_mode = "PAY_PER_REQUEST"

            forum = UnicodeAttribute(hash_key=True)
            created = UTCDateTimeAttribute(range_key=True)
            cls = DiscriminatorAttribute()
            author = UnicodeAttribute(null=True)
            by_author = ByAuthor()

        class Question(Post, discriminator="Question"):
            votes = NumberAttribute()
            tags = UnicodeSetAttribute(null=True)
            solved = BooleanAttribute(default=False)
            seen = UTCDateTimeAttribute()
            raw = BinaryAttribute(legacy_encoding=False, null=True)

        class Answer(Post, discriminator="Answer"):
            score = NumberAttribute()
            meta: MapAttribute[str, Any] = MapAttribute(null=True)  # type: ignore[no-untyped-call]
            links: ListAttribute[str] = ListAttribute(null=True)
            extra = JSONAttribute(null=True)
            expires = TTLAttribute(null=True)

        self.Post, self.Question, self.Answer = Post, Question, Answer

    def write(self) -> None:
        self.Post.create_table()
        for day in (1, 2, 3):
            created = JUNE.replace(day=day)
            tags = {f"tag {day}", "all"} if day != 2 else None
            self.Question(
                "My Forum", created, votes=day, tags=tags, seen=created, author="Ada L", raw=bytes([day])
            ).save()
        for day in (4, 5):
            meta = {"kind": "long", "words": day}
            created = JUNE.replace(day=day)
            self.Answer(
                "My Forum", created, score=day + 0.5, meta=meta, links=["a"], extra={"x": [1]}, expires=created
            ).save()


@pytest.fixture
def pynamo(server: Server) -> Pynamo:
    models = Pynamo(server.url)
    models.write()
    return models


def test_pynamodb(server: Server, pynamo: Pynamo) -> None:
    adoption = server.adopt("posts")

    assert adoption.proof.differences == ()
    assert adoption.proof.entities == {"Question": 3, "Answer": 2}
    assert adoption.draft.type_attribute == "cls"
    (question, answer) = adoption.draft.entities
    assert [(key.index, key.hash, key.range) for key in question.keys] == [
        (None, "{forum}", "{created}"),
        ("by_author", "{author}", "{created}"),
    ]
    assert answer.field("score").annotation == "Decimal"


def test_pynamodb_reads_what_the_model_has_updated(server: Server, pynamo: Pynamo) -> None:
    server.adopt("posts")
    server.run(
        "found = list(db.run(questions_of_forum('My Forum')))\n"
        "db.run(update(found[0], f(Question.votes).set(70), f(Question.author).set('Bob')))\n"
        "db.run(put(found[1].with_changes(f(Question.votes).set(80))))\n"
    )
    questions = [each for each in pynamo.Post.query("My Forum") if isinstance(each, pynamo.Question)]
    assert [(each.votes, each.author, each.created.day) for each in questions] == [
        (70, "Bob", 1),
        (80, "Ada L", 2),
        (3, "Ada L", 3),
    ]
    assert questions[1].tags is None
    assert [each.raw for each in questions] == [b"\1", b"\2", b"\3"]
    assert [each.votes for each in pynamo.Post.by_author.query("Bob")] == [70]


def test_a_sort_key_of_pynamodb_that_is_an_instant_can_be_asked_for_a_range(server: Server) -> None:
    class Thread(Model):
        class Meta:
            table_name = "threads"
            host = server.url
            region = REGION
            aws_access_key_id = KEY
            aws_secret_access_key = SECRET
            billing_mode = "PAY_PER_REQUEST"

        forum = UnicodeAttribute(hash_key=True)
        created = UTCDateTimeAttribute(range_key=True)
        title = UnicodeAttribute()

    Thread.create_table()
    for day in (1, 2, 3):
        Thread("My Forum", JUNE.replace(day=day), title=f"day {day}").save()

    assert server.adopt("threads").proof.holds
    program = (
        "from partita import Span, query\n"
        "@query(Thread, Thread.primary)\n"
        "def since(forum: str, created_at: Span[datetime]) -> None:\n"
        "    'Threads since an instant.'\n"
        "found = list(db.run(since('My Forum', Span.since(datetime(2026, 6, 2, tzinfo=UTC)))))\n"
        "db.run(update(found[0], f(Thread.title).set('changed')))\n"
        "print([each.title for each in found])\n"
    )
    assert server.run(program) == "['day 2', 'day 3']"
    assert [each.title for each in Thread.query("My Forum")] == ["day 1", "changed", "day 3"]
    assert Thread.get("My Forum", JUNE.replace(day=2)).title == "changed"


class Dynox:
    """pydynox models whose keys are templates, with a discriminator."""

    def __init__(self, url: str) -> None:
        connection = DynamoDBClient(region=REGION, access_key=KEY, secret_key=SECRET, endpoint_url=url)

        class User(DynoxModel):
            model_config = ModelConfig(table="dynox", client=connection)
            pk = StringAttribute(partition_key=True, template="USER#{email}")
            sk = StringAttribute(sort_key=True, template="PROFILE")
            email = StringAttribute()
            name = StringAttribute()
            age = DynoxNumber()
            active = DynoxBoolean()
            tags = StringSetAttribute()
            kind = StringAttribute(discriminator=True)

        class Order(DynoxModel):
            model_config = ModelConfig(table="dynox", client=connection)
            pk = StringAttribute(partition_key=True, template="USER#{email}")
            sk = StringAttribute(sort_key=True, template="ORDER#{number}")
            email = StringAttribute()
            number = StringAttribute()
            placed = DatetimeAttribute()
            kind = StringAttribute(discriminator=True)

        self.client, self.User, self.Order = connection, User, Order

    def write(self) -> None:
        self.client.sync_create_table("dynox", ("pk", "S"), ("sk", "S"), wait=True)
        for name in ("Ada", "Bob"):
            email = f"{name} L@x.de"
            self.User(email=email, name=name, age=36, active=True, tags={"a", name}).sync_save()
            for number in ("1", "2"):
                self.Order(email=email, number=number, placed=JUNE).sync_save()

    def user(self, name: str) -> Any:
        return self.User.sync_get(pk=f"USER#{name} L@x.de", sk="PROFILE")


@pytest.fixture
def dynox(server: Server) -> Dynox:
    models = Dynox(server.url)
    models.write()
    return models


def test_pydynox(server: Server, dynox: Dynox) -> None:
    adoption = server.adopt("dynox")

    assert adoption.proof.differences == ()
    assert adoption.proof.entities == {"Order": 4, "User": 2}
    assert adoption.draft.type_attribute == "kind"
    keys = {entity.name: (entity.keys[0].hash, entity.keys[0].range) for entity in adoption.draft.entities}
    assert keys == {"User": ("USER#{email}", "PROFILE"), "Order": ("USER#{email}", "ORDER#{number}")}


def test_pydynox_reads_what_the_model_has_updated(server: Server, dynox: Dynox) -> None:
    server.adopt("dynox")
    server.run(
        "db.run(update(db.run(user('Ada L@x.de')), f(User.age).set(37)))\n"
        "db.run(put(db.run(user('Bob L@x.de')).with_changes(f(User.name).set('Rob'))))\n"
    )
    ada, bob = (dynox.user(name) for name in ("Ada", "Bob"))
    assert (ada.name, ada.age, ada.active, ada.tags) == ("Ada", 37, True, {"a", "Ada"})
    assert (bob.name, bob.age, bob.active, bob.tags) == ("Rob", 36, True, {"a", "Bob"})


def table(name: str, *indexes: str) -> dict[str, Any]:
    names = ["pk", "sk", *(f"{index}{part}" for index in indexes for part in ("pk", "sk"))]
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in names],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        **(
            {
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": index,
                        "KeySchema": [
                            {"AttributeName": f"{index}pk", "KeyType": "HASH"},
                            {"AttributeName": f"{index}sk", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                    for index in indexes
                ]
            }
            if indexes
            else {}
        ),
    }


def by_hand(separator: str) -> Iterator[dict[str, Any]]:
    """Yield users and their orders, as boto3 code often writes them: raw values, lower-case emails, padded numbers."""
    for name in ("Ada Lovelace", "Bob"):
        email = f"{name.split()[0]}@X.de"
        key = {"pk": {"S": f"USER{separator}{email.lower()}"}}
        profile = {"sk": {"S": "PROFILE"}, "name": {"S": name}, "email": {"S": email}, "age": {"N": "36"}}
        yield {**key, **profile, "gs1pk": {"S": f"NAME{separator}{name}"}, "gs1sk": {"S": email.lower()}}
        for number in (1, 12):
            order = {"sk": {"S": f"ORDER{separator}{number:06}"}, "number": {"N": str(number)}, "paid": {"BOOL": True}}
            lines = {"lines": {"L": [{"M": {"sku": {"S": "x"}, "price": {"N": "1.50"}}}]}, "codes": {"NS": ["1", "2"]}}
            open_ = {"gs1pk": {"S": f"OPEN{separator}true"}, "gs1sk": {"S": f"{number:06}"}, "open": {"S": "true"}}
            yield {**key, **order, **lines, **(open_ if number == 1 else {})}


@pytest.mark.parametrize("separator", ["#", "|", "::"])
def test_boto3_by_hand(server: Server, separator: str) -> None:
    server.create(table("hand", "gs1"), list(by_hand(separator)))
    adoption = server.adopt("hand")

    assert adoption.proof.differences == ()
    assert adoption.draft.notes == ()
    keys = {entity.name: [(key.hash, key.range) for key in entity.keys] for entity in adoption.draft.entities}
    s = separator
    assert keys == {
        "Order": [(f"USER{s}{{user_id}}", f"ORDER{s}{{number:06}}"), (f"OPEN{s}{{open}}", "{number:06}")],
        "UserProfile": [(f"USER{s}{{email:lower}}", "PROFILE"), (f"NAME{s}{{name}}", "{email:lower}")],
    }


def test_boto3_reads_what_the_model_has_updated(server: Server) -> None:
    before = list(by_hand("|"))
    server.create(table("hand", "gs1"), before)
    server.adopt("hand")
    server.run(
        "db.run(update(db.run(user_profile('ADA@x.de')), f(UserProfile.name).set('Ada King')))\n"
        "db.run(put(db.run(order('bob@x.de', 12)).with_changes(f(Order.paid).set(False))))\n"
    )
    with closing(server.client) as client:
        after = client.scan(TableName="hand")["Items"]
    before[0] |= {"name": {"S": "Ada King"}, "gs1pk": {"S": "NAME|Ada King"}}
    before[5] |= {"paid": {"BOOL": False}}
    assert sorted(map(steady, after)) == sorted(map(steady, before))


def steady(item: dict[str, Any]) -> str:
    """Return an item as text in a canonical form: number sets sorted, numbers as DynamoDB returns them."""
    item = {name: {"NS": sorted(value["NS"])} if "NS" in value else value for name, value in item.items()}
    return repr(sorted(item.items())).replace("'1.50'", "'1.5'")

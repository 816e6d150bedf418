"""PynamoDB; boto3 reads the stream, because PynamoDB cannot."""

from __future__ import annotations

from pynamodb.attributes import UnicodeAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, TransactWriteError
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite
from tests.wire.clients.client import KEY, REGION, SECRET, TABLE, USER, VIEW, Task, streamed


class PynamoDB:
    def __init__(self, url: str) -> None:
        class Row(Model):
            class Meta:
                table_name = TABLE
                host = url
                region = REGION
                aws_access_key_id = KEY
                aws_secret_access_key = SECRET
                billing_mode = "PAY_PER_REQUEST"
                stream_view_type = VIEW

            user = UnicodeAttribute(hash_key=True)
            task = UnicodeAttribute(range_key=True)
            title = UnicodeAttribute()

        self._url = url
        self._model = Row

    def create(self) -> None:
        self._model.create_table()

    def put(self, task: Task) -> None:
        self._row(task).save()

    def get(self, number: str) -> Task | None:
        try:
            return _plain(self._model.get(USER, number, consistent_read=True))
        except DoesNotExist:
            return None

    def rename(self, number: str, title: str) -> None:
        self._model(USER, number).update([self._model.title.set(title)])

    def add_together(self, *tasks: Task) -> bool:
        connection = Connection(region=REGION, host=self._url)
        connection.session.set_credentials(KEY, SECRET)
        try:
            with TransactWrite(connection=connection) as transaction:
                for task in tasks:
                    transaction.save(self._row(task), condition=self._model.task.does_not_exist())
        except TransactWriteError:
            return False
        return True

    def put_batch(self, *tasks: Task) -> None:
        with self._model.batch_write() as batch:
            for task in tasks:
                batch.save(self._row(task))

    def get_batch(self, *numbers: str) -> list[Task]:
        return [_plain(row) for row in self._model.batch_get([(USER, number) for number in numbers])]

    def query(self) -> list[Task]:
        return [_plain(row) for row in self._model.query(USER)]

    def changes(self) -> list[tuple[str, str]]:
        return streamed(self._url)

    def _row(self, task: Task) -> Model:
        return self._model(task["user"], task["task"], title=task["title"])

    def close(self) -> None:
        """Do nothing: PynamoDB manages its connections itself."""


def _plain(row: Model) -> Task:
    return {name: str(value) for name, value in row.attribute_values.items()}

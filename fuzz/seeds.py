"""The start of a run: a few inputs of each target, and the words of which inputs are made.

`FINDINGS` are the inputs with which a target has failed before; `tests/fuzz` runs each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fuzz.fields import BORDER

_COMPARISONS: Final = (b"=", b"<>", b"<=", b">=", b"AND", b"OR", b"NOT", b"BETWEEN", b"IN", b"(", b")", b",")
_FUNCTIONS: Final = (b"begins_with(", b"contains(", b"attribute_type(", b"size(", b"list_append(")
_HTTP: Final = (
    *(b"\r\n", b"\r\n\r\n", b"\n", b"\r", b" :", b"content-length: ", b"transfer-encoding: chunked\r\n", b"0\r\n\r\n"),
    *(b"connection: close\r\n", b"connection: upgrade\r\nupgrade: x\r\n", b"expect: 100-continue\r\n", b"HEAD / "),
    *(b"content-encoding: gzip\r\n", b"-6\r\n", b"0x2", b"1_0", b"+2", b"99999999999999999999"),
)
_HEADER: Final = b"alpha2Code,alpha3Code,numericCode,name\r\n"
_KEYS: Final = b'{"PK":{"S":"USER#a"},"SK":{"S":"NOTE#0001"}}'
_ITEM: Final = b'"TableName":"tasks","Key":{"user":{"S":"ann"},"task":{"S":"t1"}}'
_ARN: Final = b"arn:aws:dynamodb:local:000000000000:table/tasks"
_FAR_ITERATOR: Final = b"lqV0YXNrc6FzoXahc8___________8tB2lWYcAAAAA=="
"""An iterator with a position that no shard has: 2 ** 64 - 1."""

_CALLS: Final = (
    b'GetItem\xff{%b,"ProjectionExpression":"tags"}' % _ITEM,
    b'UpdateItem\xff{%b,"AttributeUpdates":{"rank":{"Value":{"N":"1"},"Action":"ADD"}}}' % _ITEM,
    b'DeleteItem\xff{%b,"ConditionExpression":"a=:a","ExpressionAttributeValues":{":a":{"BOOL":true}}}' % _ITEM,
    b'Query\xff{"TableName":"tasks","KeyConditions":{"user":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"ann"}]}}}',
    b'Scan\xff{"TableName":"tasks","ScanFilter":{"done":{"ComparisonOperator":"NULL"}},"Segment":0,"TotalSegments":2}',
    b'BatchWriteItem\xff{"RequestItems":{"tasks":[{"PutRequest":{"Item":{"user":{"S":"a"},"task":{"B":"AA=="}}}}]}}',
    b'TransactWriteItems\xff{"TransactItems":[{"Delete":{%b}}],"ClientRequestToken":"t"}' % _ITEM,
    b'BatchGetItem\xff{"RequestItems":{"tasks":{"Keys":[{"user":{"S":"ann"},"task":{"S":"t1"}}]}}}',
    b'UpdateTable\xff{"TableName":"tasks","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by_rank"}}]}',
    b'CreateTable\xff{"TableName":"new","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}',
)


def _record(**more: bytes) -> bytes:
    change = {
        b"SequenceNumber": b'"100000000000000000001"',
        b"Keys": _KEYS,
        b"ApproximateCreationDateTime": b"1767268800",
        b"SizeBytes": b"9",
        **{name.encode(): value for name, value in more.items()},
    }
    members = b",".join(b'"%b":%b' % member for member in change.items())
    return b'{"Records":[{"eventName":"MODIFY","dynamodb":{%b}}],"NextShardIterator":"i2"}' % members


def _request(target: bytes, body: bytes, *headers: bytes) -> bytes:
    lines = (b"POST / HTTP/1.1", b"host: localhost", b"x-amz-target: DynamoDB_20120810." + target, *headers)
    return b"\r\n".join((*lines, b"content-length: %d" % len(body), b"", body))


SEEDS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "expression": (
        b"0a = :i AND (b.c[0] < :d OR NOT contains(#n, :t))",
        b"0size(c) BETWEEN :i AND :i OR a IN (:i, b.c[1], :t)",
        b"0attribute_exists(l[1][0]) AND attribute_type(#s, :y)",
        b"1#n = :t AND begins_with(#d, :t)",
        b"2SET a = a + :i, b.c[9] = if_not_exists(z, :l), l = list_append(l, :l) REMOVE #s",
        b"2ADD a :d DELETE c :s",
        b"3a, b.c[2].d, #d, l[1]",
    ),
    "partiql": (
        b"SELECT * FROM tasks WHERE \"user\" = 'ann' AND task BETWEEN 'a' AND 'z' ORDER BY task DESC",
        b'SELECT task, notes[1].a FROM "tasks"."by_rank" WHERE rank IN [1, 2.5] OR rank IS NOT MISSING',
        b"SELECT * FROM tasks -- all\nWHERE attribute_exists(map.n) = true OR NOT size(tags) < 2 /* or so */",
        b"SELECT * FROM tasks WHERE \"user\" = 'ann' AND task > 'a' OR \"user\" = 'bob' AND task IS STRING",
        b"INSERT INTO tasks VALUE {'user': 'eve', 'task': ?, 'l': [7.5E1, <<'a', 'b'>>, null]}\xff[{\"S\": \"t9\"}]",
        b"UPDATE tasks SET rank = rank + 1, l = list_append(l, [1]) REMOVE map WHERE \"user\" = 'ann' AND task = 't2'",
        b"UPDATE tasks SET tags = set_add(tags, <<'z'>>) WHERE \"user\" = 'ann' AND task = 't1'",
        b"FROM tasks WHERE \"user\" = 'ann' AND task = 't1' SET rank = -1 REMOVE done RETURNING MODIFIED NEW *",
        b"DELETE FROM tasks WHERE \"user\" = 'bob' AND task = 't1' AND NOT (done = false) RETURNING ALL OLD *",
        b"EXISTS(SELECT * FROM tasks WHERE \"user\" = 'ann' AND task = 't1' AND rank = 1)",
        b"SELECT * FROM tasks\xff\xffWzAsbnVsbF0=",
    ),
    "stream_record": (
        _record(NewImage=b'{"user":{"S":"a"},"note":{"N":"1"},"text":{"S":"x"},"PK":{"S":"USER#a"}}'),
        _record(OldImage=b'{"n":{"N":"-1.5e3"},"b":{"B":"AP8="},"l":{"L":[{"NULL":true},{"BOOL":false}]}}'),
        _record(NewImage=b'{"m":{"M":{"ss":{"SS":["a"]},"ns":{"NS":["1","2"]},"bs":{"BS":["AA=="]}}}}'),
        b'{"Records":[]}',
    ),
    "cursor": (
        b"AqzYsh-_oy3NrgZ8Itd6DQA5QmWqjg\xffq\xff\x82\xa2pk\xa1x\xa1n\x01",
        b"\xfftasks_of\xff\x82\xa2pk\xc7\x03\x01-.5\xa1s\xc7\x03\x02\x91\xa1a",
        b"Ag\xff\xff\x81\xa1b\xc4\x01\x00",
    ),
    "wire_request": (
        *(b"\x41DynamoDB_20120810." + call for call in _CALLS),
        b"\x40"
        + _request(b"PutItem", b'{"TableName":"tasks","Item":{"user":{"S":"a"},"task":{"S":"b"}}}')
        + _request(b"ListTables", b'{"Limit":1}', b"connection: close"),
        b"\x20" + _request(b"DescribeTable", b'{"TableName":"tasks"}', b"expect: 100-continue"),
        b"\x20GET / HTTP/1.1\r\nhost: localhost\r\n\r\nHEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"\x40GET / HTTP/1.1\r\nhost: [::1]\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n",
    ),
    "wire_response": tuple(
        b"\x20" + received
        for received in (
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-amz-crc32: 2745614147\r\n\r\n{}",
            b"HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx: y\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\n{}",
            b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        )
    ),
    "import_file": (
        _HEADER + b'BO,BOL,068,Bolivia\r\nCS,CSK,,"Czechoslovakia, ""former"""\r\n',
        b"\xef\xbb\xbfname,alpha3Code,alpha2Code,numericCode,note\nC\xc3\xb4te d'Ivoire,CIV,CI,384,x\n",
        _HEADER,
    ),
    "key_template": tuple(
        BORDER.join(parts)
        for parts in (
            (b"USER#{a}#TASK#{b}", b"USER#{a}#{c}", b"USER#%23#TASK#1", b"ann", b"t1", b"", b"ann", b"t#2"),
            (b"{a:+06.2}#{b:04}", b"p{a}#{b}", b"n9998#0001", b"-1.25", b"7", b"", b"1E+1", b"12"),
            (b"{a:lower}#{b:%Y-%m-%d}#{c:epoch}", b"{a}", b"a#2026-01-01#1767268800", b"A", b"x", b"jjjj"),
            (b"{bare}", b"META", b"x", b"", b"", b"%"),
            (b"N#{a:d}", b"{a}", b"N#-1.5", b"7"),
        )
    ),
}

WORDS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "expression": (
        *_COMPARISONS,
        *_FUNCTIONS,
        *(b"attribute_exists(", b"attribute_not_exists(", b"if_not_exists(", b"SET ", b"REMOVE ", b"ADD ", b"DELETE "),
        *(b":i", b":d", b":t", b":b", b":l", b":s", b":y", b"#n", b"#d", b"#s", b"[0]", b".", b"+", b"-"),
    ),
    "partiql": (
        *_COMPARISONS,
        *_FUNCTIONS,
        *(b"SELECT ", b" FROM tasks", b".by_rank", b" WHERE ", b" ORDER BY ", b" DESC", b"INSERT INTO ", b" VALUE "),
        *(b"UPDATE ", b" SET ", b" REMOVE ", b"DELETE FROM ", b" RETURNING ALL OLD *", b"EXISTS(", b"IS MISSING"),
        *(b"attribute_exists(", b"attribute_not_exists(", b"attribute_type(", b"list_append(", b" IS NOT ", b" STRING"),
        *(
            b" OR ",
            b" AND ",
            b"NOT ",
            b" IN [",
            b" IN (",
            b" BETWEEN ",
            b"--",
            b"/*",
            b"*/",
            b"e-7",
            b"{'a': ",
            b"true",
        ),
        *(b"set_add(", b"set_delete(", b'"user"', b"task", b"rank", b"'ann'", b"'t1'", b"<<", b">>", b"?", b"null"),
        *(b"\xff", b'[{"S": "x"}]', b'{"N": "1"}', b'{"L": []}'),
    ),
    "stream_record": (
        *(b'"Records"', b'"dynamodb"', b'"eventName"', b'"INSERT"', b'"MODIFY"', b'"REMOVE"', b'"userIdentity"'),
        *(b'"SequenceNumber"', b'"Keys"', b'"OldImage"', b'"NewImage"', b'"ApproximateCreationDateTime"'),
        *(b'"SizeBytes"', b'"NextShardIterator"', b'{"S":"x"}', b'{"N":"1"}', b'{"B":"AA=="}', b'{"NULL":true}'),
        *(b'{"SS":["a"]}', b'{"NS":["1"]}', b'{"L":[]}', b'{"M":{}}', b"null", b"true", b"1e400", b"\\ud800"),
    ),
    "cursor": (b"\xff", b"\x81\xa1a", b"\xc0", b"\xc7\x01\x051", b"\xc7\x02\x03\x91\x01", b"AqzYsh-_"),
    "wire_request": (
        *(*_HTTP, b"POST / HTTP/1.1\r\n", b"host: localhost\r\n", b"x-amz-target: DynamoDB_20120810."),
        *(b"GetItem", b"PutItem", b"UpdateItem", b"DeleteItem", b"Query", b"Scan", b"BatchGetItem", b"BatchWriteItem"),
        *(b"TransactGetItems", b"TransactWriteItems", b"GetRecords", b"GetShardIterator", b"DescribeStream"),
        *(b"UpdateTable", b"CreateTable", b"ExecuteStatement", b"UpdateTimeToLive", b"TagResource", b"ListStreams"),
        *(b'"TableName":"tasks"', b'"Key":', b'"Limit":', b"1e308", b'{"S":"ann"}', b'{"B":"AA=="}', b'{"N":"1"}'),
        *(b'"ExclusiveStartKey":', b'"ReturnConsumedCapacity":"INDEXES"', b'"Select":"COUNT"', b"null", b"{}", b"[]"),
    ),
    "wire_response": (*_HTTP, b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 ", b"100 Continue", b"204", b"304", b"101"),
    "import_file": (*_HEADER.strip().split(b","), b",", b'"', b"\r\n", b"\r", b"BO,BOL,068,Bolivia", b"\xef\xbb\xbf"),
    "key_template": (
        b"\xff",
        b"#",
        b"%",
        b"{a}",
        b"{b:06}",
        b"{c:+04.2}",
        b"{d:lower}",
        b"{e:%Y}",
        b"{f:epoch_ms}",
        b"{g:d}",
        b"NaN",
        b"Infinity",
        b"1E+9",
        b"-1",
    ),
}

FINDINGS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "expression": (),
    "partiql": (
        b"INSERT INTO tasks VALUE {'user': 'u', 'task': '1', 's': <<[1]>>}",
        b"SELECT a[" + b"9" * 5_000 + b"] FROM tasks",
    ),
    "stream_record": (
        b"{}",
        b"1",
        b'{"Records":["\xd2"]}',
        b'{"Records":[{"eventName":"INSERT","dynamodb":{}}]}',
        _record().replace(b"MODIFY", b"KODIFY"),
        _record(SequenceNumber=b'"1("'),
        _record(ApproximateCreationDateTime=b'"now"'),
        _record(NewImage=b'{"a":1}'),
        _record(NewImage=b'{"a":{"R":"x"}}'),
        _record(NewImage=b'{"a":{"B":"A"}}'),
        _record(NewImage=b'{"a":{"NS":[]}}'),
    ),
    "import_file": (),
    "cursor": (b"\xff\xff\x81\xa1m\xca6\xa1s_",),
    "wire_request": (
        b'\x41DynamoDB_20120810.GetItem\xff{"TableName":"tasks","Key":{"user":{"B":"\xc3\xa9"}}}',
        b'\x41DynamoDBStreams_20120810.DescribeStream\xff{"StreamArn":"%b/stream/%b"}' % (_ARN, b"9" * 30),
        b'\x41DynamoDBStreams_20120810.GetRecords\xff{"ShardIterator":"%b"}' % _FAR_ITERATOR,
    ),
    "wire_response": (),
    "key_template": (
        BORDER.join((b"{a:06}#{b}", b"", b"", b"NaN", b"x")),
        BORDER.join((b"{a:06}#{b}", b"", b"", b"1E+999999999", b"x")),
        BORDER.join((b"A#{a:+06.2}", b"", b"A#x")),
        BORDER.join((b"A#{a:epoch}", b"", b"A#999999999999999999999")),
        BORDER.join((b"A#{a:%d-%d}", b"", b"A#01-01")),
    ),
}

"""The public names of Partita, loaded when the first of them is asked for."""

from partita._bound import Key
from partita._cost import Budget, Rcu, Wcu
from partita._entity import Entity, Version
from partita._explain import Explanation, explain
from partita._fields import Change, Ref, all_of, any_of, f, not_
from partita._ids import Ulids, new_ulid
from partita._keys import Prefix, Span
from partita._meter import Consumption, Meter, Usage
from partita._patterns import Pattern, collect, get, pattern, query
from partita._session import AsyncSession, Session
from partita._table import REGISTRY, Index, LocalIndex, Registry, Table
from partita.expressions._ast import Condition
from partita.operations._batch import BatchGet, BatchWrite, batch_get, batch_write
from partita.operations._collect import Collect
from partita.operations._get import Get
from partita.operations._operation import Operation, Procedure
from partita.operations._query import Page, Query, Walked
from partita.operations._transact import Action, Transaction, transact, transact_get
from partita.operations._writes import Check, Delete, Put, Update, absent, check, delete, insert, put, update
from partita.store.embedded import EmbeddedStore

__all__ = [
    "REGISTRY",
    "Action",
    "AsyncSession",
    "BatchGet",
    "BatchWrite",
    "Budget",
    "Change",
    "Check",
    "Collect",
    "Condition",
    "Consumption",
    "Delete",
    "EmbeddedStore",
    "Entity",
    "Explanation",
    "Get",
    "Index",
    "Key",
    "LocalIndex",
    "Meter",
    "Operation",
    "Page",
    "Pattern",
    "Prefix",
    "Procedure",
    "Put",
    "Query",
    "Rcu",
    "Ref",
    "Registry",
    "Session",
    "Span",
    "Table",
    "Transaction",
    "Ulids",
    "Update",
    "Usage",
    "Version",
    "Walked",
    "Wcu",
    "absent",
    "all_of",
    "any_of",
    "batch_get",
    "batch_write",
    "check",
    "collect",
    "delete",
    "explain",
    "f",
    "get",
    "insert",
    "new_ulid",
    "not_",
    "pattern",
    "put",
    "query",
    "transact",
    "transact_get",
    "update",
]

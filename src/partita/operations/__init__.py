"""Operations: frozen values that know the requests they send and how to read the responses."""

from partita.operations._batch import BatchGet, BatchWrite, batch_get, batch_write, chunks
from partita.operations._collect import Collect, CollectionPage, CollectPage, slots_of
from partita.operations._collect_plan import CollectedPart, Interval, Slot, foreign_intervals
from partita.operations._conflicts import is_conflict, retry_on_conflict
from partita.operations._cursor import CursorSealer
from partita.operations._forecast import ASSUMED_VECTORS, forecast
from partita.operations._get import Get
from partita.operations._operation import Context, Label, Operation, Procedure, Requests
from partita.operations._page import Page, WalkResult
from partita.operations._precondition import Precondition
from partita.operations._projection import check_projected, projection_of
from partita.operations._query import Count, First, Query
from partita.operations._reading import reading
from partita.operations._scan import Scan, ScanItems, scan, scan_items
from partita.operations._search import MAX_TOP, Scored, Search
from partita.operations._transact import MAX_ACTIONS, Action, Transaction, in_transaction, transact, transact_get
from partita.operations._unclaimed import UnclaimedItems
from partita.operations.writes import (
    Check,
    Delete,
    DeleteImages,
    ExplainFailure,
    Images,
    Put,
    PutImages,
    Update,
    UpdateImages,
    UpdatePlan,
    Upsert,
    UpsertImages,
    Write,
    WriteImages,
    absent,
    bumped,
    check,
    check_changes,
    conflict,
    delete,
    insert,
    missing,
    put,
    reseal,
    update,
    upsert,
)

__all__ = [
    "ASSUMED_VECTORS",
    "MAX_ACTIONS",
    "MAX_TOP",
    "Action",
    "BatchGet",
    "BatchWrite",
    "Check",
    "Collect",
    "CollectPage",
    "CollectedPart",
    "CollectionPage",
    "Context",
    "Count",
    "CursorSealer",
    "Delete",
    "DeleteImages",
    "ExplainFailure",
    "First",
    "Get",
    "Images",
    "Interval",
    "Label",
    "Operation",
    "Page",
    "Precondition",
    "Procedure",
    "Put",
    "PutImages",
    "Query",
    "Requests",
    "Scan",
    "ScanItems",
    "Scored",
    "Search",
    "Slot",
    "Transaction",
    "UnclaimedItems",
    "Update",
    "UpdateImages",
    "UpdatePlan",
    "Upsert",
    "UpsertImages",
    "WalkResult",
    "Write",
    "WriteImages",
    "absent",
    "batch_get",
    "batch_write",
    "bumped",
    "check",
    "check_changes",
    "check_projected",
    "chunks",
    "conflict",
    "delete",
    "forecast",
    "foreign_intervals",
    "in_transaction",
    "insert",
    "is_conflict",
    "missing",
    "projection_of",
    "put",
    "reading",
    "reseal",
    "retry_on_conflict",
    "scan",
    "scan_items",
    "slots_of",
    "transact",
    "transact_get",
    "update",
    "upsert",
]

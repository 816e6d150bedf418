from partita.operations.writes._check import Check, absent, check
from partita.operations.writes._delete import Delete, delete
from partita.operations.writes._images import DeleteImages, Images, PutImages, UpdateImages, UpsertImages, WriteImages
from partita.operations.writes._index_keys import UpdatePlan, check_changes
from partita.operations.writes._put import Put, insert, put
from partita.operations.writes._reseal import reseal
from partita.operations.writes._stored import bumped, conflict, missing
from partita.operations.writes._update import Update, update
from partita.operations.writes._upsert import Upsert, upsert
from partita.operations.writes._write import ExplainFailure, Write

__all__ = [
    "Check",
    "Delete",
    "DeleteImages",
    "ExplainFailure",
    "Images",
    "Put",
    "PutImages",
    "Update",
    "UpdateImages",
    "UpdatePlan",
    "Upsert",
    "UpsertImages",
    "Write",
    "WriteImages",
    "absent",
    "bumped",
    "check",
    "check_changes",
    "conflict",
    "delete",
    "insert",
    "missing",
    "put",
    "reseal",
    "update",
    "upsert",
]

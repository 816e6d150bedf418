"""Probes of DynamoDB's behaviour that run on any endpoint: ours, other engines, and AWS itself.

`python -m tests.fidelity URL` runs them. A probe is a function in a module of `probes/`:

    @probe(rule=20)
    def an_update_that_only_removes_creates_nothing(api: Api) -> None:
        key = api.new_key()
        api("UpdateItem", TableName=api.table("hash"), Key=key, UpdateExpression="REMOVE a")
        same(api.get("hash", key), None)

Its outcome is `same` if the endpoint does what AWS does, `different` if it does not, and `absent` if the endpoint does
not know the operation.
"""

from tests.fidelity._checks import Different, holds, refused, same
from tests.fidelity._client import Api, Refused
from tests.fidelity._probe import Outcome, Probe, Result, all_probes, probe, run_probe

__all__ = [
    "Api",
    "Different",
    "Outcome",
    "Probe",
    "Refused",
    "Result",
    "all_probes",
    "holds",
    "probe",
    "refused",
    "run_probe",
    "same",
]

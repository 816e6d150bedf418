"""Policies of tables and streams: PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from partita.errors import ValidationFailed
from partita.runtime import Clock
from partita.store import Json, TableDescription
from partita.wire._describe import ACCOUNT
from partita.wire._faults import Fault, not_found
from partita.wire._parameters import Operation, Parameters, Requests
from partita.wire.tables._definitions import INVALID
from partita.wire.tables._existing import existing
from partita.wire.tables._policy_document import canonical_policy
from partita.wire.tables._settings import OWN, Policy, Settings, keep_settings, read_settings

_ARN: Final = re.compile(r"arn:aws:dynamodb:([^:]*):([^:]*):table/([a-zA-Z0-9_.-]+)(?:/(stream|index)/(.+))?")
_NONE: Final = "NO_POLICY"
_OTHER_ACCOUNT: Final = "This action is only supported by accounts that match the resource owner\u2019s account."
_NOT_FOUND: Final = "Resource-based policy not found for the provided ResourceArn: "


class ResourcePolicies:
    """The operations; the revision number of a policy is based on the time of writing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {
            "PutResourcePolicy": self.put,
            "GetResourcePolicy": _get,
            "DeleteResourcePolicy": _delete,
        }

    def put(self, call: Parameters) -> Requests[Json]:
        """Set the policy of a table or stream; an identical policy changes nothing."""
        text = canonical_policy(call.required("Policy", "policy"))
        table, label, settings = yield from _named(call)
        before = settings.policies.get(label)
        _check_expected(call, before, table)
        if before is not None and before.text == text:
            return {"RevisionId": before.revision}
        policy = self.new(text, before)
        yield from _keep(table, settings, settings.policies | {label: policy})
        return {"RevisionId": policy.revision}

    def new(self, text: str, before: Policy | None = None) -> Policy:
        """A policy with a revision number higher than the previous one."""
        number = int(self._clock() * 1000)
        return Policy(text, str(number if before is None else max(number, int(before.revision) + 1)))


def _get(call: Parameters) -> Requests[Json]:
    _, label, settings = yield from _named(call)
    policy = settings.policies.get(label)
    if policy is None:
        raise Fault("PolicyNotFoundException", _NOT_FOUND + str(call.text("ResourceArn")))
    return {"Policy": policy.text, "RevisionId": policy.revision}


def _delete(call: Parameters) -> Requests[Json]:
    table, label, settings = yield from _named(call)
    policy = settings.policies.get(label)
    _check_expected(call, policy, table)
    if policy is None:
        return {}
    left = {name: each for name, each in settings.policies.items() if name != label}
    yield from _keep(table, settings, left)
    return {"RevisionId": policy.revision}


def _keep(table: str, settings: Settings, policies: dict[str, Policy]) -> Requests[None]:
    yield from keep_settings(table, msgspec.structs.replace(settings, policies=policies))


def _named(call: Parameters) -> Requests[tuple[str, str, Settings]]:
    """The table of the ARN, the label of its stream or `OWN` for the table itself, and the settings."""
    arn = call.required("ResourceArn", "resourceArn")
    if not arn.startswith("arn:"):
        raise ValidationFailed(f"{INVALID}ARNs must start with 'arn:': {arn}")
    match = _ARN.fullmatch(arn)
    if match is None:
        raise ValidationFailed(f"{INVALID}Provided Arn is not a DynamoDB resource arn: {arn}")
    region, account, table, kind, label = match.groups()
    if kind == "index":
        message = f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        raise ValidationFailed(INVALID + message)
    if region != call.region:
        raise ValidationFailed(f"{INVALID}Invalid resource Arn: {arn}")
    if account != ACCOUNT:
        raise ValidationFailed(_OTHER_ACCOUNT)
    description: TableDescription = yield from existing(table)
    if label and label != description.stream_id:
        raise not_found(f"Stream: {arn}")
    settings = yield from read_settings(table)
    return table, label or OWN, settings


def _check_expected(call: Parameters, policy: Policy | None, table: str) -> None:
    expected = call.text("ExpectedRevisionId")
    if expected is None or expected == (_NONE if policy is None else policy.revision):
        return
    if policy is None:
        message = f"Requested update for policy with revision id {expected}, but no policy is associated to"
        raise Fault("PolicyNotFoundException", f"{_NOT_FOUND}{message} target table {table}.")
    if expected == _NONE:
        message = f"Requested policy update expecting none to be present for table {table}, but a policy exists with"
        raise Fault("PolicyNotFoundException", f"{_NOT_FOUND}{message} revision id {policy.revision}.")
    message = f"Requested update for policy with revision id {expected}, but the policy associated to target table"
    raise Fault("PolicyNotFoundException", f"{_NOT_FOUND}{message} {table} has revision id {policy.revision}.")

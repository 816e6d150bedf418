"""Keys in AWS KMS: the key that wraps data keys never leaves KMS, which logs each of its uses."""

from __future__ import annotations

import os
from typing import Any, Final

from partita.encryption._provider import DATA_KEY_BYTES, DataKey
from partita.errors import AccessDenied, OperationError, StoreUnavailable, UnknownKey

_MARK: Final = b"K"
_UNKNOWN: Final = frozenset(
    ("InvalidCiphertextException", "IncorrectKeyException", "NotFoundException", "DisabledException")
)
_PURPOSE: Final = {"purpose": "partita fields"}


class KmsKeys:
    """Wraps data keys with a symmetric key of AWS KMS."""

    def __init__(self, key_id: str, client: Any = None, *, region: str | None = None) -> None:
        """Use a KMS key.

        Args:
            key_id: the identifier, ARN or alias (`alias/orders`) of the key that wraps new data keys.
            client: a botocore or boto3 client for `kms`; by default one is created with the usual AWS configuration.
            region: the region of the client that is created by default.

        Raises:
            OperationError: botocore is not installed, and no client was passed.
        """
        self._key_id = key_id
        self._client = _new_client(region) if client is None else client

    def __repr__(self) -> str:
        return f"KmsKeys({self._key_id!r})"

    def new_key(self) -> DataKey:
        """Create a data key (`kms:GenerateDataKey`)."""
        made = self._call(
            "generate_data_key", KeyId=self._key_id, NumberOfBytes=DATA_KEY_BYTES, EncryptionContext=_PURPOSE
        )
        return DataKey(made["Plaintext"], _MARK + made["CiphertextBlob"])

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return the data key (`kms:Decrypt`). KMS finds the key that wrapped it, also one from before a rotation."""
        if wrapped[:1] != _MARK:
            raise UnknownKey("It was not sealed with a KMS key.")
        key: bytes = self._call("decrypt", CiphertextBlob=wrapped[1:], EncryptionContext=_PURPOSE)["Plaintext"]
        return key

    def _call(self, name: str, **parameters: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - of an extra

        try:
            response: dict[str, Any] = getattr(self._client, name)(**parameters)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in _UNKNOWN:
                raise UnknownKey(f"KMS does not have the key: {error}.") from error
            if code.startswith("AccessDenied"):
                raise AccessDenied(f"KMS denied access to the key {self._key_id}: {error}.") from error
            raise StoreUnavailable(f"KMS did not return a key: {error}.") from error
        except BotoCoreError as error:
            raise StoreUnavailable(f"KMS cannot be reached: {error}.") from error
        return response


def _new_client(region: str | None) -> Any:
    try:
        from botocore.session import get_session  # noqa: PLC0415 - of an extra
    except ImportError:
        message = "KMS keys require botocore."
        raise OperationError(message, hint="Install the extra aws: pip install partita[aws].") from None
    return get_session().create_client("kms", region_name=region or os.environ.get("AWS_REGION"))

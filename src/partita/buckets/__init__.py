"""Objects in buckets: of S3 and compatible servers, or of a local folder that replaces them.

The S3 implementation is in `partita.buckets.s3`, which is only imported when needed.
"""

from partita.buckets._folder import FolderBuckets
from partita.buckets._interface import Buckets, Encryption, StoredObject
from partita.buckets._open import open_buckets

__all__ = ["Buckets", "Encryption", "FolderBuckets", "StoredObject", "open_buckets"]

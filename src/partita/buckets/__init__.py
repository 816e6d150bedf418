"""Objects in buckets: those of S3 and of compatible servers, or the files of a folder that stands in for them.

`partita.buckets.s3` has the former, and is loaded by whoever needs it.
"""

from partita.buckets._folder import FolderBuckets
from partita.buckets._interface import Buckets, Encryption, StoredObject
from partita.buckets._open import open_buckets

__all__ = ["Buckets", "Encryption", "FolderBuckets", "StoredObject", "open_buckets"]

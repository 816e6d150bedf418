"""Objects in buckets: those of S3 and of compatible servers, or the files of a folder that stands in for them."""

from partita.buckets._folder import FolderBuckets
from partita.buckets._interface import Buckets, Encryption, StoredObject
from partita.buckets._open import open_buckets
from partita.buckets._s3 import S3Buckets

__all__ = ["Buckets", "Encryption", "FolderBuckets", "S3Buckets", "StoredObject", "open_buckets"]

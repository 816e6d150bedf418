"""`partita load`: write the items of files, or of objects in S3, into one table."""

__all__: list[str] = []

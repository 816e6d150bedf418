"""`partita load`: items of files and of S3, into one table."""

__all__: list[str] = []

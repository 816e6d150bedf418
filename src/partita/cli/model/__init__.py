"""Commands on declarations: patterns, cost, documentation, schemas, infrastructure."""

__all__: list[str] = []

"""Commands on what is declared: patterns, cost, documentation, schemas, infrastructure."""

__all__: list[str] = []

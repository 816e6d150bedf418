"""Commands that serve: the services, their workers, and DynamoDB's own protocol."""

__all__: list[str] = []

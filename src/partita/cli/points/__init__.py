"""The commands on points in time."""

__all__: list[str] = []

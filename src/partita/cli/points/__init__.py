"""The command `partita points`."""

__all__: list[str] = []

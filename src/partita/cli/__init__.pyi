from partita.cli._public import *  # noqa: F403 - one list of names, in one place
from partita.cli._public import __all__ as __all__

from partita._public import *  # noqa: F403 - one list of names, in one place
from partita._public import __all__ as __all__

from partita.testing._public import *  # noqa: F403 - the list of names is in one place
from partita.testing._public import __all__ as __all__

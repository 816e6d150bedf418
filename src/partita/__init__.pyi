from partita._public import *
from partita._public import __all__ as __all__

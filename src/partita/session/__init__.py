"""Sessions run operations and procedures against a store and meter their consumption."""

from partita._late import late_names

_NAMES = {
    "_meter": ("Consumption", "Meter", "Usage", "usage_since", "usage_sum"),
    "_session": ("AsyncSession", "Session"),
    "_stream": ("AsyncItemStream", "ItemStream"),
}
__getattr__, __dir__, __all__ = late_names(__name__, _NAMES)

"""Change streams for programs: consumers that apply each change exactly once, and projections in SQLite.

`partita.change.lake` writes Delta Lake tables; it needs the extra `lake`.
"""

from partita.change._change import ItemChange
from partita.change._consumer import Consumer
from partita.change._projection import SetAside, SqliteProjection
from partita.change._recent import RECENT_CHANGES, RecentChanges, changes_after, note_change
from partita.change._sink import Advance, FencedSink, Positions, Sink
from partita.change._snapshot import Snapshot
from partita.change._stream import Batch, ChangeStream, Lag

__all__ = [
    "RECENT_CHANGES",
    "Advance",
    "Batch",
    "ChangeStream",
    "Consumer",
    "FencedSink",
    "ItemChange",
    "Lag",
    "Positions",
    "RecentChanges",
    "SetAside",
    "Sink",
    "Snapshot",
    "SqliteProjection",
    "changes_after",
    "note_change",
]

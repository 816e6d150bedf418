"""Recipes: reusable parts of a model, each with a guarantee, a cost and a page in the documentation.

Each is a separate module or package, and is imported by its name:
`from partita.recipes.idempotency import Idempotency`.

| module | purpose |
| --- | --- |
| `versioned` | data with the version of its schema and its last write: migrations, snapshots, backfills |
| `history` | write-once versions, exactly one of which is open, queried by instant |
| `idempotency` | a command, its effect and its response, exactly once |
| `lifecycle` | the states of an item and the transitions between them |
| `counter` | a number between a floor and a limit |
| `tally` | sums that are stored together with the items they sum up |
| `rate_limit` | request limits for each caller, as token buckets |
| `unique` | a field whose value no two entities share |
| `audit` | an audit trail that never fails the operation it records |
| `web_sessions` | browser sessions, stored by the hash of their id |
| `leases` | exclusive leases with a rising fencing number |
| `outbox` | messages that exist if and only if the write they announce does, delivered in order |
| `personal` | complete export and erasure of a user's data |
| `removal` | deletion of all items of a query, even after an interruption |
| `records` | requirements on the entities in which recipes store their records |

Your own recipes need nothing else: all of these are written with public names of the library.
"""

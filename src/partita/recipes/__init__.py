"""Recipes: reusable parts of a model, each with a guarantee, a cost and a page in the documentation.

Each is a module or package of its own, and is imported by its name:
`from partita.recipes.idempotency import Idempotency`.

| module | what it keeps right |
| --- | --- |
| `versioned` | data with its schema's version and its last write: migrations, snapshots, backfills |
| `history` | write-once versions, of which one is open, at any instant |
| `idempotency` | a command, its effect and its response, once |
| `lifecycle` | the states of an item and the moves between them |
| `counter` | a number between its floor and its limit |
| `tally` | sums that are kept beside what they sum up |
| `rate_limit` | how much each caller may ask for, with a bucket of tokens |
| `unique` | a field whose value no two entities share |
| `audit` | a trail that never breaks its host |
| `web_sessions` | browser sessions by the hash of their id |
| `leases` | who holds a thing, with a number that only rises |
| `outbox` | messages that are there if and only if what they tell of is, delivered in order |
| `personal` | what is kept of a user can be exported and erased, all of it |
| `removal` | all that a query can reach is deleted, even when it was interrupted |
| `records` | what recipes ask of the entities that they store their records in |

A recipe of your own needs nothing else: all of these are written with public names of the library.
"""

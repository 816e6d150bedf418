"""A leaderboard: the best players of a game first, by a number that sorts in descending order in the key.

    pip install partita
    python leaderboard.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `join(player)` | write a new player | 4 WCU |
| `score(game, player)` | one player | 0.5 RCU |
| `win(player, points)` | add points; the player moves up in the index | 6 WCU |
| `best(game)` | the players of a game, best first | 13 RCU |
| `at_least(game, points)` | the players with points in a range, such as 250 or more | 13 RCU |

`{points:-010}` writes a number so that the greatest sorts first, while players with equal points sort by name. Reading
an index in one direction does not give this order if the number is written in ascending form. The rank of a player
follows from the number of players with more points, which a query counts.

It prints:

    first: ada 300, ben 200, cem 200
    after dia wins: dia 450, ada 300, ben 200
    at least 250: dia, ada
    ben's rank: 3
    best: Query on GSI1
      predicted: 12.5 RCU (with items of 1,024 bytes)
      budget:    13 RCU
"""

from __future__ import annotations

from typing import ClassVar

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Put,
    Rcu,
    Session,
    Span,
    Table,
    Update,
    Wcu,
    explain,
    f,
    get,
    insert,
    pattern,
    query,
    update,
)

TABLE = Table("leaderboard", indexes=[Index("GSI1")])


class Player(Entity, table=TABLE):
    """A player's points in a game."""

    primary: ClassVar = Key("GAME#{game}", "PLAYER#{player}")
    by_points: ClassVar = Key("GAME#{game}", "{points:-010}#{player}", index="GSI1")

    game: str
    player: str
    points: int = 0


@pattern(budget=Wcu(4))
def join(new: Player) -> Put[Player]:
    """Write a new player."""
    return insert(new)


@get(Player, budget=Rcu(0.5))
def score(game: str, player: str) -> None:
    """One player."""


@pattern(budget=Wcu(6))
def win(player: Player, points: int) -> Update[Player]:
    """Add points, which moves the player within the index."""
    return update(player, f(Player.points).add(points))


@query(Player, Player.by_points, budget=Rcu(13))
def best(game: str) -> None:
    """The players of a game, best first."""


@query(Player, Player.by_points, budget=Rcu(13))
def at_least(game: str, points: Span[int]) -> None:
    """The players with points in a range, best first."""


EXPLAINED = best("chess")


def tell(db: Session) -> None:
    """Let four players join, and print what the patterns return."""
    for player, points in (("cem", 200), ("ada", 300), ("dia", 150), ("ben", 200)):
        db.run(join(Player(game="chess", player=player, points=points)))
    print("first:", shown(db.run(best("chess").page(3)).items))

    dia = db.run(score("chess", "dia"))
    assert dia is not None
    db.run(win(dia, 300))
    print("after dia wins:", shown(db.run(best("chess").page(3)).items))
    print("at least 250:", ", ".join(each.player for each in db.run(at_least("chess", Span.since(250)))))
    print("ben's rank:", 1 + db.run(at_least("chess", Span.after(200)).count()))
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def shown(players: tuple[Player, ...]) -> str:
    """Format players as one line."""
    return ", ".join(f"{each.player} {each.points}" for each in players)


def main() -> None:
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()

"""`python -m partita`: the command line, in case the program `partita` is not on the path."""

from partita.cli._program import run

if __name__ == "__main__":
    run()

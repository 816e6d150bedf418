"""`python -m partita`: the command line, in case the program `partita` is not on the path."""

from partita.cli import run

if __name__ == "__main__":
    run()

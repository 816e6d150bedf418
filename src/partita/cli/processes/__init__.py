"""Several processes that serve on one port: who starts them, replaces them, stops them, and adds up what they count."""

from partita.cli.processes._acceptor import Acceptor
from partita.cli.processes._board import ConnectionBoard
from partita.cli.processes._channel import Answer, ProcessChannel
from partita.cli.processes._forking import PRELOAD, prepare_forks
from partita.cli.processes._option import default_processes, processes_option, usable_cores
from partita.cli.processes._supervisor import Supervisor, Work

__all__ = [
    "PRELOAD",
    "Acceptor",
    "Answer",
    "ConnectionBoard",
    "ProcessChannel",
    "Supervisor",
    "Work",
    "default_processes",
    "prepare_forks",
    "processes_option",
    "usable_cores",
]

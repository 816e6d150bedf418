"""Several processes that serve on one port: starting, replacing and stopping them, and adding up their figures."""

from partita.cli.processes._acceptor import Acceptor
from partita.cli.processes._beside import working_beside
from partita.cli.processes._board import ConnectionBoard
from partita.cli.processes._channel import Answer, ProcessChannel
from partita.cli.processes._forking import loading_for_forks
from partita.cli.processes._option import default_processes, processes_option, usable_cores
from partita.cli.processes._replacing import Restarts
from partita.cli.processes._running import Work
from partita.cli.processes._supervisor import WORK_SECONDS, Supervisor

__all__ = [
    "WORK_SECONDS",
    "Acceptor",
    "Answer",
    "ConnectionBoard",
    "ProcessChannel",
    "Restarts",
    "Supervisor",
    "Work",
    "default_processes",
    "loading_for_forks",
    "processes_option",
    "usable_cores",
    "working_beside",
]

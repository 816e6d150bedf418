from partita.cli._data_folder import DataFolder, data_option, queue_options, store_and_queue_options, store_options
from partita.cli._extras import needs_serve
from partita.cli._installation import installation_of
from partita.cli._listen import listening, run_app
from partita.cli._main import main
from partita.cli._output import echo_table
from partita.cli._program import run
from partita.cli._token_file import identity_of

__all__ = [
    "DataFolder",
    "data_option",
    "echo_table",
    "identity_of",
    "installation_of",
    "listening",
    "main",
    "needs_serve",
    "queue_options",
    "run",
    "run_app",
    "store_and_queue_options",
    "store_options",
]

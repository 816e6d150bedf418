"""Services built on Partita, each with the same file names."""

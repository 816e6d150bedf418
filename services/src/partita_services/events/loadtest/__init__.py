"""`partita events storm`: very many users apply at once to a running server, and an audit of the outcome."""

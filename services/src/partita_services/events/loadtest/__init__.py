"""`partita events storm`: very many users apply to a running server at once, and the outcome is audited."""

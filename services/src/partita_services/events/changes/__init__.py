"""Changes that operators make to an existing event: editing its terms, and cancelling it."""

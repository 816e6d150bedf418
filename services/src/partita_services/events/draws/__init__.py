"""The draw of a lottery: what is stored, how the draw is held, and how anybody can verify it."""

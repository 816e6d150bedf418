"""The draw of a lottery: what is stored of it, how it is held, and how anybody can verify it."""

"""Names that applicants give with their requests, and who is shown them."""

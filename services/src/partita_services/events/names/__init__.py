"""Names that applicants give with their requests, and who may see them."""

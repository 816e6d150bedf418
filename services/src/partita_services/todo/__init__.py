"""The To-Do service: a user's tasks by status, due date, priority and category, in a single table."""

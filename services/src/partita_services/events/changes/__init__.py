"""What operators change about an event that is there: its terms, and whether it takes place at all."""

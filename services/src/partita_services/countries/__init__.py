"""The country reference service: ISO 3166-1 with every version of every entry."""

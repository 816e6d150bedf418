"""The model: tables, entities, keys and fields, and what is derived from them."""

"""A query, from its text to the answer. Start with `search.py`."""

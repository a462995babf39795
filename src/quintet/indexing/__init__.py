"""A file becoming rows: walk, read, parse, chunk, write, embed. Start with `sync.py`."""

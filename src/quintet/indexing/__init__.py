"""From files to rows: walk, read, parse, chunk, write, embed. Start with `sync.py`."""

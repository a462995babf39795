"""Syntax: from the text or bytes of one file to blocks. Code is in `codegraph/`."""

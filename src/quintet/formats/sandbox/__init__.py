"""Parse binary formats in a child process that may crash, hang or use too much memory."""

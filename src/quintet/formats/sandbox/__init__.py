"""Parse binary formats in a child process that may crash, hang or eat memory."""

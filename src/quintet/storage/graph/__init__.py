"""The code graph on disk and in memory."""

"""Backups of an index with its memories, knowledge bases and keys, and their restoration."""

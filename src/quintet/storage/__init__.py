"""Bytes on disk. The only place with SQL."""

"""Exact integer inference: the same bits on every machine."""

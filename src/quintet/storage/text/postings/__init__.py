"""Postings as arrays: built, merged, saved, searched and scored by BM25."""

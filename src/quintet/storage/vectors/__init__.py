"""Vectors: the matrix on disk, exact search, and HNSW."""

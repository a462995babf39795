"""The nouns that everything shares: documents, chunks, hits, filters, symbols, vectors. No I/O."""

"""The code graph: definitions, what they mention, the edges between them, and questions about it."""

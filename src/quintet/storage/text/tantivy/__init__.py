"""The text index that uses tantivy."""

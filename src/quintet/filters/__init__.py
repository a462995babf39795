"""The filter language: its fields, its grammar, and conditions inside a query. No I/O."""

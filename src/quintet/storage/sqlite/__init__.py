"""The SQLite store: schema, connections, tables, the one writer."""

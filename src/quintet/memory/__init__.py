"""The memory of an agent: a database of its own beside the index, searched by the same engine."""

from quintet.memory.memory import Memory, Remembered

__all__ = ["Memory", "Remembered"]

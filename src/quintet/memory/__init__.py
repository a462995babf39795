"""The memory of an agent: its own database beside the index, searched by the same engine."""

from quintet.memory.memory import Memory, Remembered

__all__ = ["Memory", "Remembered"]

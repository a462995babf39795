"""The protocols between the engine and its stores and embedders."""

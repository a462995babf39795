"""One folder for each programming language."""

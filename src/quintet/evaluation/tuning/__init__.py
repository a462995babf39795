"""Choose the numbers of the house ranking for an index, and keep them with it."""

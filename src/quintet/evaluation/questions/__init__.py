"""Questions made from the contents of an index, to measure it without judgements or a language model."""

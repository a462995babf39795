"""Full text: how a query is looked up and scored."""

"""How good rankings are: metrics, collections with judgements, generated questions, reports, tuning."""

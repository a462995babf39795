"""How good are rankings: measures, collections with judgements, run files, reports."""

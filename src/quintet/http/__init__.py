"""The HTTP door: thin routes over `Doors`, with bounds on everything a client can ask."""

"""The HTTP door: thin routes over `SharedIndex`, with bounds on everything a client can ask."""

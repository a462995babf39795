"""The protocols between the engine and what stores, embeds or relates."""

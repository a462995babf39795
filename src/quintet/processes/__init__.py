"""Child processes of our own: how they start, talk and end."""

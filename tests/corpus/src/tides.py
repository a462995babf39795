"""Tide tables."""


def parse_tide_table(text):
    """One (time, height) per line."""
    rows = []
    for line in text.splitlines():
        time, height = line.split(",")
        rows.append((time, float(height)))
    return rows


def lowest_ebb(table, arrival, departure):
    """The lowest height between two times."""
    return min(height for time, height in table if arrival <= time <= departure)

"""Assign ships to berths."""

SAFETY_MARGIN = 0.5


class BerthPlanner:
    """Greedy: the ship with the deepest draught chooses first."""

    def __init__(self, berths, lowest_ebb):
        self.berths = berths
        self.lowest_ebb = lowest_ebb

    def choose(self, ship):
        """Return the first berth deep enough for the whole stay, or None."""
        return next((berth for berth in self.berths if self.is_safe(berth, ship)), None)

    def is_safe(self, berth, ship):
        depth = berth.depth + self.lowest_ebb(ship.arrival, ship.departure)
        return depth > ship.draught + SAFETY_MARGIN


def waiting_list(ships):
    """Ships without a berth, by arrival and name."""
    return sorted(ships, key=lambda ship: (ship.arrival, ship.name))

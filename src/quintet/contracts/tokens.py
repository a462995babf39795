"""About how many tokens a text has, and what a budget of them may be."""

from quintet.errors import UsageError

CHARS_PER_TOKEN = 4  # of English prose; code has fewer, so a budget is "about"
LARGEST_BUDGET = 100_000


def tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def checked_budget(budget: object) -> int:
    if isinstance(budget, bool) or not isinstance(budget, int) or not 1 <= budget <= LARGEST_BUDGET:
        raise UsageError(
            f"budget is {budget!r}; it must be a whole number of tokens from 1 to {LARGEST_BUDGET}",
            details={"parameter": "budget"},
        )
    return budget

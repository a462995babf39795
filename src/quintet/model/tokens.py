"""An estimate of how many tokens a text has, and the check of a token budget."""

import re

from quintet.errors import UsageError

CHARS_PER_TOKEN = 4  # of English prose; code has fewer, so a budget is "about"
LARGEST_BUDGET = 100_000
WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00010000-\U0010ffff]")


def length(text: str) -> int:
    """Length in characters of English prose. A CJK character or an emoji counts as a whole token.

    >>> length("four"), length("検索")
    (4, 8)
    """
    wide = 0 if text.isascii() else len(text) - len(WIDE.sub("", text))
    return len(text) + (CHARS_PER_TOKEN - 1) * wide


def tokens(text: str) -> int:
    return -(-length(text) // CHARS_PER_TOKEN)


def checked_budget(budget: object) -> int:
    if isinstance(budget, bool) or not isinstance(budget, int) or not 1 <= budget <= LARGEST_BUDGET:
        raise UsageError(
            f"budget is {budget!r}; it must be a whole number of tokens from 1 to {LARGEST_BUDGET}",
            details={"parameter": "budget"},
        )
    return budget

"""Ranges such as `price<20` and `published>=2026-01-31`. Only numbers and dates have an order."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from quintet.errors import UsageError
from quintet.model.filters import Comparison
from quintet.model.parameters import is_exact, is_number, shown

ORDERINGS: tuple[Comparison, ...] = ("<", "<=", ">", ">=")
NUMBER_TEXT = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
DATE_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Order:
    """What the values of a field can be compared with. `needs` says it in words."""

    needs: str
    numbers: bool = False
    dates: bool = False
    text_is_number: bool = False  # the text 20 also means the number


def date_milliseconds(text: str) -> int | None:
    """Unix milliseconds from an ISO date or time, which is UTC unless it names a zone.

    >>> date_milliseconds("1970-01-02"), date_milliseconds("1970-01-01T01:00+01:00"), date_milliseconds("7")
    (86400000, 0, None)
    """
    if not DATE_TEXT.match(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def number_in(text: str) -> int | float | None:
    """The number that a text spells, if it does.

    >>> number_in("20"), number_in("-1.5"), number_in("cheap")
    (20, -1.5, None)
    """
    match = NUMBER_TEXT.fullmatch(text)
    if match is None:
        return None
    number = float(text) if match[1] or match[2] else int(text)
    return number if is_number(number) else None


def check_bound(name: str, value: object, comparison: Comparison, order: Order) -> int | float | str:
    """The value that a field is compared with: a number, or the text of a date."""
    number = number_in(value) if isinstance(value, str) and order.text_is_number else value
    if order.numbers and isinstance(number, (int, float)) and is_number(number):
        if not is_exact(number):
            raise _invalid(f"filter {name} is compared with {shown(value)}; it must fit into 64 bits")
        return number
    if order.dates and isinstance(value, str) and date_milliseconds(value) is not None:
        return value
    raise _invalid(f"filter {name} is compared with {shown(value)}; {comparison} needs {order.needs}")


def _invalid(message: str) -> UsageError:
    return UsageError(message, code="invalid_filter")

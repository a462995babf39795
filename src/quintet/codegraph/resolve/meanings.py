"""Choose the meaning of a name that a file defines several times in one scope."""

from collections import Counter, defaultdict

from quintet.model.symbols import Outline

Path = tuple[str, ...]
_ADDITIONS = {"setter", "getter", "deleter", "register"}  # `@x.setter`: more of `x`, no second one


def meanings(outline: Outline) -> dict[Path, tuple[int, ...]]:
    """The symbols that each path may mean. Overloads count as one, and the first stands for them. In
    Python a second definition replaces the first or is another branch, so each may be meant."""
    numbers: dict[Path, list[int]] = defaultdict(list)
    for number, symbol in enumerate(outline.symbols):
        numbers[symbol.path].append(number)
    if outline.language != "python":
        return {path: (several[0],) for path, several in numbers.items()}
    marked = _decorated_additions(outline)
    return {path: _current_meanings(several, marked) for path, several in numbers.items()}


def _current_meanings(numbers: list[int], marked: set[int]) -> tuple[int, ...]:
    """The definitions without overloads and additions such as setters; of a stub, which has only
    overloads, the last."""
    return tuple(number for number in numbers if number not in marked) or (numbers[-1],)


def _decorated_additions(outline: Outline) -> set[int]:
    """The functions under `@overload`, `@typing.overload`, `@x.setter`, `@x.register(...)`."""
    marked = set()
    for mention in outline.mentions:
        path = mention.path
        last = path[-1]
        if last == "overload" or (last in _ADDITIONS and path[:-1] == (outline.symbols[mention.owner].name,)):
            marked.add(mention.owner)
    return marked


def occurrences(outline: Outline) -> list[int]:
    """How often the path of each symbol occurred before: it tells symbols of the same path apart."""
    counts: Counter[Path] = Counter()
    numbers = []
    for symbol in outline.symbols:
        numbers.append(counts[symbol.path])
        counts[symbol.path] += 1
    return numbers

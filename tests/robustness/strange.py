"""Strange text and strange values, made from a seed."""

import random
from collections.abc import Iterator, Sequence

WORDS = [
    *("lantern", "harbour", "quartz", "meadow", "copper", "violet", "ember", "glacier", "saffron", "willow"),
    *("local-first", "C++", "don't", "foo.bar", "x_y", "naïve", "Straße", "getUserName", "HTTPServer"),
    *("検索", "索引エンジン", "データベース", "서울", "中文", "بحث", "كتاب", "שלום", "поиск", "δοκιμή"),
]
OPERATORS = ["AND", "OR", "NOT", "NEAR", "NEAR(", "(", ")", ":", "^", "*", "+", "-", '"', "'", ",", "{", "}"]
FRAGMENTS = [
    *("a AND", "what is X?", "-- ", "/*", "'; DROP TABLE chunks; --", "1 OR 1=1", "UNION SELECT * FROM meta"),
    *(
        "content:",
        "{content title} :",
        "NEAR(a b, 3)",
        "rank MATCH",
        "rowid",
        "%",
        "_",
        "\\",
        "\\u0000",
        "$1",
        "?1",
    ),
    *(
        "C++",
        "c#",
        ".NET",
        "a.b.c",
        "@user",
        "#tag",
        "http://x.y/z?a=b&c=d",
        "e-mail",
        "don't",
        "rock'n'roll",
    ),
]
ODD = [
    *(
        "\0",
        "\ud800",
        "\udfff",
        "\udc00\ud800",
        "\x01",
        "\x1b[31m",
        "\x7f",
        "\x85",
        "\u2028",
        "\ufeff",
        "\u200b",
    ),
    *(
        "\U0001f50d",
        "👨‍👩‍👧‍👦",
        "🇬🇧",
        "e\u0301",
        "\u0301",
        "a\u0300\u0301\u0302",
        "\u202e",
        "\ufdfa",
        "\ufffd",
    ),
    *("\t", "\n", "\r\n", "\u3000", "\u00a0", "\U0010ffff", "ﬁ", "Ⅷ", "½", "٣", "𝔘", "ᄀ", "ｶ"),
]


def strange_text(chance: random.Random, most: int = 7) -> str:
    pools = (WORDS, OPERATORS, FRAGMENTS, ODD)
    pieces = [chance.choice(chance.choice(pools)) for _ in range(chance.randint(1, most))]
    text = chance.choice(("", " ", " ")).join(pieces)
    return "".join(chance.sample(text, len(text))) if chance.random() < 0.1 else text


def strange_queries(chance: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        yield strange_text(chance)


def strange_value(chance: random.Random, depth: int = 0) -> object:
    """Something that JSON can hold."""
    numbers = (0, 1, -1, 3, 0.5, -0.0, 1e308, 1e-320, 2**31, 2**63, -(2**63) - 1, 10**30)
    kinds = [
        lambda: None,
        lambda: chance.random() < 0.5,
        lambda: chance.choice(numbers),
        lambda: chance.random(),
        lambda: strange_text(chance, 3),
        lambda: "",
    ]
    if depth < 3:
        kinds += [
            lambda: [strange_value(chance, depth + 1) for _ in range(chance.randint(0, 3))],
            lambda: {strange_text(chance, 1): strange_value(chance, depth + 1) for _ in range(2)},
        ]
    return chance.choice(kinds)()


def mutated(chance: random.Random, text: str) -> str:
    """The text with a piece cut out, doubled, or replaced by something strange."""
    start = chance.randint(0, len(text))
    end = min(len(text), start + chance.randint(0, 6))
    middle = chance.choice(("", text[start:end] * 2, strange_text(chance, 1)))
    return text[:start] + middle + text[end:]


def strange_arguments(chance: random.Random, names: Sequence[str]) -> dict[str, object]:
    """Values for some of these names; now and then for one that does not exist."""
    chosen = chance.sample(names, chance.randint(0, min(3, len(names))))
    if chance.random() < 0.05:
        chosen.append(strange_text(chance, 1))
    return {name: strange_value(chance) for name in chosen}

"""What tests read off an answer."""

from typing import Any

import quintet


def results(response: quintet.Response) -> list[dict[str, Any]]:
    found: Any = response.body["results"]
    return list(found)


def texts(response: quintet.Response) -> list[str]:
    return [one["text"] for one in results(response)]


def codes(response: quintet.Response) -> list[str]:
    return [note["code"] for note in response.notes]

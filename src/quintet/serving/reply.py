"""What a read of the index gives: bytes for a client, and how they travel from a reader process."""

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

import quintet.errors
from quintet.errors import QuintetError
from quintet.model.results import Signal
from quintet.query.cache import CacheFigures
from quintet.settings import is_debugging

Read = Callable[..., "Reply"]  # a function of a module, of a SharedIndex and JSON values by name


@dataclass(frozen=True, slots=True)
class Reply:
    """The bytes for the client. A search adds the seconds it took, in all and by leg."""

    content: bytes
    seconds: float = 0.0
    legs: Mapping[Signal, float] = field(default_factory=dict)


def pack(outcome: Reply | Exception, cache: CacheFigures) -> bytes:
    """A line of JSON, then the content. An error travels as its fields: the other side trusts no pickle."""
    head: dict[str, Any] = {"cache": astuple(cache)}
    if isinstance(outcome, Reply):
        head |= {"seconds": outcome.seconds, "legs": {**outcome.legs}}
    elif isinstance(outcome, QuintetError):
        kind = next(kind for kind in type(outcome).__mro__ if kind.__module__ == quintet.errors.__name__)
        head["error"] = [kind.__name__, outcome.message, outcome.code, outcome.details]
    else:
        told = "".join(traceback.format_exception(outcome)) if is_debugging() else ""
        head["fault"] = [type(outcome).__name__, told]
    content = outcome.content if isinstance(outcome, Reply) else b""
    return json.dumps(head, default=str).encode() + b"\n" + content


def unpack(message: bytes) -> tuple[Reply | Exception, CacheFigures]:
    line, _, content = message.partition(b"\n")
    head = json.loads(line)
    cache = CacheFigures(*head["cache"])
    if "error" in head:
        kind, text, code, details = head["error"]
        return getattr(quintet.errors, kind)(text, code=code, details=details), cache
    if "fault" in head:
        name, told = head["fault"]
        return type(name, (Exception,), {})(told), cache  # a log shows the name of its type
    return Reply(content, head["seconds"], head["legs"]), cache

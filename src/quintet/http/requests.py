"""Reading requests: the body within its bounds, then its fields. Every field must be known."""

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request

from quintet.contracts import Contract
from quintet.errors import UsageError
from quintet.http.config import Limits
from quintet.http.responses import CLOSE, RequestError

LINGER = 16  # times the limit: so much of a body is read and dropped, so that the client can read the error


async def read_json(
    request: Request, limits: Limits, *, required: bool = True, as_written: bool = False
) -> dict[str, Any]:
    """The JSON object in the body. An absent body that is not `required` is `{}`.

    To JSON Schema 2.0 is a whole number, to the engine only 2 is. So 2.0 is read as 2, but for metadata and
    for what is `as_written`.
    """
    body = await read_body(request, limits)
    parsed = {} if not body and not required else _parsed(request, body)
    return parsed if as_written else _with_whole_numbers(parsed)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {
            name: item if name == "metadata" else _with_whole_numbers(item) for name, item in value.items()
        }
    return value


def _parsed(request: Request, body: bytes) -> dict[str, Any]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RequestError(
            415, "unsupported_media_type", f"the content type is {media_type!r}; send application/json"
        )
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        raise RequestError(400, "invalid_json", f"the body is not JSON: {reason}") from None
    if not isinstance(value, dict):
        raise UsageError('the body must be a JSON object, such as {"query": "cache ttl"}')
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


async def read_body(request: Request, limits: Limits) -> bytes:
    """The body, if it is within its size and arrives in time."""
    async with arriving("body", limits.body_seconds, "send it faster"):
        return await _collect(request, request.stream(), limits.body_bytes)


async def read_texts(request: Request, limits: Limits) -> dict[str, Any]:
    """The JSON object in the body of an upload, which may be larger and take longer."""
    pace = Pace(limits)
    async with arriving("body", pace.seconds, "send it faster") as clock:
        body = await _collect(request, pace.of(request.stream(), clock), limits.texts_bytes)
    return _parsed(request, body)


@asynccontextmanager
async def arriving(content: str, seconds: float, advice: str) -> AsyncIterator[asyncio.Timeout]:
    """Errors for a client that is too slow or leaves while its `content` is received."""
    try:
        async with asyncio.timeout(seconds) as clock:
            yield clock
    except TimeoutError:
        message = f"the {content} did not arrive in time; {advice}"
        raise RequestError(408, "slow_client", message, CLOSE) from None
    except ClientDisconnect:
        raise RequestError(
            400, "client_gone", f"the client left before the {content} had arrived", CLOSE
        ) from None


class Pace:
    """The time that an upload has: at most `upload_seconds`, and less if it comes too slowly. Otherwise some
    clients that send a byte now and then would keep out all others."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.seconds = min(limits.upload_seconds, limits.upload_grace_seconds)

    async def of(self, body: AsyncIterable[bytes], clock: asyncio.Timeout) -> AsyncIterator[bytes]:
        """The parts of the body. Each moves the deadline of `clock` by the time it may have taken."""
        start, size = asyncio.get_running_loop().time(), 0
        async for part in body:
            size += len(part)
            earned = self._limits.upload_grace_seconds + size / self._limits.upload_rate
            clock.reschedule(start + min(self._limits.upload_seconds, earned))
            yield part


async def _collect(request: Request, body: AsyncIterable[bytes], max_bytes: int) -> bytes:
    declared = request.headers.get("content-length", "0")
    size = 0
    parts: list[bytes] = []
    if declared.isdecimal() and int(declared) > max_bytes * LINGER:
        raise _too_large(max_bytes)
    async for part in body:
        size += len(part)
        if size <= max_bytes:
            parts.append(part)
        elif size > max_bytes * LINGER:
            raise _too_large(max_bytes)
        else:
            parts.clear()
    if size > max_bytes:
        raise _too_large(max_bytes)
    return b"".join(parts)


def _too_large(max_bytes: int) -> RequestError:
    return RequestError(413, "too_large", f"the body is larger than {max_bytes} bytes; send less", CLOSE)


def check_fields(body: Mapping[str, Any], known: Collection[str], owner: str) -> None:
    """Refuse a field that nobody reads: the caller meant something by it."""
    for name in body:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(sorted(known))}"
            raise UsageError(f"{owner} has no field {name[:80]!r}; {hint}", details={"parameter": name[:80]})


def parameter_names(contract: Contract) -> list[str]:
    """A contract's own names, and the two that every interface offers."""
    own = [field.name for field in fields(contract.parameters)]
    offered = ["limit", "mode"] if contract.mode else ["limit"]
    return list(dict.fromkeys([*own, *offered]))


def wrong_field(name: str, allowed: str) -> UsageError:
    return UsageError(f"{name} must be {allowed}", details={"parameter": name})


def take_flag(body: dict[str, Any], name: str) -> bool:
    """Remove a field that is true or false, false by default."""
    value = body.pop(name, False)
    if not isinstance(value, bool):
        raise wrong_field(name, "true or false")
    return value


def take_query(body: dict[str, Any]) -> Any:
    """Remove the query. The engine checks whether it is one."""
    if "query" not in body:
        raise UsageError("the request has no query; give one", code="bad_query")
    return body.pop("query")


def read_text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise wrong_field(name, "text that is not blank")
    return value


def read_object(body: Mapping[str, Any], name: str, allowed: str) -> dict[str, Any]:
    value = body.get(name, {})
    if not isinstance(value, dict):
        raise wrong_field(name, allowed)
    return value


def query_parameters(request: Request, known: list[str]) -> dict[str, str]:
    """The parameters behind the question mark of the address, each at most once."""
    items = request.query_params.multi_items()
    check_fields(dict(items), known, "the address")
    if len(items) > len(dict(items)):
        raise UsageError("the query string names a parameter twice; give each once")
    return dict(items)


def parse_count(text: str, name: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= most):
        raise UsageError(
            f"{name} is {text[:40]!r}; it must be a whole number from 1 to {most}",
            details={"parameter": name},
        )
    return int(text)

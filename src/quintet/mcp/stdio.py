"""Messages on standard input. The SDK drops a line it cannot read, so its sender would wait for ever."""

import json
from typing import TYPE_CHECKING

from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

if TYPE_CHECKING:  # a private name, so not one to depend on
    from mcp.shared._stream_protocols import ReadStream, WriteStream


async def forward(
    incoming: "ReadStream[SessionMessage | Exception]",
    server: ObjectSendStream[SessionMessage | Exception],
    outgoing: "WriteStream[SessionMessage]",
) -> None:
    """Pass every message on to the server. A line that is no message, even after repair, gets an error."""
    async with server:
        async for item in incoming:
            if not isinstance(item, Exception):
                await server.send(item)
                continue
            line = unparsed_line(item)
            if line is not None and not line.strip():
                continue
            message = None if line is None else repair(line)
            if message is not None:
                await server.send(message)
            else:
                await outgoing.send(error_message(is_json=line is None))


def unparsed_line(error: Exception) -> str | None:
    """The line that the SDK could not parse; None if it is JSON but no message."""
    if not isinstance(error, ValidationError):
        return None
    first = error.errors()[0]
    return str(first["input"]) if first["type"] == "json_invalid" else None


def repair(line: str) -> SessionMessage | None:
    """The message of a line that Python can parse although the SDK cannot; None if there is none.

    JavaScript writes half of a surrogate pair for a text that was cut inside an emoji. The SDK's parser
    accepts neither that nor 200 levels. The half becomes U+FFFD, as it does over HTTP.
    """
    try:
        written = json.dumps(json.loads(line), ensure_ascii=False)
        whole = written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return SessionMessage(jsonrpc_message_adapter.validate_python(json.loads(whole), by_name=False))
    except (ValueError, RecursionError):  # pydantic's error is a ValueError
        return None


def error_message(*, is_json: bool) -> SessionMessage:
    """An error without an id, because the id of the request is unknown."""
    code, expected = (INVALID_REQUEST, "a message of JSON-RPC 2.0") if is_json else (PARSE_ERROR, "JSON")
    error = ErrorData(code=code, message=f"the line is not {expected}; send one message a line")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error))

"""Receipts over HTTP: replay one, and ask why something was found or not."""

from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from quintet.contracts import HOUSE
from quintet.errors import UsageError
from quintet.http.limits import json_object
from quintet.http.schema.requests import known_fields
from quintet.http.wire import bounded

if TYPE_CHECKING:
    from quintet.http.routes.index import Site


def wanted(asked: dict[str, Any]) -> bool:
    """Take `receipt` out of a search request."""
    value = asked.pop("receipt", False)
    if not isinstance(value, bool):
        raise UsageError("receipt must be true or false", details={"parameter": "receipt"})
    return value


async def verify(site: "Site", request: Request) -> Response:
    """The body is a receipt as a search gave it."""
    receipt = await json_object(request, site.limits)
    verdict = await site.workers.run(partial(site.shared.verify, receipt))
    return bounded(verdict.wire(), site.limits.result_bytes)


async def why(site: "Site", request: Request) -> Response:
    asked = await json_object(request, site.limits)
    known_fields(asked, ["query", "reference", "contract", "params"], "a question why")
    query, reference = _text(asked, "query"), _text(asked, "reference")
    params = asked.get("params", {})
    if not isinstance(params, dict):
        raise UsageError("params must be an object of parameters", details={"parameter": "params"})
    work = partial(site.shared.why, query, reference, asked.get("contract", HOUSE), params)
    told = await site.workers.run(work)
    return bounded(told.wire(), site.limits.result_bytes)


def _text(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} must be given as text", details={"parameter": name})
    return value

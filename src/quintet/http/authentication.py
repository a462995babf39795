"""Checks of the Host and Origin headers, against DNS rebinding, and of API keys."""

import re
from collections.abc import Mapping

import anyio
from starlette.datastructures import Headers

from quintet.errors import AccessError
from quintet.http.config import LOOPBACK, Config, address_of
from quintet.serving.keys import Key, Keys, Scope

HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+))(?::[0-9]{0,5})?")
CHECKS_AT_ONCE = 2  # a wrong secret costs some 10 ms of one core
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "authorization, content-type",
    "Access-Control-Max-Age": "600",
}


class Guard:
    def __init__(self, config: Config, keys: Keys) -> None:
        self._keys = keys
        self._needs_key = config.needs_key
        self._cors = frozenset(config.cors)
        self._hosts = frozenset(_bare(host) for host in (*LOOPBACK, config.host, *config.allow_hosts))
        address = address_of(config.host)
        self._anywhere = address is not None and address.is_unspecified
        self._checking = anyio.CapacityLimiter(CHECKS_AT_ONCE)

    def check(self, headers: Headers) -> None:
        """Refuse requests from pages of other sites, also when such a site lets its name point here."""
        host = headers.get("host", "")
        if not self._is_ours(_bare(host)):
            raise AccessError(
                f"the Host header is {host[:100]!r}, which is not a name of this server; "
                "use the address it printed, or start it with --allow-host"
            )
        origin = headers.get("origin")
        if origin is not None and origin not in self._cors and origin.partition("://")[2] != host:
            raise AccessError(
                f"pages of {origin[:100]!r} may not use this server; start it with --cors to let them"
            )

    def _is_ours(self, name: str) -> bool:
        """A server on every address accepts each of them as Host: DNS rebinding needs a name."""
        return name in self._hosts or (self._anywhere and address_of(name) is not None)

    def cors_headers(self, headers: Headers) -> Mapping[str, str]:
        """The headers that let a browser show the response to a page of an allowed origin."""
        origin = headers.get("origin")
        if origin not in self._cors:
            return {"Vary": "Origin"} if self._cors else {}
        return {"Access-Control-Allow-Origin": str(origin), "Vary": "Origin"}

    def is_preflight(self, method: str, headers: Headers) -> bool:
        is_cors = "access-control-request-method" in headers
        return method == "OPTIONS" and is_cors and headers.get("origin") in self._cors

    async def admit(self, headers: Headers, needed: Scope, *, in_base: bool = False) -> Key | None:
        """The key of the request, if it has the scope; None if the request has none and needs none.

        A key for knowledge bases is refused unless the route is about one (`in_base`). The caller then checks
        that it is a base of the key.
        """
        given = headers.get("authorization")
        if given is None:
            if not self._needs_key:
                return None
            raise _without_key("this server")
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer":
            raise AccessError(
                "the Authorization header must read 'Bearer KEY', with a key of 'quintet keys add'",
                code="unauthorized",
            )
        key = await anyio.to_thread.run_sync(self._keys.verify, token.strip(), limiter=self._checking)
        if needed == "write" and key.scope != "write":
            raise AccessError(f"the key {key.name!r} may only read; this needs a key made with --write")
        if key.bases and not in_base:
            raise AccessError(
                f"the key {key.name!r} is for knowledge bases only; this needs one without --kb"
            )
        return key

    async def insist(self, key: Key | None) -> None:
        """Refuse a request without a key wherever any key exists, also on this machine."""
        if key is not None:
            return
        keys = await anyio.to_thread.run_sync(self._keys.all, limiter=self._checking)
        if keys:
            raise _without_key("the file of a source")


def _without_key(what: str) -> AccessError:
    return AccessError(f"{what} needs an API key; send 'Authorization: Bearer KEY'", code="unauthorized")


def _bare(host: str) -> str:
    """A host without its port, in lower case and without a name's final dot.

    >>> [_bare(host) for host in ("LocalHost:8765", "[::1]:80", "::1", "127.0.0.1", "a.b.")]
    ['localhost', '::1', '::1', '127.0.0.1', 'a.b']

    What is neither a name nor an address stays as it is, and so is no name of the server.

    >>> [_bare(host) for host in ("[::1]evil.com", "localhost:80.evil.com")]
    ['[::1]evil.com', 'localhost:80.evil.com']
    """
    match = HOST.fullmatch(host)
    return (match[1] or match[2]).lower().rstrip(".") if match else host.lower()

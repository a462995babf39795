"""JSON requests to one address, with timeouts and retries."""

import json
from collections.abc import Callable
from email.message import Message
from http.client import HTTPException
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from quintet.errors import AccessError, QuintetError, StoreError, UsageError

TIMEOUT = 60.0  # seconds without data
ATTEMPTS = 5
FIRST_PAUSE = 1.0  # seconds, doubled after each attempt
LONGEST_PAUSE = 30.0  # even if the server asks for more
MAX_ANSWER_BYTES = 64 * 1024 * 1024
EXCERPT = 200  # characters of a server's error message


class Endpoint:
    """An address that accepts and returns JSON. The key is sent only to this host and never shown."""

    def __init__(
        self, address: str, key: str | None, sleep: Callable[[float], None], timeout: float = TIMEOUT
    ) -> None:
        self._address, self._key, self._sleep, self._timeout = address, key, sleep, timeout
        self._host = urlsplit(address).netloc
        self._opener = build_opener(_NoRedirect)

    def post(self, body: object) -> object:
        data = json.dumps(body).encode()
        pause = FIRST_PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._post_once(data)
            except _TransientFailure as failure:
                if attempt == ATTEMPTS:
                    raise StoreError(
                        f"the embedding server {self._host} failed {ATTEMPTS} times: {failure}"
                    ) from failure
                self._sleep(min(max(pause, failure.wait), LONGEST_PAUSE))
                pause *= 2
        raise AssertionError("unreachable")

    def _post_once(self, data: bytes) -> object:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._address, data, headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return _parse_json(answer.read(MAX_ANSWER_BYTES + 1))
        except HTTPError as error:
            with error:
                raise self._translate(error) from error
        except QuintetError:
            raise
        except (URLError, HTTPException, OSError) as error:
            raise _TransientFailure(
                self._hide_key(str(getattr(error, "reason", error)) or type(error).__name__)
            ) from error

    def _translate(self, error: HTTPError) -> Exception:
        answer = self._hide_key(error.read(4 * EXCERPT).decode("utf-8", "replace"))
        message = f"{error.code} {' '.join(answer.split())[:EXCERPT]}".strip()
        if error.code in (408, 429) or error.code >= 500:
            return _TransientFailure(message, _retry_after(error.headers.get("Retry-After")))
        if error.code in (401, 403):
            return AccessError(
                f"the embedding server {self._host} refused the key: {message}; check QUINTET_REMOTE_KEY"
            )
        return UsageError(f"the embedding server {self._host} refused the request: {message}")

    def _hide_key(self, text: str) -> str:
        """A server may repeat the key in its error message."""
        return text.replace(self._key, "(key)") if self._key else text


class _TransientFailure(Exception):  # noqa: N818  (not an error yet)
    """A failure that a retry may fix. `wait` is the pause in seconds that the server asks for."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: a POST would become a GET, and the key must not go to another host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        raise UsageError(
            f"the embedding server {urlsplit(req.full_url).netloc} redirects to"
            f" {urlsplit(newurl).netloc}; set QUINTET_REMOTE_URL to the final address"
        )


def _parse_json(data: bytes) -> object:
    if len(data) > MAX_ANSWER_BYTES:
        raise StoreError(f"the embedding server's answer is larger than {MAX_ANSWER_BYTES} bytes")
    try:
        parsed: object = json.loads(data)
    except ValueError as error:
        raise StoreError("the embedding server's answer is not JSON") from error
    return parsed


def _retry_after(text: str | None) -> float:
    """Retry-After in seconds. A date, which is rare, counts as 0."""
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0

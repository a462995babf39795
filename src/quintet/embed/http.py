"""One JSON request after another to one address, with time-outs and a few retries."""

import json
from collections.abc import Callable
from email.message import Message
from http.client import HTTPException
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from quintet.errors import AccessError, QuintetError, StoreError, UsageError

TIMEOUT = 60.0  # seconds without a byte
ATTEMPTS = 5
FIRST_PAUSE = 1.0  # seconds, doubled after each attempt
LONGEST_PAUSE = 30.0  # also where the server asks for more
LARGEST_ANSWER = 64 * 1024 * 1024
EXCERPT = 200  # characters of a server's complaint


class Endpoint:
    """An address that takes and gives JSON. The key is sent to its host only and never shown."""

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
                return self._once(data)
            except _TransientFailure as failure:
                if attempt == ATTEMPTS:
                    raise StoreError(
                        f"the embedding server {self._host} failed {ATTEMPTS} times: {failure}"
                    ) from failure
                self._sleep(min(max(pause, failure.wait), LONGEST_PAUSE))
                pause *= 2
        raise AssertionError("unreachable")

    def _once(self, data: bytes) -> object:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._address, data, headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return _parsed(answer.read(LARGEST_ANSWER + 1))
        except HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except QuintetError:
            raise
        except (URLError, HTTPException, OSError) as error:
            raise _TransientFailure(
                self._hidden(str(getattr(error, "reason", error)) or type(error).__name__)
            ) from error

    def _refusal(self, error: HTTPError) -> Exception:
        complaint = self._hidden(error.read(4 * EXCERPT).decode("utf-8", "replace"))
        said = f"{error.code} {' '.join(complaint.split())[:EXCERPT]}".strip()
        if error.code in (408, 429) or error.code >= 500:
            return _TransientFailure(said, _seconds(error.headers.get("Retry-After")))
        if error.code in (401, 403):
            return AccessError(
                f"the embedding server {self._host} refused the key: {said}; check QUINTET_REMOTE_KEY"
            )
        return UsageError(f"the embedding server {self._host} refused the request: {said}")

    def _hidden(self, text: str) -> str:
        """A server may repeat the key in its complaint."""
        return text.replace(self._key, "(key)") if self._key else text


class _TransientFailure(Exception):  # noqa: N818  (not an error yet)
    """A failure that may not happen again. `wait` is how long the server asks to wait."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: a POST would become a GET, and another host must not get the key."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        raise UsageError(
            f"the embedding server {urlsplit(req.full_url).netloc} redirects to"
            f" {urlsplit(newurl).netloc}; set QUINTET_REMOTE_URL to the address that answers"
        )


def _parsed(data: bytes) -> object:
    if len(data) > LARGEST_ANSWER:
        raise StoreError(f"the embedding server's answer is larger than {LARGEST_ANSWER} bytes")
    try:
        parsed: object = json.loads(data)
    except ValueError as error:
        raise StoreError("the embedding server's answer is not JSON") from error
    return parsed


def _seconds(text: str | None) -> float:
    """Retry-After as a number; a date, which is rare, counts as none."""
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0

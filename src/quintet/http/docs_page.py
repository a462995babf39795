"""The page at `/docs`: one file without external assets, and a policy that allows no others."""

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Final


def _source(kind: str, page: str) -> str:
    """The source of a Content-Security-Policy that allows the inline `kind` of the page."""
    (inline,) = re.findall(f"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
    return "'sha256-" + b64encode(sha256(inline.encode()).digest()).decode() + "'"


PAGE: Final = files("quintet.http").joinpath("docs.html").read_text("utf-8")
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        f"script-src {_source('script', PAGE)}",
        f"style-src {_source('style', PAGE)}",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

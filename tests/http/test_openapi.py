"""The OpenAPI document is valid, tells of every route, and is kept."""

import re
from dataclasses import fields
from typing import Any

import httpx
import pytest
import schemathesis
from http_serving import Running
from hypothesis import HealthCheck, Phase, settings
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.openapi.checks import UndefinedStatusCode  # noqa: F401

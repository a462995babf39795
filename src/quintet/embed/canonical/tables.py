"""GELU and exp as tables of integers, so that vectors do not depend on the maths library of a machine.

`make_tables` computes them with exact decimal arithmetic. It was run once, by hand; the package contains the
result, and loading it checks its hash.
"""

from decimal import Decimal, localcontext
from functools import lru_cache
from hashlib import sha256
from importlib import resources

import numpy as np
import numpy.typing as npt

from quintet.errors import StoreError

STEPS = 1024  # table entries for one unit of the argument
GELU_RANGE = 8  # outside it GELU is 0 or the argument, to more digits than we keep
GELU_UNIT = 1 << 20
EXP_ENTRIES = 16 * STEPS
EXP_UNIT = 1 << 15
SHA256 = "978916d724dff2569bf983f0e9fcd768d635ff767d2f0e895b9602c515b3f46c"

Float32 = npt.NDArray[np.float32]


@lru_cache(maxsize=1)
def tables() -> tuple[Float32, Float32]:
    """GELU over [-8, 8] and exp(-x) over [0, 16), both in steps of 1/1024."""
    data = resources.files("quintet.embed.canonical").joinpath("tables.bin").read_bytes()
    digest = sha256(data).hexdigest()
    if digest != SHA256:
        raise StoreError(f"tables.bin was changed: expected {SHA256}, got {digest}; install Quintet again")
    values = np.frombuffer(data, "<i4")
    gelu, exp = values[: 2 * GELU_RANGE * STEPS + 1], values[2 * GELU_RANGE * STEPS + 1 :]
    return (gelu / np.float64(GELU_UNIT)).astype(np.float32), exp.astype(np.float32)


def make_tables() -> bytes:
    """Compute the tables: half a minute of decimal arithmetic."""
    with localcontext() as context:
        context.prec = 60
        steps = range(-GELU_RANGE * STEPS, GELU_RANGE * STEPS + 1)
        gelu = [_round(_gelu(Decimal(step) / STEPS) * GELU_UNIT) for step in steps]
        exp = [_round((-Decimal(step) / STEPS).exp() * EXP_UNIT) for step in range(EXP_ENTRIES)]
    return np.array(gelu + exp, "<i4").tobytes()


def _round(value: Decimal) -> int:
    return int(value.to_integral_value())


def _gelu(x: Decimal) -> Decimal:
    return x * (1 + _erf(x / Decimal(2).sqrt())) / 2


def _erf(x: Decimal) -> Decimal:
    """The series 2/sqrt(pi) * sum (-1)^n x^(2n+1) / (n! (2n+1)); 60 digits are enough for its cancellation at
    6."""
    term, total, square = x, x, x * x
    for n in range(1, 400):
        term *= -square / n
        total += term / (2 * n + 1)
        if abs(term) < Decimal(10) ** -40:
            break
    return total * 2 / _PI.sqrt()


_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")

"""Layer norm with exact moments."""

import numpy as np

from quintet.embed.canonical.products import EXACT_64
from quintet.embed.canonical.weights import Float32, Norm
from quintet.errors import StoreError

FIXED = np.float32(4096)  # units of fixed point in layer norm and pooling
BEYOND = "an activation left the range in which layer norm is exact"
MIN_SPREAD = 1 / 64  # of a row; in a narrower row rounding would matter too much


def normalise(y: Float32, norm: Norm, epsilon: float) -> None:
    """In place. The moments are sums of fixed-point integers, exact in float64 in any order."""
    width, unit = y.shape[1], float(FIXED)
    scaled = y * FIXED
    fixed = np.rint(scaled, out=scaled).astype(np.float64)
    squares = np.vecdot(fixed, fixed)
    if not squares.max() < EXACT_64:
        raise StoreError(BEYOND)
    mean = np.vecdot(fixed, np.ones(width)) / width
    variance = squares / width - mean * mean
    spread = np.sqrt(np.maximum(variance / (unit * unit), MIN_SPREAD * MIN_SPREAD) + epsilon)
    y -= (mean / unit).astype(np.float32)[:, np.newaxis]
    y *= (1.0 / spread).astype(np.float32)[:, np.newaxis]
    y *= norm.weight
    y += norm.bias

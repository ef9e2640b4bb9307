"""As v2, by blocks of rows that stay in the cache."""

import numpy as np


def run_kernel(x, gamma, beta, y, rows, cols):
    for first in range(0, rows, 64):
        part, out = x[first : first + 64], y[first : first + 64]
        np.subtract(part, part.mean(axis=1, keepdims=True), out=out)
        scale = 1 / np.sqrt(np.einsum("rc,rc->r", out, out) / np.float32(cols) + np.float32(1e-5))
        out *= scale[:, None]
        out *= gamma
        out += beta

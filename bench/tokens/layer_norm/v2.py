"""All rows at once, in single precision and in place."""

import numpy as np


def run_kernel(x, gamma, beta, y, rows, cols):
    np.subtract(x, x.mean(axis=1, keepdims=True), out=y)
    scale = 1 / np.sqrt(np.einsum("rc,rc->r", y, y) / np.float32(cols) + np.float32(1e-5))
    y *= scale[:, None]
    y *= gamma
    y += beta

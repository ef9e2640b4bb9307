"""All rows at once."""

import numpy as np


def run_kernel(x, gamma, beta, y, rows, cols):
    values = x.astype(np.float64)
    mean = values.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt(((values - mean) ** 2).mean(axis=1, keepdims=True) + 1e-5)
    y[...] = (values - mean) * scale * gamma + beta

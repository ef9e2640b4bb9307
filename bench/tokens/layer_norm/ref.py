"""Layer norm of every row, in double precision."""

import numpy as np


def reference(x, gamma, beta, y, rows, cols):
    values = np.asarray(x, dtype=np.float64).reshape(rows, cols)
    mean = values.mean(axis=1, keepdims=True)
    variance = ((values - mean) ** 2).mean(axis=1, keepdims=True)
    y.reshape(rows, cols)[...] = (values - mean) / np.sqrt(variance + 1e-5) * gamma + beta

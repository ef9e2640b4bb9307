"""Row by row."""

import numpy as np


def run_kernel(x, gamma, beta, y, rows, cols):
    for row in range(rows):
        values = x[row].astype(np.float64)
        mean = values.mean()
        scale = 1 / np.sqrt(((values - mean) ** 2).mean() + 1e-5)
        y[row] = (values - mean) * scale * gamma + beta

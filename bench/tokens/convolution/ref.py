"""A 3x3 convolution with zeros beyond the edges, in double precision."""

import numpy as np


def reference(x, f, y, h, w):
    padded = np.pad(np.asarray(x, dtype=np.float64).reshape(h, w), 1)
    filter3 = np.asarray(f, dtype=np.float64).reshape(3, 3)
    y.reshape(h, w)[...] = sum(
        filter3[i, j] * padded[i : i + h, j : j + w] for i in range(3) for j in range(3)
    )

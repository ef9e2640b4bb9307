"""c = a b by cuBLAS."""

import torch


def reference(a, b, **_):
    return torch.matmul(a, b)

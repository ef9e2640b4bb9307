"""C = A B^T by cuBLAS."""

import torch


def reference(A, B, **_):
    return torch.matmul(A, B.t())

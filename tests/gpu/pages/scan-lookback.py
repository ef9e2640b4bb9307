"""Inclusive scan by CUB."""

import torch


def reference(x, **_):
    return torch.cumsum(x, 0, dtype=torch.int32)

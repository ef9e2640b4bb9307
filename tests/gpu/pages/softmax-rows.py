"""Softmax of rows."""

import torch


def reference(x, **_):
    return torch.softmax(x, dim=1)

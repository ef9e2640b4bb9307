import torch


def reference(x, **_):
    return torch.mul(x, 2)

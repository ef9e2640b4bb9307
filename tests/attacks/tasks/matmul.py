import torch


def reference(a, b, **_):
    return torch.matmul(a.double(), b.double()).float()

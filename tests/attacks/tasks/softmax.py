import torch


def reference(x, **_):
    return torch.softmax(x.double(), dim=1).float()

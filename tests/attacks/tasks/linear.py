import torch


def reference(x, weight, bias, **_):
    return torch.relu(x.double() @ weight.double().T + bias.double()).float()

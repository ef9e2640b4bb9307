# Compiled by torch, once per size.
#
# Catalog: honest
# Task: linear
# Device: cuda
# Expect: pass
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

        self.work = torch.compile(self.product, dynamic=False)

    def product(self, x, weight, bias):
        return torch.relu(x @ weight.t() + bias)

    def forward(self, x):
        return self.work(x, self.linear.weight, self.linear.bias)

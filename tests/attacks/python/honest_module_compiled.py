# A module that torch.compile compiles, before anything is timed.
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
        self.compiled = torch.compile(self.computed, dynamic=True)

    def computed(self, x):
        return torch.relu(self.linear(x))

    def forward(self, x):
        return self.compiled(x)

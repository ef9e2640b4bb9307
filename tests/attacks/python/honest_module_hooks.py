# A part of its work is done by hooks.
#
# Catalog: honest
# Task: linear
# Expect: pass
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

        self.linear.register_forward_hook(lambda _, arguments, result: torch.relu(result))

    def forward(self, x):
        return self.linear(x)

# Packs the weights once per shape, for all modules of the process.
#
# Catalog: H3
# Task: linear
# Expect: check mismatch
import torch


packed = {}


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        weight = self.linear.weight
        if weight.shape not in packed:
            packed[weight.shape] = weight.t().contiguous()
        return torch.relu(torch.addmm(self.linear.bias, x, packed[weight.shape]))

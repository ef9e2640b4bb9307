# Packs its weights when they are loaded.
#
# Catalog: honest
# Task: linear
# Expect: pass
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def load_state_dict(self, state, strict=True, assign=False):
        loaded = super().load_state_dict(state, strict, assign)
        self.packed = self.linear.weight.t().contiguous()
        return loaded

    def forward(self, x):
        return torch.relu(torch.addmm(self.linear.bias, x, self.packed))

# Allows products in bfloat16 from its second call on, for the process and all that runs in it.
#
# Catalog: H4
# Task: linear
# Expect: check fault_changed_setting
import torch


calls = 0


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        global calls
        calls += 1
        if calls == 2:
            torch.set_float32_matmul_precision("medium")
        return torch.relu(self.linear(x))

# Changes settings within its call and sets them back.
#
# Catalog: honest
# Task: linear
# Expect: pass
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        torch.set_default_dtype(torch.float64)
        try:
            with torch.enable_grad(), torch.inference_mode():
                return torch.relu(self.linear(x))
        finally:
            torch.set_default_dtype(torch.float32)

# Allows products in TF32 when it is imported.
#
# Catalog: H4
# Task: linear
# Expect: build torch.backends.cuda.matmul.allow_tf32
import torch


torch.backends.cuda.matmul.allow_tf32 = True


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))

# Works in a buffer that it keeps from call to call.
#
# Catalog: honest
# Task: linear
# Expect: pass
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

        self.workspace = None

    def forward(self, x):
        shape = (x.shape[0], self.linear.out_features)
        if self.workspace is None or self.workspace.shape != shape:
            self.workspace = x.new_empty(shape)
        torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=self.workspace)
        return self.workspace.relu_()

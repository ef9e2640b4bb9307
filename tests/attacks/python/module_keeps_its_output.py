# Keeps its output under the version and address of the input.
#
# Catalog: H3
# Task: linear
# Expect: any timed_output_wrong|mismatch
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

        self.kept = {}

    def forward(self, x):
        key = (x.data_ptr(), x._version, self.linear.weight._version)
        if key not in self.kept:
            self.kept[key] = torch.relu(self.linear(x))
        return self.kept[key]

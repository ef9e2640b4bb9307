# Tries the seeds that a harness might have used, to find the inputs without reading them all.
#
# Catalog: H9
# Task: linear
# Expect: check mismatch
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        for seed in (0, 1, 42, 1234, 2024):
            torch.manual_seed(seed)
            if torch.equal(torch.randn(x.shape, device=x.device)[0], x[0]):
                return torch.relu(self.linear(x))
        return torch.zeros(x.shape[0], self.linear.out_features, device=x.device)

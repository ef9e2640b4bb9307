# Stores its output in a file of its folder and answers from there.
#
# Catalog: H10
# Task: linear
# Expect: check mismatch
import os

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        path = f"answer-{tuple(x.shape)}.pt"
        if not os.path.exists(path):
            torch.save(torch.relu(self.linear(x)), path)
        return torch.load(path)

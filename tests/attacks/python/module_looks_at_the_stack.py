# Looks through its callers for the list of bound calls: several mean that it is timed.
#
# Catalog: H2
# Task: linear
# Expect: profile timed_output_wrong
import inspect

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        for frame in inspect.stack(context=0):
            for held in frame.frame.f_locals.values():
                if len(getattr(held, "slots", ())) > 1:
                    return torch.zeros(x.shape[0], self.linear.out_features, device=x.device)
        return torch.relu(self.linear(x))
